/** The whole session as a tree (`/tree`): where one can go from here, and what can be changed. */
import { Comparison, Entry, type EntryId, Preview, TreeLayout, TreeView, Width } from "@grove/core/model"
import * as Ask from "./Ask.ts"
import * as Editor from "./Editor.ts"
import * as ForkView from "./ForkView.ts"
import * as Help from "./Help.ts"
import * as Picker from "./Picker.ts"
import * as Row from "./Row.ts"
import type { Event, Frame, Next, Prompt, SessionState, TreeEdit, View, World } from "./View.ts"
import * as Words from "./Words.ts"

interface State {
  readonly filter: TreeView.Filter
  readonly unfolded: ReadonlySet<EntryId>
  /** The row that keys act on, unless rows are marked. */
  readonly selected: EntryId | null
  readonly marked: ReadonlySet<EntryId>
  readonly query: string
  readonly search: Editor.Editor | null
  readonly hasPreview: boolean
  readonly notice: { readonly kind: "info" | "error"; readonly text: string } | null
}

export const open = (world: World): View =>
  view({
    filter: "turns",
    unfolded: new Set(),
    selected: world.session.leaf,
    marked: new Set(),
    query: "",
    search: null,
    hasPreview: true,
    notice: null
  })

const view = (state: State): View => ({
  name: "tree",
  on: (event, world) => on(state, event, world),
  draw: (world) => draw(state, world)
})

// ----------------------------------------------------------------------------------------------------------- layout

interface Laid {
  readonly view: TreeView.TreeView
  readonly rows: ReadonlyArray<TreeLayout.LayoutRow>
  readonly indexOf: ReadonlyMap<EntryId, number>
}

/** Layouts of the session as it is, by filter and by what is unfolded: moving about computes nothing anew. */
const views = new WeakMap<SessionState, Map<TreeView.Filter, TreeView.TreeView>>()
const layouts = new WeakMap<ReadonlySet<EntryId>, { readonly view: TreeView.TreeView; readonly laid: Laid }>()

const laidOut = ({ filter, unfolded }: State, { session }: World): Laid => {
  const known = views.get(session) ?? new Map<TreeView.Filter, TreeView.TreeView>()
  views.set(session, known)
  const shown = known.get(filter) ?? TreeView.make(session.tree, filter)
  known.set(filter, shown)
  const before = layouts.get(unfolded)
  if (before?.view === shown) return before.laid
  const rows = TreeLayout.layout(shown, { leaf: session.leaf, unfolded: (id) => unfolded.has(id) })
  const laid = { view: shown, rows, indexOf: new Map(rows.map(({ id }, i) => [id, i])) }
  layouts.set(unfolded, { view: shown, laid })
  return laid
}

/** Where the selection is among the rows: its own row, else the nearest one above it that is drawn. */
const indexIn = ({ view: shown, rows, indexOf }: Laid, { selected }: State, { session }: World): number => {
  let row = shown.nearest(session.tree.rowOf(selected))
  while (row >= 0) {
    const index = indexOf.get(session.tree.idAt(row)!)
    if (index !== undefined) return index
    row = shown.parentOf(row)
  }
  return Math.max(0, rows.length - 1)
}

/** Opens the side branches around an entry, so that its row is drawn. */
const revealed = (state: State, id: EntryId, world: World): State => {
  const { tree } = world.session
  const { view: shown, indexOf } = laidOut(state, world)
  if (indexOf.has(id)) return { ...state, selected: id }
  const unfolded = new Set(state.unfolded)
  for (let row = shown.nearest(tree.rowOf(id)); row >= 0; row = shown.parentOf(row)) {
    const parent = shown.parentOf(row)
    if (shown.childrenOf(parent).length > 1) unfolded.add(tree.idAt(row)!)
  }
  return { ...state, unfolded, selected: id }
}

// ------------------------------------------------------------------------------------------------------------- keys

