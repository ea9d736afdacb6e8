/** What pages ask for, and what they are told. Everything here reads. */
import { homedir } from "node:os"
import { type EntryId, Facts, Header, NONE, Preview, TreeUsage } from "@grove/core/model"
import type { LocalServer } from "@grove/local-http"
import { BlobFiles } from "@grove/storage-files/read"
import { Clock, Effect, Option } from "effect"
import * as Skeleton from "../wire/Skeleton.ts"
import type * as Wire from "../wire/Wire.ts"
import * as Bodies from "./Bodies.ts"
import { compare } from "./Compare.ts"
import { find } from "./Find.ts"
import * as Images from "./Images.ts"
import { isActive, type LibraryError, type Listed, type Open, type Reads } from "./Library.ts"
import * as Tail from "./Tail.ts"
import type { Searches } from "./Texts.ts"

type Reply = LocalServer.Reply

export const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8" },
  body: JSON.stringify(value)
})

const failure = (error: Wire.Failure["error"], message: string, status: number): Reply =>
  json({ error, message } satisfies Wire.Failure, status)

/** The same words for an id that is unknown and for what is no id at all. */
export const unknown: Reply = failure("unknown-session", "There is no such session.", 404)
const unknownEntry: Reply = failure("unknown-entry", "There is no such entry.", 404)

const WHY: { readonly [code: string]: string } = {
  EACCES: "Permission to read it was denied.",
  EPERM: "Permission to read it was denied.",
  EMFILE: "Too many files are open; close some and reload.",
  NotASession: "The file does not begin like a session; grove repair can mend it."
}

export const failed = (error: LibraryError): Reply => {
  if (error._tag === "UnknownSession") return unknown
  const kind = error.code === "NotASession" ? "not-a-session" : "unreadable"
  return failure(kind, WHY[error.code] ?? `The system could not read it (${error.code}).`, 422)
}

const FIRST_WORDS = 300

/** A path as people write it. */
export const tilde = (path: string): string => (path.startsWith(homedir()) ? `~${path.slice(homedir().length)}` : path)

const rowOf = (listed: Listed, keys: ReadonlyMap<string, string>, now: number): Wire.SessionRow => {
  const { path: _, parentSession, ...summary } = listed.summary
  return {
    ...summary,
    key: listed.key,
    firstMessage: summary.firstMessage?.slice(0, FIRST_WORDS) ?? null,
    parent: parentSession === null ? null : (keys.get(parentSession) ?? null),
    active: isActive(listed, now)
  }
}

/** Sessions name those they were forked from by id or by path. */
const keysBy = (all: ReadonlyArray<Listed>): ReadonlyMap<string, string> =>
  new Map(
    all.flatMap(({ key, summary }) => [
      [summary.path, key] as const,
      ...(summary.id ? [[summary.id, key] as const] : [])
    ])
  )

/** Sessions in which a reply is noted as being generated, by id. */
export type Works = Effect.Effect<ReadonlyMap<string, Wire.Work>>

export const sessions = Effect.fnUntraced(function* (
  library: Reads,
  works: Works,
  url: URL
): Effect.fn.Return<Reply, LibraryError> {
  const all = yield* library.list
  const workOf = yield* works
  const now = yield* Clock.currentTimeMillis
  const keys = keysBy(all)
  const wantsAll = url.searchParams.get("subAgents") === "1"
  return json({
    sessions: all
      .filter(({ isSubAgent }) => wantsAll || !isSubAgent)
      .map((listed) => ({ ...rowOf(listed, keys, now), work: workOf.get(listed.summary.id ?? "") ?? null })),
    places: library.roots().map(({ paths }) => tilde(paths.sessions))
  } satisfies Wire.Sessions)
})

const MOST_TEXT_HITS = 1000

/** In which sessions words are found, and how often. Without an index that is not known, and said. */
export const text = Effect.fnUntraced(function* (texts: Searches, url: URL) {
  const query = url.searchParams.get("q") ?? ""
  const found = yield* Effect.option(texts.search({ text: query, limit: MOST_TEXT_HITS }))
  const counts = new Map<string, number>()
  for (const { listed } of Option.getOrElse(found, () => [])) counts.set(listed.key, (counts.get(listed.key) ?? 0) + 1)
  return json({
    query,
    hasIndex: Option.isSome(found),
    sessions: [...counts].map(([key, hits]) => ({ key, hits }))
  } satisfies Wire.TextHits)
})

const MOST_PROBLEMS = 200

const session = Effect.fnUntraced(function* (
  library: Reads,
  exports: ReadonlyArray<Wire.ExportFormat>,
  { listed, opened, generation, isLarge }: Open
) {
  const { header, title, tree, version, readOnly, problems } = opened.snapshot
  const links = tree.problems().map(({ kind, message }) => ({ line: 0, kind, message }))
  const known = new Set(problems.map(({ message }) => message))
  const found = [...problems, ...links.filter(({ message }) => !known.has(message))]
  // Only a fork needs to know what else there is.
  const all = listed.summary.parentSession === null ? [] : yield* library.list
  return json({
    row: rowOf(listed, keysBy(all), yield* Clock.currentTimeMillis),
    name: Facts.nameOf(tree.facts, title, header),
    version,
    isNewer: readOnly,
    skeleton: Skeleton.of(tree, { isLarge }),
    problems: found.slice(0, MOST_PROBLEMS),
    problemCount: found.length,
    exports,
    end: opened.end,
    generation
  } satisfies Wire.Session)
})

