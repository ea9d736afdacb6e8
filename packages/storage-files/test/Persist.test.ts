import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { BlobStore, BlobStoreError, Blobs, type Entry, Jsonl } from "@grove/core"
import { EntryArbitrary } from "@grove/core/testing"
import { Arbitrary, Effect, Layer, Result, Schema } from "effect"
import * as Persist from "../src/Persist.ts"
import { prepare } from "./support/prepare.ts"

type Json = { readonly [key: string]: unknown }

const { LONGEST_STRING, NOTICE } = Persist
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

const entryOf = (fields: Json): Entry.Entry =>
  ({ type: "message", id: "0123456789ab", parentId: null, timestamp: "2026-01-01T00:00:00.000Z", ...fields }) as never

const message = (content: unknown, more: Json = {}): Entry.Entry =>
  entryOf({ message: { role: "user", content, ...more } })

const base64 = (bytes: number, seed = 1): string =>
  Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (i * 31 + seed * 17) & 255)).toString("base64")
const image = (data: string, more: Json = {}): Json => ({ type: "image", data, mimeType: "image/png", ...more })

/** Whatever is prepared in here is kept in one store. */
const withStore = <A, E>(effect: Effect.Effect<A, E, BlobStore>) => Effect.provide(effect, BlobStore.layerMemory)

const restore = (entry: Entry.Entry) => Effect.flatMap(Persist.restoreFullText(entry), Persist.restoreImages)

/** What stands at a JSON pointer, by the letter of RFC 6901. */
const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((node, key) => (node as Json)[key.replaceAll("~1", "/").replaceAll("~0", "~")], value)

const textAt = (entry: Entry.Entry, pointer: string): string => at(entry, pointer) as string

describe("an entry that needs nothing", () => {
  it.effect("comes back as the very same object", () =>
    withStore(
      Effect.gen(function* () {
        const entries = [
          message("hello"),
          message([{ type: "text", text: "x".repeat(LONGEST_STRING) }, image(base64(100))]),
          entryOf({ type: "custom", customType: "x", data: { deep: [[[{ a: null, b: [1, true, "data"] }]]] } })
        ]
        for (const entry of entries) assert.strictEqual(yield* prepare(entry), entry)
      })
    )
  )

  it("costs next to nothing: 10,000 appends are not slowed noticeably", () => {
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { input: 0.1, output: 0.2, total: 0.3 } }
    const entries = Array.from({ length: 10_000 }, (_, i) =>
      message(
        [
          { type: "text", text: "word ".repeat(300) },
          { type: "toolCall", id: `c${i}`, name: "read", arguments: { path: "a.ts" } }
        ],
        {
          role: "assistant",
          usage
        }
      )
    )
    const time = (work: (entry: Entry.Entry) => unknown) => {
      const start = performance.now()
      for (const entry of entries) work(entry)
      return performance.now() - start
    }
    time(Persist.split)
    const best = (work: (entry: Entry.Entry) => unknown) => Math.min(...[1, 2, 3].map(() => time(work)))
    assert.isBelow(
      best(Persist.split),
      best((entry) => JSON.stringify(entry)) * 2,
      "less than twice what encoding takes"
    )
  })

  it("may be 100,000 levels deep", () => {
    let deep: unknown = { partialJson: "gone", text: "kept" }
    for (let i = 0; i < 100_000; i++) deep = i % 2 === 0 ? [deep] : { deep }
    const { entry, blobs } = Persist.split(entryOf({ data: deep }))
    assert.strictEqual(blobs.length, 0)
    let node = entry.data as Json | ReadonlyArray<unknown>
    for (let i = 0; i < 100_000; i++) node = (Array.isArray(node) ? node[0] : (node as Json).deep) as Json
    assert.deepStrictEqual(node, { text: "kept" })
  })
})

