/** `grove append`: entries from standard input, one a line. */
import { Entry, EntryIds, SessionStore, Sessions, type SessionTree, type Store } from "@grove/core"
import { FileBlobStore, JsonlSessionStore } from "@grove/storage-files"
import { Clock, Effect, Layer, Stream } from "effect"
import { Failure } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionArgument from "../SessionArgument.ts"

const wrong = (line: number, problem: string) =>
  new Failure({ message: `line ${line} of the input ${problem}; the lines before it were appended` })

type Given = { readonly [key: string]: unknown }

const parse = (text: string, line: number): Effect.Effect<Given & { readonly type: string }, Failure> => {
  try {
    const value: unknown = JSON.parse(text)
    if (Entry.isTyped(value)) return Effect.succeed(value)
    return Effect.fail(wrong(line, "is not an object with a type"))
  } catch {
    return Effect.fail(wrong(line, "is not JSON"))
  }
}

/** Entries that are ready to be written, and the place the next one follows. */
interface Batch {
  readonly entries: Array<Entry.Entry>
  readonly ids: Set<string>
}

const place = Effect.fnUntraced(function* (
  given: Given & { readonly type: string },
  line: number,
  tree: SessionTree,
  { entries, ids }: Batch
) {
  const isThere = (id: string) => tree.has(id) || ids.has(id)
  const { type, id: givenId, parentId: givenParent, timestamp: givenTime, ...body } = given
  if (givenId !== undefined && (typeof givenId !== "string" || givenId === "")) {
    return yield* wrong(line, "has an id that is no string")
  }
  if (givenParent !== undefined && givenParent !== null && typeof givenParent !== "string") {
    return yield* wrong(line, "has a parentId that is neither a string nor null")
  }
  if (givenId !== undefined && isThere(givenId)) return yield* wrong(line, `has the id ${givenId}, which is taken`)
  if (typeof givenParent === "string" && !isThere(givenParent)) {
    return yield* wrong(line, `follows ${givenParent}, which is not in the session`)
  }
  const source = yield* EntryIds
  let id = givenId ?? (yield* source.entry)
  while (isThere(id)) id = yield* source.entry
  const now = yield* Clock.currentTimeMillis
  const timestamp = typeof givenTime === "string" ? givenTime : new Date(now).toISOString()
  const parentId = givenParent === undefined ? leafAfter(tree, entries) : givenParent
  return { type, id, parentId, timestamp, ...body } as Entry.Entry
})

/** Where the session will stand once the entries are in it; a mark stands for its parent. */
const leafAfter = (tree: SessionTree, entries: ReadonlyArray<Entry.Entry>): string | null => {
  const last = entries.at(-1)
  if (last === undefined) return tree.leaf
  return String(last.customType).startsWith("grove.") && last.type === "custom" ? last.parentId : last.id
}

/** Lines that arrive together are written together. */
const appendLines = Effect.fnUntraced(function* (log: Store.SessionLog, lines: ReadonlyArray<string>, before: number) {
  const { tree } = log.snapshot
  const batch: Batch = { entries: [], ids: new Set() }
  const write = Effect.gen(function* () {
    if (batch.entries.length === 0) return
    yield* log.append(batch.entries)
    for (const entry of batch.entries) tree.put(entry)
    yield* Output.lines(batch.entries.map(({ id }) => id))
  })
  let line = before
  for (const text of lines) {
    line++
    if (text.trim() === "") continue
    const placed = yield* Effect.result(Effect.flatMap(parse(text, line), (given) => place(given, line, tree, batch)))
    if (placed._tag === "Failure") {
      yield* write
      return yield* placed.failure
    }
    batch.entries.push(placed.success)
    batch.ids.add(placed.success.id)
  }
  yield* write
})

const standardInput = Stream.fromAsyncIterable(
  process.stdin as AsyncIterable<Uint8Array>,
  () => new Failure({ message: "standard input cannot be read" })
)

export const run = Effect.fn("append")(function* ({ arguments: [name], flags }: Input) {
  const paths = yield* Paths
  const durability = flags.sync === true ? "always" : "never"
  const blobs = FileBlobStore.layer({ directory: paths.blobs })
  const store = Layer.provide(JsonlSessionStore.layer({ paths, durability }), blobs)
  const append = Effect.gen(function* () {
    const sessions = yield* SessionStore
    const log = yield* sessions.open(yield* SessionArgument.locateToWrite(name!, { mustExist: false }))
    let read = 0
    yield* standardInput.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.runForEachArray((lines) => {
        const before = read
        read += lines.length
        return appendLines(log, lines, before)
      })
    )
  })
  yield* Effect.provide(append, Layer.provideMerge(Layer.provideMerge(Sessions.layer, store), EntryIds.layer))
})
