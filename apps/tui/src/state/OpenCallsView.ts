/** Asks what becomes of calls that broke off without a result. Sits below the conversation, which stays in sight. */
import { type EntryId, Preview } from "@grove/core/model"
import * as Dialog from "./Dialog.ts"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import * as ToolRows from "./ToolRows.ts"
import { type Event, isInput, type Next, type OpenCall, type Prompt, type View, type World } from "./View.ts"
import * as Words from "./Words.ts"

interface State {
  readonly calls: ReadonlyArray<OpenCall>
  /** Waits for the answer. */
  readonly prompt: Prompt | null
  readonly leaf: EntryId | null
  readonly ask: Dialog.Dialog
}

type How = "run" | "fail" | "drop"

const HOW: { readonly [key: string]: How } = { r: "run", f: "fail", d: "drop" }

/** Who decides later and then says something is asked again: nothing is run and nothing noted before they have chosen. */
export const make = (calls: ReadonlyArray<OpenCall>, prompt: Prompt | null, leaf: EntryId | null): View => {
  const them = calls.length === 1 ? "it" : "them"
  const title = `${Words.count(calls.length, "tool call")} broke off without a result. What becomes of ${them}?`
  const ask = Dialog.choice(title, [
    { key: "r", label: "run again", hint: "what needs your approval asks for it; then the model goes on" },
    { key: "f", label: "mark as failed", hint: "the model is told, and goes on with your next prompt" },
    { key: "d", label: "drop", hint: "go back to before the reply that called" }
  ])
  return at({ calls, prompt, leaf, ask })
}

const at = (state: State): View => ({
  name: "open-calls",
  interrupts: true,
  on: (event) => on(state, event),
  draw: (world, below) => ({ rows: Sheet.panel(world, below, draw(state, world)), caret: null })
})

const on = (state: State, event: Event): Next => {
  const { prompt, leaf } = state
  const left: Next = { view: null, events: prompt === null ? [] : [{ _tag: "Returned", prompt }] }
  if (event._tag === "Opened" || event._tag === "CallsOpen") return left
  if (event._tag === "Changed" && event.session.leaf !== leaf) return left
  if (!isInput(event)) return { view: at(state) }
  const answer = Dialog.press(state.ask, event)
  switch (answer._tag) {
    case "Pending":
      return { view: at({ ...state, ask: answer.ask }) }
    case "Dismissed":
      return left
    case "Given":
      return { view: null, intents: [{ _tag: "Settle", how: HOW[answer.answer]!, prompt }] }
  }
}

const callRow = ({ name, arguments: given, invalidArguments }: OpenCall, columns: number): Row.Row =>
  Row.cut(
    [
      Row.span(`   ${Preview.line(name, 20).padEnd(5)} `, "accent"),
      Row.span(Preview.line(invalidArguments ?? ToolRows.subject(given), columns))
    ],
    columns
  )

const draw = ({ calls, ask }: State, world: World): ReadonlyArray<Row.Row> => {
  const { columns, rows, symbols } = world
  const room = Math.max(1, Math.floor(rows / 2) - 6)
  const shown = calls.slice(0, room).map((call) => callRow(call, columns))
  const left = calls.length - shown.length
  const [title = Row.empty, ...options] = Dialog.draw(ask, world).rows
  return [
    Row.row(symbols.rule.repeat(columns), "warning"),
    title,
    ...shown,
    ...(left > 0 ? [Row.row(`   ${symbols.more} and ${left} more`, "dim")] : []),
    ...options,
    Row.row(" Esc decide later: your next prompt asks again", "dim")
  ].map((row) => Row.cut(row, columns))
}
