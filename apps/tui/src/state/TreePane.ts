/** `/tree`: the whole session as a tree, to go anywhere in it, read it, search it and edit it. */
import {
  Entry,
  type EntryId,
  isObject,
  NONE,
  Preview,
  type SessionTree,
  TreeLayout,
  TreeUsage,
  TreeView,
  Usage,
  Width
} from "@grove/core/model"
import type { Input } from "../keys.ts"
import * as ComparePane from "./ComparePane.ts"
import * as Dialog from "./Dialog.ts"
import * as Field from "./Field.ts"
import { promptAt } from "./ForkView.ts"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import * as TreeLines from "./TreeLines.ts"
import * as TreeSearch from "./TreeSearch.ts"
import type { Edit, Event, Frame, Intent, Notice, Prompt, SessionState, World } from "./View.ts"
import * as Words from "./Words.ts"

/** What an answer is for. */
type Purpose =
  | { readonly _tag: "Label"; readonly ids: ReadonlyArray<EntryId> }
  | { readonly _tag: "Leave"; readonly row: number }
  | { readonly _tag: "Instruct"; readonly row: number }
  | { readonly _tag: "Merge"; readonly branch: EntryId; readonly picked: ReadonlyArray<EntryId> }

export interface State {
  readonly session: SessionState
  readonly lines: TreeLines.TreeLines
  /** The selected line. */
  readonly selected: number
  /** The first line on the screen, unless the selected one would not be on it then. */
  readonly top: number
  readonly branches: number
  readonly marked: ReadonlySet<EntryId>
  readonly search: TreeSearch.TreeSearch | null
  readonly preview: "beside" | "whole" | "off"
  /** Rows of the preview that are scrolled past. */
  readonly scrolled: number
  readonly dialog: { readonly ask: Dialog.Dialog; readonly purpose: Purpose } | null
  readonly notice: Notice | null
  /** An edit was asked for, and it was not told yet what came of it. */
  readonly isEditing: boolean
  readonly showsKeys: boolean
}

type Step = Sheet.Step<State>

export const open = ({ session }: World): State => {
  const lines = TreeLines.make(session.tree, session.leaf, "turns", "tree", new Set())
  return {
    session,
    lines,
    selected: TreeLines.nearestLine(lines, lines.plan.here),
    top: Number.MAX_SAFE_INTEGER,
    branches: branchesOf(lines),
    marked: new Set(),
    search: null,
    preview: "beside",
    scrolled: 0,
    dialog: null,
    notice: null,
    isEditing: false,
    showsKeys: false
  }
}

const branchesOf = ({ plan }: TreeLines.TreeLines): number =>
  plan.view.childrenOf(NONE).reduce((sum, row) => sum + plan.sizeOf(row).leaves, 0)

// --------------------------------------------------------------------------------------------------------- moving

const selectedRow = ({ lines, selected }: State): number => TreeLines.rowAt(lines, selected)
const filterOf = ({ lines }: State): TreeView.Filter => lines.plan.view.filter
const idAt = ({ session }: State, row: number): EntryId => session.tree.idAt(row)!

/** To a line, past what only tells of a gap. */
const toLine = (state: State, line: number, by: -1 | 1 = 1): State => {
  const { lines } = state
  let at = Math.max(0, Math.min(line, lines.rows.length - 1))
  while (at > 0 && at < lines.rows.length - 1 && TreeLines.isGap(lines, at)) at += by
  if (lines.rows.length > 0 && TreeLines.isGap(lines, at)) at += 1
  return at === state.selected ? state : { ...state, selected: at, scrolled: 0 }
}

/** Other lines, with the same row selected or the nearest one above it that is drawn. */
const withLines = (state: State, lines: TreeLines.TreeLines, row = selectedRow(state)): State => {
  if (lines === state.lines) return state
  const shown = lines.plan === state.lines.plan ? row : TreeLines.standsFor(lines, row)
  return toLine({ ...state, lines }, TreeLines.nearestLine(lines, shown))
}

const toRow = (state: State, row: number): State =>
  row === NONE ? state : toLine(state, TreeLines.nearestLine(state.lines, row))

/** To a row wherever it is, unfolding what it is in. */
const reveal = (state: State, row: number): State => {
  const lines = TreeLines.reveal(state.lines, row)
  return toLine({ ...state, lines }, TreeLines.lineOf(lines, row))
}

const remade = (
  state: State,
  {
    filter = filterOf(state),
    place = state.lines.place,
    session = state.session
  }: {
    readonly filter?: TreeView.Filter
    readonly place?: TreeLines.Place
    readonly session?: SessionState
  }
): State => {
  const row = selectedRow(state)
  const made = TreeLines.make(session.tree, session.leaf, filter, place, state.lines.unfolded)
  const isBare = place === "stash" && made.plan.view.fragments.length === 0
  const lines = isBare ? TreeLines.lay(made.plan, "tree", made.unfolded) : made
  const search = state.search === null ? null : { ...state.search, at: 0, hits: new Set<number>() }
  const marked = new Set([...state.marked].filter((id) => session.tree.has(id)))
  const isOther = session !== state.session
  const next = { ...state, session, search, marked, ...(isOther ? { branches: branchesOf(lines) } : {}) }
  return withLines(next, lines, row)
}

const filtered = (state: State, filter: TreeView.Filter): State =>
  filter === filterOf(state) ? state : remade(state, { filter })

