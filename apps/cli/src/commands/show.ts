/** `grove show`: what a session is. */
import { statSync } from "node:fs"
import { BlobStore, Facts, type Store, TreeUsage, type Usage } from "@grove/core"
import { FileBlobStore, FileCheck, JsonlSessionStore } from "@grove/storage-files"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as Prices from "../Prices.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

/** Up to this size every body is examined for the count; of larger files `grove check` tells what bodies hold. */
const EXAMINED_WHOLE = 64 * 1024 * 1024

const problemsIn = Effect.fnUntraced(function* ({ ref, problems, tree }: Store.Snapshot) {
  const paths = yield* Paths
  const file = JsonlSessionStore.existing(ref.path)
  if (statSync(file).size > EXAMINED_WHOLE) {
    return problems.length + tree.problems().length + tree.edits.problems.length
  }
  const blobs = FileBlobStore.make({ directory: paths.blobs, fallbacks: FileBlobStore.beside(file) })
  const report = yield* Effect.provideService(FileCheck.examine(file), BlobStore, blobs)
  return report.problems.length
})

const usageFacts = (usage: Usage.UsageSum): ReadonlyArray<string> => [
  Words.count(usage.requests, "request"),
  `${usage.input} in`,
  `${usage.output} out`,
  `${usage.cacheRead} cached`,
  Words.money(usage.costMicros)
]

export const run = Effect.fn("show")(function* ({ arguments: [name], flags }: Input) {
  const snapshot = yield* SessionArgument.look(name!)
  const { ref, version, readOnly, header, title, tree } = snapshot
  const leaf = yield* SessionArgument.leaf(tree, flags.leaf)
  const usage = TreeUsage.sums(tree, leaf, yield* Prices.today)
  const counts = {
    entries: tree.size,
    messages: tree.rows().filter((row) => tree.typeAt(row) === "message").length,
    roots: tree.roots().length,
    branches: tree.leaves().length,
    problems: yield* problemsIn(snapshot)
  }
  const shownName = Facts.nameOf(tree.facts, title, header)
  if (flags.json === true) {
    return yield* Output.json({
      id: header?.id ?? null,
      path: ref.path,
      version,
      readOnly,
      header,
      name: shownName,
      leaf,
      counts,
      labels: Object.fromEntries(tree.facts.labels),
      config: tree.facts.config,
      usage
    })
  }
  const { line, symbols } = Style.make(yield* Environment)
  const row = (title: string, ...facts: ReadonlyArray<string>) =>
    `${title.padEnd(10)} ${facts.map(Words.safe).join(symbols.dot)}`
  const labels = [...tree.facts.labels].map(([id, label]) => `  [${line(label, 40)}] ${Words.safe(id)}`)
  const ratings = [...tree.facts.annotations]
    .filter(([, { rating, note }]) => rating !== null || note !== null)
    .map(([id, { rating, note }]) =>
      [`  ${symbols.rating}${rating ?? "-"} ${Words.safe(id)}`, ...(note === null ? [] : [line(note, 50)])].join("  ")
    )
  yield* Output.lines([
    line(shownName ?? "(no name)", 78),
    row("id", header?.id ?? "(empty file)"),
    row("file", ref.path),
    row("folder", String(header?.cwd ?? "(unknown)")),
    row("version", `${version ?? "(empty file)"}${readOnly ? " (newer than this program: read-only)" : ""}`),
    row("stands at", leaf ?? "(nowhere)"),
    row(
      "holds",
      Words.count(counts.entries, "entry", "entries"),
      Words.count(counts.messages, "message"),
      Words.count(counts.branches, "branch", "branches"),
      Words.count(counts.roots, "root")
    ),
    ...(counts.problems > 0 ? [row("problems", `${counts.problems}; see grove check ${ref.path}`)] : []),
    row("this path", ...usageFacts(usage.path)),
    row("whole tree", ...usageFacts(usage.tree)),
    row("dead ends", ...usageFacts(usage.abandoned)),
    ...(labels.length > 0 ? ["labels", ...labels] : []),
    ...(ratings.length > 0 ? ["ratings", ...ratings] : [])
  ])
})
