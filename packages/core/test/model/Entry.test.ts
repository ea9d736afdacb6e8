import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { Entry, Header, Ids, Jsonl, Mark, Message, SessionId } from "../../src/model/index.ts"
import { entry, type Json, roundTrip } from "../support.ts"

/** What the schema generates, as JSON, with members it does not know. */
const withExtras = (schema: Schema.Constraint): Arbitrary.Arbitrary<Json> =>
  Arbitrary.all([
    Arbitrary.schema(schema as Schema.Schema<Json>),
    Arbitrary.schema(Schema.Record(Schema.String, Schema.Unknown))
  ]).pipe(
    Arbitrary.map(([known, extras]) => {
      const fresh = Object.entries(extras).map(([key, value]) => [`x-${key}`, value])
      return roundTrip({ ...known, ...Object.fromEntries(fresh) })
    })
  )

const runs = { arbitrary: { runs: 60, seed: 1, size: 6 } }
const entrySchemas = Object.entries(Entry.known) as ReadonlyArray<[Entry.KnownType, Schema.Constraint]>
const schemas: ReadonlyArray<[string, Schema.Constraint]> = [
  ...entrySchemas,
  ...Message.Message.members.map((member): [string, Schema.Constraint] => [
    `message of role ${member.schema.fields.role.schema.literal}`,
    member
  ]),
  ...Object.entries(Mark.data),
  ["header", Header.Header]
]

/** What an entry of each type cannot be without. */
const promised: { readonly [type in Entry.KnownType]?: ReadonlyArray<string> } = {
  message: ["message"],
  compaction: ["summary", "tokensBefore"],
  branch_summary: ["summary", "fromId"],
  custom: ["customType"],
  custom_message: ["customType", "content", "display"],
  label: ["targetId"],
  ttsr_injection: ["injectedRules"],
  session_init: ["systemPrompt", "task", "tools"],
  mode_change: ["mode"],
  usage: ["kind", "provider", "model", "usage"],
  context_edit: ["targetId", "replacement"]
}

describe.each(schemas)("a %s", (_, schema) => {
  const codec = schema as Schema.Codec<Json>
  const decode = Schema.decodeUnknownSync(codec)
  const encode = Schema.encodeSync(codec)

  it.prop(
    "comes back as it was, unknown fields included, from its schema and from its line",
    [withExtras(schema)],
    ([value]) => {
      assert.deepStrictEqual(decode(encode(value)), value)
      assert.deepStrictEqual(decode(value), value)
      assert.deepStrictEqual(JSON.parse(Jsonl.encode(value)), value)
      assert.match(Jsonl.encode(value), /^[^\n]*\n$/)
    },
    runs
  )
})

describe.each(entrySchemas)("an entry of type %s", (type, schema) => {
  it.prop(
    "is read as the very object it is, and its body is valid",
    [withExtras(schema)],
    ([value]) => {
      const read = Entry.fromJson(value)
      assert.strictEqual(read as object, value)
      assert.isTrue(Entry.hasValidBody(read!))
    },
    runs
  )

  it.prop(
    "is no longer valid without what its type promises",
    [withExtras(schema)],
    ([value]) => {
      for (const field of promised[type] ?? []) {
        const { [field]: _, ...rest } = value
        assert.isFalse(Entry.hasValidBody(rest as Entry.Entry), `without ${field}`)
        assert.isFalse(Entry.hasValidBody({ ...value, [field]: 7n } as never), `with a wrong ${field}`)
      }
    },
    runs
  )
})

describe("reading a value as an entry", () => {
  it("keeps types and fields we do not know", () => {
    const value = { type: "hologram", id: "a", parentId: null, timestamp: "t", beam: { colours: [1, 2] } }
    assert.strictEqual(Entry.fromJson(value) as object, value)
    assert.isTrue(Entry.hasValidBody(entry("a", null, value)))
  })

  it("keeps a member named __proto__ a member", () => {
    const value = JSON.parse('{"type":"note","id":"a","__proto__":{"x":1}}')
    assert.strictEqual(
      JSON.stringify(Entry.fromJson(value)),
      '{"type":"note","id":"a","__proto__":{"x":1},"parentId":null,"timestamp":""}'
    )
  })

  it.each([
    null,
    1,
    "x",
    [],
    {},
    { type: "x" },
    { id: "x" },
    { type: "x", id: "" },
    { type: 1, id: "x" },
    { type: "x", id: 1 }
  ])("refuses %j", (value) => {
    assert.strictEqual(Entry.fromJson(value), undefined)
  })

  it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
    "takes type %s for one it does not know",
    (type) => {
      assert.isTrue(Entry.hasValidBody(entry("a", null, { type })))
    }
  )

  it.each([
    ["a model_change that names no model", { type: "model_change" }],
    ["a model_change with half a model", { type: "model_change", provider: "p" }],
    ["a message of an unknown role", { type: "message", message: { role: "oracle", content: "x" } }],
    [
      "a reply whose content is a string",
      { type: "message", message: { role: "assistant", provider: "p", model: "m", content: "x" } }
    ],
    [
      "a reply with an unknown block",
      { type: "message", message: { role: "assistant", provider: "p", model: "m", content: [{ type: "smell" }] } }
    ],
    ["a label whose text is a number", { type: "label", targetId: "a", label: 1 }]
  ])("keeps %s, and does not call it valid", (_, fields) => {
    const read = Entry.fromJson({ id: "a", parentId: null, timestamp: "t", ...fields })
    assert.isDefined(read)
    assert.isFalse(Entry.hasValidBody(read!))
  })
})

describe("an id", () => {
  const ids = ["0123456789ab", "0123ffffffff", "aaaa456789ab", "abc"]
  it.each([
    ["the whole id", "0123456789ab", ["0123456789ab"]],
    ["a whole id that is too short to abbreviate", "abc", ["abc"]],
    ["a prefix", "aaaa", ["aaaa456789ab"]],
    ["a suffix", "ffff", ["0123ffffffff"]],
    ["an ambiguous prefix", "0123", ["0123456789ab", "0123ffffffff"]],
    ["an ambiguous suffix", "6789ab", ["0123456789ab", "aaaa456789ab"]],
    ["three characters", "012", []],
    ["something else", "ffff0", []]
  ])("is named by %s", (_, text, expected) => {
    assert.deepStrictEqual(Ids.candidates(text, ids), expected)
  })

  it("is shown by its last eight characters", () => {
    assert.strictEqual(Ids.short("0123456789ab"), "456789ab")
    assert.strictEqual(Ids.short("abc"), "abc")
  })

  it.each(["a", "A.b-c_9", "_", "x".repeat(128)])("of a session may be %s", (id) => {
    assert.isTrue(Schema.is(SessionId)(id))
  })
  it.each(["", ".", "..", "-a", "a-", ".a", "a.", "a/b", "a\\b", "a b", "é", "a\n", "x".repeat(129)])(
    "of a session is never %j",
    (id) => {
      assert.isFalse(Schema.is(SessionId)(id))
    }
  )
})
