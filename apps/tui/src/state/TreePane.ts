/** `/tree`: the whole session as a tree, to go anywhere in it, read it, search it and edit it. */
import { NONE, TreeView } from "@grove/core/model"
import type { Input } from "../keys.ts"
import type { Outcome } from "./Commands.ts"
import * as ComparePane from "./ComparePane.ts"
import * as Dialog from "./Dialog.ts"
import * as Sheet from "./Sheet.ts"
import * as TreeDeeds from "./TreeDeeds.ts"
import * as TreeFinding from "./TreeFinding.ts"
import * as TreeMoves from "./TreeMoves.ts"
import * as TreePage from "./TreePage.ts"
import * as TreeRows from "./TreeRows.ts"
import * as TreeSearch from "./TreeSearch.ts"
import * as TreeState from "./TreeState.ts"
import type { Event, Notice, World } from "./View.ts"

const NEXT_PREVIEW = { beside: "whole", whole: "off", off: "beside" } as const

/** Keys that need a selected entry. */
const act = (state: TreeState.State, name: string, world: World): TreeState.Step | undefined => {
  const { disabled } = state.session.tree.edits
  switch (name) {
    case "enter":
      return TreeDeeds.enter(state)
    case "left":
      return TreeState.stay(TreeMoves.left(state))
    case "right":
      return TreeState.stay(TreeMoves.right(state))
    case "[":
      return TreeState.stay(TreeMoves.nextSibling(state, -1))
    case "]":
      return TreeState.stay(TreeMoves.nextSibling(state, 1))
    case "{":
      return TreeState.stay(TreeMoves.nextFork(state, -1))
    case "}":
      return TreeState.stay(TreeMoves.nextFork(state, 1))
    case "space":
      return TreeState.stay(TreeState.toLine(TreeDeeds.toggleMark(state), state.selected + 1))
    case "y":
      return {
        state: TreeState.told(state, "copied"),
        intents: [{ _tag: "Copy", text: TreeDeeds.targets(state).join("\n") }]
      }
    case "s":
      return TreeDeeds.leave(state)
    case "f":
      return TreeDeeds.fork(state)
    case "c": {
      const both = TreeDeeds.pair(state)
      if (both === undefined)
        return TreeState.stay(TreeState.told(state, "Space marks one entry; then c on another compares the two"))
      const [a, b] = both.map((id) => TreeDeeds.branchBehind(state, id))
      return { state, open: ComparePane.view(ComparePane.open(world, a!, b!)) }
    }
    case "l":
      return TreeDeeds.label(state)
    case "d": {
      const ids = TreeDeeds.targets(state)
      return TreeDeeds.edit(state, { op: ids.every((id) => disabled.has(id)) ? "enable" : "disable", ids })
    }
    case "x":
      return TreeDeeds.edit(state, { op: "prune", ids: TreeDeeds.targets(state) })
    case "v": {
      const sources = TreeDeeds.targets(state)
      const target = TreeState.idAt(state, TreeState.selectedRow(state))
      if (state.marked.size === 0)
        return TreeState.stay(TreeState.told(state, "Space marks what to copy; then v where it should go"))
      return TreeDeeds.edit(state, { op: "graft", sources: sources.filter((id) => id !== target), target })
    }
    case "m":
      return TreeDeeds.merge(state)
    case "z": {
      const ends = TreeDeeds.pair(state)
      if (ends === undefined)
        return TreeState.stay(TreeState.told(state, "Space marks the first entry; then z on the last summarises them"))
      return TreeDeeds.edit(state, { op: "summarize", first: ends[0], last: ends[1] })
    }
    case "0":
      return TreeDeeds.edit(state, { op: "rate", ids: TreeDeeds.targets(state), rating: null })
    case "1":
    case "2":
    case "3":
    case "4":
    case "5":
      return TreeDeeds.edit(state, { op: "rate", ids: TreeDeeds.targets(state), rating: Number(name) })
    default:
      return undefined
  }
}

const escape = (state: TreeState.State): TreeState.Step => {
  if (state.search !== null) return TreeState.stay(TreeFinding.withoutSearch(state))
  if (state.marked.size > 0) return TreeState.stay({ ...state, marked: new Set() })
  if (state.showsKeys) return TreeState.stay({ ...state, showsKeys: false })
  if (state.preview === "whole") return TreeState.stay({ ...state, preview: "beside", scrolled: 0 })
  if (state.lines.place === "stash") return TreeState.stay(TreeState.remade(state, { place: "tree" }))
  return { state: null }
}

const scroll = (state: TreeState.State, by: number): TreeState.State => ({
  ...state,
  scrolled: Math.max(0, state.scrolled + by)
})

