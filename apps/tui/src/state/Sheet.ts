/** A screen put together from what stands above, in the middle and below: always exactly as large as the terminal. */
import * as Row from "./Row.ts"
import type { Event, Frame, Next, Notice, View, World } from "./View.ts"

/** A row with a caret in it. */
export interface Typed {
  readonly row: Row.Row
  readonly column: number
}

export interface Parts {
  readonly head: ReadonlyArray<Row.Row>
  readonly body: ReadonlyArray<Row.Row>
  readonly foot: ReadonlyArray<Row.Row>
  readonly caret?: { readonly part: "head" | "foot"; readonly line: number; readonly column: number } | null
}

export const rule = ({ symbols, columns }: World): Row.Row => Row.row(symbols.rule.repeat(Math.max(1, columns)), "dim")

/** How many lines are left for the body between a head and a foot. */
export const roomFor = ({ rows }: World, head: number, foot: number): number => Math.max(1, rows - head - foot)

export const frame = (world: World, { head, body, foot, caret = null }: Parts): Frame => {
  const { columns, rows } = world
  const room = roomFor(world, head.length, foot.length)
  const middle = body.slice(0, room)
  const blank = Array.from({ length: room - middle.length }, () => Row.empty)
  const all = [...head, ...middle, ...blank, ...foot].slice(0, rows).map((row) => Row.fill(row, columns))
  const line = caret === null ? -1 : caret.line + (caret.part === "head" ? 0 : head.length + room)
  const isThere = caret !== null && line < rows && caret.column < columns
  return { rows: all, caret: isThere ? { line, column: caret.column } : null }
}

/** Rows at the bottom of the screen; what is below has the rest of it. */
export const panel = (
  { rows }: World,
  below: (rows: number) => Frame,
  shown: ReadonlyArray<Row.Row>
): ReadonlyArray<Row.Row> => {
  const room = Math.max(0, rows - shown.length)
  const kept = room === 0 ? [] : below(room).rows.slice(0, room)
  const filler = Array.from({ length: room - kept.length }, () => Row.empty)
  return [...kept, ...filler, ...shown].slice(0, rows)
}

/** More lines than any message needs; the rest of it would push the conversation off the screen. */
const MOST_NOTICE = 4

/** What came of something, on as many lines as it takes: a link that is cut leads nowhere. */
export const notice = ({ columns, symbols }: World, { kind, text }: Notice): ReadonlyArray<Row.Row> => {
  const sign = kind === "error" ? `${symbols.error} ` : ""
  const rows = Row.wrap(Row.row(`${sign}${text}`, kind === "error" ? "error" : "accent"), columns - 2)
  return rows.slice(0, MOST_NOTICE).map((row) => [Row.span(" "), ...row])
}

/** Facts in one line, as many as there are. */
export const facts = ({ symbols }: World, ...given: ReadonlyArray<string | null | undefined | false>): string =>
  given.filter((fact) => typeof fact === "string" && fact !== "").join(symbols.dot)

/** Keys and what they do, on as many lines as it takes. */
export const keys = (world: World, ...given: ReadonlyArray<string>): ReadonlyArray<Row.Row> => {
  const lines: Array<string> = []
  for (const key of given) {
    const line = lines.at(-1)
    const longer = `${line}${world.symbols.dot}${key}`
    if (line !== undefined && Row.width(Row.row(longer)) <= world.columns - 2) lines[lines.length - 1] = longer
    else lines.push(key)
  }
  return lines.map((line) => [Row.span(" "), Row.span(line, "dim")])
}

/** A text in rows of at most `columns`, as many as are asked for, and whether there are more. */
export const paragraph = (
  text: string,
  columns: number,
  from: number,
  most: number
): { readonly rows: ReadonlyArray<Row.Row>; readonly hasMore: boolean } => {
  const rows: Array<Row.Row> = []
  for (let start = 0; start <= text.length && rows.length <= from + most; ) {
    const end = text.indexOf("\n", start)
    // What cannot be on the screen is not broken into rows: a line may be as long as a file.
    const line = text.slice(start, Math.min(end === -1 ? text.length : end, start + columns * (from + most + 1)))
    rows.push(...Row.wrap(Row.row(line.replace(/\r$/, "")), columns))
    if (end === -1) break
    start = end + 1
  }
  return { rows: rows.slice(from, from + most), hasMore: rows.length > from + most }
}

/** What a view does with an event: its next state, `null` to close, and what it asks for. */
export interface Step<State> extends Omit<Next, "view"> {
  readonly state: State | null
}

/** States and what they make of events, as a view. */
export const plug =
  <State>(
    name: string,
    on: (state: State, event: Event, world: World) => Step<State>,
    draw: (state: State, world: World) => Frame
  ) =>
  (opened: State): View => {
    const view = (state: State): View => ({
      name,
      on: (event, world) => {
        const { state: next, ...asked } = on(state, event, world)
        return { ...asked, view: next === null ? null : view(next) }
      },
      draw: (world) => draw(state, world)
    })
    return view(opened)
  }
