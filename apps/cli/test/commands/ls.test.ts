/** `grove ls`: the sessions there are, newest first. */
import { symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Width } from "@grove/core/model"
import { assertRefused, at, entry, expectation, fileOf, header, type Json, reply, sandbox, user } from "../support.ts"

const box = sandbox({ fixtures: true })

interface Summary {
  readonly id: string
  readonly path: string
  readonly cwd: string
  readonly name: string | null
  readonly created: string
  readonly modified: string
  readonly messageCount: number
  readonly branches: number
  readonly firstMessage: string | null
  readonly parentSession: string | null
}
interface Info extends Omit<Summary, "name" | "branches" | "parentSession"> {
  readonly name?: string
  readonly parentSessionPath?: string
}

it("Pi's sessions are listed with what Pi lists of them", async () => {
  const { "pi-1.5.0": infos } = expectation<{ readonly "pi-1.5.0": ReadonlyArray<Info> }>(
    "pi/expected-session-info.json"
  )
  const listed = await box.json<ReadonlyArray<Summary>>(["ls", "--all", "--session-dir", join(box.fixtures, "pi")])
  const byName = new Map(listed.map((summary) => [basename(summary.path), summary]))
  assert.isAtLeast(infos.length, 12)
  for (const info of infos) {
    const { id, cwd, name, created, modified, messageCount, firstMessage, parentSession } = byName.get(info.path)!
    assert.deepStrictEqual({ id, cwd, name, created, modified, messageCount, firstMessage, parentSession } as unknown, {
      id: info.id,
      cwd: info.cwd,
      name: info.name ?? null,
      created: info.created,
      modified: info.modified,
      messageCount: info.messageCount,
      firstMessage: info.firstMessage,
      parentSession: info.parentSessionPath ?? null
    })
  }
  const times = listed.map(({ modified }) => Date.parse(modified))
  assert.deepStrictEqual(
    times,
    times.toSorted((a, b) => b - a)
  )
})

it("only what is a session with a header is listed; neither an empty file nor one that cannot be read as one", async () => {
  const listed = await box.json<ReadonlyArray<Summary>>([
    "ls",
    "--all",
    "--session-dir",
    join(box.fixtures, "omp/sessions")
  ])
  const names = listed.map(({ path }) => basename(path, ".jsonl"))
  for (const name of [
    "empty",
    "whitespace-only",
    "missing-header",
    "header-garbage",
    "header-no-id",
    "header-numeric-id",
    "garbage-only"
  ]) {
    assert.notInclude(names, name)
  }
  assert.strictEqual(names.length, 54)
})

