/** The formats that can be read, by the names people give them. */

export const formats = [
  "pi",
  "omp",
  "neovate",
  "claude-code",
  "codex",
  "opencode",
  "gemini",
  "chatgpt",
  "librechat",
  "simple"
] as const
export type Format = (typeof formats)[number]
