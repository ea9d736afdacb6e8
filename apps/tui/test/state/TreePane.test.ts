import { assert, describe, expect, it } from "@effect/vitest"
import { type Entry, EntryId, NONE, Symbols } from "@grove/core"
import * as TreeLines from "../../src/state/TreeLines.ts"
import * as TreePage from "../../src/state/TreePage.ts"
import * as TreePane from "../../src/state/TreePane.ts"
import * as TreeState from "../../src/state/TreeState.ts"
import type { Edit } from "../../src/state/View.ts"
import {
  entry,
  key,
  label,
  linesOf,
  mark,
  NOW,
  plan,
  pressing,
  reply,
  screen,
  sessionOf,
  user,
  worldOf
} from "./views.ts"

const opened = (entries: ReadonlyArray<Entry.Entry> = plan(), columns = 80, rows = 24, leaf?: string | null) => {
  const world = worldOf(sessionOf(entries, leaf), columns, rows)
  const state = TreeState.open(world)
  const keys = pressing(TreePane.on, world)
  return {
    world,
    state,
    press: (...inputs: Parameters<typeof keys> extends [unknown, ...infer Rest] ? Rest : never) => {
      const after = keys(state, ...inputs)
      return { ...after, lines: after.state === null ? [] : linesOf(TreePage.draw(after.state, world), world) }
    }
  }
}

const selectedId = (state: TreeState.State | null): string | null =>
  state === null ? null : state.session.tree.idAt(TreeLines.rowAt(state.lines, state.selected))

const editOf = (intents: ReadonlyArray<unknown>): Edit | undefined =>
  (intents[0] as { readonly edit?: Edit } | undefined)?.edit

describe("the tree on the screen", () => {
  it.each([
    [80, 24],
    [120, 40]
  ])("looks like its picture at %i columns and %i lines", async (columns, rows) => {
    const { world, press } = opened(plan(), columns, rows)
    const { state } = press("up", "{", "down", "down", "right", "end", "up")
    await expect(screen(TreePage.draw(state!, world), world)).toMatchFileSnapshot(`golden/tree-${columns}x${rows}.txt`)
  })
  it("looks the same in plain letters", async () => {
    const world = { ...worldOf(sessionOf(plan())), symbols: Symbols.ascii }
    const drawn = screen(TreePage.draw(TreeState.open(world), world), world)
    await expect(drawn).toMatchFileSnapshot("golden/tree-ascii.txt")
    assert.notMatch(drawn, /[●○◆├▸▾│⊙⚙─·›→≈←]/u)
  })
  it("marks entries from which other sessions were forked, also on the branch or turn that stands for them", () => {
    const entries = new Set(["a1", "l2"].map((id) => EntryId.make(id)))
    const found = { _tag: "ForksFound", path: "/s.jsonl", entries } as const
    const { lines } = opened().press(found)
    assert.match(lines.join("\n"), /│ ai {3}I will start .* ⚙14 {2}⇢/)
    assert.match(lines.join("\n"), /├▸ you {2}in memory first .*⇢ {2}7 entries/)
    assert.strictEqual(lines.join("\n").split("⇢").length, 3)
    assert.notInclude(
      opened()
        .press({ ...found, path: "/other.jsonl" })
        .lines.join("\n"),
      "⇢"
    )
  })
  it("opens where the person stands", () => {
    assert.strictEqual(selectedId(opened().state), "a3")
    assert.strictEqual(selectedId(opened(plan(), 80, 24, "s2").state), "s2")
  })
  it("says what branches that were left cost", () => {
    assert.include(opened().press("up").lines[0], "17 entries · 4 branches · $2.55 (dead ends $0.94)")
  })
  it("says why it is empty and which key shows more", () => {
    assert.include(opened([]).press("down").lines.join("\n"), "Nothing was said in this session yet")
    assert.include(
      opened([user("a", null, "hi")])
        .press("ctrl+u", "tab")
        .lines.join("\n"),
      "No entry has a label: l gives one"
    )
    assert.include(
      opened([user("a", null, "hi")])
        .press("S")
        .lines.join("\n"),
      "the stash is empty"
    )
  })
  it("keeps the preview below on narrow screens and beside on wide ones; p shows it whole, then hides it", () => {
    const long = [user("a", null, Array.from({ length: 60 }, (_, i) => `line ${i}`).join("\n"))]
    assert.include(opened(long).press("home").lines.join("\n"), "line 3")
    assert.notInclude(opened(long).press("home").lines.join("\n"), "line 15")
    assert.include(opened(long).press("p").lines.join("\n"), "line 15")
    assert.include(opened(long).press("p", "pagedown").lines.join("\n"), "line 20")
    assert.notMatch(opened(long).press("p", "p").lines.join("\n"), /^ line 2$/m)
    assert.match(opened(long, 120, 40).press("home").lines[5]!, /│ line 3/)
  })
  it("tells all keys on as many lines as it takes", () => {
    const { lines } = opened(plan(), 60, 30).press("?")
    for (const words of ["z summarise range", "1-5 rate", "v graft here", "y copy id"]) {
      assert.include(lines.join("\n"), words)
    }
  })
})