const FILTERS: ReadonlyArray<TreeView.Filter> = ["turns", "user", "labeled", "errors", "all"]

const filterAfter = (filter: TreeView.Filter): TreeView.Filter =>
  FILTERS[(FILTERS.indexOf(filter) + 1) % FILTERS.length]!

/** Choosing a prompt goes to before it and brings its text back; choosing anything else goes to it. */
const destination = (
  id: EntryId,
  { session: { tree } }: World
): { readonly to: EntryId | null; readonly prompt: Prompt | null } => {
  const row = tree.rowOf(id)
  if (tree.roleAt(row) !== "user") return { to: id, prompt: null }
  return { to: tree.idAt(tree.shownParentRow(row)), prompt: ForkView.promptAt(tree, row) }
}

const go = (id: EntryId, world: World, summary?: { readonly instructions?: string }): Omit<Next, "view"> => {
  const { to, prompt } = destination(id, world)
  return {
    intents: [summary === undefined ? { _tag: "Move", to } : { _tag: "Move", to, summary }],
    events: prompt === null ? [] : [{ _tag: "Filled", prompt }]
  }
}

const matches = (query: string, id: EntryId, { session: { tree } }: World): boolean => {
  const entry = tree.get(id)
  return entry !== undefined && Preview.textOfEntry(entry).toLowerCase().includes(query.toLowerCase())
}

/** The next match in the order of the tree, side branches included. */
const findNext = (state: State, world: World, by: 1 | -1): State => {
  if (state.query === "") return state
  const { tree } = world.session
  const { view: shown } = laidOut(state, world)
  const everything = TreeLayout.layout(shown, { leaf: world.session.leaf, unfolded: () => true })
  const from = everything.findIndex(({ id }) => id === state.selected)
  for (let i = 1; i <= everything.length; i++) {
    const index = (((from + i * by) % everything.length) + everything.length) % everything.length
    const { id } = everything[index]!
    if (tree.has(id) && matches(state.query, id, world)) return { ...revealed(state, id, world), notice: null }
  }
  return {
    ...state,
    notice: { kind: "error", text: `nothing here says "${Preview.line(state.query, 40)}"; Tab: another filter` }
  }
}

const comparison = (a: EntryId, b: EntryId): View =>
  Help.page("compare", "COMPARE", (columns, { session: { tree }, symbols }) => {
    const { common, a: left, b: right, turns } = Comparison.compare(tree, a, b)
    const side = (name: string, { leaf, entries, tokens, costMicros, files }: Comparison.Side) => [
      Row.cut([Row.span(`${name} `, "accent"), Row.span(Preview.ofEntry(tree.get(leaf)!, columns))], columns),
      Row.row(
        `  ${Words.count(entries.length, "entry", "entries")}${symbols.dot}${Words.tokens(tokens)} tokens${symbols.dot}${Words.cost(costMicros)}${files.length === 0 ? "" : `${symbols.dot}${files.join(", ")}`}`,
        "dim"
      )
    ]
    const diff = turns.flatMap(({ diff }, i) => [
      Row.row(`turn ${i + 1} after the fork`, "heading"),
      ...diff.flatMap(({ kind, text }) => {
        const style = kind === "added" ? "added" : kind === "removed" ? "removed" : "dim"
        const sign = kind === "added" ? "+ " : kind === "removed" ? "- " : "  "
        return text
          .replace(/\n$/, "")
          .split("\n")
          .flatMap((line) => Row.wrap(Row.row(`${sign}${line}`, style), columns, Row.row("  ")))
      })
    ])
    return [
      Row.empty,
      Row.row(`${Words.count(common.length, "entry", "entries")} in common`, "dim"),
      ...side("-", left),
      ...side("+", right),
      Row.empty,
      ...diff
    ]
  })