const pressKey = (state: TreeState.State, name: string, world: World): TreeState.Step => {
  const page = Math.max(1, TreePage.listHeight(state, world) - 1)
  const isReading = state.preview === "whole"
  const vertical = (by: number) => TreeState.stay(isReading ? scroll(state, by) : TreeMoves.move(state, by))
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
      return TreeState.stay(TreeState.toLine(state, 0))
    case "end":
    case "G":
      return TreeState.stay(TreeState.toLine(state, state.lines.rows.length - 1, -1))
    case "shift+up":
      return TreeState.stay(scroll(state, -1))
    case "shift+down":
      return TreeState.stay(scroll(state, 1))
    case "tab":
    case "shift+tab": {
      const by = name === "tab" ? 1 : TreeView.filters.length - 1
      const at = TreeView.filters.indexOf(TreeState.filterOf(state))
      return TreeState.stay(TreeState.filtered(state, TreeView.filters[(at + by) % TreeView.filters.length]!))
    }
    case "ctrl+u":
      return TreeState.stay(TreeState.filtered(state, TreeState.filterOf(state) === "user" ? "turns" : "user"))
    case "ctrl+o":
      return TreeState.stay(TreeState.filtered(state, TreeState.filterOf(state) === "all" ? "turns" : "all"))
    case "/":
      return TreeState.stay({
        ...TreeFinding.withoutSearch(state),
        search: TreeSearch.begin(TreeFinding.withoutSearch(state).lines, TreeState.selectedRow(state))
      })
    case "n":
      return TreeState.stay(TreeFinding.toNext(state, 1))
    case "N":
      return TreeState.stay(TreeFinding.toNext(state, -1))
    case "p":
      return TreeState.stay({ ...state, preview: NEXT_PREVIEW[state.preview], scrolled: 0 })
    case "S":
      return TreeState.stay(TreeDeeds.toggleStash(state))
    case "u":
      return TreeDeeds.edit(state, { op: "undo", edit: null })
    case "U":
      return TreeDeeds.edit(state, { op: "redo" })
    case "?":
      return TreeState.stay({ ...state, showsKeys: !state.showsKeys })
    case "escape":
      return escape(state)
    case "q":
    case "ctrl+c":
      return { state: null }
    default:
      return (TreeState.selectedRow(state) === NONE ? undefined : act(state, name, world)) ?? TreeState.stay(state)
  }
}

export const press = (before: TreeState.State, input: Input, world: World): TreeState.Step => {
  const state = { ...before, notice: null }
  if (state.dialog !== null) {
    const answer = Dialog.press(state.dialog.ask, input)
    if (answer._tag === "Given") return TreeDeeds.answered(state, state.dialog.purpose, answer.answer)
    return TreeState.stay({ ...state, dialog: answer._tag === "Pending" ? { ...state.dialog, ask: answer.ask } : null })
  }
  if (state.search?.isTyping === true) return settled(TreeFinding.pressSearch(state, state.search, input), world)
  if (input._tag === "Wheel")
    return settled(
      TreeState.stay(state.preview === "whole" ? scroll(state, input.lines) : TreeMoves.move(state, input.lines)),
      world
    )
  return input._tag === "Key" ? settled(pressKey(state, input.name, world), world) : TreeState.stay(state)
}

/** With the selected line on the screen, so that the next key scrolls from there. */
const settled = (step: TreeState.Step, world: World): TreeState.Step =>
  step.state === null
    ? step
    : { ...step, state: { ...step.state, top: TreeRows.topOf(step.state, TreePage.listHeight(step.state, world)) } }

/** What was marked for an edit is let go once the edit is made; not where it was refused. */
const heard = (state: TreeState.State, notice: Notice): TreeState.State => {
  const isDone = state.isEditing && notice.kind === "info"
  return { ...state, notice, isEditing: false, marked: isDone ? new Set() : state.marked }
}

export const on = (state: TreeState.State, event: Event, world: World): TreeState.Step => {
  switch (event._tag) {
    case "Key":
    case "Paste":
    case "Wheel":
      return press(state, event, world)
    case "Opened":
    case "Changed":
      return TreeState.stay(TreeState.remade(state, { session: event.session }))
    case "ForksFound":
      return TreeState.stay(event.path === state.session.ref.path ? { ...state, forks: event.entries } : state)
    case "Continued":
      return state.search === null ? TreeState.stay(state) : TreeFinding.searching(state, state.search)
    case "Told":
      return TreeState.stay(heard(state, event.notice))
    default:
      return TreeState.stay(state)
  }
}

const view = Sheet.plug("tree", on, TreePage.draw)

export const open = (world: World): Outcome => ({
  open: view(TreeState.open(world)),
  intents: [{ _tag: "FindForks" }]
})