describe("what only mattered while streaming", () => {
  it("is dropped wherever it is, and the original is not touched", () => {
    const call = {
      type: "toolCall",
      id: "c",
      name: "read",
      arguments: { path: "a", partialJson: '{"pa' },
      partialJson: "{"
    }
    const entry = message([call, { type: "text", text: "x" }], {
      jsonlEvents: [1, 2],
      details: { a: { jsonlEvents: "x" } }
    })
    const before = JSON.stringify(entry)
    const { entry: written } = Persist.split(entry)
    assert.deepStrictEqual(
      written,
      message(
        [
          { type: "toolCall", id: "c", name: "read", arguments: { path: "a" } },
          { type: "text", text: "x" }
        ],
        {
          details: { a: {} }
        }
      )
    )
    assert.strictEqual(JSON.stringify(entry), before)
    const [, textBefore] = (entry.message as { content: ReadonlyArray<unknown> }).content
    const [, textAfter] = (written.message as { content: ReadonlyArray<unknown> }).content
    assert.strictEqual(textAfter, textBefore, "what did not change is shared")
  })

  it("members named __proto__ are members like any other", () => {
    const entry = entryOf({ data: JSON.parse('{"__proto__":{"partialJson":"x","keep":1}}') })
    assert.strictEqual(JSON.stringify(Persist.split(entry).entry.data), '{"__proto__":{"keep":1}}')
  })
})

describe("images", () => {
  it.effect("of 1024 base64 characters and more are kept as blobs of their bytes", () =>
    withStore(
      Effect.gen(function* () {
        const small = base64(766)
        const large = base64(768)
        assert.strictEqual(small.length, 1024)
        assert.strictEqual(large.length, 1024)
        const shorter = base64(765)
        assert.strictEqual(shorter.length, 1020)
        const written = yield* prepare(message([image(shorter), image(large), image(large)]))
        const [a, b, c] = (written.message as { content: ReadonlyArray<Json> }).content
        assert.strictEqual(a!.data, shorter)
        const bytes = new Uint8Array(Buffer.from(large, "base64"))
        assert.strictEqual(b!.data, Blobs.reference(Blobs.hashOf(bytes)))
        assert.strictEqual(c!.data, b!.data)
        const store = yield* BlobStore
        assert.deepStrictEqual(Array.from(yield* store.get(Blobs.hashIn(b!.data)!)), Array.from(bytes))
      })
    )
  )

  it.each([
    ["the base64 is not canonical", `${base64(768).slice(0, -1)}=`],
    ["there are line ends in it", `${base64(400)}\n${base64(500)}`],
    ["it is the URL alphabet", base64(900).replaceAll("+", "-").replaceAll("/", "_")],
    ["it is a data URL", `data:image/png;base64,${base64(768)}`]
  ])("stay inline, unchanged, where %s", (_, data) => {
    const entry = message([image(data)])
    assert.strictEqual(Persist.split(entry).entry, entry)
  })

  it("are found in every content array, at any depth, and only there", () => {
    const data = base64(1000)
    const inContent = [
      message([image(data)]),
      entryOf({ type: "custom_message", customType: "x", display: true, content: [image(data)] }),
      message([{ type: "tool_result", content: [image(data)] }]),
      message("x", { details: { parts: [{ content: [image(data)] }] } })
    ]
    for (const entry of inContent) {
      assert.notInclude(JSON.stringify(Persist.split(entry).entry), data)
      assert.strictEqual(Persist.split(entry).blobs.length, 1)
    }
    const elsewhere = [
      message("x", { files: [{ path: "x.png", image: image(data) }] }),
      message("x", { images: [image(data)] }),
      message(image(data)),
      message([{ type: "audio", data }]),
      message([image("x", { data: 5 })])
    ]
    for (const entry of elsewhere) assert.strictEqual(Persist.split(entry).entry, entry)
  })

  it("are never cut, however long", () => {
    const data = `${"A".repeat(LONGEST_STRING + 1)}!`
    for (const entry of [
      message([image(data)]),
      message("x", { files: [{ image: image("", { source: { data } }) }] })
    ]) {
      assert.strictEqual(Persist.split(entry).entry, entry)
    }
  })
})

