import { assert, describe, it } from "@effect/vitest"
import { secretKinds, withoutSecrets } from "../../src/redact/Secrets.ts"
import { harmless, samples } from "./samples.ts"

const redact = (text: string) => {
  const found: Array<string> = []
  return { text: withoutSecrets(text, (kind) => found.push(kind)), found }
}

describe("secrets", () => {
  it("every kind has a sample, and there are at least thirty", () => {
    assert.deepStrictEqual([...new Set(samples.map(({ kind }) => kind))].sort(), [...new Set(secretKinds)].sort())
    assert.isAtLeast(secretKinds.length, 30)
  })

  const around: ReadonlyArray<readonly [string, string, string]> = [
    ["alone", "", ""],
    ["in a sentence", "it is ", ", I think"],
    ["in quotes", '"', '"'],
    ["after an escaped line end", "first\\n", "\\nlast"],
    ["after a line end", "first\n", "\nlast"],
    ["in a query", "https://example.com/?q%3D", ""],
    ["after words in Chinese", "密钥是", "。"]
  ]
  it.each(around)("are taken out %s", (_, before, after) => {
    for (const { kind, text, secret } of samples) {
      const { text: clean, found } = redact(`${before}${text}${after}`)
      assert.notInclude(clean, secret, kind)
      assert.include(found, kind)
      assert.isTrue(clean.startsWith(before), clean)
    }
  })

  it("many in one text are all taken out and counted", () => {
    const { text, found } = redact(samples.map((sample) => sample.text).join(" \n"))
    for (const { secret } of samples) assert.notInclude(text, secret)
    assert.isAtLeast(found.length, samples.length - 2)
  })

  it("redacting twice is redacting once", () => {
    for (const sample of samples) {
      const once = redact(`x ${sample.text} y`).text
      assert.deepStrictEqual(redact(once), { text: once, found: [] }, once)
    }
  })

  it.each(harmless)("nothing is taken out of: %s", (text) => {
    assert.deepStrictEqual(redact(text), { text, found: [] })
  })

  it("of two keys the one that is cut off is gone too", () => {
    const { text, found } = redact(
      "-----BEGIN PRIVATE KEY-----\nAAAA+1\n-----END PRIVATE KEY-----\nthen\n-----BEGIN PRIVATE KEY-----\nBBBB+2"
    )
    assert.deepStrictEqual(found, ["private-key", "private-key"])
    assert.strictEqual(text, "[redacted private-key]\nthen\n[redacted private-key]")
  })

  it("a key that was cut off goes as far as it looks like one", () => {
    const { text } = redact("-----BEGIN PRIVATE KEY-----\nMIIEvQ+/AB==\n\nThat was it (nearly)!")
    assert.notInclude(text, "MIIEvQ")
    assert.include(text, "(nearly)!")
  })

  const prefixes = [
    ...["sk-", "sk-ant-", "eyJ", "eyJaaaaaaaa.", "eyJaaaaaaaa.eyJ", "SG.", "ghp_", "AKIA", "12345678:A", "xoxb-", "-"],
    ...[
      "-----BEGIN PRIVATE KEY-----",
      "-----BEGIN PRIVATE KEY-----!",
      "-----BEGIN ",
      "password=",
      "password: ",
      "key",
      "_key",
      "api_key: ",
      "://"
    ],
    ...[
      "://a:",
      "Bearer ",
      "Authorization: ",
      "A",
      "a_",
      "ssh-rsa AAAA",
      "\\n",
      "%3D",
      "PuTTY-User-Key-File-3:",
      " ",
      '"'
    ]
  ]
  it.each(prefixes)("a text made of %j takes time in proportion to its length", (prefix) => {
    const text = prefix.repeat(Math.ceil(1_000_000 / prefix.length))
    const before = performance.now()
    withoutSecrets(text, () => {})
    withoutSecrets(`${text}!`, () => {})
    withoutSecrets(`${prefix}${"a".repeat(1_000_000)}`, () => {})
    withoutSecrets(`${prefix}${"a1-_".repeat(250_000)}`, () => {})
    assert.isBelow(performance.now() - before, 4_000)
  })
})
