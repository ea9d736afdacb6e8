/** Which files are sessions of other programs, and what is read of them. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Sources from "../src/Sources.ts"
import { bytesOf, tables } from "./support.ts"

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), "grove-sources-"))
afterAll(() => rmSync(scratch, { recursive: true }))

describe("Sources", () => {
  it.effect("a packed rollout is the rollout", () =>
    Effect.gen(function* () {
      const [packed] = readdirSync(join(fixtures, "codex/packed"))
      const found = Sources.discover(join(fixtures, "codex/packed"))
      assert.deepStrictEqual(
        found.map(({ file, format }) => [basename(file), format]),
        [[packed, "codex"]]
      )
      const translate = (file: string) => Sources.translate({ file: join(fixtures, "codex", file), format: "codex" })
      const [a, b] = [yield* translate(`packed/${packed}`), yield* translate(packed!.replace(".zst", ""))]
      assert.deepStrictEqual(
        a.sessions[0]!.entries.map(({ origin: _, ...entry }) => entry),
        b.sessions[0]!.entries.filter(({ customType }) => customType !== "grove.config").map(
          ({ origin: _, ...entry }) => entry
        )
      )
    }).pipe(Effect.provide(tables))
  )

  it("a folder gives what readers know, whoever wrote it, and passes over links and everything else", () => {
    mkdirSync(join(scratch, "mixed/deep"), { recursive: true })
    writeFileSync(join(scratch, "mixed/a.jsonl"), bytesOf("pi/linear.jsonl"))
    writeFileSync(join(scratch, "mixed/deep/b.jsonl"), bytesOf("claude-code/rewind.jsonl"))
    writeFileSync(join(scratch, "mixed/deep/c.jsonl"), '{"nothing":"known"}\n')
    writeFileSync(join(scratch, "mixed/deep/d.json"), "{")
    writeFileSync(join(scratch, "mixed/notes.txt"), "no")
    symlinkSync(join(scratch, "mixed"), join(scratch, "mixed/loop"))
    const found = Sources.discover(join(scratch, "mixed")).map(({ file, format }) => [basename(file), format])
    assert.deepStrictEqual(found, [
      ["a.jsonl", "pi"],
      ["b.jsonl", "claude-code"]
    ])
  })

  it("a file brings its sub-agents along", () => {
    mkdirSync(join(scratch, "s/subagents"), { recursive: true })
    writeFileSync(join(scratch, "s.jsonl"), bytesOf("claude-code/subagent-parent.jsonl"))
    writeFileSync(
      join(scratch, "s/subagents/agent-a9f4657.jsonl"),
      bytesOf("claude-code/subagent-parent.subagents/agent-a9f4657.jsonl")
    )
    assert.deepStrictEqual(
      Sources.discover(join(scratch, "s.jsonl")).map(({ file }) => basename(file)),
      ["s.jsonl", "agent-a9f4657.jsonl"]
    )
  })

  it("a file that was named is a source whatever it holds", () => {
    writeFileSync(join(scratch, "odd.jsonl"), "hello\n")
    assert.deepStrictEqual(Sources.discover(join(scratch, "odd.jsonl")), [
      { file: join(scratch, "odd.jsonl"), format: undefined }
    ])
  })

  it.effect("what cannot be unpacked is refused", () =>
    Effect.gen(function* () {
      const file = join(scratch, "bad.jsonl.zst")
      writeFileSync(file, "not packed at all")
      const refused = yield* Effect.flip(Sources.translate({ file, format: "codex" }))
      assert.deepStrictEqual([refused._tag, refused.file], ["SourceRefused", file])
    }).pipe(Effect.provide(tables))
  )
})