const nextFork = (state: State, by: -1 | 1): State => {
  const { lines } = state
  for (let line = state.selected + by; line >= 0 && line < lines.rows.length; line += by) {
    if (!TreeLines.isGap(lines, line) && TreeLines.isFork(lines, TreeLines.rowAt(lines, line))) {
      return toLine(state, line)
    }
  }
  return told(state, by === 1 ? "no fork further down" : "no fork further up")
}

const nextSibling = (state: State, by: -1 | 1): State => {
  const found = TreeLines.siblingsOf(state.lines, selectedRow(state))
  if (found === undefined) return told(state, "there is only one way here")
  return toRow(state, found.rows[(found.index + by + found.rows.length) % found.rows.length]!)
}

const left = (state: State): State => {
  const row = selectedRow(state)
  const { lines } = state
  if (TreeLines.isHead(lines, row) && !TreeLines.isFolded(lines, row)) {
    return { ...state, lines: TreeLines.fold(lines, state.selected, true) }
  }
  const above = TreeLines.forkAbove(lines, row)
  return above === NONE ? toLine(state, 0) : toRow(state, above)
}

const right = (state: State): State => {
  const row = selectedRow(state)
  const { lines } = state
  if (TreeLines.isFolded(lines, row)) return { ...state, lines: TreeLines.fold(lines, state.selected, false) }
  return TreeLines.isHead(lines, row) ? toLine(state, state.selected + 1) : state
}

// ------------------------------------------------------------------------------------------------------ searching

/** To the first match from where the search began, as soon as one is known. */
const toMatch = (state: State, search: TreeSearch.TreeSearch): State => {
  const hit = TreeSearch.next(search, state.lines, search.from, 1, true)
  const folded = TreeLines.lay(state.lines.plan, state.lines.place, search.unfolded)
  const next = { ...state, search, lines: state.lines.unfolded === search.unfolded ? state.lines : folded }
  return hit === NONE ? toLine(next, TreeLines.nearestLine(next.lines, search.from)) : reveal(next, hit)
}

const searching = (state: State, search: TreeSearch.TreeSearch): Step => {
  const read = TreeSearch.proceed(search, state.lines)
  const isMoving = read.isTyping && (read.hits.size === 0 || search.hits.size === 0)
  const next = isMoving ? toMatch(state, read) : { ...state, search: read }
  return TreeSearch.isDone(read, state.lines) ? stay(next) : { state: next, intents: [{ _tag: "Continue" }] }
}

/** The folds as they were before, the match selected if it can be seen then. */
const withoutSearch = (state: State): State => {
  if (state.search === null) return state
  const { lines, search } = state
  const folded = TreeLines.lay(lines.plan, lines.place, search.unfolded)
  return withLines({ ...state, search: null }, folded)
}

const pressSearch = (state: State, search: TreeSearch.TreeSearch, input: Input): Step => {
  const name = input._tag === "Key" ? input.name : ""
  if (name === "escape" || name === "ctrl+c") {
    const without = withoutSearch(state)
    return stay(toLine(without, TreeLines.nearestLine(without.lines, search.from)))
  }
  if (name === "enter") {
    return stay(
      TreeSearch.needleOf(search) === "" ? withoutSearch(state) : { ...state, search: { ...search, isTyping: false } }
    )
  }
  if (name === "up" || name === "down") return stay(toNext(state, name === "up" ? -1 : 1))
  const field = Field.press(search.field, input)
  return field === undefined ? stay(state) : searching(state, TreeSearch.typed(search, field))
}

const toNext = (state: State, by: -1 | 1): State => {
  if (state.search === null) return told(state, "/ searches")
  const hit = TreeSearch.next(state.search, state.lines, selectedRow(state), by)
  return hit === NONE ? told(state, "nothing here has these words") : reveal(state, hit)
}

// -------------------------------------------------------------------------------------------------------- editing

const stay = (state: State): Step => ({ state })
const told = (state: State, text: string): State => ({ ...state, notice: { kind: "info", text } })
const edit = (state: State, given: Edit): Step => ({
  state: { ...state, isEditing: true },
  intents: [{ _tag: "Edit", edit: given }]
})

/** The marked entries in file order, else the selected one. */
const targets = (state: State): ReadonlyArray<EntryId> => {
  const { tree } = state.session
  if (state.marked.size === 0) return selectedRow(state) === NONE ? [] : [idAt(state, selectedRow(state))]
  return [...state.marked].sort((a, b) => tree.rowOf(a) - tree.rowOf(b))
}

/** Two entries to do something with: both marked, or one marked and one selected. */
const pair = (state: State): readonly [EntryId, EntryId] | undefined => {
  const { tree } = state.session
  const both = new Set([...state.marked, ...(state.marked.size < 2 ? [idAt(state, selectedRow(state))] : [])])
  const [first, ...rest] = [...both].sort((a, b) => tree.rowOf(a) - tree.rowOf(b))
  return first === undefined || rest.length === 0 ? undefined : [first, rest.at(-1)!]
}

/** The end of a branch of which only the head is drawn; else the entry itself. */
const branchBehind = ({ session: { tree }, lines }: State, id: EntryId): EntryId => {
  const row = tree.rowOf(id)
  return TreeLines.isFolded(lines, row) ? tree.idAt(TreeLines.endBelow(lines, row))! : id
}

