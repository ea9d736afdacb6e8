/** What Grove has edited is still a session to Pi: it opens with the unedited tree and a right leaf, and can go on. */
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { type Json, onlyValue, program, run } from "./support.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

interface PiEntry {
  readonly id: string
  readonly parentId: string | null
  readonly type: string
  readonly customType?: string
}

/** As much of Pi's public session manager as is used here. */
interface Pi {
  readonly getEntries: () => ReadonlyArray<PiEntry>
  readonly getLeafId: () => string | null
  readonly getBranch: () => ReadonlyArray<PiEntry>
  readonly buildSessionContext: () => { readonly messages: ReadonlyArray<Json> }
  readonly appendMessage: (message: Json) => string
}

const { installed } = await import(new URL("tooling/bench/others.mjs", `file://${root}`).href)
const found: { readonly module: string } | { readonly problem: string } = installed("pi")
if ("problem" in found) {
  if (process.env.CI === "true") throw new Error(found.problem)
  process.stderr.write(`SKIPPED: what Pi makes of edited files: ${found.problem}\n`)
}
const open: ((path: string) => Pi) | undefined = "problem" in found ? undefined : (path) => SessionManager.open(path)
const { SessionManager } = "problem" in found ? { SessionManager: undefined as never } : await import(found.module)

const folder = mkdtempSync(join(tmpdir(), "grove-pi-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const grove = async (args: ReadonlyArray<string>): Promise<Json> => {
  const env = { PATH: process.env.PATH ?? "", HOME: folder, GROVE_HOME: join(folder, "home"), LANG: "C.UTF-8" }
  const ran = await run(process.execPath, [program, ...args, "--json"], { cwd: folder, env })
  assert.deepStrictEqual([ran.code, ran.stderr], [0, ""], args.join(" "))
  return onlyValue(ran.stdout)
}

let made = 0
const session = (): string => {
  const path = join(folder, `${++made}.jsonl`)
  copyFileSync(join(root, "docs/examples/rate-limit.jsonl"), path)
  return path
}

const operations: ReadonlyArray<readonly [string, ReadonlyArray<ReadonlyArray<string>>]> = [
  ["disable", [["disable", "cef7"]]],
  [
    "enable",
    [
      ["disable", "cef7"],
      ["enable", "ac0f"]
    ]
  ],
  ["prune", [["prune", "4497"]]],
  ["graft", [["graft", "4370", "09c5"]]],
  [
    "graft of a fragment",
    [
      ["prune", "4497"],
      ["graft", "0b22", "4497"]
    ]
  ],
  ["merge of picked entries", [["merge", "f334", "--pick", "f334"]]],
  ["merge of a summary", [["merge", "f334", "--summary", "--text", "SQLite locks"]]],
  ["summarize", [["summarize", "8b5c..4497", "--text", "looked at it"]]],
  ["leaf", [["leaf", "f334"]]],
  ["leaf none", [["leaf", "none"]]],
  ["label", [["label", "4497", "here"]]],
  ["name", [["name", "limits"]]],
  ["rate", [["rate", "4497", "4", "--note", "good"]]],
  ["undo", [["prune", "4497"], ["undo"]]],
  ["redo", [["prune", "4497"], ["undo"], ["redo"]]]
]

/** Pi stands on marks; the place meant is the entry that the mark follows. */
const placeOf = (pi: Pi): string | null => {
  const byId = new Map(pi.getEntries().map((entry) => [entry.id, entry]))
  let at = byId.get(pi.getLeafId() ?? "")
  while (at?.customType?.startsWith("grove.")) at = byId.get(at.parentId ?? "")
  return at?.id ?? null
}

describe.skipIf(open === undefined)("Pi 0.73.1 after", () => {
  it.each(operations)(
    "%s opens the file with all entries and the leaf, and goes on where Grove runs on",
    async (_, edits) => {
      const path = session()
      const before = open!(path).getEntries()
      let last: Json = {}
      for (const edit of edits) last = await grove(["edit", path, ...edit])
      const written = readFileSync(path, "utf8")
      const pi = open!(path)
      assert.strictEqual(readFileSync(path, "utf8"), written, "opening changed the file")
      assert.deepStrictEqual(pi.getEntries().slice(0, before.length), before)
      assert.strictEqual(placeOf(pi), last.leaf as string | null)
      pi.buildSessionContext()

      pi.appendMessage({ role: "user", content: [{ type: "text", text: "and now?" }], timestamp: 1 })
      pi.appendMessage({
        role: "assistant",
        content: [{ type: "text", text: "on we go" }],
        provider: "p",
        model: "m",
        api: "x",
        usage: {
          input: 0,
          output: 0,
          cacheRead: 0,
          cacheWrite: 0,
          totalTokens: 0,
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
        },
        stopReason: "stop",
        timestamp: 2
      })
      const context = await grove(["context", path])
      const said = (context.messages as ReadonlyArray<{ readonly content: ReadonlyArray<Json> }>).slice(-2)
      assert.deepStrictEqual(
        said.map(({ content }) => content[0]!.text),
        ["and now?", "on we go"]
      )
      const check = await grove(["check", path])
      assert.deepStrictEqual(check.problems, [])
    }
  )

  it("an entry appended inside a fragment is in use again, and the prune is told to be void", async () => {
    const path = session()
    await grove(["edit", path, "prune", "4497"])
    const line = { type: "message", id: "aaaa0001", parentId: "f33422b95e3b", timestamp: "2026-11-04T00:00:00.000Z" }
    appendFileSync(path, `${JSON.stringify({ ...line, message: { role: "user", content: "still here" } })}\n`)
    assert.strictEqual(placeOf(open!(path)), "aaaa0001")
    assert.strictEqual((await grove(["tree", path])).leaf, "aaaa0001")
    const ran = await run(process.execPath, [program, "check", path], { env: { PATH: process.env.PATH ?? "" } })
    assert.strictEqual(ran.code, 1)
    assert.include(ran.stdout, "void-edit")
  })
})
