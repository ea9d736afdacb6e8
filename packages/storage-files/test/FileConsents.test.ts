/** Consents on plain files keep the promises of the port, and some that only files can break. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Consent, noConsent } from "@grove/core"
import { ConsentsContract } from "@grove/core/testing"
import { Effect, Layer } from "effect"
import * as FileConsents from "../src/FileConsents.ts"
import { temporary } from "./support.ts"

const Folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "grove-consents-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
ConsentsContract.suite(
  "FileConsents",
  Layer.unwrap(Effect.map(Folder, (directory) => FileConsents.layer({ directory })))
)

const session = { id: "s1", path: "/sessions/s1.jsonl" }
const yolo: Consent = { mode: "yolo", tools: ["bash"] }

const noted = async () => {
  const directory = join(temporary(), "home", "consents")
  const consents = FileConsents.make({ directory })
  await Effect.runPromise(consents.note(session, yolo))
  const [name] = readdirSync(directory)
  return { directory, file: join(directory, name!), find: () => Effect.runPromise(consents.find(session)) }
}

describe("a consent", () => {
  it("is one file that only its owner can read, in a folder that only its owner can enter", async () => {
    const { directory, file } = await noted()
    assert.match(readdirSync(directory).join(), /^[0-9a-f]{64}$/)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.strictEqual(statSync(directory).mode & 0o777, 0o700)
  })

  it("is none where others can read or write its file", async () => {
    const { file, find } = await noted()
    assert.deepStrictEqual(await find(), yolo)
    chmodSync(file, 0o620)
    assert.deepStrictEqual(await find(), noConsent)
  })

  it("is none where the file is a link to another", async () => {
    const { directory, file, find } = await noted()
    const elsewhere = join(directory, "..", "elsewhere")
    writeFileSync(elsewhere, JSON.stringify(yolo), { mode: 0o600 })
    rmSync(file)
    symlinkSync(elsewhere, file)
    assert.deepStrictEqual(await find(), noConsent)
  })

  it.each(["", "{", "null", '{"mode":"yolo"}', '{"mode":"all","tools":[]}', '{"mode":"yolo","tools":"bash"}'])(
    "is none where the file holds %j",
    async (text) => {
      const { file, find } = await noted()
      writeFileSync(file, text)
      assert.deepStrictEqual(await find(), noConsent)
    }
  )

  it("that cannot be written is a failure that names the session, and leaves nothing behind", async () => {
    const home = temporary()
    writeFileSync(join(home, "consents"), "a file where the folder should be")
    const consents = FileConsents.make({ directory: join(home, "consents") })
    const error = await Effect.runPromise(Effect.flip(consents.note(session, yolo)))
    assert.deepStrictEqual([error._tag, error.session], ["ConsentsError", "s1"])
    assert.deepStrictEqual(readdirSync(home), ["consents"])
  })
})