/** Where going to a row leads: before a prompt, which is then to be said anew; else to the row itself. */
const wayTo = ({ tree }: SessionState, row: number): { readonly to: EntryId | null; readonly prompt: Prompt | null } =>
  tree.roleAt(row) === "user"
    ? { to: tree.idAt(tree.shownParentRow(row)), prompt: promptAt(tree, row) }
    : { to: tree.idAt(row), prompt: null }

const go = (state: State, row: number, summary?: { readonly instructions?: string }): Step => {
  const { to, prompt } = wayTo(state.session, row)
  const move: Intent = { _tag: "Move", to, ...(summary === undefined ? {} : { summary }) }
  return {
    state: null,
    intents: to === state.session.leaf ? [] : [move],
    events: prompt === null ? [] : [{ _tag: "Filled", prompt }]
  }
}

const enter = (state: State): Step => {
  const row = selectedRow(state)
  if (state.lines.place === "tree") return go(state, row)
  const { edits } = state.session.tree
  for (let at = row; at !== NONE; at = state.session.tree.shownParentRow(at)) {
    const fragment = edits.stash.find(({ root }) => root === state.session.tree.idAt(at))
    if (fragment !== undefined) return edit(state, { op: "undo", edit: fragment.edit })
  }
  return stay(told(state, "an undone graft: graft it again with Space here and v there"))
}

const leave = (state: State): Step => {
  const row = selectedRow(state)
  const { to } = wayTo(state.session, row)
  const isBelow = state.session.tree
    .pathRows(state.session.tree.rowOf(to))
    .includes(state.session.tree.rowOf(state.session.leaf))
  if (state.session.leaf === null || isBelow) return go(state, row)
  const ask = Dialog.choice("Leave this branch for another. What becomes of what was said since?", [
    { key: "n", label: "Nothing", hint: "it stays where it is" },
    { key: "s", label: "Summarise it", hint: "into what the model is shown there" },
    { key: "i", label: "Summarise it with instructions", hint: "say what matters" }
  ])
  return stay({ ...state, dialog: { ask, purpose: { _tag: "Leave", row } } })
}

const fork = (state: State): Step => {
  const { to, prompt } = wayTo(state.session, selectedRow(state))
  return { state: null, intents: [{ _tag: "Fork", at: to, prompt }] }
}

const label = (state: State): Step => {
  const ids = targets(state)
  const before = state.session.tree.facts.labels.get(ids[0]!) ?? ""
  const what = ids.length === 1 ? "Label" : `Label for ${Words.count(ids.length, "entry", "entries")}`
  const ask = Dialog.line(what, "sets it, empty takes it away", before)
  return stay({ ...state, dialog: { ask, purpose: { _tag: "Label", ids } } })
}

const merge = (state: State): Step => {
  const picked = targets(state)
  const branch = picked.at(-1)!
  const title = `Bring what ${state.marked.size === 0 ? "this branch" : "these"} said to where you are`
  const copies =
    state.marked.size === 0 ? "Copy this entry" : `Copy ${Words.count(picked.length, "marked entry", "marked entries")}`
  const ask = Dialog.choice(title, [
    { key: "s", label: "Summarise the branch", hint: "what it came to since it parted" },
    { key: "c", label: copies, hint: "word for word, tools included" }
  ])
  return stay({ ...state, dialog: { ask, purpose: { _tag: "Merge", branch, picked } } })
}

const answered = (asking: State, purpose: Purpose, answer: string): Step => {
  const state = { ...asking, dialog: null }
  switch (purpose._tag) {
    case "Label":
      return edit(state, { op: "label", ids: purpose.ids, label: answer.trim() === "" ? null : answer.trim() })
    case "Merge":
      return answer === "s"
        ? edit(state, { op: "mergeSummary", branch: purpose.branch })
        : edit(state, { op: "merge", branch: purpose.branch, picked: purpose.picked })
    case "Instruct":
      return go(state, purpose.row, answer.trim() === "" ? {} : { instructions: answer.trim() })
    case "Leave": {
      if (answer !== "i") return go(state, purpose.row, answer === "s" ? {} : undefined)
      const ask = Dialog.line("What should the summary look at?", "summarises and goes there")
      return stay({ ...state, dialog: { ask, purpose: { _tag: "Instruct", row: purpose.row } } })
    }
  }
}

const toggleMark = (state: State): State => {
  const id = idAt(state, selectedRow(state))
  const marked = new Set(state.marked)
  if (!marked.delete(id)) marked.add(id)
  return { ...state, marked }
}

const toggleStash = (state: State): State => {
  if (state.session.tree.edits.cuts.size === 0) {
    return told(state, "the stash is empty: x on an entry puts what follows it there")
  }
  return remade(withoutSearch(state), { place: state.lines.place === "tree" ? "stash" : "tree" })
}

const NEXT_PREVIEW = { beside: "whole", whole: "off", off: "beside" } as const

