/** Asks the person whether a call may run, showing what it would do. Sits below the conversation, which stays in sight. */
import { Preview } from "@grove/core/model"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import * as ToolRows from "./ToolRows.ts"
import type { ApprovalAsked, Event, Frame, Next, View, World } from "./View.ts"

export const make = (asked: ApprovalAsked): View => at(asked, 0)

const at = (asked: ApprovalAsked, top: number): View => ({
  name: `approval:${asked.callId}`,
  interrupts: true,
  on: (event, world) => on(asked, top, event, world),
  draw: (world, below) => draw(asked, top, world, below)
})

const on = (asked: ApprovalAsked, top: number, event: Event, world: World): Next => {
  const { callId } = asked
  const answer = (how: "once" | "always" | "no"): Next => ({
    view: null,
    intents: [{ _tag: "Approve", callId, answer: how }]
  })
  if (event._tag === "ApprovalWithdrawn" && event.callId === callId) return { view: null }
  if (event._tag === "Wheel") return { view: at(asked, Math.max(0, top + event.lines)) }
  if (event._tag !== "Key") return { view: at(asked, top) }
  switch (event.name) {
    case "y":
    case "enter":
      return answer("once")
    case "a":
      return answer("always")
    case "n":
      return answer("no")
    case "escape":
    case "ctrl+c":
      return { view: null, intents: [{ _tag: "Approve", callId, answer: "no" }, { _tag: "Cancel" }] }
    case "up":
      return { view: at(asked, Math.max(0, top - 1)) }
    case "down":
      return { view: at(asked, top + 1) }
    case "pageup":
      return { view: at(asked, Math.max(0, top - world.rows)) }
    case "pagedown":
      return { view: at(asked, top + Math.floor(world.rows / 2)) }
    default:
      return { view: at(asked, top) }
  }
}

const draw = (asked: ApprovalAsked, top: number, world: World, below: (rows: number) => Frame): Frame => {
  const { columns, rows, symbols } = world
  const { request, because } = asked
  const preview =
    request.preview === undefined ? [] : ToolRows.previewRows(request.preview.kind, request.preview.text, columns - 4)
  const room = Math.max(1, Math.floor(rows / 2) - 4)
  const from = Math.max(0, Math.min(top, preview.length - room))
  const shown = preview.slice(from, from + room).map((row) => [Row.span("   "), ...row])
  const left = preview.length - from - shown.length
  const dialog = [
    Row.row(symbols.rule.repeat(columns), "warning"),
    Row.cut(
      [Row.span(" May this run?  ", "warning"), Row.span(Preview.line(request.line, columns), "strong")],
      columns
    ),
    Row.cut(Row.row(` ${Preview.line(because, columns)}`, "dim"), columns),
    ...shown,
    ...(left > 0 ? [Row.row(`   ${symbols.more} ${left} more, ${symbols.up}${symbols.down} scroll`, "dim")] : []),
    Row.cut(
      Row.row(
        ["y yes", "a always in this session", "n no", "Esc no, and stop"]
          .join(symbols.dot)
          .padStart(1)
          .replace(/^/, " "),
        "accent"
      ),
      columns
    )
  ]
  return { rows: Sheet.panel(world, below, dialog), caret: null }
}
