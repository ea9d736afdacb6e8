/** The prompts of the path, newest first: to go back to one in this session, or to go on from it in a new one. */
import { isObject, type Json, Preview, type SessionTree } from "@grove/core/model"
import * as Ask from "./Ask.ts"
import * as Picker from "./Picker.ts"
import * as Row from "./Row.ts"
import type { Intent, Prompt, SessionState, View, World } from "./View.ts"
import * as Words from "./Words.ts"

/** A place to go on from: before a prompt, or where the person stands. */
interface Turn {
  /** From 1, in the order of the path; `null` for where the person stands. */
  readonly turn: number | null
  readonly row: number
}

const turnsOf = ({ tree, leaf }: SessionState): ReadonlyArray<Turn> =>
  tree
    .pathRows(tree.rowOf(leaf))
    .filter((row) => tree.roleAt(row) === "user")
    .map((row, i) => ({ turn: i + 1, row }))
    .reverse()

/** What a prompt said, to be said again. */
export const promptAt = (tree: SessionTree, row: number): Prompt => {
  const { message } = tree.entryAt(row)
  const content = isObject(message) ? message.content : undefined
  const blocks: ReadonlyArray<Json> = Array.isArray(content) ? content.filter(isObject) : []
  return { text: Preview.textOf(content), images: blocks.filter(({ type }) => type === "image") }
}

const drawn = ({ turn, row }: Turn, columns: number, { session: { tree }, now }: World): Row.Row => {
  const label = tree.facts.labels.get(tree.idAt(row)!)
  const left: Row.Row = [
    Row.span(`  ${turn === null ? "now" : `turn ${turn}`}`.padEnd(11), "dim"),
    Row.span(Preview.ofEntry(tree.entryAt(row), columns))
  ]
  const right: Row.Row = [
    ...(label === undefined ? [] : [Row.span(` [${Preview.line(label, 20)}]`, "accent")]),
    Row.span(Words.clock(tree.timeAt(row), now).padStart(7), "dim")
  ]
  return Row.spread(left, right, columns)
}

const entriesBefore = (tree: SessionTree, row: number): number =>
  tree.pathRows(tree.shownParentRow(row)).filter((each) => !tree.isMarkAt(each)).length

/** Esc Esc: back to before a prompt, in this session; its text goes to the editor. */
export const branchHere = (world: World): View => {
  const { tree } = world.session
  return Picker.make<Turn>({
    name: "branch",
    title: () => Row.row("BRANCH HERE", "title"),
    items: turnsOf(world.session),
    textOf: ({ row }) => Preview.textOfEntry(tree.entryAt(row)),
    row: drawn,
    preview: (item, columns) => {
      if (item === undefined) return []
      const text = Preview.line(promptAt(tree, item.row).text, columns * 2)
      return Row.wrap(Row.row(text), columns)
    },
    hint: ["Enter: go back to before it, its text to the editor", "nothing is lost", "Esc"],
    nothing: (query) => (query === "" ? "nothing was said here yet" : "no prompt of this path has these letters"),
    enter: ({ row }) => ({
      intents: [{ _tag: "Move", to: tree.idAt(tree.shownParentRow(row)) }],
      events: [{ _tag: "Filled", prompt: promptAt(tree, row) }]
    })
  })
}

/** `/fork`: a new session of the path up to before a prompt, or of all of it. */
export const fork = (world: World): View => {
  const { session } = world
  const { tree, leaf } = session
  const turns = turnsOf(session)
  const here = tree.rowOf(leaf)
  const now: ReadonlyArray<Turn> = leaf === null ? [] : [{ turn: null, row: here }]
  const forkAt = ({ turn, row }: Turn): Extract<Intent, { readonly _tag: "Fork" }> =>
    turn === null
      ? { _tag: "Fork", at: leaf, prompt: null }
      : { _tag: "Fork", at: tree.idAt(tree.shownParentRow(row)), prompt: promptAt(tree, row) }
  return Picker.make<Turn>({
    name: "fork",
    title: () => Row.row("FORK into a new session", "title"),
    items: [...now, ...turns],
    textOf: ({ turn, row }) => (turn === null ? "now whole path" : Preview.textOfEntry(tree.entryAt(row))),
    row: (item, columns, world) =>
      item.turn === null
        ? Row.spread(
            [Row.span("  now      ", "dim"), Row.span(`whole path, ${Words.count(turns.length, "turn")}`)],
            Row.row(Words.clock(tree.timeAt(item.row), world.now).padStart(7), "dim"),
            columns
          )
        : drawn(item, columns, world),
    preview: (item, columns, { symbols }) => {
      if (item === undefined) return []
      const isNow = item.turn === null
      const copies = isNow
        ? tree.pathRows(here).filter((row) => !tree.isMarkAt(row)).length
        : entriesBefore(tree, item.row)
      const editor = isNow ? "(empty)" : Preview.line(promptAt(tree, item.row).text, Math.max(10, columns - 40))
      return [
        Row.cut(
          Row.row(`copies ${Words.count(copies, "entry", "entries")}${symbols.dot}editor gets: ${editor}`),
          columns
        )
      ]
    },
    hint: ["Enter fork", "Tab fork with a name", "Esc"],
    nothing: (query) => (query === "" ? "nothing was said here yet" : "no prompt of this path has these letters"),
    enter: (item) => ({ intents: [forkAt(item)] }),
    keys: {
      tab: (item) => {
        if (item === undefined) return {}
        const answer = (name: string): Picker.Taken => ({ intents: [{ ...forkAt(item), name }] })
        return { close: true, open: Ask.make({ name: "fork-name", question: "Name of the new session", answer }) }
      }
    }
  })
}
