/** Pi itself opens what is exported for it, and shows its model what Grove would. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Json } from "@grove/core"
import { jsonOf } from "../support.ts"
import { exported, fixture, fixtures } from "./support.ts"

/** As much of Pi's public session manager as is used here. */
interface Pi {
  readonly getLeafId: () => string | null
  readonly getEntries: () => ReadonlyArray<{
    readonly id: string
    readonly customType?: string
    readonly parentId: string | null
  }>
}

const { installed } = await import(new URL("../../../../tooling/bench/others.mjs", import.meta.url).href)
const found: { readonly module: string } | { readonly problem: string } = installed("pi")
if ("problem" in found) {
  if (process.env.CI === "true") throw new Error(found.problem)
  process.stderr.write(`SKIPPED: what Pi makes of exports: ${found.problem}\n`)
}
const pi = "problem" in found ? undefined : await import(found.module)

const folder = mkdtempSync(join(tmpdir(), "grove-export-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Not of use here: what Pi makes up for an empty or broken file, and cycles, in which it hangs. */
const isOpened = (path: string): boolean => path.startsWith("pi/") && !/malformed-(empty|no-header)/.test(path)

interface Expected {
  readonly "pi-0.73.1"?: {
    readonly defaultLeafId: string | null
    readonly sessionName?: string
  }
}

/** As JSON, without the zeros that stand for a usage nobody noted. */
const plain = (value: { readonly messages: ReadonlyArray<Json> }): unknown => {
  const messages = value.messages.map(({ usage, ...message }) =>
    (usage as { readonly totalTokens?: number } | undefined)?.totalTokens === 0 ? message : { ...message, usage }
  )
  return JSON.parse(JSON.stringify({ ...value, messages }))
}

describe.skipIf(pi === undefined)("Pi 0.73.1 opens an export", () => {
  it.each(fixtures.filter(isOpened))("of %s with the contexts it has of the original", async (path) => {
    const file = join(folder, path.replaceAll("/", "-"))
    const text = await exported(fixture(path), "pi")
    writeFileSync(file, text)
    const opened = pi.SessionManager.open(file)
    assert.strictEqual(readFileSync(file, "utf8"), text, "opening changed the file")
    const expected = jsonOf<Expected>(path.replace("pi/", "pi/expected-").replace(".jsonl", ".json"))["pi-0.73.1"]
    const isRenamed = /v1|repo-large/.test(path)
    const leaves = isRenamed ? [undefined] : [undefined, ...fixture(path).tree.leaves()]
    const original = isRenamed ? undefined : pi.SessionManager.open(copyOf(path))
    for (const leaf of leaves) {
      const context = pi.buildSessionContext(opened.getEntries(), leaf)
      if (original === undefined) assert.isNotEmpty(context.messages)
      else assert.deepStrictEqual(plain(context), plain(pi.buildSessionContext(original.getEntries(), leaf)), leaf)
    }
    if (expected === undefined) return
    if (!isRenamed) assert.strictEqual(opened.getLeafId(), expected.defaultLeafId)
    assert.strictEqual(opened.getSessionName() ?? null, expected.sessionName ?? null)
  })

  const copyOf = (path: string): string => {
    const copy = join(folder, `original-${path.replaceAll("/", "-")}`)
    writeFileSync(copy, readFileSync(new URL(`../../../../fixtures/${path}`, import.meta.url)))
    return copy
  }

  it.each(fixtures.filter((path) => path.startsWith("omp/") && !/cycle|header|v99|two-headers/.test(path)))(
    "of %s with Grove's leaf and entries",
    async (path) => {
      const file = join(folder, path.replaceAll("/", "-"))
      writeFileSync(file, await exported(fixture(path), "pi"))
      const opened: Pi = pi.SessionManager.open(file)
      const { tree } = fixture(path)
      assert.deepStrictEqual(
        opened
          .getEntries()
          .map(({ id }) => id)
          .filter((id) => tree.has(id)),
        [...tree.ids()]
      )
      pi.buildSessionContext(opened.getEntries())
    }
  )
})
