/** A list to choose from: letters filter, arrows move, Enter takes. Palette, models, forks, sessions and history are made of it. */
import { Fzf } from "fzf"
import * as Editor from "./Editor.ts"
import * as Row from "./Row.ts"
import type { Event, Frame, Next, View, World } from "./View.ts"

/** What a key of a picker leads to: all that a view can answer, save that the picker itself goes on unless it is closed. */
export type Taken = Omit<Next, "view"> & { readonly close?: boolean }

export interface Picker<A> {
  readonly name: string
  /** What stands at the left of the first line, and at its right after the filter. */
  readonly title: (world: World) => Row.Row
  readonly items: ReadonlyArray<A>
  /** What letters are compared with. */
  readonly textOf: (item: A) => string
  readonly row: (item: A, columns: number, world: World) => Row.Row
  /** More on the selected item, below the list. */
  readonly preview: (item: A | undefined, columns: number, world: World) => ReadonlyArray<Row.Row>
  /** What keys there are. */
  readonly hint: ReadonlyArray<string>
  /** Why there is nothing. */
  readonly nothing: (query: string) => string
  readonly enter: (item: A, world: World) => Taken
  readonly keys?: { readonly [name: string]: (item: A | undefined, world: World) => Taken }
  /** The picker after something happened around it; `null` if that does not concern it. */
  readonly hear?: (event: Event) => Picker<A> | null
  /** Asked when the filter changed, for items that are found elsewhere; then letters do not filter here. */
  readonly search?: (query: string) => Taken
  /** Asked when the filter changed, for more that is known of the items elsewhere. */
  readonly alsoAsk?: (query: string) => Taken
  /** Items that pass the filter whatever their letters are. */
  readonly isFound?: (item: A, query: string) => boolean
  /** Which of the items is shown selected at first. */
  readonly first?: (item: A) => boolean
}

interface State {
  readonly filter: Editor.Editor
  readonly selected: number
}

const MOST_PREVIEW = 4

/** A finder is as good as its list: made once for each. */
const finders = new WeakMap<ReadonlyArray<unknown>, Fzf<ReadonlyArray<unknown>>>()

const matching = <A>(picker: Picker<A>, query: string): ReadonlyArray<A> => {
  if (query.trim() === "" || picker.search !== undefined) return picker.items
  let finder = finders.get(picker.items)
  if (finder === undefined) {
    finder = new Fzf<ReadonlyArray<unknown>>(picker.items, {
      selector: (item: unknown) => picker.textOf(item as A),
      fuzzy: "v1",
      casing: "case-insensitive"
    })
    finders.set(picker.items, finder)
  }
  const found = finder.find(query.trim()).map(({ item }: { readonly item: unknown }) => item as A)
  const { isFound } = picker
  if (isFound === undefined) return found
  const already = new Set(found)
  return [...found, ...picker.items.filter((item) => !already.has(item) && isFound(item, query.trim()))]
}

export const make = <A>(picker: Picker<A>): View => {
  const { first } = picker
  const selected = first === undefined ? 0 : Math.max(0, picker.items.findIndex(first))
  return view(picker, { filter: Editor.empty, selected })
}

const view = <A>(picker: Picker<A>, state: State): View => ({
  name: picker.name,
  on: (event, world) => on(picker, state, event, world),
  draw: (world) => draw(picker, state, world)
})

const taken = <A>(picker: Picker<A>, state: State, { close = false, ...rest }: Taken): Next => ({
  ...rest,
  view: close ? null : view(picker, state)
})

