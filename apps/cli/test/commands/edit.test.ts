/** `grove edit` and `grove compare`, run as people run them. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { FileRunningReplies } from "@grove/storage-files"
import { type Json, onlyValue, program, type Ran, run } from "../support.ts"

const example = fileURLToPath(new URL("../../../../docs/examples/rate-limit.jsonl", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "grove-edit-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const home = join(folder, "home")
mkdirSync(home)

let made = 0
const session = (): string => {
  const name = `talk ${++made}.jsonl`
  copyFileSync(example, join(folder, name))
  return name
}

const grove = (...args: ReadonlyArray<string>): Promise<Ran> => {
  const env = { PATH: process.env.PATH ?? "", HOME: folder, GROVE_HOME: home, LANG: "C.UTF-8" }
  return run(process.execPath, [program, ...args], { cwd: folder, env: { ...env, COLUMNS: "80" } })
}
const json = async (...args: ReadonlyArray<string>): Promise<Json> => {
  const ran = await grove(...args, "--json")
  assert.deepStrictEqual([ran.code, ran.stderr], [0, ""], args.join(" "))
  return onlyValue(ran.stdout)
}
const contextOf = async (name: string) => (await json("context", name)).messages

describe("a file in which nothing was said", () => {
  it("becomes a session by an edit that needs no entry, and is a session where one is refused", async () => {
    writeFileSync(join(folder, "empty.jsonl"), "")
    assert.strictEqual((await json("edit", "empty.jsonl", "name", "begun")).op, "name")
    assert.strictEqual((await json("show", "empty.jsonl")).name, "begun")
    assert.strictEqual((await json("edit", "missing.jsonl", "name", "begun")).op, "name")
    assert.strictEqual((await json("show", "missing.jsonl")).name, "begun")
    writeFileSync(join(folder, "refused.jsonl"), "")
    assert.match(
      (await grove("edit", "refused.jsonl", "disable", "abcd")).stderr,
      /^grove: refused \(unknown\): no entry/
    )
  })

  it("is forked into the folder where one is", async () => {
    writeFileSync(join(folder, "nowhere.jsonl"), "")
    const { path } = await json("fork", "nowhere.jsonl")
    assert.strictEqual(((await json("show", String(path))).header as Json).cwd, realpathSync(folder))
  })

  it("is not made where an entry is named: that is a slip", async () => {
    const ran = await grove("edit", "slip.jsonl", "disable", "abcd")
    assert.deepStrictEqual([ran.code, ran.stderr.includes("no such session file: slip.jsonl")], [1, true])
    assert.notInclude(readdirSync(folder), "slip.jsonl")
  })
})

describe("every operation", () => {
  it("works on a session, survives a reload, and is undone one by one back to the first context", async () => {
    const name = session()
    const first = await contextOf(name)
    const bytes = readFileSync(join(folder, name), "utf8")
    const edits = [
      ["disable", "cef7", "4497"],
      ["enable", "4497"],
      ["graft", "4370", "09c5"],
      ["merge", "f334", "--pick", "f334"],
      ["merge", "f334", "--summary", "--text", "SQLite locks"],
      ["summarize", "8b5c..4497", "--text", "the route"],
      ["rate", "4497", "5"],
      ["leaf", "f334"],
      ["leaf", "none"],
      ["leaf", "4497"],
      ["prune", "4497"]
    ]
    for (const edit of edits) {
      const done = await json("edit", name, ...edit)
      assert.match(String(done.edit), /^[0-9a-f]{12}$/)
      assert.strictEqual(done.undo, `grove edit '${name}' undo ${done.edit}`)
      assert.strictEqual((await json("show", name)).leaf, done.leaf)
      const { after } = done.context as { readonly after: Json }
      assert.strictEqual(((await contextOf(name)) as ReadonlyArray<Json>).length, after.messages)
    }
    assert.isTrue(readFileSync(join(folder, name), "utf8").startsWith(bytes), "an edit changed what was there")
    // The oldest mark of the example is a move that was gone on from, so it is left alone.
    for (const _ of edits) await json("edit", name, "undo")
    assert.deepStrictEqual(await contextOf(name), first)
    const { code, stderr } = await grove("edit", name, "undo")
    assert.deepStrictEqual([code, stderr], [1, "grove: refused (not-an-edit): there is no edit to undo\n"])
    assert.strictEqual((await grove("check", name)).code, 0)
  })

  it("on names says how to bring the old one back", async () => {
    const name = session()
    assert.strictEqual((await json("edit", name, "name", "rate", "limits")).undo, `grove edit '${name}' name`)
    assert.strictEqual((await json("edit", name, "name", "other")).undo, `grove edit '${name}' name 'rate limits'`)
    const label = await json("edit", name, "label", "f334", "it's slow")
    assert.strictEqual(label.undo, `grove edit '${name}' label f33422b95e3b 'sqlite: locks under load'`)
    assert.strictEqual((await json("show", name)).name, "other")
    await grove("edit", name, "label", "f334", "--", "-x")
    assert.match((await json("edit", name, "label", "f334")).undo as string, /^grove edit -- .+ label f33422b95e3b -x$/)
  })

  it("is undone by the command it prints, whatever was edited since", async () => {
    const name = session()
    const first = await json("edit", name, "disable", "4497")
    await json("edit", name, "rate", "4370", "4")
    assert.strictEqual(first.undo, `grove edit '${name}' undo ${first.edit}`)
    assert.strictEqual((await json("edit", name, "undo", first.edit as string)).op, "undo")
  })

  it("that rates is seen in the tree and in what the session is", async () => {
    const name = session()
    await json("edit", name, "rate", "4497", "4", "--note", "right, but slow")
    assert.match((await grove("tree", name, "--ids")).stdout, /^77124b14 .+★4/m)
    assert.match((await grove("show", name)).stdout, /ratings\n {2}★4 449777124b14 {2}right, but slow/)
  })
})

describe("a refusal", () => {
  it.each([
    ["unknown", ["disable", "zzzz"]],
    ["unknown", ["undo", "zzzz"]],
    ["cycle", ["graft", "8b5c", "09c5"]],
    ["splits-unit", ["graft", "4370", "c996"]],
    ["not-an-edit", ["undo", "4497"]],
    ["not-an-edit", ["redo"]]
  ])("is told as %s, with exit 1 and nothing written", async (code, edit) => {
    const name = session()
    const before = readFileSync(join(folder, name), "utf8")
    const ran = await grove("edit", name, ...edit, "--json")
    assert.strictEqual(ran.code, 1)
    assert.match(ran.stderr, new RegExp(`^grove: refused \\(${code}\\): .+\n$`))
    assert.strictEqual(ran.stdout, "")
    assert.strictEqual(readFileSync(join(folder, name), "utf8"), before)
  })

  it("of a summary that the model does not write changes nothing and says how to give one", async () => {
    const name = session()
    const before = readFileSync(join(folder, name), "utf8")
    writeFileSync(join(home, "config.json"), JSON.stringify({ compaction: { model: "nobody/at-all" } }))
    const ran = await grove("edit", name, "summarize", "8b5c..4497")
    rmSync(join(home, "config.json"))
    assert.strictEqual(ran.code, 1)
    assert.match(ran.stderr, /nobody\/at-all.*--text/)
    assert.strictEqual(readFileSync(join(folder, name), "utf8"), before)
  })

  it("comes where a reply is being generated", async () => {
    const name = session()
    const { id } = JSON.parse(readFileSync(join(folder, name), "utf8").split("\n")[0]!)
    const note = { session: id, entry: "aaaaaaaaaaaa", parentId: "f3e2e400523c", model: "a/b", started: "", text: "" }
    mkdirSync(join(home, "running"), { recursive: true })
    const running = join(home, "running", `${id}.aaaaaaaaaaaa.json`)
    writeFileSync(running, JSON.stringify({ ...note, owner: FileRunningReplies.ownerOf(process.pid) }))
    const ran = await grove("edit", name, "prune", "449777124b14")
    const forced = await grove("edit", name, "prune", "449777124b14", "--force")
    rmSync(running)
    assert.deepStrictEqual([ran.code, forced.code], [1, 0])
    assert.include(ran.stderr, "refused (busy)")
  })

  it.each([
    [["dsable", "4497"], "did you mean disable?"],
    [["disable"], "usage: grove edit <s> disable <id>..."],
    [["rate", "4497", "6"], "1 to 5"],
    [["disable", "4497", "--force"], "disable does not take --force"],
    [["stash", "4497"], "stash takes no"],
    [["summarize", "4497"], "<id>..<id>"],
    [["merge", "f334"], "--pick"]
  ])("of %j is wrong usage, exit 2", async (edit, words) => {
    const ran = await grove("edit", session(), ...edit)
    assert.strictEqual(ran.code, 2)
    assert.include(ran.stderr, words)
  })
})

describe("fragments", () => {
  it("are in the stash of the tree, pruned, and no branches", async () => {
    const name = session()
    await json("edit", name, "prune", "4497")
    const tree = (await json("tree", name)) as unknown as {
      readonly stash: unknown
      readonly entries: ReadonlyArray<Json>
    }
    assert.deepStrictEqual(tree.stash, ["43700797e2f9", "0b227dd23823"])
    const stateOf = (id: string) => tree.entries.find((entry) => entry.id === id)
    assert.strictEqual(stateOf("f33422b95e3b")?.state, "pruned")
    assert.strictEqual(stateOf("449777124b14")?.state, "live")
    assert.deepStrictEqual(stateOf("449777124b14")?.children, [])
    assert.strictEqual(((await json("branches", name)) as unknown as ReadonlyArray<Json>).length, 1)
    const linear = (await json("tree", name, "--linear")) as unknown as typeof tree & { readonly leaf: string }
    assert.deepStrictEqual([linear.stash, linear.leaf], [[], "09c5ad78abd4"])
    assert.isTrue(linear.entries.every(({ children }) => (children as ReadonlyArray<string>).length <= 1))
  })
})

describe("a comparison", () => {
  it("names what is shared, what each side holds, and how the turns differ", async () => {
    const compared = (await json("compare", session(), "f334", "09c5")) as unknown as {
      readonly common: ReadonlyArray<string>
      readonly a: Json
      readonly b: Json
      readonly turns: ReadonlyArray<{ readonly a: string; readonly b: string; readonly diff: ReadonlyArray<Json> }>
    }
    assert.strictEqual(compared.common.at(-1), "449777124b14")
    assert.deepStrictEqual(compared.a.entries, ["43700797e2f9", "f33422b95e3b"])
    assert.deepStrictEqual(compared.b.files, ["src/limit.ts"])
    assert.deepStrictEqual(
      compared.turns.map(({ a, b, diff }) => [a, b, diff.map(({ kind }) => kind)]),
      [["43700797e2f9", "0b227dd23823", ["removed", "added"]]]
    )
  })

  it("stays within 80 columns", async () => {
    const { stdout } = await grove("compare", session(), "f334", "09c5")
    for (const line of stdout.split("\n")) assert.isAtMost([...line].length, 80)
  })
})