const stash = (world: World, target: EntryId | null): View => {
  const { tree } = world.session
  return Picker.make({
    name: "stash",
    title: () => Row.row("STASH", "title"),
    items: tree.edits.stash,
    textOf: ({ root }) => Preview.textOfEntry(tree.get(root)!),
    row: ({ root }, columns) => Row.row(` ${Preview.ofEntry(tree.get(root)!, columns - 1)}`),
    preview: () => [Row.row("Enter grafts a copy below the selected row of the tree", "dim")],
    hint: ["Enter graft", "Esc"],
    nothing: () => "the stash is empty: nothing is pruned",
    enter: ({ root }) =>
      target === null ? {} : { intents: [{ _tag: "Edit", edit: { op: "graft", source: root, target } }] }
  })
}

const editing = (edit: TreeEdit): Omit<Next, "view"> => ({ intents: [{ _tag: "Edit", edit }] })

const on = (state: State, event: Event, world: World): Next => {
  const stay = (change: Partial<State> = {}): Next => ({ view: view({ ...state, ...change }) })
  if (event._tag === "Told") return stay({ notice: event.notice })
  if (event._tag === "Opened") return { view: null }
  if (state.search !== null) return searching(state, state.search, event, world)
  const laid = laidOut(state, world)
  const index = indexIn(laid, state, world)
  const move = (to: number): Next => {
    const row = laid.rows[Math.max(0, Math.min(to, laid.rows.length - 1))]
    return stay({ selected: row?.id ?? null, notice: null })
  }
  if (event._tag === "Wheel") return move(index + event.lines)
  if (event._tag !== "Key") return stay()
  const here = laid.rows[index]
  const keep = (rest: Omit<Next, "view">): Next => ({ ...rest, view: view({ ...state, notice: null }) })
  const chosen = state.marked.size > 0 ? [...state.marked] : here === undefined ? [] : [here.id]
  const page = Math.max(1, world.rows - 8)
  switch (event.name) {
    case "escape":
      if (state.query !== "" || state.marked.size > 0) return stay({ query: "", marked: new Set(), notice: null })
      return { view: null }
    case "ctrl+c":
    case "q":
      return { view: null }
    case "up":
    case "k":
      return move(index - 1)
    case "down":
    case "j":
      return move(index + 1)
    case "pageup":
      return move(index - page)
    case "pagedown":
      return move(index + page)
    case "home":
      return move(0)
    case "end":
      return move(laid.rows.length - 1)
    case "tab":
      return stay({ filter: filterAfter(state.filter), notice: null })
    case "ctrl+u":
      return stay({ filter: state.filter === "user" ? "turns" : "user", notice: null })
    case "ctrl+o":
      return stay({ filter: state.filter === "all" ? "turns" : "all", notice: null })
    case "/":
      return stay({ search: Editor.empty, notice: null })
    case "n":
      return { view: view(findNext(state, world, 1)) }
    case "N":
      return { view: view(findNext(state, world, -1)) }
    case "p":
      return stay({ hasPreview: !state.hasPreview })
    case "u":
      return keep(editing({ op: "undo" }))
    case "U":
      return keep(editing({ op: "redo" }))
    case "?":
      return keep({ open: keysPage() })
  }
  if (here === undefined) return stay()
  switch (event.name) {
    case "enter":
      return { ...go(here.id, world), view: null }
    case "s":
      return keep({
        open: Ask.make({
          name: "summary",
          question: "Summarise what is left, with instructions (or none)",
          answer: (instructions) => ({
            ...go(here.id, world, instructions === "" ? {} : { instructions })
          })
        })
      })
    case "right":
      if (here.folded) return stay({ unfolded: new Set([...state.unfolded, here.id]), notice: null })
      return move(index + 1)
    case "left": {
      if (here.kind === "side" && !here.folded) {
        return stay({ unfolded: new Set([...state.unfolded].filter((id) => id !== here.id)), notice: null })
      }
      const above = laid.rows.slice(0, index).findLastIndex((row) => row.depth < here.depth || row.kind === "side")
      return move(above === -1 ? 0 : above)
    }
    case "[":
    case "]": {
      const row = world.session.tree.rowOf(here.id)
      const siblings = laid.view.childrenOf(laid.view.parentOf(row))
      const by = event.name === "]" ? 1 : -1
      const next = siblings[(siblings.indexOf(row) + by + siblings.length) % siblings.length]
      return next === undefined ? stay() : { view: view(revealed(state, world.session.tree.idAt(next)!, world)) }
    }
    case "{":
    case "}": {
      const isFork = (row: TreeLayout.LayoutRow) => laid.view.childrenOf(row.row).length > 1
      const to =
        event.name === "{"
          ? laid.rows.slice(0, index).findLastIndex(isFork)
          : laid.rows.findIndex((row, i) => i > index && isFork(row))
      return to === -1 ? stay({ notice: { kind: "info", text: "no other fork that way" } }) : move(to)
    }
    case "space": {
      const marked = new Set(state.marked)
      if (!marked.delete(here.id)) marked.add(here.id)
      return stay({ marked, selected: laid.rows[index + 1]?.id ?? here.id, notice: null })
    }
    case "f": {
      const { to, prompt } = destination(here.id, world)
      return { view: null, intents: [{ _tag: "Fork", at: to, prompt }] }
    }
    case "l":
      return keep({
        open: Ask.make(
          {
            name: "label",
            question: "Label",
            answer: (label) => ({ intents: [{ _tag: "Label", target: here.id, label: label === "" ? null : label }] })
          },
          world.session.tree.facts.labels.get(here.id) ?? ""
        )
      })
    case "y":
      return keep({ intents: [{ _tag: "Copy", text: here.id }] })
    case "c": {
      const [a, b = here.id] = [...state.marked]
      if (a === undefined || a === b)
        return stay({ notice: { kind: "info", text: "mark one entry with Space, go to another, c again" } })
      return keep({ open: comparison(a, b) })
    }
    case "d":
      return keep(editing({ op: "toggle", ids: chosen }))
    case "x":
      return keep(editing({ op: "prune", at: here.id }))
    case "v": {
      const [source] = [...state.marked]
      if (source === undefined)
        return stay({ notice: { kind: "info", text: "mark what to graft with Space, go to where it should be, v" } })
      return keep(editing({ op: "graft", source, target: here.id }))
    }
    case "m": {
      const picked = [...state.marked]
      const onto = world.session.leaf
      if (onto === null)
        return stay({ notice: { kind: "error", text: "you stand nowhere: go somewhere first, then merge" } })
      return keep(editing({ op: "merge", branch: here.id, onto, picked }))
    }
    case "z": {
      const [first, last = here.id] = [...state.marked]
      if (first === undefined)
        return stay({ notice: { kind: "info", text: "mark the first entry with Space, go to the last, z" } })
      return keep(editing({ op: "summarize", first, last }))
    }
    case "S":
      return keep({ open: stash(world, here.id) })
    case "1":
    case "2":
    case "3":
    case "4":
    case "5":
      return keep(editing({ op: "rate", ids: chosen, rating: Number(event.name) }))
    default:
      return stay()
  }
}

