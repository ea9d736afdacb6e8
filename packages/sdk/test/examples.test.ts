/** The agents of `examples/`, run as they stand. */
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"

const inRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "grove-examples-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (command: string, args: ReadonlyArray<string>, lines: ReadonlyArray<string>): Promise<Array<string>> =>
  new Promise((done, failed) => {
    const env = { ...process.env, GROVE_HOME: join(folder, "home") }
    const child = spawn(command, args, { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"], timeout: 60_000 })
    let printed = ""
    child.stdout.on("data", (chunk) => {
      printed += chunk
    })
    child.on("close", (code) => (code === 0 ? done(printed.trimEnd().split("\n")) : failed(new Error(`exit ${code}`))))
    child.stdin.end(lines.map((line) => `${line}\n`).join(""))
  })

const entriesOf = (path: string) =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line))

describe("an agent", () => {
  it("on the SDK answers, answers again beside the first, mutes and finds", async () => {
    const typed = ["plant an elm", "/again", "and an oak", "/mute elm", "and a yew", "/find oak"]
    const printed = await run(process.execPath, [inRoot("examples/agent-sdk.mjs"), join(folder, "sdk")], typed)
    assert.deepStrictEqual(printed.slice(0, 3), [
      "I was shown 1 messages.",
      "I was shown 1 messages.",
      "I was shown 3 messages."
    ])
    assert.match(printed[3]!, /^1 muted; \d+ → \d+ tokens$/)
    assert.strictEqual(printed[4], "I was shown 4 messages.")
    assert.match(printed[5]!, /^found: .*oak/)
    const entries = entriesOf(printed.at(-1)!)
    const [elm] = entries
    assert.strictEqual(entries.filter(({ parentId }) => parentId === elm.id).length, 2)
  })

  it("on Effect's layers has a storage of its own", async () => {
    const printed = await run(process.execPath, [inRoot("examples/agent-effect.mjs")], ["plant an elm", "/again"])
    assert.deepStrictEqual(printed.slice(0, 2), ["I was shown 1 messages.", "I was shown 1 messages."])
    const parents = printed.slice(2).map((line) => line.split(" → ")[0])
    assert.strictEqual(parents[0], "root")
    assert.strictEqual(parents[1], parents[2])
  })

  const python = spawnSync("python3", ["--version"]).status === 0
  if (!python) console.warn("SKIPPED: the agent in Python needs python3, which is not on this machine")
  it.skipIf(!python)("in another language stands on append, context and fork", async () => {
    const path = join(folder, "python.jsonl")
    const grove = [process.execPath, inRoot("apps/cli/bin/grove.js")]
    const printed = await run("python3", [inRoot("examples/agent.py"), path, ...grove], ["plant an elm", "/again"])
    assert.deepStrictEqual(printed.slice(0, 2), ["I was shown 1 messages.", "I was shown 1 messages."])
    assert.deepStrictEqual(
      entriesOf(path).map(({ parentId }) => parentId === null),
      [true, false, false]
    )
    assert.deepStrictEqual(
      entriesOf(printed[2]!).map(({ type }) => type),
      ["message"]
    )
  })
})
