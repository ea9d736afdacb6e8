/** What the tests of readers share: fixtures, a translation as a session, and mutilated files. */
import { readdirSync, readFileSync } from "node:fs"
import { assert } from "@effect/vitest"
import { Check, Jsonl, type Problem, SessionTree } from "@grove/core"
import { SqliteTables } from "@grove/storage-sqlite"
import { Effect, Layer, Result } from "effect"
import { DatabaseRefused, Databases } from "../src/Databases.ts"
import type { Format } from "../src/Format.ts"
import type { Source } from "../src/read/Reader.ts"
import * as Readers from "../src/read/Readers.ts"
import * as Translation from "../src/read/Translation.ts"

const fixtures = new URL("../../../fixtures/", import.meta.url)

export const bytesOf = (path: string): Uint8Array => readFileSync(new URL(path, fixtures))
export const jsonOf = <A>(path: string): A => JSON.parse(readFileSync(new URL(path, fixtures), "utf8"))
export const namesIn = (folder: string, pattern: RegExp): ReadonlyArray<string> =>
  readdirSync(new URL(folder, fixtures))
    .filter((name) => pattern.test(name))
    .sort()

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A source of nothing but its own bytes. */
export const alone = (file: string, bytes: Uint8Array): Source => ({
  file,
  bytes,
  beside: () => undefined,
  namesIn: () => []
})

/** A fixture with the files around it. */
export const sourceOf = (path: string): Source => ({
  file: `/store/${path}`,
  bytes: bytesOf(path),
  beside: (other) => {
    try {
      return readFileSync(new URL(other, new URL(path, fixtures)))
    } catch {
      return undefined
    }
  },
  namesIn: (folder) => {
    try {
      return readdirSync(new URL(folder, new URL(path, fixtures)))
    } catch {
      return []
    }
  }
})

/** Databases of other programs, for real. */
export const tables = Layer.succeed(Databases, {
  rows: (file, queries) =>
    Effect.tryPromise({
      try: () => SqliteTables.read(file, queries),
      catch: (cause) => new DatabaseRefused({ cause })
    })
})

export interface Opened {
  readonly file: Jsonl.SessionFile
  readonly tree: SessionTree
  readonly problems: ReadonlyArray<Problem>
}

/** The session as Grove reads it back from the text of its file. */
export const open = (session: Translation.TranslatedSession): Opened => {
  const read = Jsonl.read(utf8(Translation.encode(session)))
  assert(Result.isSuccess(read), "a translation is a session")
  const file = read.success
  const tree = SessionTree.from(
    file.rows.map(({ entry }) => entry),
    file.last,
    file.header?.id ?? null
  )
  return { file, tree, problems: Check.problems(file, tree) }
}

/** Every promise of a translation, whatever it was made from. */
export const assertSound = (session: Translation.TranslatedSession): Opened => {
  const opened = open(session)
  assert.deepStrictEqual(
    opened.problems.filter(({ kind }) => kind !== "bad-body"),
    []
  )
  const seen = new Set<string | null>([null])
  for (const { id, parentId } of session.entries) {
    assert(seen.has(parentId), `the parent ${parentId} comes before ${id}`)
    assert(!seen.has(id), `${id} is there once`)
    seen.add(id)
  }
  assert(seen.has(session.leaf), "the leaf is an entry")
  return opened
}

/** Sound, and every body as its type promises. */
export const assertFlawless = (session: Translation.TranslatedSession): Opened => {
  const opened = assertSound(session)
  assert.deepStrictEqual(opened.problems, [])
  return opened
}

// -------------------------------------------------------------------------------------------------- chance

/** The same draws for the same seed (mulberry32), so that a failure can be repeated from its name. */
const chance = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit)
  }
}

const ODD = ["null", "{}", "[]", '""', "-1", "1e999", '"\\u0000"', '{"type":"text"}', "[[[[]]]]", "true", '"x"']

/** One of the ways in which files go wrong: bytes lost, doubled, swapped or replaced, lines moved, values of another type. */
export const mutilated = (bytes: Uint8Array, seed: number): Uint8Array => {
  const below = chance(seed)
  let text = Buffer.from(bytes).toString("latin1")
  for (let times = 1 + below(4); times > 0; times--) {
    const at = below(text.length)
    const end = Math.min(text.length, at + 1 + below(200))
    const lines = text.split("\n")
    const line = below(lines.length)
    const other = below(lines.length)
    switch (below(8)) {
      case 0:
        text = text.slice(0, at) + text.slice(end)
        break
      case 1:
        text = text.slice(0, end) + text.slice(at)
        break
      case 2:
        text = text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1)
        break
      case 3:
        text = text.slice(0, at)
        break
      case 4:
        lines.splice(line, 1)
        text = lines.join("\n")
        break
      case 5:
        ;[lines[line], lines[other]] = [lines[other]!, lines[line]!]
        text = lines.join("\n")
        break
      case 6: {
        const values = [...text.matchAll(/:("(?:[^"\\\n]|\\.)*"|-?\d[\d.]*|true|false|null)/g)]
        const value = values[below(values.length)]
        if (value === undefined) break
        const from = value.index + 1
        text = text.slice(0, from) + ODD[below(ODD.length)] + text.slice(from + value[1]!.length)
        break
      }
      default: {
        const ids = [...text.matchAll(/"[\w-]{8,40}"/g)]
        const [a, b] = [ids[below(ids.length)], ids[below(ids.length)]]
        if (a !== undefined && b !== undefined) text = text.slice(0, a.index) + b[0] + text.slice(a.index + a[0].length)
      }
    }
  }
  return Buffer.from(text, "latin1")
}

/** Every mutilation gives sound sessions, and gives them again when asked again. */
export const assertUnshaken = (format: Format, files: ReadonlyArray<string>, count = 100): void => {
  for (let seed = 1; seed <= count; seed++) {
    const path = files[seed % files.length]!
    const source = { ...sourceOf(path), bytes: mutilated(bytesOf(path), seed) }
    try {
      Readers.detect(source.file, source.bytes)
      const { sessions } = Readers.read(format, source)
      for (const session of sessions) assertSound(session)
      assert.deepStrictEqual(Readers.read(format, source).sessions, sessions)
    } catch (cause) {
      throw new Error(`seed ${seed}, ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}
