/** One line asked of the person, at the bottom of what they were looking at. */
import * as Editor from "./Editor.ts"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import type { Next, View } from "./View.ts"

interface Question {
  readonly name: string
  readonly question: string
  readonly answer: (text: string) => Omit<Next, "view">
}

export const make = (question: Question, given = ""): View => at(question, Editor.of(given))

const at = (question: Question, editor: Editor.Editor): View => ({
  name: question.name,
  on: (event, world) => {
    if (event._tag === "Paste") return { view: at(question, Editor.insert(editor, event.text.replace(/\s+/g, " "))) }
    if (event._tag !== "Key") return { view: at(question, editor) }
    if (event.name === "escape" || event.name === "ctrl+c") return { view: null }
    if (event.name === "enter") return { ...question.answer(Editor.textOf(editor).trim()), view: null }
    if (event.text !== undefined) return { view: at(question, Editor.insert(editor, event.text)) }
    if (event.name.includes("enter")) return { view: at(question, editor) }
    return { view: at(question, Editor.press(editor, event.name, world.columns * 100) ?? editor) }
  },
  draw: (world, below) => {
    const { columns, rows, symbols } = world
    const label = ` ${question.question}: `
    const { lines, column } = Editor.layout(editor, 10_000)
    const left = Row.width(Row.row(label))
    const dialog = [
      Row.row(symbols.rule.repeat(columns), "dim"),
      Row.cut([Row.span(label, "accent"), { text: lines[0]?.shown ?? "", style: "plain" }], columns),
      Row.row(` Enter ok${symbols.dot}Esc back`, "dim")
    ]
    return {
      rows: Sheet.panel(world, below, dialog),
      caret: { line: Math.max(0, rows - 2), column: Math.min(columns - 1, left + column) }
    }
  }
})
