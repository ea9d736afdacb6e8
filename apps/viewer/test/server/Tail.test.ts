/** What is told of a file while it changes, over real HTTP. */
import { appendFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type * as Wire from "../../src/wire/Wire.ts"
import { Script } from "../store.ts"
import { type Running, start } from "../support.ts"

describe("a session that is looked at", () => {
  let viewer: Running
  beforeAll(async () => {
    viewer = await start()
  })
  afterAll(() => viewer.stop())

  let count = 0
  const begin = async () => {
    const script = new Script(`7a110000-0000-7000-8000-00000000000${count++}`, "/home/ada/novel")
    script.turn("hello", "hi")
    const file = viewer.store.fileOf(script)
    writeFileSync(file, script.text)
    const path = `${viewer.url}/api/s/${script.id}`
    const session = (await (await fetch(path)).json()) as Wire.Session
    return { script, file, path, session }
  }

  /** The events that come, one after the other. */
  const listen = async (path: string, headers: Record<string, string> = {}) => {
    const controller = new AbortController()
    const response = await fetch(path, { headers, signal: controller.signal })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let held = ""
    const next = async (): Promise<{ readonly id: number; readonly event: Wire.Event }> => {
      for (;;) {
        const found = /id: (\d+)\nevent: \w+\ndata: (.*)\n\n/.exec(held)
        if (found !== null) {
          held = held.slice(found.index + found[0].length)
          return { id: Number(found[1]), event: JSON.parse(found[2]!) as Wire.Event }
        }
        const { value, done } = await reader.read()
        if (done) throw new Error("the stream ended")
        held += value
      }
    }
    return { next, stop: () => controller.abort() }
  }
  const idsOf = (event: Wire.Event) => (event.type === "entries" ? event.entries.map(({ id }) => id) : [event.type])

  it("tells each whole line once, and from where one left off, what was missed", async () => {
    const { script, file, path, session } = await begin()
    const events = await listen(`${path}/events?from=${session.end}&generation=${session.generation}`)
    const [one, two] = [script.user("one"), script.reply("two")]
    const lines = script.lines.slice(-2).map((line) => `${JSON.stringify(line)}\n`)
    appendFileSync(file, lines[0] + lines[1]!.slice(0, 20))
    const first = await events.next()
    assert.deepStrictEqual(idsOf(first.event), [one])
    appendFileSync(file, lines[1]!.slice(20))
    const second = await events.next()
    assert.deepStrictEqual(idsOf(second.event), [two])
    assert.notInclude(JSON.stringify(second.event), '"text":"two"')
    events.stop()
    const again = await listen(`${path}/events?from=0&generation=${session.generation}`, {
      "last-event-id": String(first.id)
    })
    assert.deepStrictEqual(idsOf((await again.next()).event), [two])
    again.stop()
  })

  it("counts what is no entry", async () => {
    const { file, path, session } = await begin()
    const events = await listen(`${path}/events?from=${session.end}&generation=${session.generation}`)
    appendFileSync(file, "not json\n\n")
    const { event } = await events.next()
    assert.deepStrictEqual(event, { type: "entries", entries: [], malformed: 1 })
    events.stop()
  })

  it("says when the file is another one, and when it is gone", async () => {
    const { script, file, path, session } = await begin()
    const events = await listen(`${path}/events?from=${session.end}&generation=${session.generation}`)
    writeFileSync(`${file}.new`, script.text)
    renameSync(`${file}.new`, file)
    assert.strictEqual((await events.next()).event.type, "replaced")
    const after = (await (await fetch(path)).json()) as Wire.Session
    assert.notStrictEqual(after.generation, session.generation)
    const last = await listen(`${path}/events?from=${after.end}&generation=${after.generation}`)
    rmSync(file)
    assert.strictEqual((await last.next()).event.type, "gone")
  })
})
