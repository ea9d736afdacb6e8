/** `grove branches`: every path to an entry without children. */
import { type EntryId, Ids, NONE, Preview, type SessionTree, Width } from "@grove/core"
import { Clock, Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const PREVIEW_CHARACTERS = 50
/** Grove's own ids are shown whole, longer ones in their short form. */
const ID_COLUMNS = 12

interface Branch {
  readonly leaf: EntryId
  readonly length: number
  readonly words: string
  readonly updated: string | null
  readonly active: boolean
}

/** Depth of each shown entry, parents first, so that many long branches cost one walk. */
const depths = (tree: SessionTree): Int32Array => {
  const depth = new Int32Array(tree.size)
  const order = [...tree.childRows(-1)]
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!
    const parent = tree.shownParentRow(row)
    depth[row] = parent < 0 ? 1 : depth[parent]! + 1
    for (const child of tree.childRows(row)) order.push(child)
  }
  return depth
}

/** So many characters by any count: columns, code points, UTF-16 units. */
const shorten = (text: string): string => {
  let short = Preview.line(text, PREVIEW_CHARACTERS)
  for (let columns = PREVIEW_CHARACTERS; short.length > PREVIEW_CHARACTERS; columns--) short = Width.cut(short, columns)
  return short
}

/** The last words on a path, settings and labels at its end left out. Each row is looked at once, for all branches. */
const lastWords = (tree: SessionTree): ((leaf: EntryId) => string) => {
  const known = new Map<number, string>([[NONE, ""]])
  const wordsAt = (row: number): string => {
    const entry = tree.entryAt(row)
    const speaks = entry.type === "message" || entry.type === "custom_message" || "summary" in entry
    const text = speaks ? Preview.textOfEntry(entry) : ""
    return shorten(text) === "" ? "" : text
  }
  return (leaf) => {
    const silent: Array<number> = []
    let row = tree.rowOf(leaf)
    let words = ""
    while (words === "" && !known.has(row)) {
      words = wordsAt(row)
      silent.push(row)
      row = tree.shownParentRow(row)
    }
    words ||= known.get(row)!
    for (const passed of silent) known.set(passed, words)
    return words
  }
}

const branchesOf = (tree: SessionTree): ReadonlyArray<Branch> => {
  const depth = depths(tree)
  const wordsOf = lastWords(tree)
  return tree.leaves().map((leaf) => ({
    leaf,
    length: depth[tree.rowOf(leaf)]!,
    words: wordsOf(leaf),
    updated: tree.get(leaf)?.timestamp || null,
    active: leaf === tree.leaf
  }))
}

export const run = Effect.fn("branches")(function* ({ arguments: [name], flags }: Input) {
  const { tree } = yield* SessionArgument.look(name!)
  const branches = branchesOf(tree)
  if (flags.json === true) {
    return yield* Output.json(
      branches.map(({ leaf, length, words, updated, active }) => ({
        leaf,
        length,
        preview: shorten(words),
        updated,
        active
      }))
    )
  }
  if (branches.length === 0)
    return yield* Output.lines(["This session is empty: it has no branches yet. grove ls lists the others."])
  const surroundings = yield* Environment
  const { symbols, line } = Style.make(surroundings)
  const now = yield* Clock.currentTimeMillis
  yield* Output.lines(
    branches.map(({ leaf, length, words, updated, active }) => {
      const mark = active ? symbols.here : " "
      const age = Words.age(Date.parse(updated ?? ""), now).padStart(4)
      const id = Width.pad(Preview.line(leaf.length > ID_COLUMNS ? Ids.short(leaf) : leaf, ID_COLUMNS), ID_COLUMNS)
      const left = `${mark} ${id}  ${String(length).padStart(6)}  ${age}  `
      return `${left}${line(words, surroundings.columns - Width.of(left))}`
    })
  )
})
