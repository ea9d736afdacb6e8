/** Where other programs keep their sessions. */
import { existsSync } from "node:fs"
import { basename, join, sep } from "node:path"
import type { Format } from "./Format.ts"
import * as Sources from "./Sources.ts"

/** A folder in which one program keeps its sessions. */
export interface Store {
  readonly format: Format
  readonly folder: string
}

type Variables = { readonly [name: string]: string | undefined }

/** Below a person's home folder, and where variables of the environment say instead. */
const usual = (home: string, variables: Variables): ReadonlyArray<Store> => {
  const inHome = (path: string) => join(home, path)
  const claude = variables.CLAUDE_CONFIG_DIR || inHome(".claude")
  const codex = variables.CODEX_HOME || inHome(".codex")
  const data = variables.XDG_DATA_HOME || inHome(".local/share")
  return [
    { format: "pi", folder: join(variables.PI_CODING_AGENT_DIR || inHome(".pi/agent"), "sessions") },
    { format: "omp", folder: inHome(".omp/agent/sessions") },
    ...profilesIn(inHome(".omp/profiles")).map((folder) => ({ format: "omp" as const, folder })),
    { format: "omp", folder: inHome(".xcsh/agent/sessions") },
    { format: "neovate", folder: inHome(".neovate/projects") },
    { format: "neovate", folder: inHome(".neo/sessions") },
    { format: "claude-code", folder: join(claude, "projects") },
    { format: "codex", folder: join(codex, "sessions") },
    { format: "codex", folder: join(codex, "archived_sessions") },
    { format: "opencode", folder: join(data, "opencode") },
    { format: "gemini", folder: inHome(".gemini/tmp") }
  ]
}

const profilesIn = (folder: string): ReadonlyArray<string> =>
  Sources.foldersIn(folder).map((name) => join(folder, name, "agent/sessions"))

/** Those of the usual places that are there. */
export const find = (home: string, variables: Variables): ReadonlyArray<Store> =>
  usual(home, variables).filter(({ folder }) => existsSync(folder))

/** Folders of JSON; in the oldest of them messages lay beside the sessions. */
const FOLDERS = /[/\\]storage[/\\]session[/\\](?!(message|part)[/\\])/

/** What lies in a store and is no session: requests that were sent, settings, checkpoints. */
const isSession: { readonly [format in Format]?: (file: string, files: ReadonlyArray<string>) => boolean } = {
  neovate: (file) => file.endsWith(".jsonl") && !file.includes(`${sep}requests${sep}`),
  gemini: (file) => file.includes(`${sep}chats${sep}`),
  opencode: (file, files) => {
    const isDatabase = (path: string) => /^opencode[^/\\]*\.db$/.test(basename(path))
    return files.some(isDatabase) ? isDatabase(file) : FOLDERS.test(file)
  }
}

/** The files of a store that hold sessions. */
export const filesOf = ({ format, folder }: Store): ReadonlyArray<Sources.Found> => {
  const files = Sources.filesBelow(folder)
  const keep = isSession[format] ?? ((file: string) => /\.jsonl(\.zst)?$/.test(file))
  return files.filter((file) => keep(file, files)).map((file) => ({ file, format }))
}