/** Keys that need a selected entry. */
const act = (state: State, name: string, world: World): Step | undefined => {
  const { disabled } = state.session.tree.edits
  switch (name) {
    case "enter":
      return enter(state)
    case "left":
      return stay(left(state))
    case "right":
      return stay(right(state))
    case "[":
      return stay(nextSibling(state, -1))
    case "]":
      return stay(nextSibling(state, 1))
    case "{":
      return stay(nextFork(state, -1))
    case "}":
      return stay(nextFork(state, 1))
    case "space":
      return stay(toLine(toggleMark(state), state.selected + 1))
    case "y":
      return { state: told(state, "copied"), intents: [{ _tag: "Copy", text: targets(state).join("\n") }] }
    case "s":
      return leave(state)
    case "f":
      return fork(state)
    case "c": {
      const both = pair(state)
      if (both === undefined) return stay(told(state, "Space marks one entry; then c on another compares the two"))
      const [a, b] = both.map((id) => branchBehind(state, id))
      return { state, open: ComparePane.view(ComparePane.open(world, a!, b!)) }
    }
    case "l":
      return label(state)
    case "d": {
      const ids = targets(state)
      return edit(state, { op: ids.every((id) => disabled.has(id)) ? "enable" : "disable", ids })
    }
    case "x":
      return edit(state, { op: "prune", ids: targets(state) })
    case "v": {
      const sources = targets(state)
      const target = idAt(state, selectedRow(state))
      if (state.marked.size === 0) return stay(told(state, "Space marks what to copy; then v where it should go"))
      return edit(state, { op: "graft", sources: sources.filter((id) => id !== target), target })
    }
    case "m":
      return merge(state)
    case "z": {
      const ends = pair(state)
      if (ends === undefined)
        return stay(told(state, "Space marks the first entry; then z on the last summarises them"))
      return edit(state, { op: "summarize", first: ends[0], last: ends[1] })
    }
    case "0":
      return edit(state, { op: "rate", ids: targets(state), rating: null })
    case "1":
    case "2":
    case "3":
    case "4":
    case "5":
      return edit(state, { op: "rate", ids: targets(state), rating: Number(name) })
    default:
      return undefined
  }
}

const escape = (state: State): Step => {
  if (state.search !== null) return stay(withoutSearch(state))
  if (state.marked.size > 0) return stay({ ...state, marked: new Set() })
  if (state.showsKeys) return stay({ ...state, showsKeys: false })
  if (state.preview === "whole") return stay({ ...state, preview: "beside", scrolled: 0 })
  if (state.lines.place === "stash") return stay(remade(state, { place: "tree" }))
  return { state: null }
}

const move = (state: State, by: number): State => toLine(state, state.selected + by, by < 0 ? -1 : 1)
const scroll = (state: State, by: number): State => ({ ...state, scrolled: Math.max(0, state.scrolled + by) })

const pressKey = (state: State, name: string, world: World): Step => {
  const page = Math.max(1, listHeight(state, world) - 1)
  const isReading = state.preview === "whole"
  const vertical = (by: number) => stay(isReading ? scroll(state, by) : move(state, by))
  switch (name) {
    case "up":
    case "k":
      return vertical(-1)
    case "down":
    case "j":
      return vertical(1)
    case "pageup":
      return vertical(-page)
    case "pagedown":
      return vertical(page)
    case "home":
    case "g":
      return stay(toLine(state, 0))
    case "end":
    case "G":
      return stay(toLine(state, state.lines.rows.length - 1, -1))
    case "shift+up":
      return stay(scroll(state, -1))
    case "shift+down":
      return stay(scroll(state, 1))
    case "tab":
    case "shift+tab": {
      const by = name === "tab" ? 1 : TreeView.filters.length - 1
      const at = TreeView.filters.indexOf(filterOf(state))
      return stay(filtered(state, TreeView.filters[(at + by) % TreeView.filters.length]!))
    }
    case "ctrl+u":
      return stay(filtered(state, filterOf(state) === "user" ? "turns" : "user"))
    case "ctrl+o":
      return stay(filtered(state, filterOf(state) === "all" ? "turns" : "all"))
    case "/":
      return stay({ ...withoutSearch(state), search: TreeSearch.begin(withoutSearch(state).lines, selectedRow(state)) })
    case "n":
      return stay(toNext(state, 1))
    case "N":
      return stay(toNext(state, -1))
    case "p":
      return stay({ ...state, preview: NEXT_PREVIEW[state.preview], scrolled: 0 })
    case "S":
      return stay(toggleStash(state))
    case "u":
      return edit(state, { op: "undo", edit: null })
    case "U":
      return edit(state, { op: "redo" })
    case "?":
      return stay({ ...state, showsKeys: !state.showsKeys })
    case "escape":
      return escape(state)
    case "q":
    case "ctrl+c":
      return { state: null }
    default:
      return (selectedRow(state) === NONE ? undefined : act(state, name, world)) ?? stay(state)
  }
}

export const press = (before: State, input: Input, world: World): Step => {
  const state = { ...before, notice: null }
  if (state.dialog !== null) {
    const answer = Dialog.press(state.dialog.ask, input)
    if (answer._tag === "Given") return answered(state, state.dialog.purpose, answer.answer)
    return stay({ ...state, dialog: answer._tag === "Pending" ? { ...state.dialog, ask: answer.ask } : null })
  }
  if (state.search?.isTyping === true) return settled(pressSearch(state, state.search, input), world)
  if (input._tag === "Wheel")
    return settled(stay(state.preview === "whole" ? scroll(state, input.lines) : move(state, input.lines)), world)
  return input._tag === "Key" ? settled(pressKey(state, input.name, world), world) : stay(state)
}

/** With the selected line on the screen, so that the next key scrolls from there. */
const settled = (step: Step, world: World): Step =>
  step.state === null
    ? step
    : { ...step, state: { ...step.state, top: topOf(step.state, listHeight(step.state, world)) } }

