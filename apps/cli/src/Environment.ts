/** What the command needs to know of its surroundings; read once, in main.ts. */
import type { Breadcrumbs } from "@grove/storage-files"
import { Context } from "effect"

export interface Surroundings {
  readonly home: string
  readonly sessionDirectory: string | undefined
  readonly cwd: string
  /** The person's own folder, where other programs keep their things. */
  readonly userHome: string
  /** Which terminal this is, if it can be told. */
  readonly terminal: Breadcrumbs.TerminalId | undefined
  /** Width of the terminal, or what is readable where there is none. */
  readonly columns: number
  readonly colors: boolean
  /** The environment, for those who look for keys and addresses in it. */
  readonly variables: { readonly [name: string]: string | undefined }
  /** Whether the terminal shows more than ASCII. */
  readonly unicode: boolean
  /** Whether a person is at the terminal: what is typed comes from it, what is printed goes to it. */
  readonly isInteractive: { readonly input: boolean; readonly output: boolean }
}

export class Environment extends Context.Service<Environment, Surroundings>()("@grove/cli/Environment") {}
