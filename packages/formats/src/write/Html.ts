/**
 * A session as one page that needs nothing else: tree, transcript and search in a browser, offline. Entries are embedded
 * as lines of JSON that the page parses when it shows them, so that neither side ever holds the whole.
 */
import { createHash } from "node:crypto"
import { type Entry, type EntryId, Facts, JsonText, NONE, type SessionTree } from "@grove/core/model"
import { Effect, Stream } from "effect"
import type { Redactor } from "../redact/Redactor.ts"
import type { Draft, Session } from "./Draft.ts"
import type { Options } from "./Exporter.ts"
import { SCRIPT, STYLE } from "./PageAssets.ts"
import { KIND, type PageIndex } from "./PageIndex.ts"

/** Rows in one block: small enough to be taken apart between two frames. */
const BLOCK = 64

/** In a script element nothing but `<` can mean anything, and in JSON that stands only in strings. */
const inScript = (json: string): string => (json.includes("<") ? json.replaceAll("<", "\\u003c") : json)
const inText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'"
].join("; ")

const head = (name: string | null, count: number): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="grove">
<title>${inText(name ?? "Session")} · grove</title>
<style>${STYLE}</style>
</head>
<body>
<main id="app"><p class="empty">Opening ${count.toLocaleString("en-US")} ${count === 1 ? "entry" : "entries"}…</p></main>
<noscript>This page shows a session with a script of its own; it loads nothing from elsewhere. Scripts are switched off.</noscript>
`

/** Rows that are shown: marks are not. One branch, or all. */
const rowsOf = ({ tree }: Session, { leaf }: Options): ReadonlyArray<number> => {
  const rows = leaf === undefined ? tree.rows() : tree.pathRows(tree.rowOf(leaf))
  return rows.filter((row) => !tree.isMarkAt(row))
}

const indexOf = (draft: Draft, rows: ReadonlyArray<number>): PageIndex => {
  const { tree, header, title, redact } = draft
  const positions = new Int32Array(tree.rowCount).fill(NONE)
  rows.forEach((row, at) => {
    positions[row] = at
  })
  const positionOf = (id: EntryId | null): number => positions[tree.rowOf(id)] ?? NONE
  const names: Array<string> = []
  const codes = new Map<string, number>()
  const codeOf = (name: string | null): number => {
    if (name === null) return NONE
    const known = codes.get(name)
    if (known !== undefined) return known
    codes.set(name, names.length)
    return names.push(name) - 1
  }
  const placed = <A>(facts: Iterable<readonly [EntryId, A]>): ReadonlyArray<readonly [number, A]> =>
    [...facts].flatMap(([id, value]) => (positionOf(id) === NONE ? [] : [[positionOf(id), value] as const]))
  const { facts, edits } = tree
  const name = Facts.nameOf(facts, title, header)
  return {
    name: name === null ? null : redact(name),
    session: header?.id ?? null,
    cwd: typeof header?.cwd === "string" ? header.cwd : null,
    begun: typeof header?.timestamp === "string" ? header.timestamp : null,
    leaf: positionOf(draft.leaf),
    ids: rows.map((row) => tree.idAt(row)!),
    parents: rows.map((row) => positions[tree.shownParentRow(row)] ?? NONE),
    kinds: rows.map((row) => codeOf(tree.typeAt(row)) + KIND * (codeOf(tree.roleAt(row)) + 1)),
    names,
    times: rows.map((row) => tree.timeAt(row)),
    labels: placed(facts.labels).map(([row, label]) => [row, redact(label)]),
    ratings: placed(facts.annotations).flatMap(([row, { rating }]) =>
      rating === null ? [] : [[row, rating] as const]
    ),
    muted: placed([...facts.disabled].map((id) => [id, true] as const)).map(([row]) => row),
    cuts: [...edits.cuts].flatMap((row) => (positions[row] === NONE ? [] : [positions[row]!])),
    blocks: Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, at) =>
      Math.min(BLOCK, rows.length - at * BLOCK)
    ),
    isRedacted: draft.redactor !== undefined
  }
}

const BLOB = "blob:sha256:"

/** One character a byte: nothing is decoded, and what is written of it is the same bytes. */
const asLatin1 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1")

/** Whether the lines stand one after the other in memory, as they do in a file. */
const areNeighbours = (lines: ReadonlyArray<Uint8Array>): boolean =>
  lines.every(({ buffer, byteOffset }, i) => {
    const before = lines[i - 1]
    return before === undefined || (before.buffer === buffer && before.byteOffset + before.length + 1 === byteOffset)
  })

/**
 * A block of lines as they are in the file, where nothing in them has to change: most of a large session goes out
 * without being parsed. `undefined` for a line that must be looked at.
 */
const passOn = (
  tree: SessionTree,
  rows: ReadonlyArray<number>,
  redactor: Redactor | undefined
): ReadonlyArray<string | undefined> => {
  const lines = tree.linesAt(rows) ?? []
  const mustChange = (text: string): boolean => text.includes(BLOB) || redactor?.mayConcern(text) === true
  if (lines.length > 1 && areNeighbours(lines)) {
    const { buffer, byteOffset } = lines[0]!
    const last = lines.at(-1)!
    const all = asLatin1(new Uint8Array(buffer, byteOffset, last.byteOffset + last.length - byteOffset))
    if (!mustChange(all)) return [inScript(all)]
  }
  return rows.map((_, i) => {
    const text = lines[i] === undefined ? undefined : asLatin1(lines[i])
    return text === undefined || mustChange(text) ? undefined : inScript(text)
  })
}

const OPEN = '<script type="application/x-ndjson" class="block">'
const CLOSE = "</script>\n"

const asBytes = (lines: ReadonlyArray<string>): Uint8Array =>
  Buffer.from(`${OPEN}${lines.join("\n")}${CLOSE}`, "latin1")
const toLatin1 = (text: string): string => Buffer.from(text).toString("latin1")

const lineOf = (entry: Entry.Entry): string => inScript(JsonText.stringify(entry))

export const write = (draft: Draft, session: Session, options: Options): Stream.Stream<string | Uint8Array> => {
  const { tree, restore } = session
  const { redactor } = draft
  const rows = rowsOf(session, options)
  const index = indexOf(draft, rows)
  const starts = index.blocks.map((_, at) => at * BLOCK)

  const blocks = Stream.mapEffect(Stream.fromIterable(starts, { chunkSize: 1 }), (from) =>
    Effect.suspend(() => {
      const some = rows.slice(from, from + BLOCK)
      const passed = passOn(tree, some, redactor)
      if (!passed.includes(undefined)) return Effect.succeed(asBytes(passed as ReadonlyArray<string>))
      const left = some.filter((_, i) => passed[i] === undefined)
      return Effect.map(restore(tree.entriesAt(left)), (entries) => {
        const made = entries.map((entry) => toLatin1(lineOf(redactor === undefined ? entry : redactor.entry(entry))))
        let next = 0
        return asBytes(some.map((_, i) => passed[i] ?? made[next++]!))
      })
    })
  )
  const about = `<script type="application/json" id="index">${inScript(JSON.stringify(index))}</script>\n`
  return Stream.make(head(index.name, rows.length) + about).pipe(
    Stream.concat(blocks),
    Stream.concat(Stream.make(`<script>${SCRIPT}</script>\n</body>\n</html>\n`))
  )
}
