/** Sessions as JSONL files: found by path, id or abbreviation, read leniently, never changed by reading. */
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { Entry, Header, Ids, Jsonl, SessionStore, SessionStoreError, SessionSummary, Store } from "@grove/core"
import { Effect, Layer, Result } from "effect"
import type { SessionPaths } from "./SessionPaths.ts"

const EXTENSION = ".jsonl"

const fail = (session: string, reason: SessionStoreError["reason"]) => new SessionStoreError({ session, reason })

const refusal = (session: string) => (cause: unknown) => {
  const missing = (cause as NodeJS.ErrnoException).code === "ENOENT"
  return fail(session, missing ? new Store.SessionNotFound() : new Store.StoreRefused({ cause }))
}

const attempt = <A>(session: string, read: () => A) => Effect.try({ try: read, catch: refusal(session) })

/** Only regular files are opened: a pipe or a device would hang or never end. */
const readRegular = (path: string): Uint8Array => {
  const stats = statSync(path)
  if (stats.isDirectory()) throw Object.assign(new Error("it is a directory"), { code: "EISDIR" })
  if (!stats.isFile()) throw Object.assign(new Error("it is not a regular file"), { code: "EINVAL" })
  return readFileSync(path)
}

/**
 * Session files below the folder; symbolic links and whatever is no regular file are passed over. Folders that only
 * sub-agents have files in are not even opened unless they are asked for.
 */
const discover = ({ sessions, isFlat }: SessionPaths, subAgents: boolean): ReadonlyArray<string> => {
  const found: Array<string> = []
  const pending = [{ directory: sessions, depth: 0 }]
  const ownDepth = isFlat ? 0 : 1
  while (pending.length > 0) {
    const { directory, depth } = pending.pop()!
    for (const item of listDirectory(directory, depth)) {
      const path = join(directory, item.name)
      if (item.isDirectory()) {
        if (subAgents || depth < ownDepth) pending.push({ directory: path, depth: depth + 1 })
      } else if (item.isFile() && item.name.endsWith(EXTENSION)) found.push(path)
    }
  }
  return found
}

/** What cannot be read is left out, save the folder that was asked for. */
const listDirectory = (directory: string, depth: number) => {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (cause) {
    if (depth > 0 || (cause as NodeJS.ErrnoException).code === "ENOENT") return []
    throw cause
  }
}

const PREFIX_BYTES = 16 * 1024

/** The header of a file, from as few of its bytes as possible; `undefined` if there is none. */
const headerOf = (path: string): Header.Header | undefined => {
  const file = openSync(path, "r")
  try {
    const { size } = fstatSync(file)
    for (let bytes = PREFIX_BYTES; ; bytes *= 8) {
      const buffer = Buffer.allocUnsafe(Math.min(bytes, size))
      const read = readSync(file, buffer, 0, buffer.length, 0)
      for (const { start, end, terminated } of Jsonl.spans(buffer.subarray(0, read))) {
        if (!terminated && read < size) break
        const parsed = Jsonl.parseLine(buffer.subarray(start, end))
        if (parsed.is !== "value" || Header.isTitleSlot(parsed.value)) continue
        if (Header.isHeader(parsed.value)) return parsed.value
        if (Entry.fromJson(parsed.value) !== undefined) return undefined
      }
      if (read >= size) return undefined
    }
  } finally {
    closeSync(file)
  }
}

const namesFile = (name: string): boolean => {
  if (name.includes("/") || name.endsWith(EXTENSION)) return true
  try {
    return statSync(name).isFile()
  } catch {
    return false
  }
}

/** The bytes of a session file, given by its path. */
export const readBytes = (path: string) => attempt(resolve(path), () => readRegular(path))

const readSnapshot = Effect.fnUntraced(function* (ref: Store.SessionRef) {
  const bytes = yield* readBytes(ref.path)
  const snapshot = Store.snapshotOf(ref, bytes)
  if (Result.isFailure(snapshot)) {
    return yield* fail(ref.path, new Store.NotASession({ line: snapshot.failure.line }))
  }
  return snapshot.success
})

/** A sub-agent's session says what it was told to do; what people start does not. */
const isMadeByAgent = (snapshot: Store.Snapshot): boolean => snapshot.tree.entries[0]?.type === "session_init"

export const make = (paths: SessionPaths) => {
  const find = Effect.fn("JsonlSessionStore.find")(function* (name: string) {
    if (namesFile(name)) {
      const path = resolve(name)
      yield* attempt(name, () => statSync(path))
      return { id: basename(path, EXTENSION), path }
    }
    const byId = new Map<string, Array<string>>()
    for (const path of yield* attempt(paths.sessions, () => discover(paths, true))) {
      const header = yield* Effect.option(attempt(path, () => headerOf(path)))
      if (header._tag === "None" || header.value === undefined) continue
      const { id } = header.value
      byId.set(id, [...(byId.get(id) ?? []), path])
    }
    const candidates = Ids.candidates(name, byId.keys())
    if (candidates.length > 1) return yield* fail(name, new Store.SessionAmbiguous({ candidates }))
    const id = candidates[0]
    if (id === undefined) return yield* fail(name, new Store.SessionNotFound())
    // A copied file has the id of its original, so only the path tells them apart.
    const copies = byId.get(id)!.sort()
    if (copies.length > 1) return yield* fail(name, new Store.SessionAmbiguous({ candidates: copies }))
    return { id, path: copies[0]! }
  })

  const list = Effect.fn("JsonlSessionStore.list")(function* ({ cwd, subAgents = false }: Store.ListOptions = {}) {
    const summaries: Array<SessionSummary.SessionSummary> = []
    for (const path of yield* attempt(paths.sessions, () => discover(paths, subAgents))) {
      const read = yield* Effect.option(readSnapshot({ id: "", path }))
      if (read._tag === "None" || read.value.header === null) continue
      if (!subAgents && isMadeByAgent(read.value)) continue
      const { header, title, tree } = read.value
      if (cwd !== undefined && header.cwd !== cwd) continue
      summaries.push(SessionSummary.of(header, title, tree, { path, source: "grove", draft: false }))
    }
    return summaries.sort(SessionSummary.byModified)
  })

  return SessionStore.of({
    find,
    list,
    read: Effect.fn("JsonlSessionStore.read")(readSnapshot),
    create: (header) => Effect.fail(fail(header.id, new Store.SessionReadOnly())),
    open: (ref) => Effect.fail(fail(ref.path, new Store.SessionReadOnly()))
  })
}

export const layer = (paths: SessionPaths) => Layer.sync(SessionStore, () => make(paths))
