/** What the tests of the model share: fixtures, small sessions, seeded chance. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { Entry, type EntryId, Jsonl, SessionTree } from "../src/model/index.ts"

export type Json = { readonly [key: string]: unknown }

// ------------------------------------------------------------------------------------------------ fixtures

const fixtures = new URL("../../../fixtures/", import.meta.url)

export const bytesOf = (path: string): Uint8Array => readFileSync(new URL(path, fixtures))
export const jsonOf = <A>(path: string): A => JSON.parse(readFileSync(new URL(path, fixtures), "utf8"))
export const namesIn = (folder: string, pattern: RegExp): ReadonlyArray<string> =>
  readdirSync(new URL(folder, fixtures))
    .filter((name) => pattern.test(name))
    .sort()

export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex")

/** As a reader of the file would see it: `undefined` members are gone. */
export const roundTrip = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** Keys sorted, no spaces: the form whose hash the fixtures name. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    .join()}}`
}

// ------------------------------------------------------------------------------------------------ sessions

export interface Loaded {
  readonly file: Jsonl.SessionFile
  readonly tree: SessionTree
}

export const treeOf = (file: Jsonl.SessionFile): SessionTree =>
  SessionTree.from(
    file.rows.map(({ entry }) => entry),
    file.last
  )

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export const load = (data: Uint8Array | string): Loaded => {
  const read = Jsonl.read(typeof data === "string" ? bytes(data) : data)
  assert(Result.isSuccess(read), "these bytes are a session")
  return { file: read.success, tree: treeOf(read.success) }
}

export const refusal = (data: Uint8Array | string): Jsonl.NotASession => {
  const read = Jsonl.read(typeof data === "string" ? bytes(data) : data)
  assert(Result.isFailure(read), "these bytes are no session")
  return read.failure
}

export const header = {
  type: "session",
  version: 3,
  id: "s1",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/home/user"
}

/** A file of those lines; objects are encoded, strings stand as they are. */
export const fileOf = (...lines: ReadonlyArray<object | string>): string =>
  lines.map((line) => (typeof line === "string" ? `${line}\n` : Jsonl.encode(line))).join("")

/** Minutes after the beginning of the session. */
export const at = (minutes: number): string => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000).toISOString()

export const entry = (id: string, parentId: string | null, fields: Json = {}): Entry.Entry => {
  const made = Entry.fromJson({ type: "note", id, parentId, timestamp: at(0), ...fields })
  assert(made !== undefined)
  return made
}

export const message = (id: string, parentId: string | null, body: Json, fields: Json = {}): Entry.Entry =>
  entry(id, parentId, { type: "message", message: body, ...fields })

export const user = (id: string, parentId: string | null, text = id, fields: Json = {}): Entry.Entry =>
  message(id, parentId, { role: "user", content: text }, fields)

export const reply = (id: string, parentId: string | null, body: Json = {}, fields: Json = {}): Entry.Entry =>
  message(
    id,
    parentId,
    { role: "assistant", provider: "p", model: "m", content: [{ type: "text", text: id }], ...body },
    fields
  )

export const call = (...names: ReadonlyArray<string>): Json => ({
  content: names.map((name, i) => ({ type: "toolCall", id: `c${i}`, name, arguments: { path: "a.txt" } })),
  stopReason: "toolUse"
})

export const result = (id: string, parentId: string | null, body: Json = {}): Entry.Entry =>
  message(id, parentId, {
    role: "toolResult",
    toolCallId: "c0",
    toolName: "read",
    content: "ok",
    isError: false,
    ...body
  })

export const mark = (id: string, parentId: string | null, kind: string, data?: Json): Entry.Entry =>
  entry(id, parentId, { type: "custom", customType: `grove.${kind}`, ...(data === undefined ? {} : { data }) })

/** Each follows the one before. */
export const chain = (...ids: ReadonlyArray<string>): ReadonlyArray<Entry.Entry> =>
  ids.map((id, i) => user(id, ids[i - 1] ?? null))

export const idsOf = (entries: ReadonlyArray<{ readonly id: EntryId }>): ReadonlyArray<string> =>
  entries.map(({ id }) => id)

// -------------------------------------------------------------------------------------------------- chance

/** The same draws for the same seed (mulberry32), so that a failure can be repeated from its name. */
export class Chance {
  #state: number
  constructor(seed: number) {
    this.#state = seed
  }
  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }
  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }
  pick<A>(items: ReadonlyArray<A>): A {
    return items[this.below(items.length)]!
  }
}

/** Runs a check for many seeds and names the one that failed. */
export const forSeeds = (count: number, check: (chance: Chance, seed: number) => void): void => {
  for (let seed = 1; seed <= count; seed++) {
    try {
      check(new Chance(seed), seed)
    } catch (cause) {
      throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}

/** Lines as the worst of files may have them: repeated ids, orphans, cycles, children before parents, marks. */
export const wildLines = (chance: Chance): ReadonlyArray<Entry.Entry> => {
  const size = 1 + chance.below(60)
  const id = (n: number) => `e${n}`
  const wild = chance.pick([3, 8, 30])
  return Array.from({ length: size }, (_, i) => {
    const own = chance.oneIn(wild) ? id(chance.below(size)) : id(i)
    const near = id(Math.max(0, i - 1 - chance.below(4)))
    const anywhere = id(chance.below(size + 3))
    const parentId = chance.oneIn(12) ? null : chance.oneIn(wild) ? anywhere : i === 0 ? null : near
    const timestamp = chance.oneIn(15) ? "yesterday" : at(chance.below(20))
    const kind = chance.below(8)
    const fields =
      kind === 0
        ? {
            type: "custom",
            customType: `grove.${chance.pick(["leaf", "state", "edit", "x"])}`,
            data: { targetId: parentId }
          }
        : kind === 1
          ? { type: "leaf", targetId: chance.pick([null, near, anywhere]) }
          : kind === 2
            ? { type: "custom", customType: "other" }
            : { type: "message", message: { role: "user", content: "" } }
    return entry(own, parentId, { timestamp, ...fields })
  })
}
