/** A question at the foot of a view: some answers to choose from, or a line to type. */
import type { Input } from "../keys.ts"
import * as Field from "./Field.ts"
import * as Row from "./Row.ts"
import type { Typed } from "./Sheet.ts"
import type { World } from "./View.ts"

export interface Option<Key extends string> {
  /** A letter that chooses it, or anything that no key is called. */
  readonly key: Key
  readonly label: string
  readonly hint?: string
}

export interface Choice<Key extends string = string> {
  readonly _tag: "Choice"
  readonly title: string
  readonly options: ReadonlyArray<Option<Key>>
  readonly selected: number
}

export interface Line {
  readonly _tag: "Line"
  readonly title: string
  readonly field: Field.Field
  /** What Enter will do. */
  readonly hint: string
}

export type Dialog = Choice | Line

export const choice = <Key extends string>(title: string, options: ReadonlyArray<Option<Key>>): Choice<Key> => ({
  _tag: "Choice",
  title,
  options,
  selected: 0
})

export const line = (title: string, hint: string, text = ""): Line => ({
  _tag: "Line",
  title,
  hint,
  field: Field.of(text)
})

export type Answer =
  | { readonly _tag: "Pending"; readonly ask: Dialog }
  /** The key of what was chosen, or what was typed. */
  | { readonly _tag: "Given"; readonly answer: string }
  | { readonly _tag: "Dismissed" }

const pressChoice = (asked: Choice, name: string): Answer => {
  const { options, selected } = asked
  const step = { up: -1, left: -1, "shift+tab": -1, down: 1, right: 1, tab: 1 }[name]
  if (step !== undefined) {
    return { _tag: "Pending", ask: { ...asked, selected: (selected + step + options.length) % options.length } }
  }
  const chosen = name === "enter" ? options[selected] : options.find(({ key }) => key === name)
  return chosen === undefined ? { _tag: "Pending", ask: asked } : { _tag: "Given", answer: chosen.key }
}

export const press = (asked: Dialog, input: Input): Answer => {
  const name = input._tag === "Key" ? input.name : ""
  if (name === "escape" || name === "ctrl+c") return { _tag: "Dismissed" }
  if (asked._tag === "Choice") return pressChoice(asked, name)
  if (name === "enter") return { _tag: "Given", answer: Field.textOf(asked.field) }
  return { _tag: "Pending", ask: { ...asked, field: Field.press(asked.field, input) ?? asked.field } }
}

/** The rows of a question, and the caret where something is typed. */
export const draw = (
  asked: Dialog,
  { columns, symbols }: World
): { readonly rows: ReadonlyArray<Row.Row>; readonly typed: ({ readonly line: number } & Typed) | null } => {
  const title: Row.Row = [Row.span(" "), Row.span(asked.title, "strong")]
  if (asked._tag === "Line") {
    const { row, column } = Field.draw(asked.field, columns - 3)
    const input: Row.Row = [Row.span(" > ", "accent"), ...row]
    const hint = Row.row(` Enter ${asked.hint}${symbols.dot}Esc back`, "dim")
    return { rows: [title, input, hint], typed: { line: 1, row: input, column: column + 3 } }
  }
  const options = asked.options.map(({ key, label, hint }, i): Row.Row => {
    const isSelected = i === asked.selected
    const letter = key.length === 1 ? `${key}  ` : ""
    const words = Row.span(` ${isSelected ? symbols.select : " "} ${letter}${label}`, isSelected ? "accent" : "plain")
    return hint === undefined ? [words] : [words, Row.span(`  ${hint}`, "dim")]
  })
  return { rows: [title, ...options], typed: null }
}
