import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  Check,
  ContextBuilder,
  type Entry,
  Jsonl,
  type Problem,
  type SessionTree,
  TreeLayout,
  TreeUsage,
  TreeView
} from "../../src/model/index.ts"
import {
  bytes,
  bytesOf,
  type Chance,
  chain,
  entry,
  fileOf,
  forSeeds,
  header,
  idsOf,
  load,
  namesIn,
  refusal,
  treeOf,
  user
} from "../support.ts"

const [a, b, c] = chain("a", "b", "c") as [Entry.Entry, Entry.Entry, Entry.Entry]
const entriesOf = (file: Jsonl.SessionFile) => file.rows.map((row) => row.entry)
const found = (problems: ReadonlyArray<Problem>) => problems.map(({ line, kind }) => [line, kind])
const textAt = (data: Uint8Array, { start, end }: Jsonl.Span) => new TextDecoder().decode(data.subarray(start, end))

describe("a session reads the same", () => {
  const plain = fileOf(header, a, b, c)
  it.each([
    ["blank lines", plain.replaceAll("\n", "\n\n  \n\t\n")],
    ["blank lines before the header", `\n  \n${plain}`],
    ["CRLF line ends", plain.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${plain}`],
    ["a missing final newline", plain.slice(0, -1)],
    ["a missing final newline after CRLF line ends", plain.replaceAll("\n", "\r\n").slice(0, -2)],
    ["white space around the objects", plain.replaceAll("{", " {").replaceAll("}\n", "}\t\n")]
  ])("with %s", (_, text) => {
    const { file } = load(text)
    assert.deepStrictEqual(entriesOf(file), [a, b, c])
    assert.deepStrictEqual(file.header as object, header)
    assert.deepStrictEqual(found(file.problems), [])
    assert.strictEqual(file.tail, null)
  })
})

describe("a line", () => {
  it("ends at LF only: U+2028, U+2029 and a lone CR are part of it", () => {
    const odd = user("a", null, "one\u2028two\u2029three\u0085four")
    const { file } = load(fileOf(header, odd, JSON.stringify(b).replace(",", ",\r")))
    assert.deepStrictEqual(entriesOf(file), [odd, b])
    assert.strictEqual(file.lines.total, 3)
  })

  it("is found again by its span and its number", () => {
    const data = bytes(`\ufeff\n${fileOf(header, user("a", null, "für 你好 😀"), "junk", b)}`)
    const { file } = load(data)
    assert.deepStrictEqual(
      file.rows.map((row) => [row.line, JSON.parse(textAt(data, row))]),
      [
        [3, entriesOf(file)[0]],
        [5, b]
      ]
    )
  })

  it("that is there again with the same bytes is one entry", () => {
    const { file, tree } = load(fileOf(header, a, b, a, b, c, b))
    assert.deepStrictEqual(idsOf(entriesOf(file)), ["a", "b", "c"])
    assert.deepStrictEqual(found(file.problems), [])
    assert.strictEqual(file.lines.entry, 6)
    assert.strictEqual(file.last?.id, "b")
    assert.strictEqual(tree.leaf, "b")
  })

  it("that is there again with another line end is one entry", () => {
    const { file } = load(`${fileOf(header, a)}${JSON.stringify(a)}\r\n${JSON.stringify(a)}`)
    assert.deepStrictEqual(entriesOf(file), [a])
    assert.deepStrictEqual(found(file.problems), [])
  })

  it("with a taken id and other bytes replaces the entry, and is reported", () => {
    const again = user("a", null, "again")
    const { file, tree } = load(fileOf(header, a, b, again))
    assert.deepStrictEqual(entriesOf(file), [b, again])
    assert.deepStrictEqual(found(file.problems), [[4, "duplicate-id"]])
    assert.deepStrictEqual(tree.path("b"), [again, b])
  })

  it.each([
    ["a number", "42", "not-object"],
    ["a string", '"text"', "not-object"],
    ["null", "null", "not-object"],
    ["an array", '[{"type":"message","id":"x"}]', "not-object"],
    ["no JSON", "{broken", "not-json"],
    ["two objects glued together", JSON.stringify(b) + JSON.stringify(b), "not-json"],
    ["a run of NUL", "\0".repeat(64), "not-json"],
    ["a run of NUL before an object", "\0".repeat(64) + JSON.stringify(b), "not-json"],
    ["an object without a type", '{"id":"x"}', "bad-entry"],
    ["an object whose type is no string", '{"type":1,"id":"x"}', "bad-entry"],
    ["an entry without an id", '{"type":"message"}', "bad-entry"],
    ["an entry whose id is empty", '{"type":"message","id":""}', "bad-entry"],
    ["an entry whose id is a number", '{"type":"message","id":7}', "bad-entry"],
    ["a second header", JSON.stringify({ ...header, id: "s2" }), "second-header"],
    ["a title slot after the header", '{"type":"title","title":"late"}', "bad-entry"]
  ])("that is %s is skipped and reported, and nothing after it is lost", (_, line, kind) => {
    const { file } = load(fileOf(header, a, line, c))
    assert.deepStrictEqual(entriesOf(file), [a, c])
    assert.deepStrictEqual(found(file.problems), [[3, kind]])
    assert.deepStrictEqual(file.lines, { total: 4, title: 0, header: 1, entry: 2, skipped: 1, blank: 0 })
    assert.deepStrictEqual(file.header as object, header)
  })

  it.each([
    ["absent", {}],
    ["empty", { parentId: "" }],
    ["no string", { parentId: 7 }]
  ])("whose parentId is %s is a root", (_, link) => {
    const { file, tree } = load(fileOf(header, { type: "note", id: "x", timestamp: "t", ...link }))
    assert.strictEqual(entriesOf(file)[0]?.parentId, null)
    assert.deepStrictEqual(tree.problems(), [])
  })

  it("that holds bytes that are no UTF-8 is kept and reported", () => {
    const text = fileOf(header, a, user("b", "a", "caf#"))
    const data = bytes(text).map((byte) => (byte === "#".charCodeAt(0) ? 0xe9 : byte))
    const { file } = load(data)
    assert.deepStrictEqual(idsOf(entriesOf(file)), ["a", "b"])
    assert.deepStrictEqual(found(file.problems), [[3, "bad-body"]])
  })

  it("that holds a replacement character as it should be is not reported", () => {
    assert.deepStrictEqual(load(fileOf(header, user("a", null, "\ufffd"))).file.problems, [])
  })
})

describe("the header", () => {
  it.each([
    ["missing", fileOf(a, b), 1],
    ["after the first entry", fileOf(a, header, b), 1],
    ["without an id", fileOf({ ...header, id: undefined }, a), 2],
    ["with an empty id", fileOf({ ...header, id: "" }, a), 2],
    ["with a number for an id", fileOf({ ...header, id: 7 }, a), 2],
    ["broken", fileOf("{broken", a), 2],
    ["missing because the file is junk", fileOf("junk", "more junk"), 1],
    ["missing behind a title slot", fileOf({ type: "title", title: "t" }), 1]
  ])("that is %s makes the file no session", (_, text, line) => {
    const refused = refusal(text)
    assert.strictEqual(refused._tag, "NotASession")
    assert.deepStrictEqual([refused.problems.at(-1)?.kind, refused.problems.at(-1)?.line], ["no-header", refused.line])
    assert.strictEqual(refused.line, line)
  })

  it("may stand behind blank and broken lines", () => {
    const { file } = load(fileOf("", "{broken", header, a))
    assert.deepStrictEqual(entriesOf(file), [a])
    assert.deepStrictEqual(found(file.problems), [[2, "not-json"]])
  })

  it("keeps the fields we do not know", () => {
    const odd = { ...header, theme: { dark: true }, __proto__x: 1 }
    assert.deepStrictEqual(load(fileOf(odd)).file.header as object, odd)
  })

  it("may stand behind one title slot, which is kept", () => {
    const slot = { type: "title", title: "My title", pad: "   " }
    const { file } = load(fileOf(slot, header, a))
    assert.deepStrictEqual(file.title as object, slot)
    assert.deepStrictEqual(file.lines, { total: 3, title: 1, header: 1, entry: 1, skipped: 0, blank: 0 })
    assert.deepStrictEqual(found(file.problems), [])
  })

  it("of a newer version is reported, and the file is left as it is", () => {
    const hook = entry("a", null, { type: "message", message: { role: "hookMessage", content: "x" } })
    const { file } = load(fileOf("", { ...header, version: 99 }, hook))
    assert.strictEqual(file.version, 99)
    assert.strictEqual(file.header?.version, 99)
    assert.deepStrictEqual(entriesOf(file), [hook])
    assert.deepStrictEqual(found(file.problems), [[2, "newer-version"]])
  })

  it.each([
    [99, "version 99 is newer than 3; the file is opened read-only"],
    ["two", 'version "two" is none; the file is opened read-only, as if it were newer'],
    [0, "version 0 is none; the file is opened read-only, as if it were newer"]
  ])("with version %j says what is wrong with it", (version, message) => {
    assert.strictEqual(load(fileOf({ ...header, version }, a)).file.problems[0]?.message, message)
  })

  it.each([
    [{ parentId: 7 }, "entry a has a parentId that is no text; it counts as a root"],
    [{ parentId: { id: "x" } }, "entry a has a parentId that is no text; it counts as a root"],
    [{ timestamp: undefined }, "entry a has no timestamp that can be read"],
    [{ timestamp: 1760000000000 }, "entry a has no timestamp that can be read"],
    [{ timestamp: "yesterday" }, "entry a has no timestamp that can be read"],
    [{ timestamp: "Jan 1 2026 10:00" }, "entry a has no timestamp that can be read"],
    [{ timestamp: "2026-13-01T00:00:00.000Z" }, "entry a has no timestamp that can be read"]
  ])("keeps an entry whose envelope is bent, %j, and says so", (fields, message) => {
    const { file } = load(fileOf(header, { ...a, ...fields }))
    assert.strictEqual(file.rows.length, 1)
    assert.deepStrictEqual(file.problems, [{ line: 2, kind: "bad-body", message }])
  })

  it.each(["2026-01-31", "2026-01-31T10:00Z", "2026-01-31T10:00:00+02:00", "2026-01-31T10:00:00.123456Z"])(
    "takes the time %s as it is",
    (timestamp) => {
      assert.deepStrictEqual(load(fileOf(header, { ...a, timestamp })).file.problems, [])
    }
  )

  it.each(["2", "one", true, {}, [], -1, 0])("with version %j is never migrated", (version) => {
    const { file } = load(fileOf({ ...header, version }, a, '{"type":"note"}'))
    assert.deepStrictEqual(entriesOf(file), [a])
    assert.deepStrictEqual(file.header?.version as unknown, version)
    assert.deepStrictEqual(found(file.problems), [
      [1, "newer-version"],
      [3, "bad-entry"]
    ])
  })

  it.each(["", "\n", " \r\n\t\n", "\ufeff", "\ufeff\n"])(
    "is not asked of a file of nothing but white space: %j",
    (text) => {
      const { file, tree } = load(text)
      assert.strictEqual(file.header, null)
      assert.strictEqual(file.version, null)
      assert.deepStrictEqual(file.problems, [])
      assert.strictEqual(tree.leaf, null)
    }
  )
})

describe("a write that was cut off", () => {
  const whole = bytes(fileOf(header, a, user("b", "a", "für 你好 😀")))
  const start = whole.lastIndexOf(10, whole.length - 2) + 1

  it("at any byte is set apart: no entry before it is lost, and nothing is made of it", () => {
    for (let size = start + 1; size < whole.length - 1; size++) {
      const { file } = load(whole.subarray(0, size))
      assert.deepStrictEqual(entriesOf(file), [a])
      assert.deepStrictEqual(file.tail, { start, end: size })
      assert.deepStrictEqual(found(file.problems), [[3, "torn-tail"]])
    }
  })

  it("just before its line end is whole", () => {
    const { file } = load(whole.subarray(0, -1))
    assert.deepStrictEqual(idsOf(entriesOf(file)), ["a", "b"])
    assert.strictEqual(file.tail, null)
  })

  it("and was followed by another line is an unreadable line, not a tail", () => {
    const { file } = load(fileOf(header, a, '{"type":"mess', c))
    assert.deepStrictEqual(entriesOf(file), [a, c])
    assert.strictEqual(file.tail, null)
  })

  it("before a header was written makes the file no session", () => {
    assert.strictEqual(refusal('{"type":"sess').line, 1)
  })
})

describe("whatever the bytes are", () => {
  const fixtures = [
    ...namesIn("pi", /\.jsonl$/).map((name) => `pi/${name}`),
    ...namesIn("omp/sessions", /\.jsonl$/).map((name) => `omp/sessions/${name}`)
  ]
    .map(bytesOf)
    .filter(({ length }) => length > 0 && length < 40_000)

  const linesIn = (data: Uint8Array): number => {
    const body = data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data
    const ends = body.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0)
    return body.length > 0 && body.at(-1) !== 10 ? ends + 1 : ends
  }

  const use = (file: Jsonl.SessionFile, tree: SessionTree) => {
    ContextBuilder.build(tree)
    TreeUsage.sums(tree, tree.leaf)
    for (const filter of TreeView.filters) TreeLayout.layout(TreeView.make(tree, filter), { leaf: tree.leaf })
    return Check.problems(file, tree)
  }

  const accounts = (data: Uint8Array): boolean => {
    const total = linesIn(data)
    const read = Jsonl.read(data)
    if (Result.isFailure(read)) {
      assert.isAtLeast(read.failure.line, 1)
      assert.isAtMost(read.failure.line, total)
      return false
    }
    const file = read.success
    const { title, header, entry, skipped, blank } = file.lines
    assert.strictEqual(file.lines.total, total)
    assert.strictEqual(title + header + entry + skipped + blank, total)
    assert.isAtLeast(file.problems.length, skipped)
    for (const row of file.rows) {
      const { id } = JSON.parse(textAt(data, row))
      if (file.version! >= 2) assert.strictEqual(id, row.entry.id)
    }
    for (const { line } of use(file, treeOf(file))) assert.isTrue(line >= 1 && line <= total)
    return true
  }

  /** Flips, deletes, inserts or cuts; now and then a whole line goes elsewhere. */
  const damage = (data: Uint8Array, chance: Chance): Uint8Array => {
    const at = chance.below(data.length + 1)
    const length = chance.oneIn(3) ? chance.below(200) : 1
    const junk = Uint8Array.from({ length }, () =>
      chance.pick([0, 10, 13, 34, 44, 92, 123, 125, 0xff, chance.below(256)])
    )
    switch (chance.below(5)) {
      case 0:
        return data.map((byte, i) => (i === at ? byte ^ (1 << chance.below(8)) : byte))
      case 1:
        return Uint8Array.from([...data.subarray(0, at), ...data.subarray(at + length)])
      case 2:
        return Uint8Array.from([...data.subarray(0, at), ...junk, ...data.subarray(at)])
      case 3:
        return data.subarray(0, at)
      default: {
        const lines = new TextDecoder().decode(data).split("\n")
        const [moved] = lines.splice(chance.below(lines.length), 1)
        lines.splice(chance.below(lines.length + 1), 0, moved ?? "")
        return bytes(lines.join("\n"))
      }
    }
  }

  it("random bytes are read without a throw, and every line is accounted for", () => {
    const letters = [...bytes('{}[]",:\\\n\n\r \0typesionidmg')]
    forSeeds(2000, (chance) => {
      const any = chance.oneIn(2)
      const body = Uint8Array.from({ length: chance.below(300) }, () =>
        any ? chance.below(256) : chance.pick(letters)
      )
      accounts(body)
      assert.isTrue(accounts(Uint8Array.from([...bytes(fileOf(header)), ...body])))
    })
  })

  it("damaged sessions are read without a throw, and every line is accounted for", () => {
    let sessions = 0
    forSeeds(4000, (chance) => {
      let data = chance.pick(fixtures)
      for (let times = 1 + chance.below(4); times > 0; times--) data = damage(data, chance)
      if (accounts(data)) sessions++
    })
    assert.isAbove(sessions, 2000)
  })

  it("reading changes none of them", () => {
    for (const data of fixtures) {
      const before = data.slice()
      Jsonl.read(data)
      assert.deepStrictEqual(data.slice(), before)
    }
  })

  it("deep nesting does not grow the stack", () => {
    const deep = `{"type":"note","id":"x","parentId":null,"timestamp":"","d":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    assert.deepStrictEqual(idsOf(entriesOf(load(fileOf(header, deep)).file)), ["x"])
  })
})
