import { assert, describe, it } from "@effect/vitest"
import { Entry, type Json, SessionTree } from "@grove/core/model"
import * as Redactor from "../../src/redact/Redactor.ts"
import { samples } from "./samples.ts"

const person = { home: "/home/ada", user: "ada" }
const make = () => Redactor.make(person)

const message = (id: string, parentId: string | null, body: Json): Entry.Entry =>
  Entry.fromJson({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message: body })!

describe("an entry without secrets", () => {
  it("loses them wherever they stand: texts, thoughts, arguments, names of arguments, results, labels, details", () => {
    for (const { text, secret, kind } of samples) {
      const entries = [
        message("a", null, { role: "user", content: text }),
        message("b", "a", {
          role: "assistant",
          provider: "p",
          model: "m",
          content: [
            { type: "thinking", thinking: text },
            { type: "text", text },
            { type: "toolCall", id: "call", name: "bash", arguments: { command: text, deep: [{ [text]: [text] }] } }
          ],
          errorMessage: text
        }),
        message("c", "b", {
          role: "toolResult",
          toolCallId: "call",
          toolName: "bash",
          content: text,
          details: { text }
        }),
        Entry.fromJson({ type: "label", id: "d", parentId: "c", timestamp: "", targetId: "a", label: text })!,
        Entry.fromJson({ type: "custom", id: "e", parentId: "d", timestamp: "", customType: "x", data: text })!,
        Entry.fromJson({ type: "unheard-of", id: "f", parentId: "e", timestamp: "", any: { thing: text } })!
      ]
      const redactor = make()
      const clean = JSON.stringify(entries.map(redactor.entry))
      assert.notInclude(clean, JSON.stringify(secret).slice(1, -1), kind)
      assert.isAtLeast(redactor.counts().get(kind) ?? 0, 9, kind)
    }
  })

  it("keeps what refers to other entries, whatever it looks like", () => {
    const id = samples[0]!.secret
    const entries = [
      message(id, null, {
        role: "assistant",
        provider: "p",
        model: "m",
        content: [{ type: "toolCall", id, name: "bash", arguments: {} }]
      }),
      message("b", id, { role: "toolResult", toolCallId: id, toolName: "bash", content: "", isError: false }),
      { type: "label", id: "c", parentId: "b", timestamp: "", targetId: id, label: "here" },
      {
        type: "compaction",
        id: "d",
        parentId: "c",
        timestamp: "",
        summary: "s",
        firstKeptEntryId: id,
        tokensBefore: 1
      },
      {
        ...{ type: "custom", id: "e", parentId: "d", timestamp: "", customType: "grove.state" },
        data: { targetIds: [id], asked: [id], enabled: false, summary: id }
      }
    ] as ReadonlyArray<Entry.Entry>
    assert.deepStrictEqual(entries.map(make().entry), entries)
  })

  it("is the same tree, with every id, parent, label and state", () => {
    const entries = [
      message("a", null, { role: "user", content: "in /home/ada/shop, says ada" }),
      message("b", "a", { role: "user", content: "one" }),
      message("c", "a", { role: "user", content: samples[0]!.text }),
      { type: "label", id: "d", parentId: "c", timestamp: "", targetId: "b", label: "ada's" }
    ] as ReadonlyArray<Entry.Entry>
    const before = SessionTree.from(entries)
    const after = SessionTree.from(entries.map(make().entry))
    assert.deepStrictEqual([...after.ids()], [...before.ids()])
    assert.deepStrictEqual(after.children("a"), before.children("a"))
    assert.strictEqual(after.leaf, before.leaf)
    assert.strictEqual(after.facts.labels.get("b" as never), "[user]'s")
  })

  it("leaves images alone and drops what is sealed", () => {
    const image = { type: "image", mimeType: "image/png", data: `sk-ant-${"A1".repeat(40)}` }
    const redactor = make()
    const clean = redactor.entry(
      message("a", null, {
        role: "assistant",
        content: [image, { type: "thinking", thinking: "hm", thinkingSignature: "sealed" }],
        details: { image }
      })
    )
    assert.deepStrictEqual(clean.message, {
      role: "assistant",
      content: [image, { type: "thinking", thinking: "hm" }],
      details: { image }
    })
    assert.deepStrictEqual([...redactor.counts()], [["signature", 1]])
  })

  it("is the entry itself where there is nothing to take out", () => {
    const entry = message("a", null, { role: "user", content: "hello" })
    assert.strictEqual(make().entry(entry), entry)
  })

  it("holds no value whose name says that it is secret", () => {
    const { entry, counts } = make()
    const clean = entry(
      message("a", null, {
        role: "assistant",
        content: [
          {
            type: "toolCall",
            id: "1",
            name: "set",
            arguments: { env: { SHOP_TOKEN: "plainword", apiKey: "letmein", key: "Enter" } }
          }
        ]
      })
    )
    assert.include(
      JSON.stringify(clean),
      '"SHOP_TOKEN":"[redacted assignment]","apiKey":"[redacted assignment]","key":"Enter"'
    )
    assert.strictEqual(counts().get("assignment"), 2)
  })

  it("tells names apart that become one", () => {
    const [a, b] = [samples[4]!.secret, samples[5]!.secret]
    const clean = make().entry({
      type: "custom",
      id: "a",
      parentId: null,
      timestamp: "",
      data: { [a]: 1, [b]: 2 }
    } as never)
    assert.deepStrictEqual(clean.data, { "[redacted github-token]": 2, "[redacted github-token] 2": 1 })
  })

  it("is made without recursion, however deep it is nested", () => {
    let data: unknown = samples[0]!.text
    for (let i = 0; i < 100_000; i++) data = [data]
    let clean: unknown = make().value({ data }).data
    while (Array.isArray(clean)) clean = clean[0]
    assert.strictEqual(clean, "[redacted anthropic-key]")
  })
})