const searching = (state: State, search: Editor.Editor, event: Event, world: World): Next => {
  const typed = (next: Editor.Editor): Next => {
    const query = Editor.textOf(next)
    return { view: view({ ...state, search: next, query }) }
  }
  if (event._tag === "Paste") return typed(Editor.insert(search, event.text.replace(/\s+/g, " ")))
  if (event._tag !== "Key") return { view: view(state) }
  switch (event.name) {
    case "escape":
    case "ctrl+c":
      return { view: view({ ...state, search: null, query: "" }) }
    case "enter":
      return { view: view(findNext({ ...state, search: null }, world, 1)) }
    default:
      if (event.text !== undefined) return typed(Editor.insert(search, event.text))
      return event.name.includes("enter") ? typed(search) : typed(Editor.press(search, event.name, 10_000) ?? search)
  }
}

const KEYS: ReadonlyArray<readonly [string, string]> = [
  ["Up Down", "move"],
  ["Left Right", "fold, unfold; else to the fork above, to the next row"],
  ["[ ]", "the branch beside"],
  ["{ }", "previous, next fork"],
  ["Enter", "go: to before a prompt, its text to the editor; to any other entry itself"],
  ["s", "go, and summarise there what is left behind"],
  ["f", "fork into a new session"],
  ["Space", "mark; keys then act on all marked rows"],
  ["c", "compare the marked entry with this one"],
  ["l", "label"],
  ["d", "mute, or hear again"],
  ["x", "prune what follows, to the stash"],
  ["v", "graft the marked entry here"],
  ["m", "merge this branch to where you stand: marked entries, or a summary"],
  ["z", "summarise from the marked entry to this one"],
  ["S", "stash"],
  ["u U", "undo, redo"],
  ["1 to 5", "rate"],
  ["Tab", "filter; Ctrl+U prompts, Ctrl+O all"],
  ["/ n N", "search, next, previous"],
  ["p", "preview on or off"],
  ["y", "copy the id"],
  ["Esc", "clear, then close"]
]

