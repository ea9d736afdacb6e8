/** What the tests of views share: small sessions, a world around them, keys as they are typed, screens as text. */
import { assert } from "@effect/vitest"
import { type Entry, type EntryId, SessionTree, Symbols, TreeUsage, TreeView, Width } from "@grove/core"
import type { Input } from "../../src/keys.ts"
import * as Row from "../../src/state/Row.ts"
import type { Step } from "../../src/state/Sheet.ts"
import type { Event, Frame, SessionState, World } from "../../src/state/View.ts"

type Json = { readonly [key: string]: unknown }

/** Half past two in the afternoon of a day, wherever the tests run. */
export const NOW = new Date(2026, 2, 20, 14, 40).getTime()
export const today = (hours: number, minutes: number): number => new Date(2026, 2, 20, hours, minutes).getTime()
export const daysAgo = (days: number): number => NOW - days * 86_400_000

export const entry = (id: string, parentId: string | null, at: number, fields: Json): Entry.Entry =>
  ({ id, parentId, timestamp: new Date(at).toISOString(), ...fields }) as Entry.Entry

export const user = (id: string, parentId: string | null, text: string, at = NOW): Entry.Entry =>
  entry(id, parentId, at, { type: "message", message: { role: "user", content: [{ type: "text", text }] } })

export const reply = (
  id: string,
  parentId: string | null,
  text: string,
  {
    at = NOW,
    tools = 0,
    cost = 0,
    ...fields
  }: { readonly at?: number; readonly tools?: number; readonly cost?: number } & Json = {}
): Entry.Entry => {
  const calls = Array.from({ length: tools }, (_, i) => ({
    type: "toolCall",
    id: `${id}-${i}`,
    name: "read",
    arguments: {}
  }))
  const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: { total: cost } }
  const content = [{ type: "text", text }, ...calls]
  return entry(id, parentId, at, {
    type: "message",
    message: { role: "assistant", provider: "oak", model: "sonnet", stopReason: "stop", content, usage, ...fields }
  })
}

export const label = (id: string, parentId: string, targetId: string, text: string): Entry.Entry =>
  entry(id, parentId, NOW, { type: "label", targetId, label: text })

export const mark = (id: string, parentId: string | null, kind: string, data: Json): Entry.Entry =>
  entry(id, parentId, NOW, { type: "custom", customType: `grove.${kind}`, data })

export const sessionOf = (
  entries: ReadonlyArray<Entry.Entry>,
  leaf: string | null | undefined = undefined,
  name: string | null = "auth-rate-limit"
): SessionState => {
  const tree = SessionTree.from(entries)
  const at = leaf === undefined ? tree.leaf : (leaf as EntryId | null)
  return {
    ref: { id: "0197-session-7f3a9c21", path: "/s.jsonl" } as SessionState["ref"],
    cwd: "/work/auth",
    name,
    tree,
    leaf: at,
    readOnly: false,
    usage: TreeUsage.sums(tree, at),
    tokens: 0,
    errors: new Set(entries.filter(TreeView.isError).map(({ id }) => id))
  }
}

export const worldOf = (session: SessionState, columns = 80, rows = 24, symbols = Symbols.unicode): World => ({
  columns,
  rows,
  now: NOW,
  symbols,
  home: "/home/ada",
  price: () => undefined,
  session,
  model: null,
  approval: "default",
  linear: false,
  doubleEscape: "branch",
  turn: null,
  background: 0,
  queue: []
})

/** `a`, `enter`, `ctrl+u`; a name of one character types itself. */
export const key = (name: string): Input => {
  if (name === "space") return { _tag: "Key", name, text: " " }
  return [...name].length === 1 ? { _tag: "Key", name, text: name } : { _tag: "Key", name }
}

/** Keys one after the other, and all that they asked for. Ends where the view closes. */
export const pressing =
  <State>(on: (state: State, event: Event, world: World) => Step<State>, world: World) =>
  (state: State, ...inputs: ReadonlyArray<string | Event>) => {
    let now: State | null = state
    const asked = { intents: [] as Array<unknown>, events: [] as Array<unknown>, opened: [] as Array<string> }
    for (const input of inputs) {
      if (now === null) break
      const step: Step<State> = on(now, typeof input === "string" ? key(input) : input, world)
      now = step.state
      asked.intents.push(...(step.intents ?? []))
      asked.events.push(...(step.events ?? []))
      if (step.open !== undefined) asked.opened.push(step.open.name)
    }
    return { state: now, ...asked }
  }

/** A screen as a person sees it, blanks at the right edge left out; fails if any row is not exactly as wide as the screen. */
export const screen = ({ rows, caret }: Frame, { columns, rows: height }: World): string => {
  assert.strictEqual(rows.length, height)
  for (const row of rows) assert.strictEqual(Row.width(row), columns, Row.textOf(row))
  if (caret !== null)
    assert.isTrue(caret.line >= 0 && caret.line < height && caret.column >= 0 && caret.column < columns)
  for (const row of rows) assert.notMatch(Row.textOf(row), /[\p{Cc}]/u)
  return rows.map((row) => Row.textOf(row).trimEnd()).join("\n")
}

export const linesOf = (frame: Frame, world: World): ReadonlyArray<string> => screen(frame, world).split("\n")

export const isWide = (text: string): boolean => Width.of(text) > text.length

/** The session that the pictures of the manual show. */
export const plan = (): ReadonlyArray<Entry.Entry> => [
  user("u1", null, "add login rate limiting", today(9, 2)),
  reply("a1", "u1", "I will start in the middleware, then tests of what it refuses", {
    at: today(9, 3),
    tools: 14,
    cost: 0.4
  }),
  user("s1", "a1", "use sqlite instead", daysAgo(2)),
  reply("s2", "s1", "sqlite then", { at: daysAgo(2), cost: 0.4 }),
  user("m1", "a1", "in memory first", daysAgo(2)),
  reply("m2", "m1", "a Map with a TTL is enough for one process", { at: daysAgo(2), tools: 3, cost: 0.3 }),
  user("l1", "m2", "用 LRU 缓存", daysAgo(2)),
  reply("l2", "l1", "好的", { at: daysAgo(2) }),
  user("p1", "m2", "and with several processes?", daysAgo(2) + 1000),
  reply("p2", "p1", "", { at: daysAgo(2) + 2000, stopReason: "aborted", cost: 0.24 }),
  user("p3", "p2", "well?", daysAgo(2) + 3000),
  user("u2", "a1", "use redis", today(9, 15)),
  reply("a2", "u2", "redis it is; keys are per ip and per user, the window slides", {
    at: today(9, 16),
    tools: 22,
    cost: 1
  }),
  entry("k1", "a2", today(13, 0), {
    type: "compaction",
    summary: "x".repeat(24_000),
    firstKeptEntryId: "u2",
    tokensBefore: 48_000
  }),
  user("u3", "k1", "now the tests — cover clock skew and the redis outage path, no sleeps.", today(14, 31)),
  reply("a3", "u3", "41 passed, coverage 93 %", { at: today(14, 35), tools: 9, cost: 0.21 }),
  label("b1", "a3", "u2", "plan-a"),
  mark("h1", "a3", "leaf", { targetId: "a3" })
]