describe("a person", () => {
  const cases: ReadonlyArray<readonly [string, string]> = [
    ["/home/ada/shop", "~/shop"],
    ["cd /home/ada && ls", "cd ~ && ls"],
    ["file:///home/ada/x", "file://~/x"],
    ["/home/adam/x and /home/ada-old", "/home/adam/x and /home/[user]-old"],
    ["--home-ada-shop--", "--home-[user]-shop--"],
    ["ada@example.com, Canada, ada_1", "[user]@example.com, Canada, ada_1"],
    ["/Users/ada/x", "/Users/[user]/x"],
    ["first\\nada said", "first\\n[user] said"],
    ["%2Fhome%2Fada", "%2Fhome%2F[user]"]
  ]
  it.each(cases)("in %j is not told: %j", (text, expected) => assert.strictEqual(make().text(text), expected))

  it("is found in paths of Windows, escaped or not", () => {
    const { text } = Redactor.make({ home: "C:\\Users\\Ada Byron", user: "Ada Byron" })
    assert.strictEqual(text("C:\\Users\\Ada Byron\\shop"), "~\\shop")
    assert.strictEqual(text('"C:\\\\Users\\\\Ada Byron\\\\shop"'), '"~\\\\shop"')
  })

  it("with a name that anybody has keeps it; only the home is taken out", () => {
    const { text } = Redactor.make({ home: "/root", user: "root" })
    assert.strictEqual(text("root of the tree, /root/x, /mnt/root"), "root of the tree, ~/x, /mnt/root")
  })

  it("may have any home and any name", () => {
    const { text } = Redactor.make({ home: "/home/ada-l.b+c (x)", user: "ada-l.b+c (x)" })
    assert.strictEqual(text("/home/ada-l.b+c (x)/shop, by ada-l.b+c (x)"), "~/shop, by [user]")
  })

  it("without a home or a name is nobody", () => {
    const { text } = Redactor.make({ home: "/", user: "" })
    assert.strictEqual(text("/usr/bin"), "/usr/bin")
  })
})

describe("a line that was not parsed", () => {
  const concerns = (line: string): boolean => make().mayConcern(Buffer.from(line).toString("latin1"))

  it("is of concern whatever secret it holds, wherever it stands", () => {
    for (const { text, kind } of samples) {
      for (const before of ["", "it is ", "first\n", "\u00e9", '{"a":"'].values()) {
        assert.isTrue(concerns(JSON.stringify({ text: `${before}${text}` })), kind)
      }
    }
  })

  it("is of concern where it holds a person, a signature, or escapes that hide something", () => {
    assert.isTrue(concerns('{"text":"says ada"}'))
    assert.isTrue(concerns('{"thinkingSignature":"x"}'))
    assert.isTrue(concerns('{"text":"\\u0073k-ant"}'))
    assert.isTrue(concerns('{"text":"\\/home"}'))
    assert.isTrue(Redactor.make({ home: "/home/zoë", user: "zoë" }).mayConcern(Buffer.from("zoë").toString("latin1")))
  })

  it("is of no concern where there is nothing in it", () => {
    assert.isFalse(concerns(JSON.stringify({ role: "user", content: "where do names end? <b> a\nb 日本語" })))
  })
})

describe("a header", () => {
  it("keeps its id and loses the person", () => {
    const header = { type: "session", version: 3, id: "ada", cwd: "/home/ada/shop", parentSession: "/home/ada/.pi/x" }
    assert.deepStrictEqual(make().header(header as never), {
      ...header,
      cwd: "~/shop",
      parentSession: "~/.pi/x"
    } as never)
  })
})