describe("in a home", () => {
  const first = fileOf(
    header({ id: "first-0001", cwd: box.cwd, parentSession: "elsewhere" }),
    user("aaaa0001", null, "hello\nthere"),
    reply("aaaa0002", "aaaa0001", "hi", {}, { timestamp: at(5) }),
    reply("aaaa0003", "aaaa0001", "hey", {}, { timestamp: at(7) }),
    entry("aaaa0004", "aaaa0003", { type: "session_info", name: "A name" })
  )
  const lay = () => {
    box.write("home/sessions/--a--/2026_first-0001.jsonl", first)
    box.write(
      "home/sessions/--b--/2026_bare-0002.jsonl",
      fileOf(header({ id: "bare-0002", timestamp: at(6), cwd: undefined }))
    )
    box.write("home/sessions/--a--/2026_first-0001/agent.jsonl", fileOf(header({ id: "agent-0003", timestamp: at(1) })))
    const task = entry("aaaa0001", null, { type: "session_init", systemPrompt: "", task: "look", tools: [] })
    box.write("home/sessions/--b--/2026_agent-0004.jsonl", fileOf(header({ id: "agent-0004", timestamp: at(0) }), task))
    box.write("home/sessions/--b--/notes.txt", fileOf(header({ id: "text-0005" })))
    return join(box.home, "sessions")
  }
  const summary = (fields: Json): Json => ({
    name: null,
    messageCount: 0,
    branches: 0,
    firstMessage: null,
    parentSession: null,
    source: "grove",
    draft: false,
    ...fields
  })

  it("its answer has exactly these keys, absent values null, newest first", async () => {
    const sessions = lay()
    assert.deepStrictEqual(await box.json(["ls"]), [
      summary({
        id: "first-0001",
        path: join(sessions, "--a--/2026_first-0001.jsonl"),
        cwd: box.cwd,
        name: "A name",
        created: at(0),
        modified: at(7),
        messageCount: 3,
        branches: 2,
        firstMessage: "hello\nthere",
        parentSession: "elsewhere"
      }),
      summary({
        id: "bare-0002",
        path: join(sessions, "--b--/2026_bare-0002.jsonl"),
        cwd: null,
        created: at(6),
        modified: at(6)
      })
    ])
  })

  it("what sub-agents made is listed with --all alone", async () => {
    lay()
    const listed = await box.json<ReadonlyArray<Summary>>(["ls", "--all"])
    assert.deepStrictEqual(
      listed.map(({ id }) => id),
      ["first-0001", "bare-0002", "agent-0003", "agent-0004"]
    )
  })

  it("people see one line a session within the width of the terminal, columns in line", async () => {
    lay()
    box.write(
      "home/sessions/--c--/wide.jsonl",
      fileOf(header({ id: "短い", timestamp: at(2), title: "名前 ".repeat(40) }))
    )
    for (const columns of [40, 80, 120]) {
      const lines = (await box.text(["ls"], { env: { COLUMNS: String(columns) } })).trimEnd().split("\n")
      assert.strictEqual(lines.length, 3)
      for (const line of lines) assert.isAtMost(Width.of(line), columns)
      assert.match(lines[0]!, /^rst-0001 {2} *\d+w {8}3m 2⑂ {2}A name$/)
      assert.match(lines[1]!, /^are-0002 {2} *\d+w {8}0m 0⑂ {2}\(no mess/)
      assert.match(lines[2]!, /^短い {6} *\d+w {8}0m 0⑂ {2}名前 /)
    }
  })
})

it("a flat folder is filtered by the folder in the header, not by its name; --all takes every folder", async () => {
  box.write("flat/here.jsonl", fileOf(header({ id: "here-0001", cwd: box.cwd })))
  box.write("flat/there.jsonl", fileOf(header({ id: "there-0001", cwd: `${box.cwd}/below` })))
  const ids = async (args: ReadonlyArray<string>, env = {}) =>
    (await box.json<ReadonlyArray<Summary>>(args, { env })).map(({ id }) => id).sort()
  const flat = join(box.folder, "flat")
  assert.deepStrictEqual(await ids(["ls", "--session-dir", flat]), ["here-0001"])
  assert.deepStrictEqual(await ids(["ls", "--session-dir", "../flat"]), ["here-0001"])
  assert.deepStrictEqual(await ids(["ls"], { GROVE_SESSION_DIR: flat }), ["here-0001"])
  assert.deepStrictEqual(await ids(["ls", "--all"], { GROVE_SESSION_DIR: flat }), ["here-0001", "there-0001"])
})

it("a link out of the folder is not followed, so a loop ends", async () => {
  box.write("linked/sessions/--a--/own.jsonl", fileOf(header({ id: "own-0001" })))
  const outside = box.write("outside.jsonl", fileOf(header({ id: "outside-0001" })))
  const folder = join(box.folder, "linked/sessions")
  box.prepare(() => {
    symlinkSync(outside, join(folder, "--a--/outside.jsonl"))
    symlinkSync(folder, join(folder, "--a--/loop"))
  })
  const listed = await box.json<ReadonlyArray<Summary>>(["ls", "--all"], {
    env: { GROVE_HOME: join(box.folder, "linked") }
  })
  assert.deepStrictEqual(
    listed.map(({ id }) => id),
    ["own-0001"]
  )
})

describe("where there is nothing", () => {
  const nowhere = { env: { GROVE_HOME: join(box.folder, "nowhere") } }

  it("the answer is an empty list, and nothing is made", async () => {
    assert.deepStrictEqual(await box.json(["ls"], nowhere), [])
    assert.deepStrictEqual(await box.json(["ls", "--session-dir", join(box.folder, "nowhere")]), [])
  })

  it("people are told what to do", async () => {
    assert.strictEqual(
      await box.text(["ls"], nowhere),
      `No sessions in ${box.folder}/nowhere yet.\n--session-dir lists those of another folder; grove tree <file> draws any session file.\n`
    )
  })

  it("people are told that the sessions of a flat folder are those of other folders", async () => {
    const flat = join(box.fixtures, "pi")
    assert.strictEqual(
      await box.text(["ls", "--session-dir", flat]),
      `No sessions of ${box.cwd} in ${flat}.\n--all lists those of every folder.\n`
    )
  })

  it("a home that is no folder is an error", async () => {
    const file = box.write("file", "")
    assertRefused(await box.grove(["ls"], { env: { GROVE_HOME: file } }), 1, /part of the path is not a directory/)
    assertRefused(
      await box.grove(["ls", "--session-dir", file]),
      1,
      /cannot use .*\/file: part of the path is not a directory/
    )
  })
})
