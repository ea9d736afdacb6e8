/** Sessions as other programs and people read them: a session in, a stream of bytes out. */
import type { EntryId } from "@grove/core/model"
import { Effect, Stream } from "effect"
import type { Redactor } from "../redact/Redactor.ts"
import type { Draft, Session } from "./Draft.ts"
import * as Html from "./Html.ts"
import * as Lines from "./Lines.ts"
import * as Markdown from "./Markdown.ts"
import * as Neovate from "./Neovate.ts"
import * as Selection from "./Selection.ts"

export type { Session } from "./Draft.ts"

export const formats = ["html", "md", "json", "pi", "omp", "neovate"] as const
export type Format = (typeof formats)[number]

export interface Options {
  readonly to: Format
  /** Only the branch that ends here. Without it all branches, in Markdown the one where the session stands. */
  readonly leaf?: EntryId | undefined
  /** Takes secrets out, and counts them while the stream runs. Without it everything goes out as it is. */
  readonly redactor?: Redactor | undefined
}

/** Programs that know nothing of switched-off entries are not given them. */
const WITHOUT_MUTED: ReadonlySet<Format> = new Set(["pi", "omp", "neovate"])

const selectionFor = ({ tree }: Session, { to, leaf }: Options): Selection.Selection => {
  const end = leaf ?? (to === "md" ? tree.leaf : undefined)
  if (end === undefined) return Selection.whole(tree)
  if (end === null) return { leaf: null, batches: () => [] }
  return Selection.branch(tree, end, { withoutMuted: WITHOUT_MUTED.has(to) })
}

const draftOf = (session: Session, options: Options): Draft => {
  const { redactor } = options
  const { batches, leaf } = selectionFor(session, options)
  const restored = Stream.mapEffect(
    Stream.fromIterable({ [Symbol.iterator]: () => batches()[Symbol.iterator]() }, { chunkSize: 1 }),
    session.restore
  )
  return {
    header: session.header === null || redactor === undefined ? session.header : redactor.header(session.header),
    title: session.title,
    tree: session.tree,
    leaf,
    entries: redactor === undefined ? restored : Stream.map(restored, (entries) => entries.map(redactor.entry)),
    redact: redactor?.text ?? ((text) => text),
    redactor
  }
}

const writers: {
  readonly [To in Format]: (draft: Draft, session: Session, options: Options) => Stream.Stream<string | Uint8Array>
} = {
  html: Html.write,
  md: Markdown.write,
  json: Lines.json,
  pi: Lines.pi,
  omp: Lines.omp,
  neovate: Neovate.write
}

const encoder = new TextEncoder()

/**
 * The export as bytes of UTF-8. Bodies are read as the stream is, so the session must stay open until it ends; memory
 * holds a few entries at a time, never the whole export.
 */
export const stream = (session: Session, options: Options): Stream.Stream<Uint8Array> =>
  Stream.unwrap(
    Effect.sync(() =>
      Stream.map(writers[options.to](draftOf(session, options), session, options), (text) =>
        typeof text === "string" ? encoder.encode(text) : text
      )
    )
  )

/** What a browser is to be told about an export, and how its file is named. */
export const media: { readonly [To in Format]: { readonly type: string; readonly extension: string } } = {
  html: { type: "text/html; charset=utf-8", extension: "html" },
  md: { type: "text/markdown; charset=utf-8", extension: "md" },
  json: { type: "application/json", extension: "json" },
  pi: { type: "application/x-ndjson", extension: "jsonl" },
  omp: { type: "application/x-ndjson", extension: "jsonl" },
  neovate: { type: "application/x-ndjson", extension: "jsonl" }
}
