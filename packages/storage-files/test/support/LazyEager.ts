/**
 * Two readers of one file: one parses it whole, the other finds its lines and leaves the bodies where they are. They
 * must agree on everything, whatever the bytes are.
 */
import { deepStrictEqual, strictEqual } from "node:assert"
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ContextBuilder, type Entry, Jsonl, type Problem, SessionTree, type Store } from "@grove/core"
import { Result } from "effect"
import * as SessionFiles from "../../src/SessionFiles.ts"

export interface Reading {
  readonly version: number | null
  readonly header: unknown
  readonly title: unknown
  readonly readOnly: boolean
  readonly tree: SessionTree
  readonly problems: ReadonlyArray<Problem>
}

type Read<A> = Result.Result<A, Jsonl.NotASession>

/** The reference: every line parsed, the tree made of entries. */
export const eager = (bytes: Uint8Array): Read<Reading> =>
  Result.map(Jsonl.read(bytes), ({ version, header, title, rows, last, problems }) => ({
    version,
    header,
    title,
    readOnly: (version ?? 0) > 3,
    tree: SessionTree.from(
      rows.map(({ entry }) => entry),
      last
    ),
    problems
  }))

export interface LazyOptions {
  /** Whether an index is kept in the cache and used. */
  readonly cached?: boolean
}

/** Opens without parsing; `use` must read what it needs before the file is closed. */
export const withLazy = <A>(
  home: string,
  path: string,
  { cached = false }: LazyOptions,
  use: (read: Read<Store.Snapshot>) => A
): A => {
  const options = { cache: join(home, "cache"), parsedWhole: 0, cachedAbove: cached ? 0 : Number.POSITIVE_INFINITY }
  const opened = SessionFiles.open({ id: "", path }, path, options)
  try {
    return use(Result.map(opened, ({ snapshot }) => snapshot))
  } finally {
    if (Result.isSuccess(opened)) opened.success.close()
  }
}

const LEAVES = 4

/** What a tree says, in plain values. */
const told = (tree: SessionTree) => {
  const leaves = tree.leaves()
  const asked = [...leaves.slice(0, LEAVES), ...leaves.slice(-LEAVES)]
  return {
    size: tree.size,
    ids: [...tree.ids()],
    leaf: tree.leaf,
    roots: tree.roots(),
    leaves,
    forkPoints: tree.forkPoints(),
    problems: tree.problems(),
    rows: tree
      .rows()
      .map((row) => [
        tree.idAt(row),
        tree.typeAt(row),
        tree.roleAt(row),
        tree.isMarkAt(row),
        tree.timeAt(row),
        tree.spokenAt(row),
        tree.idAt(tree.parentRow(row)),
        tree.idAt(tree.shownParentRow(row))
      ]),
    children: [...tree.ids()].map((id) => tree.children(id)),
    facts: { ...tree.facts, labels: [...tree.facts.labels], disabled: [...tree.facts.disabled] },
    contexts: [undefined, null, "nobody", ...asked].map((leaf) => ContextBuilder.build(tree, leaf))
  }
}

/** Reads every body, so that what only a body tells is known. */
const touchAll = (tree: SessionTree): ReadonlyArray<Entry.Entry> => {
  for (;;) {
    const { revision } = tree
    const entries = tree.entries
    if (tree.revision === revision) return entries
  }
}

/** As JSON, since a cache keeps numbers as JSON can say them. */
const headOf = ({ version, header, title, readOnly }: Omit<Reading, "tree" | "problems">): string =>
  JSON.stringify([version, header, title, readOnly])

/** Compares a lazily opened session with the same bytes read whole. */
export const sameAsEager = (lazy: Read<Store.Snapshot>, bytes: Uint8Array): void => {
  const whole = eager(bytes)
  strictEqual(lazy._tag, whole._tag)
  if (Result.isFailure(lazy) || Result.isFailure(whole)) {
    if (Result.isFailure(lazy) && Result.isFailure(whole)) deepStrictEqual(lazy.failure, whole.failure)
    return
  }
  const { tree, ...found } = lazy.success
  const expected = whole.success
  const first = ContextBuilder.build(tree)
  const { revision } = tree
  deepStrictEqual(touchAll(tree), expected.tree.entries)
  // Where every body was sound, nothing that was answered before they were read was wrong.
  if (tree.revision === revision) deepStrictEqual(first, ContextBuilder.build(expected.tree))
  strictEqual(headOf(found), headOf(expected))
  deepStrictEqual(told(tree), told(expected.tree))
  deepStrictEqual(found.problems, expected.problems)
}

/** Opens a file that has grown by `more` since its index was made: what was indexed and what was not must fit together. */
export const checkGrown = (home: string, bytes: Uint8Array, more: Uint8Array): void => {
  const path = join(home, "grown.jsonl")
  writeFileSync(path, bytes)
  const both = Buffer.concat([bytes, more])
  try {
    withLazy(home, path, { cached: true }, (cold) => sameAsEager(cold, bytes))
    withLazy(home, path, { cached: true }, (warm) => sameAsEager(warm, bytes))
    appendFileSync(path, more)
    withLazy(home, path, { cached: true }, (grown) => sameAsEager(grown, both))
    withLazy(home, path, { cached: true }, (again) => sameAsEager(again, both))
  } finally {
    rmSync(path)
  }
}

/** Writes the bytes to a file, opens it, compares, and makes sure that reading changed nothing. */
export const check = (home: string, bytes: Uint8Array, options: LazyOptions = {}): void => {
  const path = join(home, "checked.jsonl")
  writeFileSync(path, bytes)
  withLazy(home, path, options, (lazy) => sameAsEager(lazy, bytes))
  if (Buffer.compare(readFileSync(path), bytes) !== 0) throw new Error("reading changed the file")
  rmSync(path)
}
