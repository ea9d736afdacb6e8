import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { migrations } from "../src/IndexSchema.ts"
import * as SqliteDatabase from "../src/SqliteDatabase.ts"
import * as SqliteSessionIndex from "../src/SqliteSessionIndex.ts"
import { drivers, temporary } from "./support.ts"

const driver = drivers[0]!
type Json = { readonly [key: string]: unknown }

const header = (id: string, cwd = "/home/ada/grove") =>
  ({ type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd }) satisfies Json
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000).toISOString()
const entry = (id: string, parentId: string | null, minutes: number, fields: Json) =>
  ({ type: "message", id, parentId, timestamp: at(minutes), ...fields }) satisfies Json
const user = (id: string, parentId: string | null, text: string, minutes = 1) =>
  entry(id, parentId, minutes, { message: { role: "user", content: text } })
const assistant = (id: string, parentId: string, content: ReadonlyArray<Json>, minutes = 2) =>
  entry(id, parentId, minutes, { message: { role: "assistant", content } })
const lines = (...values: ReadonlyArray<Json | string>): string =>
  values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("")

const makeStore = () => {
  const folder = temporary()
  const write = (name: string, text: string) => {
    const path = join(folder, "sessions", name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
  const files = () => readdirSync(join(folder, "sessions")).map((name) => join(folder, "sessions", name))
  return { folder, path: join(folder, "index.db"), write, files }
}

const search = (
  index: SqliteSessionIndex.SessionIndex,
  text: string,
  query: Partial<SqliteSessionIndex.SessionQuery> = {}
) => Effect.map(index.search({ text, limit: 50, ...query }), (hits) => hits.map(({ entry }) => entry))

/** Everything an index says, apart from the numbers it gives things. */
const dump = (path: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* SqliteDatabase.open({ path, driver, migrations })
      const items = yield* sql.unsafe(
        `SELECT f.path, f.session, f.cwd, i.entry, i.role, i.tools, i.at, i.start, i.length
         FROM item i JOIN file f ON f.id = i.file_id ORDER BY f.path, i.start, i.entry`
      )
      const labels = yield* sql.unsafe(
        "SELECT f.path, l.entry, l.label FROM label l JOIN file f ON f.id = l.file_id ORDER BY 1, 2"
      )
      const counted = yield* sql.unsafe("SELECT count(*) AS n FROM item_fts_docsize")
      return { items, labels, counted }
    })
  )