describe("moving in the tree", () => {
  it("unfolds and folds a side branch, then goes to the fork above it", () => {
    const { press } = opened()
    assert.strictEqual(selectedId(press("home", "down", "down", "down", "right").state), "m1")
    assert.strictEqual(selectedId(press("home", "down", "down", "down", "right", "right").state), "m2")
    assert.strictEqual(selectedId(press("home", "down", "down", "down", "right", "right", "left").state), "m1")
    const folded = press("home", "down", "down", "down", "right", "right", "left", "left")
    assert.deepStrictEqual(folded.state?.lines.rows, opened().state.lines.rows)
    assert.strictEqual(selectedId(press("home", "down", "down", "down", "left").state), "a1")
  })
  it("goes from sibling to sibling, and from fork to fork", () => {
    const { press } = opened()
    assert.strictEqual(selectedId(press("]").state), "s1")
    assert.strictEqual(selectedId(press("[").state), "m1")
    assert.strictEqual(selectedId(press("[", "[", "[").state), "u2")
    assert.strictEqual(selectedId(press("{").state), "a1")
    assert.strictEqual(selectedId(press("home", "}").state), "a1")
  })
  it("filters, and keeps what is selected and unfolded", () => {
    const { press } = opened()
    assert.strictEqual(selectedId(press("ctrl+u").state), "u3")
    assert.strictEqual(selectedId(press("ctrl+u", "ctrl+u").state), "u3")
    const unfolded = press("home", "down", "down", "down", "right", "ctrl+o", "ctrl+o")
    assert.isTrue(unfolded.state?.lines.unfolded.has("m1" as EntryId))
    assert.include(unfolded.lines.join("\n"), "and with several processes?")
    assert.include(press("tab", "tab").lines[1], "[labeled]")
    assert.include(press("shift+tab").lines[1], "[all]")
  })
  it("stays with the turn when the rows of its tools go away", () => {
    const { press } = opened([
      user("u", null, "look"),
      reply("r", "u", "looking", { tools: 1 }),
      reply("z", "r", "done")
    ])
    assert.strictEqual(selectedId(press("ctrl+o", "up").state), "r")
    assert.strictEqual(selectedId(press("ctrl+o", "up", "ctrl+o").state), "z")
  })
  it("tells how many entries a filter left out, and never selects that line", () => {
    const { press } = opened()
    const { state, lines } = press("ctrl+u", "up")
    assert.include(lines.join("\n"), "≈ 2 hidden")
    assert.strictEqual(selectedId(state), "u2")
    assert.strictEqual(selectedId(press("ctrl+u", "up", "down").state), "u3")
  })
})