const MOST_IDS = 400
const PREVIEW_COLUMNS = 160

const idsIn = (url: URL): ReadonlyArray<string> => url.searchParams.getAll("id").slice(0, MOST_IDS)

const previews = ({ opened }: Open, url: URL): Reply => {
  const { tree } = opened.snapshot
  const rows = idsIn(url)
    .map((id) => tree.rowOf(id))
    .filter((row) => row !== NONE)
  return json(
    tree.entriesAt(rows.toSorted((a, b) => a - b)).map((entry) => ({
      id: entry.id,
      text: Preview.ofEntry(entry, PREVIEW_COLUMNS)
    })) satisfies ReadonlyArray<Wire.Preview>
  )
}

/** As many as fit into one answer; the page asks again for the others. */
const entries = ({ opened }: Open, url: URL, library: Reads): Reply => {
  const { tree } = opened.snapshot
  const isWhole = url.searchParams.get("full") === "1"
  const bodies: Array<string> = []
  let characters = 0
  for (const id of idsIn(url)) {
    const row = tree.rowOf(id)
    if (row === NONE) continue
    const entry = tree.entryAt(row)
    const usage = TreeUsage.ofEntry(entry, library.price)
    const body = Bodies.bodyOf(entry, isWhole ? Number.POSITIVE_INFINITY : undefined)
    const text = JSON.stringify({ ...body, ...(usage === undefined ? {} : { usage }) } satisfies Wire.Body)
    characters += text.length
    if (bodies.length > 0 && characters > Bodies.MOST_CHARACTERS) break
    bodies.push(text)
  }
  return { ...json(null), body: `[${bodies.join(",")}]` }
}

const usage = ({ opened }: Open, url: URL, library: Reads): Reply => {
  const { tree } = opened.snapshot
  const asked = url.searchParams.get("leaf")
  const leaf = asked !== null && tree.has(asked) ? (asked as EntryId) : tree.leaf
  return json(TreeUsage.sums(tree, leaf, library.price) satisfies Wire.Costs)
}

const image = Effect.fnUntraced(function* ({ opened, listed }: Open, url: URL) {
  const { tree } = opened.snapshot
  const row = tree.rowOf(url.searchParams.get("entry"))
  if (row === NONE) return unknownEntry
  const entry = tree.entryAt(row)
  const places = [listed.root.paths.blobs, ...BlobFiles.beside(listed.file)]
  const picture = yield* Effect.promise(() => Images.at(entry, url.searchParams.get("at") ?? "", places))
  if (picture === undefined) return failure("unknown-entry", "There is no picture there, or it is damaged.", 404)
  return {
    status: 200,
    headers: { "content-type": picture.type, "cache-control": "private, max-age=3600" },
    body: picture.bytes
  }
})

const events = (
  library: Reads,
  { opened, generation, listed }: Open,
  url: URL,
  lastSeen: string | undefined
): Reply => {
  const from = Number(lastSeen ?? url.searchParams.get("from") ?? opened.end)
  const asked = url.searchParams.get("generation") ?? generation
  const offset = Number.isSafeInteger(from) && from >= 0 ? from : opened.end
  const isOld = (opened.snapshot.version ?? Header.CURRENT_VERSION) < Header.CURRENT_VERSION
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: Tail.events(library, listed.key, { generation: asked, offset }, isOld)
  }
}

/** `/api/s/<key>/<what>` */
export const ofSession = Effect.fnUntraced(
  function* (
    library: Reads,
    exports: ReadonlyArray<Wire.ExportFormat>,
    key: string,
    what: string | undefined,
    request: LocalServer.Request
  ): Effect.fn.Return<Reply, LibraryError> {
    const { url, headers } = request
    const open = yield* library.open(yield* library.find(key))
    switch (what) {
      case undefined:
        return yield* session(library, exports, open)
      case "previews":
        return previews(open, url)
      case "entries":
        return entries(open, url, library)
      case "usage":
        return usage(open, url, library)
      case "compare": {
        const compared = compare(open, url, library)
        return compared === undefined ? unknownEntry : json(compared)
      }
      case "find":
        return json({ ids: find(open.opened.snapshot.tree, url.searchParams.get("q") ?? "") } satisfies Wire.Found)
      case "image":
        return yield* image(open, url)
      case "events":
        return events(library, open, url, headers["last-event-id"] as string | undefined)
      default:
        return failure("bad-request", "There is nothing of that name here.", 404)
    }
  },
  Effect.catch((error) => Effect.succeed(failed(error)))
)
