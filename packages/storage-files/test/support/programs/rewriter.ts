/** Migrates, repairs, moves or copies a file, and ends itself without warning at a step: `rewriter <work> <path> <step>`. */
import { real } from "../../../src/Disk.ts"
import * as Rewrite from "../../../src/Rewrite.ts"
import * as SessionFiles from "../../../src/SessionFiles.ts"

const [work = "", path = "", end = ""] = process.argv.slice(2)
const onStep = (step: Rewrite.Step): void => {
  if (step === end) process.kill(process.pid, "SIGKILL")
}
const makeHeader = () => ({ type: "session", version: 3, id: "made", timestamp: "", cwd: "/" }) as const

const works: { readonly [work: string]: () => Promise<unknown> } = {
  migrate: () => SessionFiles.migrate(real, path, onStep),
  repair: () => SessionFiles.repair(real, path, { timestamp: "2026-01-01T00:00:00.000Z", makeHeader, onStep }),
  move: () => SessionFiles.move(real, path, path.replace("one.jsonl", "elsewhere/one.jsonl"), "/elsewhere", onStep),
  copy: () => Rewrite.rewrite({ disk: real, path, backup: `${path}.bak`, onStep }, (bytes) => bytes)
}
await works[work]!()