/** What was marked for an edit is let go once the edit is made; not where it was refused. */
const heard = (state: State, notice: Notice): State => {
  const isDone = state.isEditing && notice.kind === "info"
  return { ...state, notice, isEditing: false, marked: isDone ? new Set() : state.marked }
}

export const on = (state: State, event: Event, world: World): Step => {
  switch (event._tag) {
    case "Key":
    case "Paste":
    case "Wheel":
      return press(state, event, world)
    case "Opened":
    case "Changed":
      return stay(remade(state, { session: event.session }))
    case "Continued":
      return state.search === null ? stay(state) : searching(state, state.search)
    case "Told":
      return stay(heard(state, event.notice))
    default:
      return stay(state)
  }
}

// -------------------------------------------------------------------------------------------------------- drawing

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
  compaction: "",
  model_change: "set",
  thinking_level_change: "set",
  mode_change: "set",
  label: "tag",
  session_info: "name",
  custom: "ext"
}

const SPEAKER_COLUMNS = 5
/** What stands left of a row's own columns: the sign of the selected one. */
const SELECT_COLUMNS = 1
/** The widest sign between the columns of a row and its speaker. */
const SIGN_COLUMNS = 3
/** The right edge: a time, or where the person is. */
const EDGE_COLUMNS = 8
const LEAST_TEXT_COLUMNS = 24
const LABEL_COLUMNS = 24
/** From so many columns on there is room for the preview beside the tree. */
const WIDE = 100
/** Below so many lines there is none below it. */
const LOW = 12

const textColumns = (columns: number): number => Math.max(LEAST_TEXT_COLUMNS, Math.floor(columns / 2))

const speakerOf = (entry: Entry.Entry): string => {
  const role = Entry.role(entry)
  return role === null ? (TYPES[entry.type] ?? "?") : (SPEAKERS[role] ?? "?")
}

const compacted = (entry: Entry.Entry, { symbols }: World): string => {
  const { tokensBefore, summary } = entry as { readonly tokensBefore?: unknown; readonly summary?: unknown }
  const after = typeof summary === "string" ? Words.tokens(Math.ceil(summary.length / 4)) : "?"
  return `compacted ${typeof tokensBefore === "number" ? Words.tokens(tokensBefore) : "?"} ${symbols.becomes} ${after} tokens`
}

/** What a row says, not yet cut to fit. */
const wordsOf = (entry: Entry.Entry, columns: number, world: World): string => {
  if (entry.type === "compaction") return compacted(entry, world)
  const text = Preview.ofEntry(entry, columns)
  if (!TreeView.isError(entry) || Entry.role(entry) !== "assistant") return text
  const { stopReason } = entry.message as { readonly stopReason?: unknown }
  return Preview.line(`(${String(stopReason)}) ${Preview.textOfEntry(entry)}`, columns)
}

/** What drawing a row takes from the medium. */
interface Known {
  readonly entry: Entry.Entry
  /** Tools that the turn used. */
  readonly tools: number
}

/** Rows that were drawn already: a body is read once, not with every key. Forgotten with the plan they belong to. */
const known = new WeakMap<TreeLayout.Plan, Map<number, Known>>()
const MOST_KNOWN = 4096

const knownAt = ({ plan }: TreeLines.TreeLines, row: number): Known => {
  const rows = known.get(plan) ?? new Map<number, Known>()
  const before = rows.get(row)
  if (before !== undefined) return before
  if (rows.size >= MOST_KNOWN) rows.clear()
  const found = { entry: plan.view.tree.entryAt(row), tools: plan.view.toolsOf(row) }
  known.set(plan, rows.set(row, found))
  return found
}

interface Drawing {
  readonly state: State
  readonly world: World
  readonly columns: number
  /** Columns of side branches that all rows leave out at the left, so that every row keeps room for its text. */
  readonly shift: number
}

const bars = ({ world: { symbols }, shift }: Drawing, depth: number): string => {
  if (shift === 0) return `${symbols.line} `.repeat(depth)
  return `${symbols.more.slice(0, 1)} ${`${symbols.line} `.repeat(Math.max(0, depth - shift))}`
}

const signOf = (
  { world: { symbols } }: Drawing,
  row: TreeLayout.LayoutRow,
  entry: Entry.Entry,
  isLastRoot: boolean
) => {
  if (row.kind === "side") {
    const fork = isLastRoot ? symbols.lastFork : symbols.fork
    return `${fork}${row.folded ? symbols.folded : symbols.unfolded} `
  }
  if (row.here) return `${symbols.here} `
  if (entry.type === "compaction" || entry.type === "branch_summary") return `${symbols.summary} `
  if (Entry.role(entry) !== "user") return `${symbols.line} `
  return `${row.onPath ? symbols.userOnPath : symbols.userOffPath} `
}