describe("texts over the limit", () => {
  it.effect("are cut within it, say so, and are kept whole beside the line", () =>
    withStore(
      Effect.gen(function* () {
        const text = "0123456789abcde\n".repeat(40_000)
        const entry = message([{ type: "text", text }], {
          role: "toolResult",
          details: { content: text, lineCount: 40_001 }
        })
        const written = yield* prepare(entry)
        const cut = textAt(written, "/message/content/0/text")
        assert.strictEqual(cut.length, LONGEST_STRING)
        assert.isTrue(cut.endsWith(NOTICE))
        assert.isTrue(text.startsWith(cut.slice(0, -NOTICE.length)))
        const details = at(written, "/message/details") as { content: string; lineCount: number }
        assert.strictEqual(details.lineCount, details.content.split("\n").length)
        assert.deepStrictEqual(Object.keys(written.fullText as object).sort(), [
          "/message/content/0/text",
          "/message/details/content"
        ])
        const restored = yield* Persist.restoreFullText(written)
        assert.deepStrictEqual(restored, entry)
      })
    )
  )

  it("are measured in UTF-16 units: one more than the limit is cut, the limit is not", () => {
    const limit = message("x".repeat(LONGEST_STRING))
    assert.strictEqual(Persist.split(limit).entry, limit)
    assert.strictEqual(
      textAt(Persist.split(message("x".repeat(LONGEST_STRING + 1))).entry, "/message/content").length,
      LONGEST_STRING
    )
  })

  it("end in a whole character", () => {
    for (const before of ["", "x"]) {
      const text = textAt(Persist.split(message(before + "😀".repeat(300_000))).entry, "/message/content")
      assert.isAtMost(text.length, LONGEST_STRING)
      assert.notMatch(text, LONE_SURROGATE)
      assert.isTrue(text.endsWith(`😀${NOTICE}`))
    }
  })

  it("are left whole where a provider would reject half of them", () => {
    const text = "s".repeat(LONGEST_STRING + 1)
    for (const name of ["thinkingSignature", "thoughtSignature", "textSignature"]) {
      const entry = message([{ type: "thinking", thinking: "x", [name]: text }])
      assert.strictEqual(Persist.split(entry).entry, entry)
    }
  })

  it("are left whole where fullText already means something else", () => {
    for (const fullText of ["theirs", ["theirs"], 7, null]) {
      const entry = { ...message("x".repeat(LONGEST_STRING + 1)), fullText } as Entry.Entry
      assert.strictEqual(Persist.split(entry).entry, entry)
    }
  })

  it.effect("are pointed to as RFC 6901 says, whatever their names", () =>
    withStore(
      Effect.gen(function* () {
        const text = "y".repeat(LONGEST_STRING + 1)
        const entry = entryOf({ data: { "a/b": { "m~n": [text] }, "": text, "~1": text } })
        const written = yield* prepare(entry)
        assert.deepStrictEqual(Object.keys(written.fullText as object).sort(), [
          "/data/",
          "/data/a~1b/m~0n/0",
          "/data/~01"
        ])
        assert.deepStrictEqual(yield* Persist.restoreFullText(written), entry)
      })
    )
  )

  it.effect("come back exactly, halves of surrogate pairs included", () =>
    withStore(
      Effect.gen(function* () {
        const text = `\ud83d|\ude00|${"x".repeat(LONGEST_STRING)}|\udfff\ud800|\ud83d\ude00|é漢\ud7ff\ue000\ufeff\ud800`
        const entry = message(`\ufeff${text}`)
        assert.strictEqual(
          textAt(yield* Persist.restoreFullText(yield* prepare(entry)), "/message/content"),
          `\ufeff${text}`
        )
      })
    )
  )

  it.effect("stay cut, and stay pointed to, where their blob is missing", () =>
    Effect.gen(function* () {
      const entry = message([{ type: "text", text: "x".repeat(LONGEST_STRING + 1) }])
      const written = yield* withStore(prepare(entry))
      assert.strictEqual(yield* withStore(Persist.restoreFullText(written)), written)
    })
  )

  it.effect("are not taken from pointers that lead elsewhere", () =>
    withStore(
      Effect.gen(function* () {
        const store = yield* BlobStore
        const reference = Blobs.reference(yield* store.put(Buffer.from("planted")))
        const fullText = {
          "/message/content": reference,
          "/__proto__/x": reference,
          "/id": reference,
          "/no/such": reference,
          "": reference
        }
        const entry = { ...message("short"), fullText } as Entry.Entry
        assert.strictEqual(yield* Persist.restoreFullText(entry), entry)
      })
    )
  )
})