describe("searching the tree", () => {
  it("finds what a folded branch says, and Esc folds it again", () => {
    const { press, state } = opened()
    const found = press("/", "l", "r", "u")
    assert.strictEqual(selectedId(found.state), "l1")
    assert.include(found.lines.at(-1), "1 match")
    const left = press("/", "l", "r", "u", "enter", "escape")
    assert.deepStrictEqual(left.state?.lines.rows, state.lines.rows)
    assert.strictEqual(selectedId(left.state), "m1")
    assert.strictEqual(selectedId(press("/", "l", "r", "u", "escape").state), "a3")
  })
  it("goes from match to match in the order of the screen, around the end", () => {
    const { press } = opened()
    const ids = [1, 2, 3, 4].map((times) =>
      selectedId(press("home", "/", "r", "e", "d", "i", "s", "enter", ...Array<string>(times).fill("n")).state)
    )
    assert.deepStrictEqual(ids, ["a2", "u3", "u2", "a2"])
    assert.strictEqual(selectedId(press("home", "/", "r", "e", "d", "i", "s", "enter", "N").state), "u3")
  })
  it("finds what tools said, at the row that stands for them", () => {
    const entries = [
      user("u", null, "look"),
      reply("r", "u", "looking", { tools: 1 }),
      entry("t", "r", NOW, {
        type: "message",
        message: { role: "toolResult", toolCallId: "r-0", content: [{ type: "text", text: "needle" }] }
      }),
      reply("z", "t", "done")
    ]
    assert.strictEqual(selectedId(opened(entries).press("home", "/", "n", "e", "e", "d").state), "z")
  })
  it("reads a long session a piece at a time, as it is told to go on", () => {
    const entries = Array.from({ length: 3500 }, (_, i) =>
      user(`e${i}`, i === 0 ? null : `e${i - 1}`, i === 3000 ? "needle" : "hay")
    )
    const { press } = opened(entries)
    const first = press("home", "/", "n", "e", "e")
    assert.deepStrictEqual(first.intents, Array(3).fill({ _tag: "Continue" }))
    assert.strictEqual(selectedId(first.state), "e0")
    assert.include(first.lines.at(-1), "0 matches so far")
    const go = { _tag: "Continued" } as const
    const later = press("home", "/", "n", "e", "e", go, go, go)
    assert.strictEqual(selectedId(later.state), "e3000")
    assert.include(later.lines.at(-1), "1 match")
    assert.notInclude(later.lines.at(-1), "so far")
  })
})

describe("going somewhere", () => {
  it("to a prompt means before it, with its text in the editor", () => {
    const { state, intents, events } = opened().press("up", "enter")
    assert.isNull(state)
    assert.deepStrictEqual(intents, [{ _tag: "Move", to: "k1" }])
    assert.deepStrictEqual(events, [
      {
        _tag: "Filled",
        prompt: { text: "now the tests — cover clock skew and the redis outage path, no sleeps.", images: [] }
      }
    ])
  })
  it("to the first prompt means to nowhere", () => {
    assert.deepStrictEqual(opened().press("home", "enter").intents, [{ _tag: "Move", to: null }])
  })
  it("to anything else means to it, and leaves the editor as it is", () => {
    const { intents, events } = opened().press("home", "down", "enter")
    assert.deepStrictEqual(intents, [{ _tag: "Move", to: "a1" }])
    assert.deepStrictEqual(events, [])
  })
  it("where one stands already only closes the tree", () => {
    const { state, intents } = opened().press("enter")
    assert.isNull(state)
    assert.deepStrictEqual(intents, [])
  })
  it("can leave a summary behind: none, one, or one with instructions", () => {
    const { press } = opened()
    const away = ["home", "down", "s"]
    assert.deepStrictEqual(press(...away, "n").intents, [{ _tag: "Move", to: "a1" }])
    assert.deepStrictEqual(press(...away, "down", "enter").intents, [{ _tag: "Move", to: "a1", summary: {} }])
    assert.deepStrictEqual(press(...away, "i", "o", "k", "enter").intents, [
      { _tag: "Move", to: "a1", summary: { instructions: "ok" } }
    ])
    assert.strictEqual(selectedId(press(...away, "escape").state), "a1")
  })
  it("in a new session copies up to before the prompt", () => {
    assert.deepStrictEqual(opened().press("up", "up", "up", "up", "f").intents, [
      { _tag: "Fork", at: "a1", prompt: { text: "use redis", images: [] } }
    ])
  })
})