/** What stands before the right edge, the most important last; as much as there is room for. */
const remarksOf = (drawing: Drawing, row: TreeLayout.LayoutRow, entry: Entry.Entry, room: number): Row.Row => {
  const { state, world } = drawing
  const { symbols } = world
  const { facts } = state.session.tree
  const given: Array<Row.Span> = []
  const rating = facts.annotations.get(entry.id)?.rating ?? null
  const named = facts.labels.get(entry.id)
  const tools = row.folded ? 0 : knownAt(state.lines, row.row).tools
  if (named !== undefined) given.push(Row.span(`[${Preview.line(named, LABEL_COLUMNS)}]`, "accent"))
  if (rating !== null) given.push(Row.span(`${rating}/5`, "dim"))
  if (tools > 0) given.push(Row.span(`${symbols.tools}${tools}`, "dim"))
  if (TreeView.isError(entry)) given.push(Row.span(symbols.error, "error"))
  if (row.kind === "side") {
    const { entries, leaves, newest } = row
    const size = Sheet.facts(
      world,
      Words.count(entries, "entry", "entries"),
      Words.count(leaves, "leaf", "leaves"),
      Words.age(newest, world.now)
    )
    given.push(Row.span(size, "dim"))
  }
  const isHit = state.search?.hits.has(row.row) === true
  if (
    isHit &&
    !TreeSearch.wordsOf(state.session.tree, entry).toLowerCase().includes(TreeSearch.needleOf(state.search))
  ) {
    given.push(Row.span("found inside", "match"))
  }
  let left = room
  const fitting: Array<Row.Span> = []
  for (const remark of given.reverse()) {
    left -= Width.of(remark.text) + 2
    if (left >= 0) fitting.unshift(Row.span("  "), remark)
  }
  return fitting
}

/** A text with what is searched for standing out; moved along if it would not be seen otherwise. */
const withMatch = (state: State, entry: Entry.Entry, text: string, columns: number, style: Row.Style): Row.Row => {
  const needle = state.search === null ? "" : TreeSearch.needleOf(state.search)
  const shown = Width.cut(text, columns)
  if (needle === "") return Row.row(shown, style)
  const at = shown.toLowerCase().indexOf(needle)
  if (at !== -1) return marked(shown, at, needle.length, style)
  const whole = TreeSearch.wordsOf(state.session.tree, entry)
  const inside = whole.toLowerCase().indexOf(needle)
  if (inside === -1) return Row.row(shown, style)
  const snippet = Preview.line(
    `…${whole.slice(Math.max(0, inside - Math.floor(columns / 3)), inside + columns * 2)}`,
    columns
  )
  const there = snippet.toLowerCase().indexOf(needle)
  return there === -1 ? Row.row(snippet, style) : marked(snippet, there, needle.length, style)
}

const marked = (text: string, at: number, length: number, style: Row.Style): Row.Row => [
  Row.span(text.slice(0, at), style),
  Row.span(text.slice(at, at + length), "match"),
  Row.span(text.slice(at + length), style)
]

const lineRow = (drawing: Drawing, line: number): Row.Row => {
  const { state, world, columns } = drawing
  const { lines, session } = state
  const { symbols } = world
  const at = TreeLines.rowAt(lines, line)
  const depth = lines.depths[line]!
  const select = line === state.selected ? symbols.select : " "
  if (TreeLines.isGap(lines, line)) {
    const hidden = lines.plan.view.hiddenAbove(at)
    return Row.row(` ${bars(drawing, depth)}${symbols.hidden} ${Words.count(hidden, "hidden", "hidden")}`, "dim")
  }
  const { entry } = knownAt(lines, at)
  const row = TreeLayout.rowOf(lines.plan, at, depth, (head) => !TreeLines.isFolded(lines, head))
  const isLastRoot = row.isRoot && row.folded && line === lines.rows.length - 1
  const speaker = speakerOf(entry)
  const isOff = session.tree.edits.disabled.has(entry.id)
  const isMarked = state.marked.has(entry.id)
  const before: Row.Row = [
    Row.span(select, "accent"),
    Row.span(bars(drawing, depth), "dim"),
    Row.span(signOf(drawing, row, entry, isLastRoot), row.here ? "accent" : "dim"),
    Row.span(speaker === "" ? "" : speaker.padEnd(SPEAKER_COLUMNS), speaker === "you" ? "you" : "ai"),
    ...(isMarked ? [Row.span(`${symbols.done} `, "accent")] : []),
    ...(isOff ? [Row.span(`${symbols.hidden} `, "dim")] : [])
  ]
  const isTimed = Entry.role(entry) === "user" && row.onPath
  const edge = row.here ? symbols.arrow : isTimed ? Words.clock(session.tree.timeAt(at), world.now) : ""
  const edgeColumns = columns < 60 && edge === "" ? 0 : EDGE_COLUMNS
  const room = Math.max(1, columns - Row.width(before) - edgeColumns)
  const words = wordsOf(entry, columns, world)
  const remarks = remarksOf(drawing, row, entry, room - Math.min(Width.of(words), textColumns(columns)))
  const text = withMatch(state, entry, words, Math.max(1, room - Row.width(remarks)), isOff ? "dim" : "plain")
  const spread = Row.spread([...before, ...text], remarks, columns - edgeColumns)
  const whole = [
    ...Row.fill(spread, columns - edgeColumns),
    Row.span(edge.padStart(edgeColumns), row.here ? "accent" : "dim")
  ]
  return line === state.selected ? Row.fill(whole, columns, "selected") : Row.fill(whole, columns)
}

/** How many columns of side branches do not fit beside a text that can be read. */
const shiftOf = ({ lines }: State, from: number, to: number, columns: number): number => {
  const room = columns - textColumns(columns) - SELECT_COLUMNS - SIGN_COLUMNS - SPEAKER_COLUMNS
  const most = Math.max(0, Math.floor(room / 2) - 1)
  let deepest = 0
  for (let line = from; line < to; line++) deepest = Math.max(deepest, lines.depths[line]!)
  return Math.max(0, deepest - most)
}