it.effect("nothing is written before its blobs are kept", () =>
  Effect.gen(function* () {
    const hash = "0".repeat(64) as Blobs.BlobHash
    const Full = Layer.mock(BlobStore, {
      put: () => Effect.fail(new BlobStoreError({ hash, reason: new Blobs.BlobRefused({ cause: "full" }) }))
    })
    const error = yield* Effect.flip(Effect.provide(prepare(message([image(base64(1000))])), Full))
    assert.strictEqual(error._tag, "BlobStoreError")
  })
)

describe("for any entry", () => {
  /** Some of its strings become images or long. */
  const Size = Schema.Literals(["as it is", "as it is", "long", "image", "transient"])
  const drafts = Arbitrary.all({
    entries: EntryArbitrary.entries,
    sizes: Arbitrary.array(Arbitrary.schema(Size), { minLength: 5, maxLength: 5 })
  })

  const grown = (entry: Entry.Entry, sizes: ReadonlyArray<string>): Entry.Entry => {
    const parts = sizes.map((size, i): Json => {
      if (size === "long") return { type: "text", text: `${i}é😀\n`.repeat(150_000) }
      if (size === "image") return image(base64(900 + i, i))
      return size === "transient" ? { type: "toolCall", partialJson: "{" } : { type: "text", text: "short" }
    })
    return { ...entry, more: { content: parts } } as Entry.Entry
  }
  const withoutTransient = (entry: Entry.Entry): unknown =>
    JSON.parse(
      JSON.stringify(entry, (key, value) => (key === "partialJson" || key === "jsonlEvents" ? undefined : value))
    )

  it.effect.prop(
    "preparing twice is preparing once, and restoring gives back the texts and images",
    [drafts],
    ([{ entries, sizes }]) =>
      withStore(
        Effect.gen(function* () {
          for (const entry of entries.map((one) => grown(one, sizes))) {
            const written = yield* prepare(entry)
            assert.strictEqual(yield* prepare(written), written)
            const read = JSON.parse(JSON.stringify(written)) as Entry.Entry
            assert.deepStrictEqual(withoutTransient(yield* restore(read)), withoutTransient(entry))
            assert.notInclude(JSON.stringify(written), "partialJson")
          }
        })
      ),
    { arbitrary: { runs: 12, size: 4, seed: "persist" } }
  )
})

describe("files of oh-my-pi", () => {
  const folder = fileURLToPath(new URL("../../../fixtures/omp/", import.meta.url))
  const rowsOf = (name: string) => Result.getOrThrow(Jsonl.read(readFileSync(`${folder}sessions/${name}.jsonl`))).rows
  const Fixtures = Layer.effect(
    BlobStore,
    Effect.gen(function* () {
      const store = yield* BlobStore
      for (const name of readdirSync(`${folder}blobs`)) yield* store.put(readFileSync(`${folder}blobs/${name}`))
      return store
    })
  ).pipe(Layer.provide(BlobStore.layerMemory))

  it("hold texts cut as we would cut them, and lines counted as we count them", () => {
    const result = rowsOf("truncation")[2]!.entry
    const text = textAt(result, "/message/content/0/text")
    const whole = text.slice(0, -NOTICE.length) + "0123456789abcde\n".repeat(100)
    const lineCount = at(result, "/message/details/lineCount")
    const { entry } = Persist.split(
      message([{ type: "text", text: whole }], { details: { content: whole, lineCount: 0 } })
    )
    assert.strictEqual(textAt(entry, "/message/content/0/text"), text)
    assert.strictEqual(at(entry, "/message/details/lineCount"), lineCount)
  })

  it.effect.each(["images-omp", "images-old"])("%s: images restored and prepared again are the same lines", (name) =>
    Effect.gen(function* () {
      let images = 0
      for (const { entry } of rowsOf(name)) {
        const inline = yield* Persist.restoreImages(entry)
        if (inline !== entry) images++
        assert.deepStrictEqual(yield* prepare(inline), entry)
      }
      assert.strictEqual(images, 3)
    }).pipe(Effect.provide(Fixtures))
  )
})

