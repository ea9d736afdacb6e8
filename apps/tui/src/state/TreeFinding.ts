/** Looking for words in the tree on the screen: matches are gone to and unfolded, and all is as it was once it is over. */
import { NONE } from "@grove/core/model"
import type { Input } from "../keys.ts"
import * as Field from "./Field.ts"
import * as TreeLines from "./TreeLines.ts"
import * as TreeSearch from "./TreeSearch.ts"
import * as TreeState from "./TreeState.ts"

/** To the first match from where the search began, as soon as one is known. */
const toMatch = (state: TreeState.State, search: TreeSearch.TreeSearch): TreeState.State => {
  const hit = TreeSearch.next(search, state.lines, search.from, 1, true)
  const folded = TreeLines.lay(state.lines.plan, state.lines.place, search.unfolded)
  const next = { ...state, search, lines: state.lines.unfolded === search.unfolded ? state.lines : folded }
  return hit === NONE
    ? TreeState.toLine(next, TreeLines.nearestLine(next.lines, search.from))
    : TreeState.reveal(next, hit)
}

export const searching = (state: TreeState.State, search: TreeSearch.TreeSearch): TreeState.Step => {
  const read = TreeSearch.proceed(search, state.lines)
  const isMoving = read.isTyping && (read.hits.size === 0 || search.hits.size === 0)
  const next = isMoving ? toMatch(state, read) : { ...state, search: read }
  return TreeSearch.isDone(read, state.lines) ? TreeState.stay(next) : { state: next, intents: [{ _tag: "Continue" }] }
}

/** The folds as they were before, the match selected if it can be seen then. */
export const withoutSearch = (state: TreeState.State): TreeState.State => {
  if (state.search === null) return state
  const { lines, search } = state
  const folded = TreeLines.lay(lines.plan, lines.place, search.unfolded)
  return TreeState.withLines({ ...state, search: null }, folded)
}

export const pressSearch = (state: TreeState.State, search: TreeSearch.TreeSearch, input: Input): TreeState.Step => {
  const name = input._tag === "Key" ? input.name : ""
  if (name === "escape" || name === "ctrl+c") {
    const without = withoutSearch(state)
    return TreeState.stay(TreeState.toLine(without, TreeLines.nearestLine(without.lines, search.from)))
  }
  if (name === "enter") {
    return TreeState.stay(
      TreeSearch.needleOf(search) === "" ? withoutSearch(state) : { ...state, search: { ...search, isTyping: false } }
    )
  }
  if (name === "up" || name === "down") return TreeState.stay(toNext(state, name === "up" ? -1 : 1))
  const field = Field.press(search.field, input)
  return field === undefined ? TreeState.stay(state) : searching(state, TreeSearch.typed(search, field))
}

export const toNext = (state: TreeState.State, by: -1 | 1): TreeState.State => {
  if (state.search === null) return TreeState.told(state, "/ searches")
  const hit = TreeSearch.next(state.search, state.lines, TreeState.selectedRow(state), by)
  return hit === NONE ? TreeState.told(state, "nothing here has these words") : TreeState.reveal(state, hit)
}