const on = <A>(picker: Picker<A>, state: State, event: Event, world: World): Next => {
  const stay = (change: Partial<State>): Next => ({ view: view(picker, { ...state, ...change }) })
  const found = matching(picker, Editor.textOf(state.filter))
  const clamp = (index: number) => Math.max(0, Math.min(index, found.length - 1))
  const filtered = (filter: Editor.Editor): Next => {
    const query = Editor.textOf(filter)
    const changed = { filter, selected: query === Editor.textOf(state.filter) ? state.selected : 0 }
    const ask = query === Editor.textOf(state.filter) ? undefined : (picker.search ?? picker.alsoAsk)
    return ask === undefined ? stay(changed) : taken(picker, { ...state, ...changed }, ask(query))
  }
  const item = found[clamp(state.selected)]
  switch (event._tag) {
    case "Wheel":
      return stay({ selected: clamp(state.selected + Math.sign(event.lines)) })
    case "Paste":
      return filtered(Editor.insert(state.filter, event.text.replace(/\s+/g, " ")))
    case "Key":
      break
    default: {
      const heard = picker.hear?.(event) ?? picker
      return {
        view: view(heard, { ...state, selected: Math.max(0, Math.min(state.selected, heard.items.length - 1)) })
      }
    }
  }
  const own = picker.keys?.[event.name]
  if (own !== undefined) return taken(picker, { ...state, selected: clamp(state.selected) }, own(item, world))
  const page = Math.max(1, world.rows - 8)
  switch (event.name) {
    case "escape":
      return Editor.isEmpty(state.filter) ? { view: null } : filtered(Editor.empty)
    case "ctrl+c":
      return { view: null }
    case "enter":
      return item === undefined ? stay({}) : taken(picker, state, { close: true, ...picker.enter(item, world) })
    case "up":
    case "ctrl+p":
      return stay({ selected: clamp(clamp(state.selected) - 1) })
    case "down":
    case "ctrl+n":
      return stay({ selected: clamp(state.selected + 1) })
    case "pageup":
      return stay({ selected: clamp(state.selected - page) })
    case "pagedown":
      return stay({ selected: clamp(state.selected + page) })
    case "ctrl+home":
      return stay({ selected: 0 })
    case "ctrl+end":
      return stay({ selected: clamp(found.length) })
    default: {
      if (event.text !== undefined) return filtered(Editor.insert(state.filter, event.text))
      if (event.name.includes("enter")) return stay({})
      return filtered(Editor.press(state.filter, event.name, world.columns) ?? state.filter)
    }
  }
}

const draw = <A>(picker: Picker<A>, state: State, world: World): Frame => {
  const { columns, rows, symbols } = world
  const query = Editor.textOf(state.filter)
  const found = matching(picker, query)
  const selected = Math.max(0, Math.min(state.selected, found.length - 1))
  const title = picker.title(world)
  const left: Row.Row = [Row.span(" "), ...title, Row.span("   > ", "dim")]
  const tally = `${found.length === 0 ? 0 : selected + 1} of ${found.length.toLocaleString("en")} `
  const typed: Row.Row = query === "" ? Row.row("type to filter", "dim") : Row.row(query)
  const head = Row.spread([...left, ...typed], Row.row(tally, "dim"), columns)
  const preview = picker.preview(found[selected], columns - 2, world).slice(0, MOST_PREVIEW)
  const hint = Row.wrap(Row.row(picker.hint.join(symbols.dot), "dim"), columns - 2)
  const below = [
    Row.row(symbols.rule.repeat(columns), "dim"),
    ...preview.map((row) => [Row.span(" "), ...row]),
    ...hint.map((row) => [Row.span(" "), ...row])
  ]
  const room = Math.max(1, rows - 1 - below.length)
  const from = Math.max(0, Math.min(selected - Math.floor(room / 2), found.length - room))
  const list =
    found.length === 0
      ? [Row.row(` ${picker.nothing(query)}`, "dim")]
      : found.slice(from, from + room).map((item, i) => {
          const isSelected = from + i === selected
          const row = [Row.span(isSelected ? symbols.select : " ", "accent"), ...picker.row(item, columns - 2, world)]
          return isSelected ? Row.fill(row, columns, "selected") : row
        })
  const filler = Array.from({ length: Math.max(0, room - list.length) }, () => Row.empty)
  const column = Math.min(columns - 1, Row.width(left) + Editor.layout(state.filter, 10_000).column)
  return { rows: [head, ...list, ...filler, ...below].slice(0, rows), caret: { line: 0, column } }
}
