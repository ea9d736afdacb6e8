import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { SessionSummary } from "@grove/core"
import { Effect, Schema } from "effect"
import * as Breadcrumbs from "../src/Breadcrumbs.ts"
import { temporary, write } from "./support.ts"

const named = (env: { readonly [name: string]: string }, ttyPath?: string) => Breadcrumbs.terminalId({ ttyPath, env })

describe("a terminal is named", () => {
  it.each([
    ["/dev/pts/3", "pts-3"],
    ["/dev/tty1", "tty1"],
    ["/dev/ttys004", "ttys004"]
  ])("by its device %s", (path, expected) => {
    assert.strictEqual(named({}, path), expected)
    assert.strictEqual(named({ TMUX_PANE: "%3", KITTY_WINDOW_ID: "1" }, path), expected, "whatever else it says")
  })

  it.each([
    [{ TMUX_PANE: "%12" }, "tmux-12"],
    [{ ZELLIJ_SESSION_NAME: "work", ZELLIJ_PANE_ID: "4" }, "zellij-work-4"],
    [{ ZELLIJ_PANE_ID: "4" }, "zellij-4"],
    [{ KITTY_WINDOW_ID: "7" }, "kitty-7"],
    [{ WEZTERM_PANE: "0" }, "wezterm-0"],
    [{ TERM_SESSION_ID: "w0t1p0-9F3A" }, "apple-w0t1p0-9F3A"],
    [{ WT_SESSION: "6f-1" }, "wt-6f-1"]
  ])("by what it says of itself: %j", (env, expected) => assert.strictEqual(named(env), expected))

  it("by the pane inside of a multiplexer, not by the window that the multiplexer was started in", () => {
    const window = { KITTY_WINDOW_ID: "1", WEZTERM_PANE: "2", TERM_SESSION_ID: "3", WT_SESSION: "4" }
    assert.strictEqual(named({ ...window, TMUX_PANE: "%9" }), "tmux-9")
    assert.strictEqual(named({ ...window, ZELLIJ_PANE_ID: "9" }), "zellij-9")
  })

  it("not at all where nothing is known", () => {
    assert.isUndefined(named({}))
    assert.isUndefined(named({ TMUX_PANE: "", KITTY_WINDOW_ID: "" }, ""))
  })

  it.prop(
    "so that the name is a safe file name, and different terminals have different ones",
    [Schema.String, Schema.String],
    ([a, b]) => {
      const ids = [named({ TERM_SESSION_ID: a }), named({ TERM_SESSION_ID: b }), named({}, `/dev/${a}`), named({}, a)]
      for (const id of ids)
        if (id !== undefined) assert.isTrue(Schema.is(Breadcrumbs.TerminalId)(id), JSON.stringify(id))
      if (a !== b && a !== "" && b !== "") assert.notStrictEqual(ids[0], ids[1])
    }
  )

  it.each(["..", "../..", "/dev/..", "../../etc/passwd", ".", "-rf", "a\0b", "x".repeat(5000), "\u202eevil"])(
    "never by something that leads out of the folder: %j",
    (value) => {
      for (const id of [named({ WT_SESSION: value }), named({}, value)]) {
        assert.match(id!, /^[A-Za-z0-9_][A-Za-z0-9._-]*$/)
        assert.isAtMost(id!.length, 128)
      }
    }
  )

  it("by no device where standard input is none", () => {
    if (!process.stdin.isTTY) assert.isUndefined(Breadcrumbs.ttyPath())
    else assert.match(Breadcrumbs.ttyPath() ?? "/dev/none", /^\/dev\//)
  })
})

const terminal = named({}, "/dev/pts/3")!

describe("a breadcrumb", () => {
  it.effect("is two lines, the directory and the session's final name, for its owner's eyes only", () =>
    Effect.gen(function* () {
      const home = join(temporary(), "home")
      yield* Breadcrumbs.write(home, terminal, { cwd: "/home/ada", file: "/s/a.jsonl.draft" })
      const path = join(home, "terminal-sessions", "pts-3")
      assert.strictEqual(readFileSync(path, "utf8"), "/home/ada\n/s/a.jsonl\n")
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.strictEqual(statSync(dirname(path)).mode & 0o777, 0o700)
      assert.deepStrictEqual(yield* Breadcrumbs.read(home, terminal), { cwd: "/home/ada", file: "/s/a.jsonl" })
      yield* Breadcrumbs.write(home, terminal, { cwd: "/home/ada", file: "/s/b.jsonl" })
      assert.deepStrictEqual(readdirSync(dirname(path)), ["pts-3"], "nothing else is left behind")
      assert.deepStrictEqual(yield* Breadcrumbs.read(home, terminal), { cwd: "/home/ada", file: "/s/b.jsonl" })
    })
  )

  it.effect.each([
    ["nothing", undefined],
    ["an empty file", ""],
    ["one line", "/home/ada\n"],
    ["a torn second line", "/home/ada\n/s/a.js"],
    ["a relative directory", "home\n/s/a.jsonl\n"],
    ["a relative file", "/home/ada\ns/a.jsonl\n"],
    ["binary", "/home\0\n/s/a.jsonl\n"]
  ])("that is %s is none", ([_, text]) =>
    Effect.gen(function* () {
      const home = temporary()
      if (text !== undefined) write(join(home, "terminal-sessions", terminal), text)
      assert.isUndefined(yield* Breadcrumbs.read(home, terminal))
    })
  )

  it.effect("is not left for paths that do not fit a line", () =>
    Effect.gen(function* () {
      const home = temporary()
      yield* Breadcrumbs.write(home, terminal, { cwd: "/a\nb", file: "/s/a.jsonl" })
      assert.isUndefined(yield* Breadcrumbs.read(home, terminal))
    })
  )

  it.effect("that cannot be written is a typed error and leaves nothing half done", () =>
    Effect.gen(function* () {
      const home = temporary()
      write(join(home, "terminal-sessions"), "a file where the folder should be")
      const error = yield* Effect.flip(Breadcrumbs.write(home, terminal, { cwd: "/a", file: "/b.jsonl" }))
      assert.strictEqual(error._tag, "FileRefused")
    })
  )
})

describe("continuing", () => {
  const summary = (path: string, modified: string, more: Partial<SessionSummary.SessionSummary> = {}) =>
    ({ path, modified, cwd: "/home/ada", draft: false, ...more }) as SessionSummary.SessionSummary
  const listed = [
    summary("/s/old.jsonl", "2026-01-01T00:00:00.000Z"),
    summary("/s/new.jsonl", "2026-01-03T00:00:00.000Z"),
    summary("/s/middle.jsonl", "2026-01-02T00:00:00.000Z"),
    summary("/s/draft.jsonl", "2026-01-05T00:00:00.000Z", { draft: true }),
    summary("/s/elsewhere.jsonl", "2026-01-04T00:00:00.000Z", { cwd: "/home-ada" })
  ]
  const list = Effect.succeed(listed)
  const nobodyAsks = Effect.die("the list was asked for")

  it.effect.each([["a.jsonl"], ["a.jsonl.draft"]])("takes what this terminal was at, as %s", ([name]) =>
    Effect.gen(function* () {
      const home = temporary()
      const file = join(home, "a.jsonl")
      write(join(home, name!), "")
      yield* Breadcrumbs.write(home, terminal, { cwd: "/home/ada", file })
      assert.strictEqual(
        yield* Breadcrumbs.continueRecent({ home, terminal, cwd: "/home/ada", list: nobodyAsks }),
        file
      )
      assert.strictEqual(
        yield* Breadcrumbs.continueRecent({ home, terminal, cwd: "/home/bob", list }),
        undefined,
        "but not in another directory"
      )
    })
  )

  it.effect(
    "takes the newest session of this directory where the terminal has left nothing, or what it left is gone",
    () =>
      Effect.gen(function* () {
        const home = temporary()
        const options = { home, cwd: "/home/ada", list }
        assert.strictEqual(yield* Breadcrumbs.continueRecent({ ...options, terminal: undefined }), "/s/new.jsonl")
        assert.strictEqual(yield* Breadcrumbs.continueRecent({ ...options, terminal }), "/s/new.jsonl")
        yield* Breadcrumbs.write(home, terminal, { cwd: "/home/ada", file: join(home, "gone.jsonl") })
        assert.isFalse(existsSync(join(home, "gone.jsonl")))
        assert.strictEqual(yield* Breadcrumbs.continueRecent({ ...options, terminal }), "/s/new.jsonl")
      })
  )

  it.effect("takes none where there is none of this directory, however its folder is called", () =>
    Effect.gen(function* () {
      const options = { home: temporary(), terminal: undefined, list }
      assert.isUndefined(yield* Breadcrumbs.continueRecent({ ...options, cwd: "/home/carl" }))
      assert.strictEqual(yield* Breadcrumbs.continueRecent({ ...options, cwd: "/home-ada" }), "/s/elsewhere.jsonl")
    })
  )

  it.effect("stays inside a folder the person named", () =>
    Effect.gen(function* () {
      const home = temporary()
      const file = write(join(home, "a.jsonl"), "")
      yield* Breadcrumbs.write(home, terminal, { cwd: "/home/ada", file })
      const options = { home, terminal, cwd: "/home/ada", list }
      assert.strictEqual(yield* Breadcrumbs.continueRecent({ ...options, within: home }), file)
      assert.strictEqual(yield* Breadcrumbs.continueRecent({ ...options, within: "/other" }), "/s/new.jsonl")
    })
  )
})
