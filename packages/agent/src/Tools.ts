/** The tools that Grove brings along. */
import type { Tool } from "./Tool.ts"
import * as Bash from "./tools/Bash.ts"
import { edit } from "./tools/Edit.ts"
import { read } from "./tools/Read.ts"
import { write } from "./tools/Write.ts"

export { type BashExecution, bash, commandIn, execute, make as makeBash, type PersonalCommand } from "./tools/Bash.ts"
export { edit, read, write }

/** Read, write, edit and run. */
export const standard = (options: Bash.Options = {}): ReadonlyArray<Tool> => [read, write, edit, Bash.make(options)]