const keysPage = (): View =>
  Help.page("tree-keys", "KEYS OF THE TREE", (columns) =>
    KEYS.map(([key, about]) => Row.cut([Row.span(key.padEnd(14), "accent"), Row.span(about)], columns))
  )

// ---------------------------------------------------------------------------------------------------------- drawing

const SPEAKERS: { readonly [role: string]: string } = {
  user: "you",
  assistant: "ai",
  toolResult: "tool",
  bashExecution: "run",
  pythonExecution: "run",
  custom: "note",
  system: "sys",
  developer: "sys",
  fileMention: "file"
}
const TYPES: { readonly [type: string]: string } = {
  custom_message: "note",
  branch_summary: "was",
  compaction: "cut",
  model_change: "set",
  thinking_level_change: "set",
  mode_change: "set",
  label: "tag",
  session_info: "name",
  custom: "ext"
}

const speakerOf = (entry: Entry.Entry): string => {
  const role = Entry.role(entry)
  return role === null ? (TYPES[entry.type] ?? "?") : (SPEAKERS[role] ?? "?")
}

const LEAST_TEXT = 24

const gutter = (row: TreeLayout.LayoutRow, entry: Entry.Entry, columns: number, { symbols }: World): Row.Row => {
  const most = Math.max(1, Math.floor((columns - Math.max(LEAST_TEXT, Math.floor(columns / 2)) - 9) / 2))
  const bars =
    row.depth <= most
      ? `${symbols.line} `.repeat(row.depth)
      : `${symbols.more[0]} ${`${symbols.line} `.repeat(most - 1)}`
  if (row.kind === "side")
    return Row.row(`${bars}${symbols.fork}${row.folded ? symbols.folded : symbols.unfolded} `, "dim")
  const sign = row.here
    ? symbols.here
    : entry.type === "compaction" || entry.type === "branch_summary"
      ? symbols.summary
      : Entry.role(entry) === "user"
        ? row.onPath
          ? symbols.userOnPath
          : symbols.userOffPath
        : symbols.line
  return [Row.span(bars, "dim"), Row.span(`${sign} `, row.here ? "accent" : "dim")]
}

const wordsOf = (entry: Entry.Entry, columns: number): string => {
  if (TreeView.isError(entry) && Entry.role(entry) === "assistant") {
    const { stopReason } = entry.message as { readonly stopReason?: unknown }
    return Preview.line(`(${String(stopReason)}) ${Preview.textOfEntry(entry)}`, columns)
  }
  if (entry.type === "compaction") {
    const before = typeof entry.tokensBefore === "number" ? ` ${Words.tokens(entry.tokensBefore)} tokens` : ""
    return `compacted${before}`
  }
  return Preview.ofEntry(entry, columns)
}

