/** The tree as a screen: figures and filters above, rows with a preview, and below what is asked, found or told. */
import { NONE, Preview, TreeView } from "@grove/core/model"
import * as Dialog from "./Dialog.ts"
import * as Field from "./Field.ts"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import * as TreeKeys from "./TreeKeys.ts"
import * as TreeLines from "./TreeLines.ts"
import * as TreePreview from "./TreePreview.ts"
import * as TreeRows from "./TreeRows.ts"
import * as TreeSearch from "./TreeSearch.ts"
import * as TreeState from "./TreeState.ts"
import type { Frame, World } from "./View.ts"
import * as Words from "./Words.ts"

/** From so many columns on there is room for the preview beside the tree. */
const WIDE = 100
/** Below so many lines there is none below it. */
const LOW = 12

const headRows = (state: TreeState.State, world: World): ReadonlyArray<Row.Row> => {
  const { session, lines } = state
  const { tree, usage, name } = session
  const { columns } = world
  const { costMicros, requests } = usage.abandoned
  const deadEnds = costMicros === 0 || requests === 0 ? "" : ` (dead ends ${Words.cost(costMicros)})`
  const sizes = Sheet.facts(
    world,
    Words.count(tree.liveSize, "entry", "entries"),
    Words.count(state.branches, "branch", "branches"),
    `${Words.cost(usage.tree.costMicros)}${deadEnds}`
  )
  const title: Row.Row = [
    Row.span(state.lines.place === "stash" ? " STASH " : " TREE ", "title"),
    Row.span(Preview.line(name ?? session.ref.id.slice(-8), 30), "strong"),
    Row.span(`   ${sizes}`, "dim")
  ]
  const filters = TreeView.filters.flatMap((filter): Row.Row => {
    const isOn = filter === TreeState.filterOf(state)
    return [Row.span(isOn ? `[${filter}]` : filter, isOn ? "accent" : "dim"), Row.span(" ")]
  })
  let gapsAbove = 0
  let gaps = 0
  if (TreeState.filterOf(state) !== "turns") {
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

const previewHeight = (state: TreeState.State, { rows, columns }: World): number => {
  if (state.preview !== "beside" || rows < LOW || columns >= WIDE) return 0
  return Math.max(1, Math.floor(rows / 4) - 2)
}

const keyRows = (state: TreeState.State, world: World): ReadonlyArray<Row.Row> =>
  state.showsKeys ? Sheet.keys(world, ...TreeKeys.brief(world)) : []

/** Rows below the tree, and where the caret is among them. */
const footRows = (state: TreeState.State, world: World): Pick<Sheet.Parts, "foot" | "caret"> => {
  const rule = Sheet.rule(world)
  const { columns } = world
  if (state.dialog !== null) {
    const { rows, typed } = Dialog.draw(state.dialog.ask, world)
    const caret = typed === null ? null : ({ part: "foot", line: typed.line + 1, column: typed.column } as const)
    return { foot: [rule, ...rows], caret }
  }
  const row = TreeState.selectedRow(state)
  const height = previewHeight(state, world)
  const text = height === 0 ? [] : TreePreview.previewRows(state, columns - 2, height)
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
  const details = row === NONE ? "" : TreePreview.detailsOf(state, world, row).join(world.symbols.dot)
  const last =
    notice === null
      ? [Row.spread(Row.row(` ${details}`, "dim"), Row.row(" ? keys ", "dim"), columns)]
      : Sheet.notice(world, notice)
  return { foot: [rule, ...padded, ...keys, ...last], caret: null }
}

export const listHeight = (state: TreeState.State, world: World): number =>
  Sheet.roomFor(world, 2, footRows(state, world).foot.length)

export const draw = (state: TreeState.State, world: World): Frame => {
  const { columns } = world
  const head = headRows(state, world)
  const { foot, caret } = footRows(state, world)
  const height = Sheet.roomFor(world, head.length, foot.length)
  const parts = { head, foot, ...(caret === undefined ? {} : { caret }) }
  if (state.preview === "whole") {
    const body = TreePreview.previewRows(state, columns - 2, height).map((row): Row.Row => [Row.span(" "), ...row])
    return Sheet.frame(world, { ...parts, body })
  }
  if (columns < WIDE || state.preview === "off") {
    return Sheet.frame(world, { ...parts, body: TreeRows.listRows(state, world, columns, height) })
  }
  const beside = Math.max(36, Math.floor(columns * 0.36))
  const list = TreeRows.listRows(state, world, columns - beside - 1, height)
  const text = TreePreview.previewRows(state, beside - 3, height)
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