const topOf = ({ lines, selected, top }: State, height: number): number => {
  const most = Math.max(0, lines.rows.length - height)
  const least = Math.max(0, selected - height + 1)
  return Math.max(least, Math.min(top, selected, most))
}

/** Why there is nothing to see, and what to do. */
const emptyRows = (state: State, columns: number): ReadonlyArray<Row.Row> => {
  const { tree } = state.session
  const why = () => {
    if (tree.size === 0) return "Nothing was said in this session yet. Esc goes back; type a prompt."
    switch (filterOf(state)) {
      case "labeled":
        return "No entry has a label: l gives one. Tab shows other entries."
      case "errors":
        return "Nothing failed here. Tab shows other entries."
      default:
        return "No entry passes this filter. Ctrl+O shows all."
    }
  }
  return Row.wrap(Row.row(why(), "dim"), columns - 2).map((row) => [Row.span(" "), ...row])
}

const listRows = (state: State, world: World, columns: number, height: number): ReadonlyArray<Row.Row> => {
  const { lines } = state
  if (lines.rows.length === 0) return emptyRows(state, columns)
  const from = topOf(state, height)
  const to = Math.min(lines.rows.length, from + height)
  const drawing = { state, world, columns, shift: shiftOf(state, from, to, columns) }
  return Array.from({ length: to - from }, (_, i) => lineRow(drawing, from + i))
}

// -------------------------------------------------------------------------------------------------------- preview

/** More rows than any turn of a person has, so that a strange session cannot make the preview slow. */
const MOST_IN_TURN = 1000

/** The replies that answer a prompt, or the replies up to this one that belong to its turn. */
const turnRows = (tree: SessionTree, row: number): ReadonlyArray<number> => {
  const isPrompt = tree.roleAt(row) === "user"
  const step = isPrompt ? (at: number) => tree.onlyChildRow(at) : (at: number) => tree.shownParentRow(at)
  const rows = isPrompt ? [] : [row]
  for (let at = step(row); at !== NONE && rows.length < MOST_IN_TURN; at = step(at)) {
    if (tree.roleAt(at) === "user" || tree.typeAt(at) === "compaction") break
    rows.push(at)
  }
  return rows
}

const modelOf = (entry: Entry.Entry): string | null =>
  isObject(entry.message) && typeof entry.message.model === "string" ? entry.message.model : null

const enterHint = ({ session, lines }: State, row: number): string => {
  if (lines.place === "stash") return "Enter: bring it back"
  if (session.tree.roleAt(row) !== "user") return "Enter: go on from here"
  return session.tree.shownParentRow(row) === NONE ? "Enter: edit and start over" : "Enter: edit and resend from here"
}

const detailsOf = (state: State, world: World, row: number): ReadonlyArray<string> => {
  const { tree } = state.session
  const { entry } = knownAt(state.lines, row)
  const turn = tree.entriesAt([...turnRows(tree, row)].sort((a, b) => a - b))
  const requests = turn.flatMap((each) => TreeUsage.ofEntry(each) ?? [])
  const models = [...new Set(turn.flatMap((each) => modelOf(each) ?? []))]
  const rating = tree.facts.annotations.get(entry.id)?.rating ?? null
  return [
    Words.clock(tree.timeAt(row), world.now),
    models.join(", "),
    requests.length === 0 ? "" : Words.cost(requests.reduce(Usage.add, Usage.zero).costMicros),
    entry.id.slice(-8),
    tree.edits.disabled.has(entry.id) ? "muted" : "",
    rating === null ? "" : `rated ${rating}/5`,
    enterHint(state, row)
  ].filter((fact) => fact !== "")
}

const previewRows = (state: State, columns: number, height: number): ReadonlyArray<Row.Row> => {
  const row = selectedRow(state)
  if (row === NONE || height <= 0) return []
  const { entry } = knownAt(state.lines, row)
  const text = Preview.textOfEntry(entry) || `(${entry.type})`
  const { rows, hasMore } = Sheet.paragraph(text, columns, state.scrolled, height)
  return hasMore
    ? [...rows.slice(0, -1), Row.fill(rows.at(-1) ?? Row.empty, columns - 2).concat(Row.span(" …", "dim"))]
    : rows
}

// ----------------------------------------------------------------------------------------------------------- page

const KEYS: ReadonlyArray<string> = [
  "↑↓ move",
  "← → fold, unfold",
  "[ ] sibling",
  "{ } fork",
  "Enter go",
  "s go + summary",
  "f fork to file",
  "Space mark",
  "c compare two",
  "l label",
  "Tab filter",
  "^U user",
  "^O all",
  "/ search, n N",
  "p preview",
  "y copy id",
  "d mute",
  "x prune after",
  "v graft here",
  "m merge",
  "z summarise range",
  "S stash",
  "u U undo, redo",
  "1-5 rate",
  "Esc back"
]

