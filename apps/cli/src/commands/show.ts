/** `grove show`: what a session is. */
import { BlobStore, Facts, Preview, TreeUsage, type Usage } from "@grove/core"
import { FileBlobStore, FileCheck } from "@grove/storage-files"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Words from "../Words.ts"

const problemsOf = Effect.fnUntraced(function* (path: string) {
  const paths = yield* Paths
  const blobs = FileBlobStore.make({ directory: paths.blobs, fallbacks: FileBlobStore.beside(path) })
  return yield* Effect.provideService(FileCheck.examine(path), BlobStore, blobs)
})

const usageLine = (name: string, usage: Usage.UsageSum): string =>
  `${name.padEnd(10)} ${Words.count(usage.requests, "request")} · ${usage.input} in · ${usage.output} out · ` +
  `${usage.cacheRead} cached · ${Words.money(usage.costMicros)}`

export const run = Effect.fn("show")(function* ({ arguments: [name], flags }: Input) {
  const { ref, version, readOnly, header, title, tree } = yield* SessionArgument.read(name!)
  const leaf = yield* SessionArgument.leaf(tree, flags.leaf)
  const { problems } = yield* problemsOf(ref.path)
  const usage = TreeUsage.sums(tree, leaf)
  const counts = {
    entries: tree.size,
    messages: tree.entries.filter(({ type }) => type === "message").length,
    roots: tree.roots().length,
    branches: tree.leaves().length,
    problems: problems.length
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
  const labels = [...tree.facts.labels].map(([id, label]) => `  [${Preview.line(label, 40)}] ${id}`)
  yield* Output.lines([
    Preview.line(shownName ?? "(no name)", 78),
    `id         ${Preview.line(header?.id ?? "(empty file)", 66)}`,
    `file       ${ref.path}`,
    `folder     ${Preview.line(String(header?.cwd ?? "(unknown)"), 200)}`,
    `version    ${version ?? "(empty file)"}${readOnly ? " (newer than this program: read-only)" : ""}`,
    `stands at  ${leaf ?? "(nowhere)"}`,
    `holds      ${Words.count(counts.entries, "entry", "entries")} · ${Words.count(counts.messages, "message")} · ` +
      `${Words.count(counts.branches, "branch", "branches")} · ${Words.count(counts.roots, "root")}`,
    ...(counts.problems > 0 ? [`problems   ${counts.problems}; see grove check ${ref.path}`] : []),
    usageLine("this path", usage.path),
    usageLine("whole tree", usage.tree),
    usageLine("dead ends", usage.abandoned),
    ...(labels.length > 0 ? ["labels", ...labels] : [])
  ])
})
