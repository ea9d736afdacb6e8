/** What a model is told beside the conversation: where it works, and what the project says to agents. */
import { existsSync } from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import type { Policy } from "@grove/core"
import { Effect } from "effect"

export const system = (cwd: string): string =>
  `You are an assistant that answers in a terminal. You work in ${cwd}. Answer briefly and say what you did.`

const FILE = "AGENTS.md"
/** What is longer is cut: it would be sent with every request. */
const LONGEST = 64 * 1024

/** From the root of the repository down to `cwd`; outside of one, `cwd` alone. */
const foldersTo = (cwd: string): ReadonlyArray<string> => {
  const folders: Array<string> = []
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.unshift(folder)
    if (existsSync(join(folder, ".git"))) return folders
    if (dirname(folder) === folder) return [cwd]
  }
}

const beginningOf = async (path: string): Promise<string> => {
  const file = await open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(LONGEST), 0, LONGEST, 0)
    return buffer.toString("utf8", 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** The `AGENTS.md` of the project, outermost first. What cannot be read is left out. */
export const project = (cwd: string): Effect.Effect<ReadonlyArray<Policy.Knowledge>> =>
  Effect.map(
    Effect.forEach(foldersTo(cwd), (folder) =>
      Effect.map(
        Effect.orElseSucceed(
          Effect.tryPromise(() => beginningOf(join(folder, FILE))),
          () => ""
        ),
        (text) => ({ name: join(relative(cwd, folder), FILE), text })
      )
    ),
    (found) => found.filter(({ text }) => text.trim() !== "")
  )
