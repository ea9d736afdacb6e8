/** What the tests of this package share: folders that vanish after the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach } from "@effect/vitest"
import type { ToolOutcome } from "../src/Tool.ts"

const made: Array<string> = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** An empty folder, gone after the test. */
export const temporary = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "grove-agent-")))
  made.push(folder)
  return folder
}

export const put = (path: string, data: string | Uint8Array, mode?: number): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, data, mode === undefined ? {} : { mode })
  return path
}

/** The text of an outcome. */
export const textOf = ({ content }: ToolOutcome): string =>
  content.map((block) => (block.type === "text" ? block.text : `(${block.mimeType})`)).join("\n")
