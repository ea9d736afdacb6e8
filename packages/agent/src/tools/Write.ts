/** The tool `write`: a file with this content, whatever was there. */
import { Effect, Schema } from "effect"
import { succeeded, type Tool, type ToolPlace } from "../Tool.ts"
import { attempt, changing, readWhole, writeWhole } from "./Files.ts"
import * as LineDiff from "./LineDiff.ts"
import * as Paths from "./Paths.ts"
import * as TypedTool from "./TypedTool.ts"

const parameters = Schema.Struct({
  path: Schema.String.annotate({ description: "The file; folders on the way are made" }),
  content: Schema.String.annotate({ description: "The whole content" })
})
type Args = typeof parameters.Type

const textOf = (bytes: Uint8Array | undefined): string => (bytes === undefined ? "" : new TextDecoder().decode(bytes))

const linesIn = (text: string): number => text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0)

const describe = ({ path, content }: Args, { cwd }: ToolPlace) => {
  const whole = Paths.absolute(cwd, path)
  const shown = Paths.shown(cwd, whole)
  return attempt(shown, () => readWhole(whole, shown)).pipe(
    Effect.catch(() => Effect.undefined),
    Effect.map((before) => {
      const diff = before === undefined ? undefined : LineDiff.unified(textOf(before.bytes), content)
      return {
        line: `write ${shown} (${linesIn(content)} lines, ${before === undefined ? "new" : "replaces what is there"})`,
        preview: diff === undefined ? { kind: "text" as const, text: content } : { kind: "diff" as const, text: diff },
        paths: [whole]
      }
    })
  )
}

const run = ({ path, content }: Args, { cwd }: ToolPlace) => {
  const whole = Paths.absolute(cwd, path)
  const shown = Paths.shown(cwd, whole)
  return changing(whole, shown, async (real) => {
    const before = await readWhole(real, shown)
    const bytes = Buffer.from(content)
    await writeWhole(real, bytes, before?.mode)
    const done = before === undefined ? "Made" : "Replaced"
    const details = LineDiff.details(textOf(before?.bytes), content)
    return succeeded(`${done} ${shown}: ${linesIn(content)} lines, ${bytes.length} bytes.`, details)
  })
}

export const write: Tool = TypedTool.make({
  name: "write",
  description: "Writes a file: makes it, or replaces all that is in it. To change a part of a file, use edit.",
  kind: "write",
  parameters,
  describe,
  run
})