describe("the index of sessions", () => {
  it.effect("finds what people, models, tools and summaries say, with a snippet and its marks", () =>
    Effect.gen(function* () {
      const store = makeStore()
      store.write(
        "a.jsonl",
        lines(
          header("s1"),
          user("u1", null, "修复会话树折叠的错误"),
          assistant("a1", "u1", [
            { type: "text", text: "Reading the FILE with café in it" },
            { type: "toolCall", id: "c1", name: "bash", arguments: { command: "grep -rn needle src" } }
          ]),
          entry("t1", "a1", 3, {
            message: { role: "toolResult", toolName: "bash", content: [{ type: "text", text: "ENOENT needle" }] }
          }),
          { type: "compaction", id: "k1", parentId: "t1", timestamp: at(4), summary: "Goal: folding works" },
          { type: "label", id: "l1", parentId: "k1", timestamp: at(5), targetId: "u1", label: "plan-a" }
        )
      )
      store.write(
        "b.jsonl",
        lines(header("s2", "/home/ada/viewer"), user("u2", null, "折叠 again, with getUserById", 60))
      )
      const index = yield* SqliteSessionIndex.open({ path: store.path, driver })
      yield* index.update(store.files())
      assert.deepStrictEqual(yield* search(index, "折叠"), ["u2", "u1"])
      assert.deepStrictEqual(yield* search(index, "needle"), ["t1", "a1"])
      assert.deepStrictEqual(yield* search(index, "cafe file"), ["a1"])
      assert.deepStrictEqual(yield* search(index, "UserBy"), ["u2"])
      assert.deepStrictEqual(yield* search(index, "needle", { role: "tool" }), ["t1"])
      assert.deepStrictEqual(yield* search(index, "needle role:assistant"), ["a1"])
      assert.deepStrictEqual(yield* search(index, "needle", { tool: "bash" }), ["t1", "a1"])
      assert.deepStrictEqual(yield* search(index, "needle", { tool: "ba" }), [])
      assert.deepStrictEqual(yield* search(index, "folding", { role: "summary" }), ["k1"])
      assert.deepStrictEqual(yield* search(index, "折叠", { label: "plan" }), ["u1"])
      assert.deepStrictEqual(yield* search(index, "折叠", { project: "viewer" }), ["u2"])
      assert.deepStrictEqual(yield* search(index, "折叠", { after: Date.parse(at(30)) }), ["u2"])
      assert.deepStrictEqual(yield* search(index, "折叠", { before: Date.parse(at(30)) }), ["u1"])
      assert.deepStrictEqual(yield* search(index, "!again 折叠"), ["u1"])
      for (const text of ["C++", "foo-bar", "AND", '"open', "NEAR(", "%", "🚀"]) {
        assert.deepStrictEqual(yield* search(index, text), [], text)
      }
      const [hit] = yield* index.search({ text: "CAFE", limit: 1 })
      assert.deepStrictEqual(
        hit?.marks.map(([start, end]) => hit.snippet.slice(start, end)),
        ["café"]
      )
      assert.deepStrictEqual([hit?.session, hit?.entry, hit?.role], ["s1", "a1", "assistant"])
    }).pipe(Effect.scoped)
  )

  it.effect("cuts a long text around what was found", () =>
    Effect.gen(function* () {
      const store = makeStore()
      store.write(
        "a.jsonl",
        lines(header("s1"), user("u1", null, `${"x ".repeat(5000)}the\nneedle 🚀 ${"y ".repeat(5000)}`))
      )
      const index = yield* SqliteSessionIndex.open({ path: store.path, driver })
      yield* index.update(store.files())
      const [hit] = yield* index.search({ text: "needle", limit: 1 })
      assert.isBelow(hit!.snippet.length, 200)
      assert.match(hit!.snippet, /^….*the needle 🚀.*…$/)
      assert.deepStrictEqual(
        hit?.marks.map(([start, end]) => hit.snippet.slice(start, end)),
        ["needle"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("reads only what is new, and is then what one made anew would be", () =>
    Effect.gen(function* () {
      const store = makeStore()
      const first = store.write("a.jsonl", lines(header("s1"), user("u1", null, "one"), user("u2", "u1", "two")))
      store.write("b.jsonl", lines(header("s2"), user("b1", null, "bee")))
      const old = { type: "session", id: "s3", timestamp: at(0), cwd: "/old" }
      store.write(
        "c.jsonl",
        lines(old, { type: "message", timestamp: at(1), message: { role: "user", content: "ancient" } })
      )
      const index = yield* SqliteSessionIndex.open({ path: store.path, driver })
      const isAsAnew = Effect.gen(function* () {
        const anew = join(store.folder, `anew-${Math.random()}.db`)
        const other = yield* SqliteSessionIndex.open({ path: anew, driver })
        yield* other.update(store.files())
        assert.deepStrictEqual(yield* dump(store.path), yield* dump(anew))
      })
      assert.deepStrictEqual(yield* index.update(store.files()), { files: 3, read: 3, entries: 4 })
      yield* isAsAnew
      assert.deepStrictEqual(yield* index.update(store.files()), { files: 3, read: 0, entries: 0 })
      appendFileSync(
        first,
        lines(user("u3", "u2", "three"), {
          type: "label",
          id: "l1",
          parentId: "u3",
          timestamp: at(9),
          targetId: "u1",
          label: "x"
        })
      )
      assert.deepStrictEqual(yield* index.update(store.files()), { files: 3, read: 1, entries: 1 })
      yield* isAsAnew
      const half = JSON.stringify(user("u4", "u3", "折叠 in two halves"))
      appendFileSync(first, half.slice(0, -20))
      assert.strictEqual((yield* index.update(store.files())).entries, 0)
      appendFileSync(first, `${half.slice(-20)}\n`)
      assert.strictEqual((yield* index.update(store.files())).entries, 1)
      assert.deepStrictEqual(yield* search(index, "halves"), ["u4"])
      yield* isAsAnew
      appendFileSync(
        first,
        lines(user("u2", "u1", "two, said otherwise"), "not json", {
          type: "label",
          id: "l2",
          parentId: "u4",
          timestamp: at(9),
          targetId: "u1"
        })
      )
      yield* index.update(store.files())
      assert.deepStrictEqual([...(yield* search(index, "two"))].sort(), ["u2", "u4"])
      yield* isAsAnew
      appendFileSync(
        store.files()[2]!,
        lines({ type: "message", timestamp: at(2), message: { role: "user", content: "also ancient" } })
      )
      yield* index.update(store.files())
      assert.strictEqual((yield* search(index, "ancient")).length, 2)
      yield* isAsAnew
      const replaced = `${first}.tmp`
      writeFileSync(replaced, lines(header("s1"), user("u1", null, "uno")))
      renameSync(replaced, first)
      rmSync(store.files()[1]!)
      yield* index.update(store.files())
      assert.deepStrictEqual(yield* search(index, "two"), [])
      assert.deepStrictEqual(yield* search(index, "bee"), [])
      assert.deepStrictEqual(yield* search(index, "uno"), ["u1"])
      yield* isAsAnew
      // Written anew in its place, as long as before or longer.
      for (const text of ["dos", "nothing like what was there before"]) {
        writeFileSync(first, lines(header("s1"), user("u1", null, text)))
        yield* index.update(store.files())
        assert.deepStrictEqual(yield* search(index, text), ["u1"])
        yield* isAsAnew
      }
      assert.deepStrictEqual(yield* search(index, "uno | dos"), [])
    }).pipe(Effect.scoped)
  )

  it.effect("tells a long file that has grown from one that was written anew", () =>
    Effect.gen(function* () {
      const store = makeStore()
      const said = Array.from({ length: 2000 }, (_, i) => user(`u${i}`, null, `number ${i} of many`))
      const file = store.write("a.jsonl", lines(header("s1"), ...said))
      const index = yield* SqliteSessionIndex.open({ path: store.path, driver })
      yield* index.update(store.files())
      appendFileSync(file, lines(user("v", null, "one more")))
      assert.strictEqual((yield* index.update(store.files())).entries, 1)
      writeFileSync(file, lines(header("s1"), ...said.map(({ id }, i) => user(id, null, `figure ${i} of many`))))
      assert.strictEqual((yield* index.update(store.files())).entries, 2000)
      assert.deepStrictEqual(yield* search(index, "'figure '1234"), ["u1234"])
      assert.deepStrictEqual(yield* search(index, "number | more"), [])
    }).pipe(Effect.scoped)
  )

  it.effect("knows a last line that no line end follows, once", () =>
    Effect.gen(function* () {
      const store = makeStore()
      const file = store.write("a.jsonl", lines(header("s1"), user("u1", null, "first")))
      const index = yield* SqliteSessionIndex.open({ path: store.path, driver })
      appendFileSync(file, JSON.stringify(user("u2", "u1", "open end")))
      yield* index.update(store.files())
      assert.deepStrictEqual(yield* search(index, "open"), ["u2"])
      appendFileSync(file, `\n${lines(user("u3", "u2", "open still"))}`)
      yield* index.update(store.files())
      assert.deepStrictEqual([...(yield* search(index, "open"))].sort(), ["u2", "u3"])
    }).pipe(Effect.scoped)
  )

  it.effect("may be brought up to date by several at once", () =>
    Effect.gen(function* () {
      const store = makeStore()
      for (let i = 0; i < 5; i++) store.write(`${i}.jsonl`, lines(header(`s${i}`), user(`u${i}`, null, `number ${i}`)))
      const open = SqliteSessionIndex.open({ path: store.path, driver })
      const indexes = [yield* open, yield* open, yield* open]
      const updated = yield* Effect.forEach(indexes, (index) => index.update(store.files()), {
        concurrency: "unbounded"
      })
      assert.strictEqual(
        updated.reduce((sum, { entries }) => sum + entries, 0),
        5
      )
      for (const index of indexes) assert.strictEqual((yield* search(index, "number")).length, 5)
    }).pipe(Effect.scoped)
  )

  it.effect("takes every fixture as it is", () =>
    Effect.gen(function* () {
      const folder = fileURLToPath(new URL("../../../fixtures/omp/sessions/", import.meta.url))
      const files = readdirSync(folder).map((name) => join(folder, name))
      const index = yield* SqliteSessionIndex.open({ path: join(temporary(), "index.db"), driver })
      const { entries } = yield* index.update(files)
      assert.isAbove(entries, 100)
      assert.isAbove((yield* search(index, "a")).length, 10)
    }).pipe(Effect.scoped)
  )

  it.effect("is made anew where it is damaged, and may be deleted at any time", () =>
    Effect.gen(function* () {
      const store = makeStore()
      store.write("a.jsonl", lines(header("s1"), user("u1", null, "one")))
      writeFileSync(store.path, "no database ".repeat(1000))
      const found = Effect.scoped(
        Effect.gen(function* () {
          const index = yield* SqliteSessionIndex.open({ path: store.path, driver })
          yield* index.update(store.files())
          return yield* search(index, "one")
        })
      )
      assert.deepStrictEqual(yield* found, ["u1"])
      SqliteSessionIndex.forget(store.path)
      assert.deepStrictEqual(readdirSync(store.folder), ["sessions"])
      assert.deepStrictEqual(yield* found, ["u1"])
      assert.isFalse(readFileSync(store.path).includes("no database"))
    })
  )
})
