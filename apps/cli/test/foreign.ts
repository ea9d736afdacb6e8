/** A home in which every other program has been used. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url))

const CODEX = "rollout-2026-11-18T07-36-16-01a1ed95-bf3d-7d30-83dd-34b4e1d6a6f5.jsonl"

/** Where each program keeps a session, and a word in it that no other has. */
export const places = {
  pi: [".pi/agent/sessions/--home-user-project--/a.jsonl", "pi/branches.jsonl"],
  omp: [".omp/agent/sessions/-work/b.jsonl", "omp/sessions/title-slot.jsonl"],
  neovate: [".neovate/projects/home-dev-acme-shop/aaaa1001.jsonl", "neovate/tools.jsonl"],
  "claude-code": [
    ".claude/projects/-home-dev-ferry/808e66ec-55e1-4cf0-8a72-e71cf57d39b5.jsonl",
    "claude-code/rewind.jsonl"
  ],
  codex: [`.codex/sessions/2026/11/18/${CODEX}`, `codex/${CODEX}`],
  opencode: [".local/share/opencode/opencode.db", "opencode/opencode.db"],
  gemini: [".gemini/tmp/atlas/chats/session-2026-11-18T07-49-e1cf4250.jsonl", "gemini/rewind.jsonl"]
} as const

/** Puts them there; also the seed's older place of Neovate, and a sub-agent of Claude Code. */
export const furnish = (home: string): void => {
  const put = (to: string, from: string) => {
    mkdirSync(dirname(join(home, to)), { recursive: true })
    cpSync(join(fixtures, from), join(home, to))
  }
  for (const [to, from] of Object.values(places)) put(to, from)
  put(".neo/sessions/bbbb.jsonl", "neovate/linear.jsonl")
  put(
    ".claude/projects/-home-dev-ferry/d791b6e7-1ba2-474b-8566-0d6414a3ffe5.jsonl",
    "claude-code/subagent-parent.jsonl"
  )
  put(
    ".claude/projects/-home-dev-ferry/d791b6e7-1ba2-474b-8566-0d6414a3ffe5/subagents/agent-a9f4657.jsonl",
    "claude-code/subagent-parent.subagents/agent-a9f4657.jsonl"
  )
}

/** Every file below a folder with its bytes, and so that nothing more has come beside them. */
export const contentsOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile())
      .map((item) => join(item.parentPath, item.name))
      .sort()
      .map((path) => [path, readFileSync(path).toString("base64")])
  )

export const append = (path: string, ...lines: ReadonlyArray<object>): void =>
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { flag: "a" })