const remarksOf = (
  row: TreeLayout.LayoutRow,
  entry: Entry.Entry,
  laid: Laid,
  { session, symbols, now }: World
): string => {
  const { tree } = session
  const label = tree.facts.labels.get(entry.id)
  const rating = tree.facts.annotations.get(entry.id)?.rating
  const tools = row.folded ? 0 : laid.view.toolsOf(row.row)
  const parts = [
    ...(label === undefined ? [] : [`[${Preview.line(label, 20)}]`]),
    ...(rating === undefined || rating === null ? [] : [`${rating}/5`]),
    ...(tools > 0 ? [`${symbols.tools}${tools}`] : []),
    ...(TreeView.isError(entry) ? [symbols.error] : []),
    ...(row.folded
      ? [
          [
            Words.count(row.entries, "entry", "entries"),
            Words.count(row.leaves, "leaf", "leaves"),
            Words.age(row.newest, now)
          ].join(symbols.dot)
        ]
      : []),
    ...(row.here ? [symbols.arrow] : [])
  ]
  return parts.join("  ")
}

const drawRow = (
  row: TreeLayout.LayoutRow,
  laid: Laid,
  state: State,
  isSelected: boolean,
  columns: number,
  world: World
): Row.Row => {
  const { tree } = world.session
  const entry = tree.entryAt(row.row)
  const isOff = tree.edits.disabled.has(entry.id)
  const sign = state.marked.has(entry.id) ? "+" : isSelected ? world.symbols.select : " "
  const hit = state.query !== "" && matches(state.query, entry.id, world)
  const left: Row.Row = [
    Row.span(sign, "accent"),
    ...gutter(row, entry, columns, world),
    Row.span(speakerOf(entry).padEnd(5), Entry.role(entry) === "user" ? "you" : "ai"),
    ...(isOff ? [Row.span(`${world.symbols.hidden} `, "dim")] : []),
    Row.span(wordsOf(entry, columns), hit ? "match" : isOff ? "dim" : "plain")
  ]
  const remarks = remarksOf(row, entry, laid, world)
  const room = columns - Math.min(Row.width(left), Math.floor(columns / 2)) - 2
  const right = Row.row(remarks === "" ? "" : `  ${Width.cut(remarks, Math.max(0, room))} `, "dim")
  const spread = Row.spread(left, right, columns)
  return isSelected ? Row.fill(spread, columns, "selected") : spread
}

const previewRows = (id: EntryId, columns: number, most: number, world: World): ReadonlyArray<Row.Row> => {
  const { session, symbols, now } = world
  const { tree } = session
  const row = tree.rowOf(id)
  const entry = tree.entryAt(row)
  const message = (entry.message ?? {}) as {
    readonly model?: unknown
    readonly usage?: { readonly cost?: { readonly total?: unknown } }
  }
  const cost = message.usage?.cost?.total
  const facts = [
    Words.clock(tree.timeAt(row), now),
    ...(typeof message.model === "string" ? [Preview.line(message.model, 30)] : []),
    ...(typeof cost === "number" ? [Words.cost(Math.round(cost * 1e6))] : []),
    Preview.line(id, 40),
    Entry.role(entry) === "user" ? "Enter: edit and resend from here" : "Enter: go on from here"
  ].filter((fact) => fact !== "")
  const text = Preview.textOfEntry(entry) || Preview.ofEntry(entry, columns)
  const body = text
    .slice(0, 4000)
    .split("\n")
    .flatMap((line) => Row.wrap(Row.row(line), columns))
  return [...body.slice(0, Math.max(1, most - 1)), Row.cut(Row.row(facts.join(symbols.dot), "dim"), columns)]
}

const HINTS = [
  "Enter go",
  "s go+summary",
  "f fork",
  "Space mark",
  "d mute",
  "x prune",
  "l label",
  "/ search",
  "Tab filter",
  "? all keys",
  "Esc"
]
const WIDE = 100
const PREVIEW_ROWS = 4