const headRows = (state: State, world: World): ReadonlyArray<Row.Row> => {
  const { session, lines } = state
  const { tree, usage, name } = session
  const { columns } = world
  const entries = tree.size - tree.notable.marks.length - tree.edits.pruned.size
  const { costMicros } = usage.abandoned
  const deadEnds = costMicros === 0 ? "" : ` (dead ends ${Words.cost(costMicros)})`
  const sizes = Sheet.facts(
    world,
    Words.count(entries, "entry", "entries"),
    Words.count(state.branches, "branch", "branches"),
    `${Words.cost(usage.tree.costMicros)}${deadEnds}`
  )
  const title: Row.Row = [
    Row.span(state.lines.place === "stash" ? " STASH " : " TREE ", "title"),
    Row.span(Preview.line(name ?? session.ref.id.slice(-8), 30), "strong"),
    Row.span(`   ${sizes}`, "dim")
  ]
  const filters = TreeView.filters.flatMap((filter): Row.Row => {
    const isOn = filter === filterOf(state)
    return [Row.span(isOn ? `[${filter}]` : filter, isOn ? "accent" : "dim"), Row.span(" ")]
  })
  let gapsAbove = 0
  let gaps = 0
  if (filterOf(state) !== "turns") {
    for (let line = 0; line < lines.rows.length; line++) {
      if (!TreeLines.isGap(lines, line)) continue
      gaps++
      if (line < state.selected) gapsAbove++
    }
  }
  const count = lines.rows.length - gaps
  const right = Sheet.facts(
    world,
    state.marked.size > 0 && `${state.marked.size} marked`,
    `${count === 0 ? 0 : state.selected - gapsAbove + 1}/${count}`
  )
  return [title, Row.spread([Row.span(" filter ", "dim"), ...filters], Row.row(`${right} `, "dim"), columns)]
}

const previewHeight = (state: State, { rows, columns }: World): number => {
  if (state.preview === "off" || rows < LOW || columns >= WIDE) return 0
  return Math.max(1, Math.floor(rows / 4) - 2)
}

const keyRows = (state: State, world: World): ReadonlyArray<Row.Row> =>
  state.showsKeys ? Sheet.keys(world, ...KEYS.map((key) => arrows(key, world))) : []

/** Rows below the tree, and where the caret is among them. */
const footRows = (state: State, world: World): Pick<Sheet.Parts, "foot" | "caret"> => {
  const rule = Sheet.rule(world)
  const { columns } = world
  if (state.dialog !== null) {
    const { rows, typed } = Dialog.draw(state.dialog.ask, world)
    const caret = typed === null ? null : ({ part: "foot", line: typed.line + 1, column: typed.column } as const)
    return { foot: [rule, ...rows], caret }
  }
  const row = selectedRow(state)
  const height = previewHeight(state, world)
  const text = height === 0 ? [] : previewRows(state, columns - 2, height)
  const padded = Array.from({ length: height }, (_, i): Row.Row => [Row.span(" "), ...(text[i] ?? Row.empty)])
  const keys = keyRows(state, world)
  if (state.search !== null) {
    const { isTyping, field, hits } = state.search
    const found = TreeSearch.needleOf(state.search) === "" ? "" : Words.count(hits.size, "match", "matches")
    const isReading = !TreeSearch.isDone(state.search, state.lines)
    const right = Row.row(
      `${found}${isReading ? " so far" : ""}${isTyping ? "" : `${world.symbols.dot}n N${world.symbols.dot}Esc`} `,
      "dim"
    )
    const { row: typed, column } = Field.draw(field, Math.max(4, columns - Row.width(right) - 4))
    const line = Row.spread([Row.span(" /", "accent"), ...typed], right, columns)
    const foot = [rule, ...padded, ...keys, line]
    return { foot, caret: isTyping ? { part: "foot", line: foot.length - 1, column: column + 2 } : null }
  }
  const notice = state.notice
  const details = row === NONE ? "" : detailsOf(state, world, row).join(world.symbols.dot)
  const last =
    notice === null
      ? Row.spread(Row.row(` ${details}`, "dim"), Row.row(" ? keys ", "dim"), columns)
      : Row.cut(Row.row(` ${notice.text}`, notice.kind === "error" ? "error" : "accent"), columns)
  return { foot: [rule, ...padded, ...keys, last], caret: null }
}

const arrows = (key: string, { symbols }: World): string =>
  symbols.up === "↑" ? key : key.replace("↑↓", "up/down").replace("← →", "left/right")

const listHeight = (state: State, world: World): number => Sheet.roomFor(world, 2, footRows(state, world).foot.length)

export const draw = (state: State, world: World): Frame => {
  const { columns } = world
  const head = headRows(state, world)
  const { foot, caret } = footRows(state, world)
  const height = Sheet.roomFor(world, head.length, foot.length)
  const parts = { head, foot, ...(caret === undefined ? {} : { caret }) }
  if (state.preview === "whole") {
    const body = previewRows(state, columns - 2, height).map((row): Row.Row => [Row.span(" "), ...row])
    return Sheet.frame(world, { ...parts, body })
  }
  if (columns < WIDE || state.preview === "off") {
    return Sheet.frame(world, { ...parts, body: listRows(state, world, columns, height) })
  }
  const beside = Math.max(36, Math.floor(columns * 0.36))
  const list = listRows(state, world, columns - beside - 1, height)
  const text = previewRows(state, beside - 3, height)
  const body = Array.from(
    { length: height },
    (_, i): Row.Row => [
      ...Row.fill(list[i] ?? Row.empty, columns - beside),
      Row.span(`${world.symbols.line} `, "dim"),
      ...(text[i] ?? Row.empty)
    ]
  )
  return Sheet.frame(world, { ...parts, body })
}

export const view = Sheet.plug("tree", on, draw)
