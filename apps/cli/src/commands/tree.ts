/** `grove tree`: the session as a tree. */
import { Entry, Facts, Ids, NONE, Preview, type SessionTree, TreeUsage, TreeView, Width } from "@grove/core"
import { Clock, Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as Prices from "../Prices.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Style from "../Style.ts"
import * as TreeText from "../TreeText.ts"
import * as Words from "../Words.ts"

const PREVIEW_COLUMNS = 80

const asJson = (tree: SessionTree, filter: TreeView.Filter) => {
  const view = TreeView.make(tree, filter)
  const { labels, disabled } = tree.facts
  const stashed = new Set(tree.edits.stash.map(({ root }) => tree.rowOf(root)))
  return {
    leaf: tree.leaf,
    roots: view.childrenOf(NONE).map((row) => tree.idAt(row)),
    stash: view.fragments.filter(({ root }) => stashed.has(root)).map(({ row }) => tree.idAt(row)),
    entries: view.rows.map((row) => {
      const entry = tree.entryAt(row)
      return {
        id: entry.id,
        parentId: tree.idAt(view.parentOf(row)),
        type: entry.type,
        role: Entry.role(entry),
        preview: Preview.ofEntry(entry, PREVIEW_COLUMNS),
        label: labels.get(entry.id) ?? null,
        enabled: !disabled.has(entry.id),
        state: tree.isPrunedAt(row) ? "pruned" : "live",
        children: view.childrenOf(row).map((child) => tree.idAt(child))
      }
    })
  }
}

const NAME_COLUMNS = 30

const emptyState = (tree: SessionTree, filter: TreeView.Filter): ReadonlyArray<string> =>
  tree.roots().length === 0
    ? ["This session is empty: nothing was said in it yet. grove ls lists the others."]
    : [`No entry passes the filter "${filter}"; --filter all shows every entry.`]

const stashLine = (tree: SessionTree, name: string, { dim }: Style.Style): ReadonlyArray<string> => {
  const fragments = tree.edits.stash.length
  const where = `grove edit ${Words.safe(name)} stash lists ${fragments === 1 ? "it" : "them"}`
  return fragments === 0 ? [] : [dim(`${Words.count(fragments, "fragment")} in the stash; ${where}`)]
}

export const run = Effect.fn("tree")(function* ({ arguments: [name], flags }: Input) {
  const { header, title, tree: written } = yield* SessionArgument.look(name!)
  const tree = flags.linear === true ? written.linear() : written
  const filter = flags.filter as TreeView.Filter | undefined
  if (flags.json === true) return yield* Output.json(asJson(tree, filter ?? "all"))
  const surroundings = yield* Environment
  const style = Style.make(surroundings)
  const now = yield* Clock.currentTimeMillis
  const { columns } = surroundings
  const options = { columns, now, style, ids: flags.ids === true }
  const layout = { leaf: tree.leaf, unfoldAll: flags.unfold === true }
  const { lines, folded } = TreeText.draw(tree, filter ?? "turns", layout, options)
  const usage = TreeUsage.sums(tree, tree.leaf, yield* Prices.today)
  const facts = [
    Words.count(tree.liveSize, "entry", "entries"),
    Words.count(tree.leaves().length, "branch", "branches"),
    `${Words.money(usage.tree.costMicros)} (dead ends ${Words.money(usage.abandoned.costMicros)})`
  ].join(style.symbols.dot)
  const fullName = Facts.nameOf(tree.facts, title, header) ?? Ids.short(header?.id ?? "session")
  const shownName = style.line(fullName, Math.min(NAME_COLUMNS, Math.floor(columns / 2)))
  yield* Output.lines([
    `${style.bold(shownName)}  ${style.dim(style.line(facts, columns - Width.of(shownName) - 2))}`,
    ...(lines.length === 0 ? emptyState(tree, filter ?? "turns") : lines),
    ...stashLine(tree, name!, style),
    ...(folded > 0 ? [style.dim(`${Words.count(folded, "side branch", "side branches")} folded; see --unfold`)] : [])
  ])
})