describe("the messages of a context", () => {
  const picture = new TextEncoder().encode("\u0000 not really a picture")
  const hash = Blobs.hashOf(picture)
  const reference = Blobs.reference(hash)
  const inline = image(Buffer.from(picture).toString("base64"))
  const text = { type: "text", text: reference }
  const restored = Effect.fnUntraced(function* (messages: ReadonlyArray<Json>) {
    yield* (yield* BlobStore).put(picture)
    return yield* Persist.restoreImages(messages)
  }, withStore)

  it.effect("a blob is put back as base64 wherever an image names it, and every other field stays", () =>
    Effect.gen(function* () {
      const before = [
        { role: "user", content: [text, image(reference), image(reference, { extra: 1 })], timestamp: 7 },
        { role: "toolResult", content: [{ content: [image(reference)] }], details: { data: reference } }
      ]
      assert.deepStrictEqual(yield* restored(before), [
        { role: "user", content: [text, inline, { ...inline, extra: 1 }], timestamp: 7 },
        { role: "toolResult", content: [{ content: [inline] }], details: { data: reference } }
      ])
    })
  )

  it.effect("a reference whose blob is missing stays as it is, beside one that is found", () =>
    Effect.gen(function* () {
      const lost = image(`blob:sha256:${"0".repeat(64)}`)
      assert.deepStrictEqual(yield* restored([{ role: "user", content: [lost, image(reference)] }]), [
        { role: "user", content: [lost, inline] }
      ])
    })
  )

  it.effect("messages without images come back as they are, whatever their content", () =>
    Effect.gen(function* () {
      const messages = [
        { role: "user", content: "text" },
        { role: "user", content: null },
        { role: "user" },
        { role: "user", content: [null, 1, "x", [image(reference)], { type: "image" }, { type: "image", data: 7 }] },
        { role: "compactionSummary", summary: "s" }
      ]
      assert.strictEqual(yield* restored(messages), messages)
    })
  )
})

it.effect("many entries are restored at once, and those that name no blob stay the same objects", () =>
  withStore(
    Effect.gen(function* () {
      const plain = message("hello")
      const long = message("x".repeat(LONGEST_STRING + 1))
      const picture = message([image(base64(2000))])
      const kept = yield* Effect.forEach([plain, long, picture], prepare)
      const restored = yield* Persist.restorer(yield* BlobStore)(kept)
      assert.deepStrictEqual(restored, [plain, long, picture])
      assert.strictEqual(restored[0], kept[0])
    })
  )
)

describe("the blobs that an entry names", () => {
  const hashes = ["0", "1", "2", "3"].map((digit) => digit.repeat(64))
  const [a, b, c, d] = hashes.map((hash) => `blob:sha256:${hash}`)

  it("are those of its images at any depth and of its whole texts, each once", () => {
    const entry = entryOf({
      message: { role: "user", content: [image(a!), image(a!), { type: "toolResult", content: [image(b!)] }] },
      systemMessage: { content: [image(c!)] },
      fullText: { "/message/content/0/text": d, "/message/content/1/text": 7 }
    })
    assert.deepStrictEqual([...Persist.hashesIn(entry)].sort(), hashes as never)
  })

  it("are not those that a text only mentions", () => {
    const mentioned = message([{ type: "text", text: a }], { details: { data: b }, note: c })
    for (const fullText of [{}, "text", [d], { "/x": "blob:sha256:../../etc/passwd" }]) {
      assert.strictEqual(Persist.hashesIn({ ...mentioned, fullText }).size, 0)
    }
    assert.strictEqual(Persist.hashesIn(message(a)).size, 0)
  })
})
