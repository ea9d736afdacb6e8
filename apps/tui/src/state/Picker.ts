/** A list to choose from: letters filter, arrows move, Enter takes. Palette, models, forks, sessions and history are made of it. */
import { Fzf } from "fzf"
import * as Editor from "./Editor.ts"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import { type Event, type Frame, isInput, type Next, type Notice, type View, type World } from "./View.ts"

/** What a key of a picker leads to: all that a view can answer, save that the picker itself goes on unless it is closed. */
export type Taken = Omit<Next, "view"> & { readonly close?: boolean }

export interface Picker<A> {
  readonly name: string
  /** What stands at the left of the first line, and at its right after the filter. */
  readonly title: (world: World) => Row.Row
  readonly items: ReadonlyArray<A>
  /** How many there are, if not all of them are among the items. */
  readonly total?: string
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
  /** Asked when other items come into sight, for more that is known of them elsewhere. */
  readonly looksAt?: (items: ReadonlyArray<A>) => Taken
  /** Items that pass the filter whatever their letters are. */
  readonly isFound?: (item: A, query: string) => boolean
  /** Which of the items is shown selected at first. */
  readonly first?: (item: A) => boolean
}

interface State<A> {
  readonly filter: Editor.Editor
  readonly selected: number
  /** Items that were in sight when they were last looked at. */
  readonly seen: ReadonlyArray<A>
  /** What came of something that was asked for here; until the next key. */
  readonly notice: Notice | null
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
  return view(picker, { filter: Editor.empty, selected, seen: [], notice: null })
}

const view = <A>(picker: Picker<A>, state: State<A>): View => ({
  name: picker.name,
  on: (event, world) => {
    const { next, ...rest } = on(picker, state, event, world)
    return next === null ? { ...rest, view: null } : looked(next, rest, world)
  },
  draw: (world) => draw(picker, state, world)
})

/** What an event leads to: the picker as it is then, or `null` where it is closed. */
interface Step<A> extends Omit<Next, "view"> {
  readonly next: { readonly picker: Picker<A>; readonly state: State<A> } | null
}

/** Asks for more on what has come into sight. */
const looked = <A>({ picker, state }: NonNullable<Step<A>["next"]>, rest: Omit<Next, "view">, world: World): Next => {
  const { looksAt } = picker
  const { shown } = looksAt === undefined ? { shown: state.seen } : laid(picker, state, world)
  const isSame = shown.length === state.seen.length && shown.every((item, i) => item === state.seen[i])
  if (looksAt === undefined || isSame) return { ...rest, view: view(picker, state) }
  const asked = looksAt(shown)
  return {
    ...rest,
    intents: [...(rest.intents ?? []), ...(asked.intents ?? [])],
    view: view(picker, { ...state, seen: shown })
  }
}

const taken = <A>(picker: Picker<A>, state: State<A>, { close = false, ...rest }: Taken): Step<A> => ({
  ...rest,
  next: close ? null : { picker, state }
})

const on = <A>(picker: Picker<A>, before: State<A>, event: Event, world: World): Step<A> => {
  const state = isInput(event) && before.notice !== null ? { ...before, notice: null } : before
  const stay = (change: Partial<State<A>>): Step<A> => ({ next: { picker, state: { ...state, ...change } } })
  const found = matching(picker, Editor.textOf(state.filter))
  const clamp = (index: number) => Math.max(0, Math.min(index, found.length - 1))
  const filtered = (filter: Editor.Editor): Step<A> => {
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
    case "Told":
      return stay({ notice: event.notice })
    default: {
      const heard = picker.hear?.(event) ?? picker
      const selected = Math.max(0, Math.min(state.selected, heard.items.length - 1))
      return { next: { picker: heard, state: { ...state, selected } } }
    }
  }
  const own = picker.keys?.[event.name]
  if (own !== undefined) return taken(picker, { ...state, selected: clamp(state.selected) }, own(item, world))
  const page = Math.max(1, world.rows - 8)
  switch (event.name) {
    case "escape":
      return Editor.isEmpty(state.filter) ? { next: null } : filtered(Editor.empty)
    case "ctrl+c":
      return { next: null }
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

/** What of a picker is on the screen: the items in sight, and what stands below them. */
const laid = <A>(picker: Picker<A>, state: State<A>, world: World) => {
  const { columns, rows, symbols } = world
  const found = matching(picker, Editor.textOf(state.filter))
  const selected = Math.max(0, Math.min(state.selected, found.length - 1))
  const preview = picker.preview(found[selected], columns - 2, world).slice(0, MOST_PREVIEW)
  const { notice } = state
  const below = [
    Row.row(symbols.rule.repeat(columns), "dim"),
    ...preview.map((row) => [Row.span(" "), ...row]),
    ...(notice === null ? Sheet.keys(world, ...picker.hint) : Sheet.notice(world, notice))
  ]
  const room = Math.max(1, rows - 1 - below.length)
  const from = Math.max(0, Math.min(selected - Math.floor(room / 2), found.length - room))
  return { count: found.length, selected, from, shown: found.slice(from, from + room), room, below }
}

const draw = <A>(picker: Picker<A>, state: State<A>, world: World): Frame => {
  const { columns, rows, symbols } = world
  const query = Editor.textOf(state.filter)
  const { count, selected, from, shown, room, below } = laid(picker, state, world)
  const tally = `${count.toLocaleString("en")} of ${picker.total ?? picker.items.length.toLocaleString("en")} `
  const typed: Row.Row = query === "" ? Row.row("type to filter", "dim") : Row.row(query)
  const title = picker.title(world)
  const wide: Row.Row = [Row.span(" "), ...title, Row.span("   > ", "dim")]
  const isTight = Row.width(wide) + Row.width(typed) + tally.length + 2 > columns
  const left: Row.Row = isTight ? [Row.span(" "), ...title.slice(0, 1), Row.span("> ", "dim")] : wide
  const head = Row.spread([...left, ...typed], Row.row(tally, "dim"), columns)
  const list =
    count === 0
      ? [Row.row(` ${picker.nothing(query)}`, "dim")]
      : shown.map((item, i) => {
          const isSelected = from + i === selected
          const row = [Row.span(isSelected ? symbols.select : " ", "accent"), ...picker.row(item, columns - 2, world)]
          return isSelected ? Row.fill(row, columns, "selected") : row
        })
  const filler = Array.from({ length: Math.max(0, room - list.length) }, () => Row.empty)
  const column = Math.min(columns - 1, Row.width(left) + Editor.layout(state.filter, 10_000).column)
  return { rows: [head, ...list, ...filler, ...below].slice(0, rows), caret: { line: 0, column } }
}
