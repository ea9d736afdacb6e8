/** What is on the screen before anything was said. */
import * as Row from "./Row.ts"
import type { World } from "./View.ts"

export const rows = (world: World): ReadonlyArray<Row.Row> => {
  if (world.session.isOpening === true) return [Row.empty, Row.row("  opening the session", "dim")]
  const { columns, model, symbols } = world
  const say = (text: string, style: Row.Style = "dim") => Row.wrap(Row.row(text, style), columns - 4)
  const isOffline = model?.provider === "grove"
  const rows = [
    ...say("Say something to begin.", "strong"),
    Row.empty,
    ...say("Everything said here becomes a tree: go back, try again, and nothing is lost."),
    ...say(
      `Esc Esc goes back to an earlier prompt${symbols.dot}/tree shows all branches${symbols.dot}? lists the keys`
    ),
    Row.empty,
    ...(isOffline
      ? say(
          "grove/sprout answers, offline: it says what it was shown. For a model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run Ollama; then /model."
        )
      : say(`${model?.ref ?? "No model"} answers; /model chooses another.`))
  ]
  return [Row.empty, ...Row.indent(rows, Row.row("  "), Row.row("  "))]
}
