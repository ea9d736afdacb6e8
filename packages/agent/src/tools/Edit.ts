/** The tool `edit`: one text in a file becomes another. Every byte around it stays as it is. */
import { Effect, Schema } from "effect"
import { succeeded, type Tool, type ToolPlace } from "../Tool.ts"
import { attempt, changing, FileTrouble, LARGEST, readWhole, writeWhole } from "./Files.ts"
import * as LineDiff from "./LineDiff.ts"
import * as Paths from "./Paths.ts"
import * as TypedTool from "./TypedTool.ts"

const parameters = Schema.Struct({
  path: Schema.String.annotate({ description: "The file" }),
  oldText: Schema.String.annotate({
    description: "What is there now, exactly, with enough around it to occur only once"
  }),
  newText: Schema.String.annotate({ description: "What is to be there instead" }),
  replaceAll: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Replace every occurrence, however many there are" })
  )
})
type Args = typeof parameters.Type

const crlf = (text: string): string => text.replace(/\r?\n/g, "\r\n")
const unchanged = (text: string): string => text

/** Models write LF, whatever the file has. The end of its first line speaks for the file; the other kind is tried after. */
const lineEnds = (file: string): ReadonlyArray<(text: string) => string> => {
  const first = file.indexOf("\n")
  return first > 0 && file[first - 1] === "\r" ? [crlf, unchanged] : [unchanged, crlf]
}

const MOST_LISTED = 5

/** How often `text` occurs, none overlapping another, and where the first few are. */
const occurrences = (file: string, text: string) => {
  const places: Array<number> = []
  let count = 0
  for (let at = file.indexOf(text); at >= 0; at = file.indexOf(text, at + text.length)) {
    if (count++ < MOST_LISTED) places.push(at)
  }
  return { count, places }
}

const lineOf = (file: string, place: number): number => {
  let line = 1
  for (let at = file.indexOf("\n"); at >= 0 && at < place; at = file.indexOf("\n", at + 1)) line++
  return line
}

/** A guess at why a text is not there: its first line may be, with other blanks around it or other lines after it. */
const hint = (file: string, oldText: string): string => {
  const first = oldText.split("\n").find((line) => line.trim() !== "")
  const place = first === undefined ? -1 : file.indexOf(bytesIn(first.trim()))
  return place < 0
    ? "Read the file again."
    : `Something like it is at line ${lineOf(file, place)}: blanks and line ends must be the same.`
}

/** A character for each byte, so that also what is no UTF-8 survives a search. */
const bytesIn = (text: string): string => Buffer.from(text).toString("latin1")

/** The bytes after the edit. */
export const edited = (bytes: Buffer, { oldText, newText, replaceAll = false }: Args, shown: string): Buffer => {
  if (oldText === "") throw new FileTrouble("oldText is empty; to make a file use write")
  if (oldText === newText) throw new FileTrouble("oldText and newText are the same: nothing would change")
  const file = bytes.toString("latin1")
  for (const ends of lineEnds(file)) {
    const before = bytesIn(ends(oldText))
    const after = bytesIn(ends(newText))
    const { count, places } = occurrences(file, before)
    if (count === 0) continue
    if (count > 1 && !replaceAll) {
      const lines = places.map((place) => lineOf(file, place)).join(", ")
      const where = `lines ${lines}${count > places.length ? " and more" : ""}`
      const remedy = "add more of what is around it, or use replaceAll"
      throw new FileTrouble(`oldText is ${count} times in ${shown} (${where}): ${remedy}`)
    }
    if (file.length + count * (after.length - before.length) > LARGEST) {
      throw new FileTrouble(`${shown} would become too large`)
    }
    // By a function, since a text may hold what a replacement would obey.
    return Buffer.from(
      file.replaceAll(before, () => after),
      "latin1"
    )
  }
  throw new FileTrouble(`oldText is not in ${shown}. ${hint(file, oldText)}`)
}

const change = async (real: string, args: Args, shown: string) => {
  const found = await readWhole(real, shown)
  if (found === undefined) throw new FileTrouble(`${shown} does not exist; to make a file use write`)
  return { ...found, after: edited(found.bytes, args, shown) }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const describe = (args: Args, { cwd }: ToolPlace) => {
  const whole = Paths.absolute(cwd, args.path)
  const shown = Paths.shown(cwd, whole)
  return attempt(shown, () => change(whole, args, shown)).pipe(
    Effect.map(({ bytes, after }) => LineDiff.unified(decoder.decode(bytes), decoder.decode(after))),
    Effect.catch(() => Effect.undefined),
    Effect.map((diff) => ({
      line: `edit ${shown}`,
      preview: {
        kind: "diff" as const,
        text: diff ?? LineDiff.unified(args.oldText, args.newText) ?? args.newText
      },
      paths: [whole]
    }))
  )
}

const run = (args: Args, { cwd }: ToolPlace) => {
  const whole = Paths.absolute(cwd, args.path)
  const shown = Paths.shown(cwd, whole)
  return changing(whole, shown, async (real) => {
    const { bytes, mode, after } = await change(real, args, shown)
    await writeWhole(real, after, mode)
    return succeeded(`Edited ${shown}.`, LineDiff.details(decoder.decode(bytes), decoder.decode(after)))
  })
}

export const edit: Tool = TypedTool.make({
  name: "edit",
  description: "Replaces a text in a file by another. The text must be there exactly once, or replaceAll be true.",
  kind: "write",
  parameters,
  describe,
  run
})
