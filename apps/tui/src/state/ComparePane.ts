/** Two branches side by side: what each cost and touched, and how they differ, turn by turn. */
import { Comparison, type EntryId, Preview } from "@grove/core/model"
import type { Input } from "../keys.ts"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import type { Event, Frame, World } from "./View.ts"
import * as Words from "./Words.ts"

export interface State {
  readonly comparison: Comparison.Comparison
  readonly isWhole: boolean
  readonly top: number
}

export const open = ({ session, price }: World, a: EntryId, b: EntryId): State => ({
  comparison: Comparison.compare(session.tree, a, b, price),
  isWhole: false,
  top: 0
})

/** Lines around a difference that are shown with it. */
const AROUND = 2

interface Line {
  readonly kind: Comparison.Part["kind"] | "turn" | "gap"
  readonly text: string
}

/** Of what both have in common only what is near a difference, unless all is asked for. */
const partLines = (
  { kind, text }: Comparison.Part,
  isFirst: boolean,
  isLast: boolean,
  isWhole: boolean
): ReadonlyArray<Line> => {
  const lines = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line): Line => ({ kind, text: line }))
  const before = isFirst ? 0 : AROUND
  const after = isLast ? 0 : AROUND
  const hidden = lines.length - before - after
  if (kind !== "same" || isWhole || hidden <= 1) return lines
  const gap: Line = { kind: "gap", text: Words.count(hidden, "same line") }
  return [...lines.slice(0, before), gap, ...lines.slice(lines.length - after)]
}

const linesOf = ({ comparison: { turns }, isWhole }: State): ReadonlyArray<Line> =>
  turns.flatMap(({ a, b, diff }, i): ReadonlyArray<Line> => {
    const who = a === null ? "only in B" : b === null ? "only in A" : "in both"
    return [
      { kind: "turn", text: `turn ${i + 1} after the fork, ${who}` },
      ...diff.flatMap((part, at) => partLines(part, at === 0, at === diff.length - 1, isWhole))
    ]
  })

const SIGNS = { same: " ", removed: "A", added: "B" } as const
const STYLES = { same: "dim", removed: "removed", added: "added" } as const

const lineRows = ({ kind, text }: Line, { symbols }: World, columns: number): ReadonlyArray<Row.Row> => {
  if (kind === "turn") return [Row.empty, Row.row(` ${text}`, "heading")]
  if (kind === "gap") return [Row.row(`   ${symbols.hidden} ${text}`, "dim")]
  const sign = Row.row(` ${SIGNS[kind]} `, STYLES[kind])
  return Row.indent(Row.wrap(Row.row(text, STYLES[kind]), columns - 4), sign, Row.row("   "))
}

/** Rows are made once for each width: a comparison never changes. */
const drawn = new WeakMap<Comparison.Comparison, { readonly key: string; readonly rows: ReadonlyArray<Row.Row> }>()

const bodyRows = (state: State, world: World): ReadonlyArray<Row.Row> => {
  const key = `${world.columns} ${state.isWhole} ${world.symbols.up}`
  const known = drawn.get(state.comparison)
  if (known?.key === key) return known.rows
  const rows = linesOf(state).flatMap((line) => lineRows(line, world, world.columns))
  drawn.set(state.comparison, { key, rows })
  return rows
}

const sideRow = (name: string, side: Comparison.Side, world: World): Row.Row => {
  const files = side.files.length === 0 ? "" : Words.count(side.files.length, "file")
  const facts = Sheet.facts(
    world,
    Words.count(side.entries.length, "entry", "entries"),
    `${Words.tokens(side.tokens)} tokens`,
    Words.cost(side.costMicros),
    files
  )
  const end = Preview.line(endOf(side, world), world.columns)
  const left: Row.Row = [Row.span(` ${name}  `, name === "A" ? "removed" : "added"), Row.span(end)]
  return Row.spread(left, Row.row(`  ${facts} `, "dim"), world.columns)
}

const endOf = ({ leaf }: Comparison.Side, { session: { tree } }: World): string => {
  const entry = tree.get(leaf)
  return entry === undefined ? leaf : Preview.textOfEntry(entry) || `(${entry.type})`
}

const headRows = ({ comparison: { a, b, common } }: State, world: World): ReadonlyArray<Row.Row> => [
  [Row.span(" COMPARE ", "title"), Row.span(` ${Words.count(common.length, "entry", "entries")} in common`, "dim")],
  sideRow("A", a, world),
  sideRow("B", b, world),
  Sheet.rule(world)
]

const footRows = (world: World): ReadonlyArray<Row.Row> => [
  Sheet.rule(world),
  ...Sheet.keys(world, "up/down scroll", "[ ] turn", "w whole or changes", "a go to A", "b go to B", "Esc back")
]

const roomFor = (world: World): number => Sheet.roomFor(world, 4, footRows(world).length)

const emptyRows = ({ comparison: { a, b } }: State): ReadonlyArray<Row.Row> => {
  const why = a.leaf === b.leaf ? "This is one and the same entry." : "One is on the way to the other: nothing differs."
  return [Row.empty, Row.row(` ${why} Mark two entries of different branches.`, "dim")]
}

const topWithin = (top: number, count: number, room: number): number => Math.max(0, Math.min(top, count - room))

/** Rows at which turns begin. */
const turnStarts = (rows: ReadonlyArray<Row.Row>): ReadonlyArray<number> =>
  rows.flatMap((row, i) => (row[0]?.style === "heading" ? [Math.max(0, i - 1)] : []))

const press = (state: State, input: Input, world: World): Sheet.Step<State> => {
  const rows = bodyRows(state, world)
  const room = roomFor(world)
  const at = topWithin(state.top, rows.length, room)
  const to = (top: number): Sheet.Step<State> => ({ state: { ...state, top: topWithin(top, rows.length, room) } })
  if (input._tag === "Wheel") return to(at + input.lines)
  if (input._tag !== "Key") return { state }
  const { a, b } = state.comparison
  switch (input.name) {
    case "up":
    case "k":
      return to(at - 1)
    case "down":
    case "j":
      return to(at + 1)
    case "pageup":
      return to(at - room)
    case "pagedown":
    case "space":
      return to(at + room)
    case "home":
      return to(0)
    case "end":
      return to(rows.length)
    case "]":
      return to(turnStarts(rows).find((start) => start > at) ?? at)
    case "[":
      return to(turnStarts(rows).findLast((start) => start < at) ?? 0)
    case "w":
      return { state: { ...state, isWhole: !state.isWhole, top: 0 } }
    case "a":
      return { state: null, intents: [{ _tag: "Move", to: a.leaf }] }
    case "b":
      return { state: null, intents: [{ _tag: "Move", to: b.leaf }] }
    case "escape":
    case "q":
    case "ctrl+c":
      return { state: null }
    default:
      return { state }
  }
}

export const on = (state: State, event: Event, world: World): Sheet.Step<State> =>
  event._tag === "Key" || event._tag === "Paste" || event._tag === "Wheel" ? press(state, event, world) : { state }

export const draw = (state: State, world: World): Frame => {
  const rows = state.comparison.turns.length === 0 ? emptyRows(state) : bodyRows(state, world)
  const room = roomFor(world)
  const top = topWithin(state.top, rows.length, room)
  return Sheet.frame(world, { head: headRows(state, world), body: rows.slice(top, top + room), foot: footRows(world) })
}

export const view = Sheet.plug("compare", on, draw)