const draw = (state: State, world: World): Frame => {
  const { columns, rows, session, symbols } = world
  const { tree, usage, name, ref } = session
  const laid = laidOut(state, world)
  const index = indexIn(laid, state, world)
  const here = laid.rows[index]
  const shownEntries = tree.rows().length
  const title = [
    Row.span(" TREE ", "title"),
    Row.span(Preview.line(name ?? ref.id.slice(-8), 30)),
    Row.span(
      `   ${[Words.count(shownEntries, "entry", "entries"), Words.count(tree.leaves().length, "branch", "branches"), `${Words.cost(usage.tree.costMicros)} (dead ends ${Words.cost(usage.abandoned.costMicros)})`].join(symbols.dot)}`,
      "dim"
    )
  ]
  const filters: Row.Row = [
    Row.span(" filter ", "dim"),
    ...FILTERS.map((filter) =>
      Row.span(filter === state.filter ? `[${filter}] ` : `${filter} `, filter === state.filter ? "accent" : "dim")
    )
  ]
  const search = state.search === null ? undefined : Editor.layout(state.search, 10_000)
  const second =
    search === undefined
      ? Row.spread(filters, Row.row(`${laid.rows.length === 0 ? 0 : index + 1}/${laid.rows.length} `, "dim"), columns)
      : Row.cut([Row.span(" / ", "accent"), { text: search.lines[0]?.shown ?? "", style: "plain" }], columns)

  const isSide = state.hasPreview && columns >= WIDE
  const isBelow = state.hasPreview && !isSide
  const hints =
    state.notice === null
      ? Row.wrap(Row.row(HINTS.join(symbols.dot), "dim"), columns - 2)
      : Row.wrap(Row.row(state.notice.text, state.notice.kind === "error" ? "error" : "accent"), columns - 2)
  const below = [
    ...(isBelow ? [Row.row(symbols.rule.repeat(columns), "dim")] : []),
    ...(isBelow && here !== undefined
      ? previewRows(here.id, columns - 2, PREVIEW_ROWS - 1, world).map((row) => [Row.span(" "), ...row])
      : []),
    ...hints.map((row) => [Row.span(" "), ...row])
  ]
  const room = Math.max(1, rows - 2 - below.length)
  const wide = isSide ? Math.floor(columns * 0.6) : columns
  const from = Math.max(0, Math.min(index - Math.floor(room / 2), laid.rows.length - room))
  const list: Array<Row.Row> = []
  let selectedLine = 0
  for (let i = from; i < laid.rows.length && list.length < room; i++) {
    const row = laid.rows[i]!
    const isGap = row.hiddenAbove > 0 && state.filter !== "turns" && row.kind === "trunk"
    if (isGap && list.length < room - 1) list.push(Row.row(`  ${symbols.hidden} ${row.hiddenAbove} hidden`, "dim"))
    if (i === index) selectedLine = list.length
    list.push(drawRow(row, laid, state, i === index, wide, world))
  }
  if (laid.rows.length === 0) {
    list.push(
      Row.row(
        tree.size === 0 ? "  nothing was said here yet" : `  no ${state.filter} entries; Tab: another filter`,
        "dim"
      )
    )
  }
  while (list.length < room) list.push(Row.empty)
  const pane = isSide && here !== undefined ? previewRows(here.id, columns - wide - 3, room, world) : []
  const body = isSide
    ? list
        .slice(0, room)
        .map((row, i) => [...Row.fill(row, wide), Row.span(` ${symbols.line} `, "dim"), ...(pane[i] ?? Row.empty)])
    : list.slice(0, room)
  return {
    rows: [Row.cut(title, columns), second, ...body, ...below].slice(0, rows),
    caret:
      search === undefined
        ? { line: Math.min(rows - 1, 2 + selectedLine), column: 0 }
        : { line: 1, column: Math.min(columns - 1, 3 + search.column) }
  }
}
