/** `grove serve` as people run it: a program of its own, ended and killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { client, isDone, Picture } from "../../server/test/support.ts"
import { program } from "./support.ts"

const folders: Array<string> = []
const children = new Set<ChildProcess>()
afterEach(() => {
  for (const child of children) child.kill("SIGKILL")
  children.clear()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "grove-serve-"))
  folders.push(folder)
  return folder
}

/** The program, once it has printed where it is. */
const serve = async (home: string, ...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [program, "serve", ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, GROVE_HOME: join(home, "grove"), LANG: "C.UTF-8" },
    stdio: ["ignore", "pipe", "pipe"]
  })
  children.add(child)
  let [stdout, stderr] = ["", ""]
  child.stderr.on("data", (chunk) => {
    stderr += chunk
  })
  const ended = new Promise<number | string | null>((resolve) =>
    child.on("close", (code, signal) => resolve(signal ?? code))
  )
  const lines = await new Promise<ReadonlyArray<string>>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      stdout += chunk
      if (stdout.split("\n").length > 2) resolve(stdout.split("\n").slice(0, -1))
    })
    ended.then((code) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
  ended.catch(() => {})
  const [url, second] = lines as [string, string]
  return {
    child,
    url,
    lines,
    token: second.replace(/^token /, ""),
    ended,
    stderr: () => stderr,
    port: new URL(url).port
  }
}

describe("grove serve", () => {
  it("prints its address and its token, which is also in a file for its owner alone", async () => {
    const home = temporary()
    const server = await serve(home)
    assert.lengthOf(server.lines, 2)
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/$/)
    assert.match(server.lines[1]!, /^token [0-9a-f]{64}$/)
    const file = join(home, "grove", "server.token")
    assert.strictEqual(readFileSync(file, "utf8"), `${server.token}\n`)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    const page = await (await fetch(server.url)).text()
    assert.match(page, /<script nonce="[^_"]+">/)
    const { ask, create } = client(server.url, server.token)
    const chat = await create("talk")
    await chat.say("how tall is an elm?", null)
    const hits = await ask("GET", "/api/search?q=elm")
    assert.strictEqual(hits.body[0].session, chat.id)
    server.child.kill("SIGINT")
    assert.strictEqual(await server.ended, 130)
    assert.match(server.stderr(), /POST \/api\/sessions 201\n/)
  })

  it("says in one line why it cannot begin", async () => {
    const home = temporary()
    const first = await serve(home)
    const taken = await serve(home, "--port", first.port).catch((error: Error) => error.message)
    assert.match(String(taken), /^ended with 1: grove: cannot serve on 127\.0\.0\.1 port \d+: the port is taken; .*\n$/)
    const wrong = await serve(home, "--port", "many").catch((error: Error) => error.message)
    assert.match(String(wrong), /^ended with 2: grove: --port is a number from 0 to 65535; .*\n$/)
  })

  it("when it is asked to end marks what it could not finish, and exits as signals do", async () => {
    const home = temporary()
    const server = await serve(home)
    const chat = await client(server.url, server.token).create()
    const socket = chat.socket((await chat.tree()).seq)
    const { body } = await chat.say("!sprout say so far\n!sprout slow 600000\n!sprout say never", null)
    await socket.until((frames) => frames.some(({ event }) => event === "node.content.updated"))
    server.child.kill("SIGTERM")
    assert.strictEqual((await socket.closed).code, 1001)
    assert.strictEqual(await server.ended, 143)
    const last = socket.frames.at(-1)
    assert(last?.event === "node.failed")
    assert.deepStrictEqual([last.data.id, last.data.content], [body.nodes[0].id, "so far"])
  })

  it("killed in the middle of everything and started again, tells clients what they missed: nothing lost, nothing twice", async () => {
    const home = temporary()
    const first = await serve(home)
    const before = await client(first.url, first.token).create("a long talk")
    const picture = new Picture(await before.tree())
    const listening = before.socket(picture.tree.seq)
    const done = await before.say("one two three", null, { follow: true, samples: 2 })
    await listening.until(isDone(2))
    await before.state(done.body.nodes[0].id, false)
    const half = await Promise.all(
      ["left", "right"].map((word) =>
        before.say(`!sprout slow 60\n!sprout say ${`${word} `.repeat(200)}`, done.body.prompt.id)
      )
    )
    const growing = half.map(({ body }) => body.nodes[0].id as string)
    // What a growing reply has said is noted once a second; so it has something to come back with.
    await listening.until((frames) => {
      const pieces = frames.filter(({ event }) => event === "node.content.updated").length
      return pieces > 60
    })
    first.child.kill("SIGKILL")
    assert.strictEqual(await first.ended, "SIGKILL")
    await listening.closed
    for (const frame of listening.frames) picture.take(frame)
    assert.deepStrictEqual(
      growing.map((id) => picture.tree.nodes[id]!.status),
      ["generating", "generating"]
    )

    const second = await serve(home, "--port", first.port)
    assert.strictEqual(second.token, first.token, "clients need not be told anything")
    const after = client(second.url, second.token).chat(before.id)
    const again = after.socket(picture.tree.seq)
    await again.until(isDone(2))
    const more = await after.say("and again", done.body.prompt.id)
    await again.until(isDone(3))
    const all = [...listening.frames, ...again.frames]
    assert.isTrue(all.every(({ seq }, at) => at === 0 || seq > all[at - 1]!.seq))
    for (const frame of again.frames) picture.take(frame)
    const tree = await after.tree()
    assert.deepStrictEqual(picture.shape, new Picture(tree).shape)
    for (const [at, id] of growing.entries()) {
      const { status, metadata, content } = tree.nodes[id]!
      assert.deepStrictEqual([status, metadata.error], ["error", "interrupted"])
      assert.include(content, ["left", "right"][at]!)
    }
    assert.strictEqual(tree.nodes[more.body.nodes[0].id]!.status, "complete")
    assert.isFalse(tree.nodes[done.body.nodes[0].id]!.isEnabled)
    second.child.kill("SIGTERM")
    assert.strictEqual(await second.ended, 143)
  })
})