describe("editing in the tree", () => {
  const edits = (...keys: ReadonlyArray<string>) => editOf(opened().press(...keys).intents)

  it("acts on the marked entries, else on the selected one", () => {
    assert.deepStrictEqual(edits("up", "d"), { op: "disable", ids: ["u3"] as never })
    assert.deepStrictEqual(edits("home", "space", "space", "d"), { op: "disable", ids: ["u1", "a1"] as never })
    assert.deepStrictEqual(edits("home", "space", "space", "4"), { op: "rate", ids: ["u1", "a1"] as never, rating: 4 })
    assert.deepStrictEqual(edits("home", "x"), { op: "prune", ids: ["u1"] as never })
    assert.deepStrictEqual(edits("u"), { op: "undo", edit: null })
    assert.deepStrictEqual(edits("U"), { op: "redo" })
  })
  it("switches on again what is off", () => {
    const off = [...plan(), mark("off", "a3", "state", { targetIds: ["u3"], asked: ["u3"], enabled: false })]
    const { press } = opened(off)
    assert.deepStrictEqual(editOf(press("up", "d").intents), { op: "enable", ids: ["u3"] as never })
    assert.include(press("up").lines.join("\n"), "you  ≈ now the tests")
  })
  it("grafts what is marked onto what is selected", () => {
    assert.deepStrictEqual(edits("home", "down", "down", "space", "end", "v"), {
      op: "graft",
      sources: ["s1"] as never,
      target: "a3" as never
    })
    assert.include(opened().press("v").lines.at(-1), "Space marks what to copy")
  })
  it("summarises from the first to the last of two entries, whichever is marked", () => {
    const range = { op: "summarize", first: "u2" as EntryId, last: "u3" as EntryId } as const
    assert.deepStrictEqual(edits("up", "space", "up", "up", "up", "up", "z"), range)
    assert.deepStrictEqual(edits("{", "down", "down", "down", "space", "down", "down", "z"), range)
  })
  it("merges a branch to where one is, as a summary or word for word", () => {
    const branch = "s1" as EntryId
    assert.deepStrictEqual(edits("home", "down", "down", "m", "s"), { op: "mergeSummary", branch })
    assert.deepStrictEqual(edits("home", "down", "down", "m", "c"), { op: "merge", branch, picked: [branch] })
  })
  it("labels, and takes a label away", () => {
    assert.deepStrictEqual(edits("up", "l", "o", "k", "enter"), { op: "label", ids: ["u3"] as never, label: "ok" })
    const { press } = opened()
    const asked = press("up", "up", "up", "up", "l")
    assert.include(asked.lines.join("\n"), "> plan-a")
    assert.deepStrictEqual(editOf(press("up", "up", "up", "up", "l", "ctrl+u", "enter").intents), {
      op: "label",
      ids: ["u2"] as never,
      label: null
    })
  })
  it("compares two entries", () => {
    assert.deepStrictEqual(opened().press("home", "down", "down", "space", "end", "c").opened, ["compare"])
    assert.include(opened().press("c").lines.at(-1), "Space marks one entry")
  })
  it("shows what an edit did, and lets go of what was marked", () => {
    const notice = { kind: "info", text: "2 muted; 41k → 37k tokens" } as const
    const { lines, state } = opened().press("home", "space", "d", { _tag: "Told", notice })
    assert.include(lines.at(-1), "2 muted; 41k → 37k tokens")
    assert.strictEqual(state?.marked.size, 0)
    const refused = { kind: "error", text: "refused" } as const
    assert.strictEqual(opened().press("home", "space", "d", { _tag: "Told", notice: refused }).state?.marked.size, 1)
  })
  it("keeps what is marked when something else is told", () => {
    const notice = { kind: "info", text: "copied" } as const
    assert.strictEqual(opened().press("home", "space", "y", { _tag: "Told", notice }).state?.marked.size, 1)
  })
  it("takes in what the session became, and stays where it was", () => {
    const more = sessionOf([
      ...plan(),
      user("n1", "u1", "quite different"),
      mark("h2", "a3", "leaf", { targetId: "a3" })
    ])
    const { state, lines } = opened().press("up", { _tag: "Changed", session: more, foreign: false })
    assert.strictEqual(selectedId(state), "u3")
    assert.include(lines.join("\n"), "quite different")
    assert.include(lines[0], "5 branches")
  })
  it("shows the stash, brings a fragment back, and grafts it elsewhere", () => {
    const pruned = [...plan(), mark("x1", "a3", "edit", { op: "prune", targetId: "m2", roots: ["l1", "p1"] })]
    const { press } = opened(pruned)
    const stash = press("S")
    assert.include(stash.lines[0], "STASH")
    assert.include(stash.lines.join("\n"), "├▸ you  用 LRU 缓存")
    assert.deepStrictEqual(editOf(press("S", "home", "enter").intents), { op: "undo", edit: "x1" as EntryId })
    assert.deepStrictEqual(editOf(press("S", "home", "space", "S", "end", "v").intents), {
      op: "graft",
      sources: ["l1"] as never,
      target: "a3" as never
    })
  })
  it("Esc lets go of one thing after the other, then closes", () => {
    const { press } = opened()
    const busy = ["/", "r", "e", "enter", "space", "?"]
    assert.isNull(press(...busy, "escape").state?.search)
    assert.strictEqual(press(...busy, "escape", "escape").state?.marked.size, 0)
    assert.isFalse(press(...busy, "escape", "escape", "escape").state?.showsKeys)
    assert.isNull(press(...busy, "escape", "escape", "escape", "escape").state)
  })
})

