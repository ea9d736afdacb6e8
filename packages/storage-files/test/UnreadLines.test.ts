/** Lines that are passed on without being read. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as SessionFiles from "../src/SessionFiles.ts"
import { fileOf, header, temporary, user, write } from "./support.ts"

const opened = (folder: string, text: string, parsedWhole: number) => {
  const path = write(`${folder}/s.jsonl`, text)
  return Result.getOrThrow(SessionFiles.open({ id: "", path }, path, { cache: `${folder}/cache`, parsedWhole }))
}

const entries = Array.from({ length: 300 }, (_, i) =>
  user(`e${i}`, i === 0 ? null : `e${i - 1}`, `turn ${i} 日本語 ${"x".repeat((i % 7) * 5000)}`)
)
const text = fileOf(header(), ...entries)

describe("lines of a session that stays in its file", () => {
  it("are the bytes of the file, in the order asked for, near or far apart", () => {
    const { snapshot, close } = opened(temporary(), text, 0)
    const rows = [...snapshot.tree.rows().slice(10, 80), 299, 0, 150, 3]
    const lines = snapshot.tree.linesAt(rows)!.map((line) => Buffer.from(line).toString())
    assert.deepStrictEqual(
      lines,
      rows.map((row) => JSON.stringify(entries[row]))
    )
    close()
  })

  it("are none once one of the rows is not in the file", () => {
    const { snapshot, close } = opened(temporary(), text, 0)
    snapshot.tree.put(user("new", "e299", "and?") as never)
    assert.isUndefined(snapshot.tree.linesAt([299, 300]))
    assert.lengthOf(snapshot.tree.linesAt([299])!, 1)
    close()
  })

  it("are none where the session was parsed whole", () => {
    const { snapshot } = opened(temporary(), text, Number.POSITIVE_INFINITY)
    assert.isUndefined(snapshot.tree.linesAt([0]))
  })
})
