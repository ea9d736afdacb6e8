import { type Entry, type EntryId, SessionTree, Symbols, TreeUsage, TreeView } from "@grove/core"
import * as App from "../src/state/App.ts"
import type * as Commands from "../src/state/Commands.ts"
import * as HistoryView from "../src/state/HistoryView.ts"
import * as Row from "../src/state/Row.ts"
import * as SessionsView from "../src/state/SessionsView.ts"
import * as TreePane from "../src/state/TreePane.ts"
import type { Event, Intent, SessionState, World } from "../src/state/View.ts"

export const NOW = Date.parse("2026-03-01T12:00:00Z")

export const screens: Commands.Screens = {
  tree: TreePane.open,
  sessions: SessionsView.open,
  history: HistoryView.open
}

let minute = 0
const at = () => new Date(NOW - 3_600_000 + 1000 * minute++).toISOString()

export const user = (id: string, parentId: string | null, text: string): Entry.Entry =>
  ({
    type: "message",
    id,
    parentId,
    timestamp: at(),
    message: { role: "user", content: text }
  }) as unknown as Entry.Entry

export const reply = (id: string, parentId: string | null, content: unknown): Entry.Entry => {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
  const message = { role: "assistant", content: blocks, provider: "grove", model: "sprout", stopReason: "stop" }
  return { type: "message", id, parentId, timestamp: at(), message } as unknown as Entry.Entry
}

export const result = (id: string, parentId: string, callId: string, text: string): Entry.Entry => {
  const message = { role: "toolResult", toolCallId: callId, toolName: "bash", content: text, isError: false }
  return { type: "message", id, parentId, timestamp: at(), message } as unknown as Entry.Entry
}

export const session = (entries: ReadonlyArray<Entry.Entry>, leaf?: string | null): SessionState => {
  const tree = SessionTree.from(entries)
  const place = leaf === undefined ? tree.leaf : (leaf as EntryId | null)
  return {
    ref: { id: "0123456789abcdef", path: "/sessions/a.jsonl" },
    cwd: "/work",
    name: null,
    tree,
    leaf: place,
    readOnly: false,
    usage: TreeUsage.sums(tree, place),
    tokens: 1200,
    errors: new Set(entries.filter(TreeView.isError).map(({ id }) => id))
  }
}

export const world = (change: Partial<World> = {}): World => ({
  columns: 80,
  rows: 24,
  now: NOW,
  symbols: Symbols.unicode,
  home: "/home/.grove",
  price: () => undefined,
  session: session([]),
  model: null,
  approval: "default",
  linear: false,
  doubleEscape: "branch",
  turn: null,
  background: 0,
  queue: [],
  ...change
})

/** A chat that is driven by hand: what it shows, and all that it asked for. */
export class Driver {
  app: App.App
  readonly intents: Array<Intent> = []

  constructor(change: Partial<World> = {}) {
    this.app = App.make(world(change))
  }

  tell(...events: ReadonlyArray<Event>): this {
    for (const event of events) {
      const step = App.update(this.app, event, screens)
      this.app = step.app
      this.intents.push(...step.intents)
    }
    return this
  }

  press(...names: ReadonlyArray<string>): this {
    return this.tell(...names.map((name): Event => ({ _tag: "Key", name })))
  }

  type(text: string): this {
    return this.tell(...[...text].map((key): Event => ({ _tag: "Key", name: key === " " ? "space" : key, text: key })))
  }

  wait(millis: number): this {
    return this.tell({ _tag: "Tick", now: this.app.world.now + millis })
  }

  lines(): ReadonlyArray<string> {
    return App.draw(this.app).rows.map((row) => Row.textOf(row).trimEnd())
  }

  screen(): string {
    return this.lines().join("\n")
  }
}