describe("any keys, in any session, on any screen", () => {
  const KEYS = [
    ..."jkgGnNpyslfcdxvmzSuU012345/?[]{}q会🌳e a".split(""),
    ...[
      "up",
      "down",
      "left",
      "right",
      "enter",
      "escape",
      "space",
      "tab",
      "shift+tab",
      "ctrl+u",
      "ctrl+o",
      "pageup",
      "pagedown",
      "home",
      "end",
      "shift+down",
      "backspace"
    ]
  ]
  /** The same numbers for the same seed. */
  const chanceOf = (seed: number) => {
    let state = seed * 2_654_435_761
    return (below: number) => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
      return ((state ^ (state >>> 13)) >>> 0) % below
    }
  }
  const TEXTS = [
    "修复会话树折叠的错误，并补上 test",
    "👩‍👩‍👧‍👦 family 🇩🇪 flags",
    "\u001b[2Jescape\u202e",
    "e\u0301 combining",
    "",
    "a\nb\tc",
    "plain words that go on and on until the edge of any screen"
  ]

  const wild = (next: (below: number) => number): ReadonlyArray<Entry.Entry> => {
    const ids: Array<string> = []
    return Array.from({ length: next(60) }, (_, i) => {
      const parent = ids.length === 0 || next(12) === 0 ? null : ids[next(3) === 0 ? next(ids.length) : ids.length - 1]!
      const id = `e${i}`
      const text = TEXTS[next(TEXTS.length)]!
      const kind = next(8)
      if (kind === 0 && ids.length > 0) return label(id, parent ?? ids[0]!, ids[next(ids.length)]!, text)
      if (kind === 1 && ids.length > 0) {
        const target = ids[next(ids.length)]!
        return mark(id, target, "edit", { op: "prune", targetId: target, roots: [...ids] })
      }
      ids.push(id)
      if (kind === 2) return entry(id, parent, NOW, { type: "compaction", summary: text, tokensBefore: 1000 })
      return kind < 5 ? user(id, parent, text) : reply(id, parent, text, { tools: next(3) })
    })
  }

  it("never throw, keep the selected row on the screen, and fill the screen exactly", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const next = chanceOf(seed)
      const entries = wild(next)
      const size = [20 + next(140), 5 + next(50)] as const
      let world = worldOf(sessionOf(entries), ...size)
      let state: TreeState.State | null = TreeState.open(world)
      const typed: Array<string> = []
      for (let i = 0; i < 60 && state !== null; i++) {
        const name = KEYS[next(KEYS.length)]!
        typed.push(name)
        try {
          state = TreePane.on(state, key(name), world).state
          if (state === null) break
          if (next(10) === 0) world = worldOf(world.session, 20 + next(140), 5 + next(50))
          const drawn = screen(TreePage.draw(state, world), world)
          const isListed = state.lines.rows.length > 0 && state.preview !== "whole"
          const isTall = world.rows >= 14 && state.dialog === null && !state.showsKeys
          if (isListed && isTall) assert.match(drawn, /^›/m, "the selected row is on the screen")
          if (state.lines.rows.length > 0) assert.isAtLeast(state.lines.rows[state.selected]!, NONE + 1)
        } catch (cause) {
          throw new Error(`seed ${seed}, ${world.columns}x${world.rows}: ${typed.join(" ")}: ${String(cause)}`, {
            cause
          })
        }
      }
    }
  })
  it("a branch that is unfolded and folded again leaves the lines as they were", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const next = chanceOf(seed)
      const session = sessionOf(wild(next))
      const whole = new Set(session.tree.ids())
      const lines = TreeLines.make(session, "all", "tree", next(2) === 0 ? whole : new Set())
      if (lines.rows.length === 0) continue
      const line = next(lines.rows.length)
      const row = TreeLines.rowAt(lines, line)
      const toggled = TreeLines.fold(lines, line, !TreeLines.isFolded(lines, row))
      assert.deepStrictEqual(toggled.rows, TreeLines.lay(lines.plan, "tree", toggled.unfolded).rows)
      const back = TreeLines.fold(toggled, TreeLines.lineOf(toggled, row), TreeLines.isFolded(lines, row))
      if (!TreeLines.isGap(lines, line)) assert.deepStrictEqual(back.rows, lines.rows)
    }
  })
})
