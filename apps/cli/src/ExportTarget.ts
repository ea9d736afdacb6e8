/** What `/export [format] [file] [--force]` asks for: a format that `grove export` writes, and where. */
import { basename, extname, resolve } from "node:path"
import { Result } from "effect"
import { Failure } from "./CliError.ts"

export interface ExportTarget {
  readonly format: string
  readonly file: string
  /** Whether a file that is there may be replaced. */
  readonly force: boolean
}

/** Formats, and what their files end in. */
const ENDINGS: { readonly [format: string]: string } = {
  md: ".md",
  html: ".html",
  json: ".json",
  pi: ".jsonl",
  omp: ".jsonl",
  neovate: ".jsonl"
}
const FORCE = /(?:^|\s)--force\s*$/
const FORMATS = Object.keys(ENDINGS)

const formatOf = (file: string): string | undefined =>
  FORMATS.find((format) => ENDINGS[format] === extname(file).toLowerCase())

/** A format alone gets a file named after the session, here; a file alone tells its format by how it ends. */
export const parse = (given: string, session: string, cwd: string): Result.Result<ExportTarget, Failure> => {
  const words = given.replace(FORCE, "").trim()
  const force = FORCE.test(given)
  const [, first = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(words)!
  const format = first === "" ? "md" : first.toLowerCase()
  const ending = ENDINGS[format]
  if (ending !== undefined) {
    const file =
      rest === "" ? `${basename(session, ".jsonl")}${ending === ".jsonl" ? `.${format}` : ""}${ending}` : rest
    return Result.succeed({ format, file: resolve(cwd, file), force })
  }
  const byEnding = formatOf(words)
  return byEnding === undefined
    ? Result.fail(new Failure({ message: `no format ${first}; there are ${FORMATS.join(", ")}` }))
    : Result.succeed({ format: byEnding, file: resolve(cwd, words), force })
}
