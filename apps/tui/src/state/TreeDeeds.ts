/** What can be done with the entries of a tree: going to them, marking them, editing them. */
import { type EntryId, NONE } from "@grove/core/model"
import * as Dialog from "./Dialog.ts"
import { promptAt } from "./ForkView.ts"
import * as TreeFinding from "./TreeFinding.ts"
import * as TreeLines from "./TreeLines.ts"
import * as TreeState from "./TreeState.ts"
import type { Edit, Intent, Prompt, SessionState } from "./View.ts"
import * as Words from "./Words.ts"

export const edit = (state: TreeState.State, given: Edit): TreeState.Step => ({
  state: { ...state, isEditing: true },
  intents: [{ _tag: "Edit", edit: given }]
})

/** The marked entries in file order, else the selected one. */
export const targets = (state: TreeState.State): ReadonlyArray<EntryId> => {
  const { tree } = state.session
  if (state.marked.size === 0)
    return TreeState.selectedRow(state) === NONE ? [] : [TreeState.idAt(state, TreeState.selectedRow(state))]
  return [...state.marked].sort((a, b) => tree.rowOf(a) - tree.rowOf(b))
}

/** Two entries to do something with: both marked, or one marked and one selected. */
export const pair = (state: TreeState.State): readonly [EntryId, EntryId] | undefined => {
  const { tree } = state.session
  const both = new Set([
    ...state.marked,
    ...(state.marked.size < 2 ? [TreeState.idAt(state, TreeState.selectedRow(state))] : [])
  ])
  const [first, ...rest] = [...both].sort((a, b) => tree.rowOf(a) - tree.rowOf(b))
  return first === undefined || rest.length === 0 ? undefined : [first, rest.at(-1)!]
}

/** The end of a branch of which only the head is drawn; else the entry itself. */
export const branchBehind = ({ session: { tree }, lines }: TreeState.State, id: EntryId): EntryId => {
  const row = tree.rowOf(id)
  return TreeLines.isFolded(lines, row) ? tree.idAt(TreeLines.endBelow(lines, row))! : id
}

/** Where going to a row leads: before a prompt, which is then to be said anew; else to the row itself. */
const wayTo = ({ tree }: SessionState, row: number): { readonly to: EntryId | null; readonly prompt: Prompt | null } =>
  tree.roleAt(row) === "user"
    ? { to: tree.idAt(tree.shownParentRow(row)), prompt: promptAt(tree, row) }
    : { to: tree.idAt(row), prompt: null }

export const go = (
  state: TreeState.State,
  row: number,
  summary?: { readonly instructions?: string }
): TreeState.Step => {
  const { to, prompt } = wayTo(state.session, row)
  const move: Intent = { _tag: "Move", to, ...(summary === undefined ? {} : { summary }) }
  return {
    state: null,
    intents: to === state.session.leaf ? [] : [move],
    events: prompt === null ? [] : [{ _tag: "Filled", prompt }]
  }
}

export const enter = (state: TreeState.State): TreeState.Step => {
  const row = TreeState.selectedRow(state)
  if (state.lines.place === "tree") return go(state, row)
  const { edits } = state.session.tree
  for (let at = row; at !== NONE; at = state.session.tree.shownParentRow(at)) {
    const fragment = edits.stash.find(({ root }) => root === state.session.tree.idAt(at))
    if (fragment !== undefined) return edit(state, { op: "undo", edit: fragment.edit })
  }
  return TreeState.stay(TreeState.told(state, "an undone graft: graft it again with Space here and v there"))
}

export const leave = (state: TreeState.State): TreeState.Step => {
  const row = TreeState.selectedRow(state)
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
  return TreeState.stay({ ...state, dialog: { ask, purpose: { _tag: "Leave", row } } })
}

export const fork = (state: TreeState.State): TreeState.Step => {
  const { to, prompt } = wayTo(state.session, TreeState.selectedRow(state))
  return { state: null, intents: [{ _tag: "Fork", at: to, prompt }] }
}

export const label = (state: TreeState.State): TreeState.Step => {
  const ids = targets(state)
  const before = state.session.tree.facts.labels.get(ids[0]!) ?? ""
  const what = ids.length === 1 ? "Label" : `Label for ${Words.count(ids.length, "entry", "entries")}`
  const ask = Dialog.line(what, "sets it, empty takes it away", before)
  return TreeState.stay({ ...state, dialog: { ask, purpose: { _tag: "Label", ids } } })
}

export const merge = (state: TreeState.State): TreeState.Step => {
  const picked = targets(state)
  const branch = picked.at(-1)!
  const title = `Bring what ${state.marked.size === 0 ? "this branch" : "these"} said to where you are`
  const copies =
    state.marked.size === 0 ? "Copy this entry" : `Copy ${Words.count(picked.length, "marked entry", "marked entries")}`
  const ask = Dialog.choice(title, [
    { key: "s", label: "Summarise the branch", hint: "what it came to since it parted" },
    { key: "c", label: copies, hint: "word for word, tools included" }
  ])
  return TreeState.stay({ ...state, dialog: { ask, purpose: { _tag: "Merge", branch, picked } } })
}

export const answered = (asking: TreeState.State, purpose: TreeState.Purpose, answer: string): TreeState.Step => {
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
      return TreeState.stay({ ...state, dialog: { ask, purpose: { _tag: "Instruct", row: purpose.row } } })
    }
  }
}

export const toggleMark = (state: TreeState.State): TreeState.State => {
  const id = TreeState.idAt(state, TreeState.selectedRow(state))
  const marked = new Set(state.marked)
  if (!marked.delete(id)) marked.add(id)
  return { ...state, marked }
}

export const toggleStash = (state: TreeState.State): TreeState.State => {
  if (state.session.tree.edits.cuts.size === 0) {
    return TreeState.told(state, "the stash is empty: x on an entry puts what follows it there")
  }
  return TreeState.remade(TreeFinding.withoutSearch(state), { place: state.lines.place === "tree" ? "stash" : "tree" })
}
