/** `grove tree`: the tree of a session, as JSON and drawn. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Width } from "@grove/core/model"
import { type Nested, ompSessions, type PiNode, piSessions } from "../fixtures.ts"
import { assertRefused, at, entry, fileOf, header, inTurn, program, reply, run, sandbox, user } from "../support.ts"

const box = sandbox({ fixtures: true })

interface Entry {
  readonly id: string
  readonly parentId: string | null
  readonly type: string
  readonly role: string | null
  readonly preview: string
  readonly label: string | null
  readonly enabled: boolean
  readonly state: string
  readonly children: ReadonlyArray<string>
}
interface Tree {
  readonly leaf: string | null
  readonly roots: ReadonlyArray<string>
  readonly stash: ReadonlyArray<string>
  readonly entries: ReadonlyArray<Entry>
}
const treeOf = (file: string, ...args: ReadonlyArray<string>): Promise<Tree> => box.json(["tree", file, ...args])

const byId = ({ entries }: Tree) => new Map(entries.map((entry) => [entry.id, entry]))

describe("its answer", () => {
  it("is the tree that Pi sees in its sessions", async () => {
    const trees = await inTurn(piSessions, ({ file }) => treeOf(join(box.fixtures, "pi", file)))
    for (const [i, { tree, defaultLeafId, entryCount, file }] of piSessions.entries()) {
      const found = byId(trees[i]!)
      const nodeOf = (id: string): PiNode => {
        const { label, children } = found.get(id)!
        return { id, ...(label === null ? {} : { label }), children: children.map(nodeOf) }
      }
      assert.deepStrictEqual(trees[i]!.roots.map(nodeOf), tree as Array<PiNode>, file)
      assert.deepStrictEqual([trees[i]!.leaf, found.size], [defaultLeafId, entryCount], file)
    }
  })

  it("is the tree that xcsh sees in its sessions", async () => {
    const sessions = ompSessions.filter(
      ({ name, tree }) => /^(walk|branches|state|orphan|title)/.test(name) && tree !== "(large)"
    )
    assert.strictEqual(sessions.length, 10)
    const trees = await inTurn(sessions, ({ file }) => treeOf(join(box.fixtures, "omp", file)))
    for (const [i, { tree, file }] of sessions.entries()) {
      const found = byId(trees[i]!)
      const nested = (id: string): Nested => {
        const { children } = found.get(id)!
        return children.length === 0 ? id : [id, children.map(nested)]
      }
      assert.deepStrictEqual(trees[i]!.roots.map(nested) as unknown, tree as unknown, file)
    }
  })

  it("holds together: children name their parent, and every entry is reached from a root", async () => {
    const files = ["pi/branches.jsonl", "pi/malformed-torn-tail.jsonl", "omp/sessions/cycle-two.jsonl"]
    for (const tree of await inTurn(files, (file) => treeOf(join(box.fixtures, file)))) {
      const found = byId(tree)
      for (const { id, parentId, children } of tree.entries) {
        for (const child of children) assert.strictEqual(found.get(child)?.parentId, id)
        if (parentId === null) assert.include(tree.roots, id)
        else assert.include(found.get(parentId)!.children, id)
      }
      const reached = [...tree.roots]
      for (let i = 0; i < reached.length; i++) reached.push(...found.get(reached[i]!)!.children)
      assert.strictEqual(new Set(reached).size, tree.entries.length)
    }
  })

  it("has exactly these keys, absent values null, marks left out and what is below them hung higher", async () => {
    const file = box.write(
      "marks.jsonl",
      fileOf(
        header(),
        user("aaaa0001", null, `${"long ".repeat(40)}end`),
        entry("aaaa0002", "aaaa0001", {
          type: "custom",
          customType: "grove.state",
          data: { targetIds: ["aaaa0001"], enabled: false }
        }),
        reply("aaaa0003", "aaaa0002", "later", {}, { timestamp: at(9) }),
        reply("aaaa0004", "aaaa0001", "earlier", {}, { timestamp: at(5) }),
        entry("aaaa0005", "aaaa0004", { type: "label", targetId: "aaaa0004", label: "plan-a" })
      )
    )
    const plain = { label: null, enabled: true, state: "live" }
    assert.deepStrictEqual(await treeOf(file), {
      leaf: "aaaa0005",
      roots: ["aaaa0001"],
      stash: [],
      entries: [
        {
          ...plain,
          id: "aaaa0001",
          parentId: null,
          type: "message",
          role: "user",
          preview: `${"long ".repeat(15)}long…`,
          enabled: false,
          children: ["aaaa0004", "aaaa0003"]
        },
        {
          ...plain,
          id: "aaaa0003",
          parentId: "aaaa0001",
          type: "message",
          role: "assistant",
          preview: "later",
          children: []
        },
        {
          ...plain,
          id: "aaaa0004",
          parentId: "aaaa0001",
          type: "message",
          role: "assistant",
          preview: "earlier",
          label: "plan-a",
          children: ["aaaa0005"]
        },
        { ...plain, id: "aaaa0005", parentId: "aaaa0004", type: "label", role: null, preview: "plan-a", children: [] }
      ]
    })
    assert.deepStrictEqual(await treeOf(join(box.fixtures, "omp/sessions/empty.jsonl")), {
      leaf: null,
      roots: [],
      stash: [],
      entries: []
    })
  })

  it("has previews of at most 80 columns, whatever the script", async () => {
    const texts = ["あ".repeat(200), "👩‍👩‍👧‍👦".repeat(100), "e\u0301".repeat(300), "x".repeat(1e6)]
    const file = box.write("wide.jsonl", fileOf(header(), ...texts.map((text, i) => user(`aaaa000${i}`, null, text))))
    for (const { preview } of (await treeOf(file)).entries) {
      assert.isAtMost(Width.of(preview), 80)
      assert.isAtLeast(Width.of(preview), 79)
    }
  })

  it("holds what a filter lets through, hung on the nearest entry that is shown", async () => {
    const file = box.write(
      "filter.jsonl",
      fileOf(
        header(),
        user("aaaa0001", null, "question"),
        reply("aaaa0002", "aaaa0001", "failed", { stopReason: "error" }),
        user("aaaa0003", "aaaa0002", "again"),
        reply("aaaa0004", "aaaa0003", "calling", {
          content: [{ type: "toolCall", id: "c", name: "read", arguments: {} }]
        }),
        reply("aaaa0005", "aaaa0004", "answer"),
        entry("aaaa0006", "aaaa0005", { type: "label", targetId: "aaaa0005", label: "good" })
      )
    )
    const links = async (...args: ReadonlyArray<string>) =>
      (await treeOf(file, ...args)).entries.map(({ id, parentId }) =>
        [id, parentId].map((it) => it?.at(-1) ?? "-").join("<")
      )
    const [all, unfiltered, turns, users, labeled, errors] = await inTurn(
      [
        ["--filter", "all"],
        [],
        ["--filter", "turns"],
        ["--filter", "user"],
        ["--filter", "labeled"],
        ["--filter", "errors"]
      ],
      (args) => links(...args)
    )
    assert.deepStrictEqual(all, ["1<-", "2<1", "3<2", "4<3", "5<4", "6<5"])
    assert.deepStrictEqual(unfiltered, all)
    assert.deepStrictEqual(turns, ["1<-", "2<1", "3<2", "5<3"])
    assert.deepStrictEqual(users, ["1<-", "3<1"])
    assert.deepStrictEqual(labeled, ["5<-"])
    assert.deepStrictEqual(errors, ["2<-"])
  })

  it("is whole for a thousand entries through a pipe", async () => {
    const { entries } = await treeOf(join(box.fixtures, "omp/sessions/deep-chain.jsonl"))
    assert.strictEqual(entries.length, 5000)
  })
})

// -------------------------------------------------------------------------------------------------- drawing

/** A person who went back eighty times: each time one more prompt and reply under the first reply. */
const rewinds = (count: number, textOf: (i: number) => string): string =>
  fileOf(
    header({ title: "A session whose person went back again and again" }),
    user("r0000000", null, textOf(0), { timestamp: at(0) }),
    reply("r0000001", "r0000000", textOf(1), {}, { timestamp: at(1) }),
    ...Array.from({ length: count }, (_, i) => [
      user(`u${String(i).padStart(7, "0")}`, "r0000001", textOf(i), { timestamp: at(2 + i) }),
      reply(
        `a${String(i).padStart(7, "0")}`,
        `u${String(i).padStart(7, "0")}`,
        textOf(i + 1),
        {},
        { timestamp: at(2 + i) }
      )
    ]).flat()
  )

const long = (i: number) =>
  `attempt ${i}: keep the counter in a table and let every worker share it, then measure it under load`
const wide = (i: number) =>
  `第${i}回 ${i % 2 ? "カウンターをテーブルに置いて" : "👩‍👩‍👧 かんがえなおす 🚀🚀 "}すべてのワーカーで共有する。負荷をかけて測る`
const ages = /\d+[mhdwy]|now/

/** Rows of entries, without the line of facts above them and the hint below. */
const rowsOf = (drawn: string): ReadonlyArray<string> =>
  drawn
    .trimEnd()
    .split("\n")
    .slice(1)
    .filter((line) => !line.includes("folded"))
/** A row taken apart: what is left of the speaker, and what is right of it. */
const parts = (row: string) => {
  const [, gutter, text] =
    /^(.*?)(?:you|ai|tool|note|set)\s+(.*)$/u.exec(row) ?? assert.fail(`no row of an entry: ${row}`)
  return { gutter: gutter!, text: text! }
}

describe.each([
  { script: "Latin", textOf: long },
  { script: "wide", textOf: wide }
])("eighty rewinds in $script text", ({ script, textOf }) => {
  const name = `rewinds-${script}.jsonl`

  it.each([40, 80, 200])("are drawn within %i columns, each row with its text", async (columns) => {
    const file = box.write(name, rewinds(80, textOf))
    for (const args of [[], ["--unfold"], ["--filter", "all", "--unfold"]]) {
      const drawn = await box.text(["tree", file, ...args], { env: { COLUMNS: String(columns) } })
      for (const line of drawn.split("\n")) assert.isAtMost(Width.of(line), columns, line)
      const rows = rowsOf(drawn)
      assert.strictEqual(rows.length, args.includes("--unfold") ? 162 : 83)
      for (const row of rows) {
        const { gutter, text } = parts(row)
        assert.isAtMost(Width.of(gutter), 4, row)
        const [said] = text.split(/ {2,}/)
        assert.isAtLeast(Width.of(said!), 24, row)
      }
    }
  })

  it("are drawn with nothing but ASCII signs where the locale has no more", async () => {
    const file = box.write(name, rewinds(80, textOf))
    for (const env of [{ LANG: "C" }, { LC_ALL: "POSIX" }, { LC_CTYPE: "en_US.ISO-8859-1" }]) {
      const drawn = await box.text(["tree", file, "--unfold"], { env })
      for (const line of drawn.split("\n")) assert.isAtMost(Width.of(line), 80, line)
      for (const { gutter, text } of rowsOf(drawn).map(parts)) {
        assert.match(gutter, /^[ -~]*$/)
        if (script === "Latin") assert.match(text, /^[ -~]*$/)
        else assert.notInclude(text, "…")
      }
    }
  })
})

const example = fileOf(
  header({ title: "auth" }),
  user("aaaa0001", null, "add login rate limiting"),
  reply("aaaa0002", "aaaa0001", "I will look first", {
    content: [
      { type: "text", text: "I will look first" },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } }
    ],
    stopReason: "toolUse"
  }),
  entry("aaaa0003", "aaaa0002", {
    message: { role: "toolResult", toolCallId: "c1", toolName: "read", content: "text", isError: false }
  }),
  reply("aaaa0004", "aaaa0003", "which store?"),
  user("bbbb0001", "aaaa0004", "use sqlite instead"),
  reply("bbbb0002", "bbbb0001", "", { stopReason: "aborted", content: [] }),
  user("cccc0001", "aaaa0004", "用 LRU 缓存"),
  reply("cccc0002", "cccc0001", "好的，键按用户分开"),
  user("aaaa0005", "aaaa0004", "use redis"),
  entry("aaaa0006", "aaaa0005", { type: "label", targetId: "aaaa0005", label: "plan-a" }),
  reply("aaaa0007", "aaaa0006", "redis it is"),
  entry("aaaa0008", "aaaa0007", {
    type: "compaction",
    summary: "limits done",
    firstKeptEntryId: "aaaa0007",
    tokensBefore: 9
  }),
  entry("aaaa0009", "aaaa0008", {
    type: "custom",
    customType: "grove.state",
    data: { targetIds: ["aaaa0004"], enabled: false }
  }),
  user("aaaa000a", "aaaa0008", "now the tests"),
  reply("aaaa000b", "aaaa000a", "41 passed")
)

describe("drawn for people", () => {
  it("a chain never indents, side branches stand folded at their fork, and every sign has a meaning", async () => {
    const file = box.write("example.jsonl", example)
    const drawn = (await box.text(["tree", file])).replace(/ · \d+[mhdwy]$/gm, " · AGE")
    // The mark is no entry to people.
    assert.deepStrictEqual(drawn.split("\n"), [
      "auth  14 entries · 3 branches · $0.00 (dead ends $0.00)",
      "● you  add login rate limiting",
      "│ ai   ≈ which store?                                                         ⚙1",
      "├▸ you  use sqlite instead                              2 entries · 1 leaf · AGE",
      "├▸ you  用 LRU 缓存                                     2 entries · 1 leaf · AGE",
      "● you  use redis                                                        [plan-a]",
      "│ ai   redis it is",
      "⊙ compacted 9 → 3 tokens",
      "● you  now the tests",
      "◆ ai   41 passed                                                          ← here",
      "2 side branches folded; see --unfold",
      ""
    ])
  })

  it("side branches unfold one step to the right, with their failures", async () => {
    const file = box.write("example.jsonl", example)
    const drawn = (await box.text(["tree", file, "--unfold"])).replace(/ · \d+[mhdwy]$/gm, " · AGE")
    assert.deepStrictEqual(drawn.split("\n").slice(3, 8), [
      "├▾ you  use sqlite instead                              2 entries · 1 leaf · AGE",
      "│ │ ai   (aborted)                                                             ✕",
      "├▾ you  用 LRU 缓存                                     2 entries · 1 leaf · AGE",
      "│ │ ai   好的，键按用户分开",
      "● you  use redis                                                        [plan-a]"
    ])
  })

  it("gaps that a filter leaves say how much they hide", async () => {
    const file = box.write("example.jsonl", example)
    assert.deepStrictEqual((await box.text(["tree", file, "--filter", "labeled"])).split("\n").slice(1), [
      "≈ 4 hidden",
      "◆ you  use redis                                                [plan-a]  ← here",
      ""
    ])
  })

  it("remarks of rows with wide characters end in the same column as all others", async () => {
    const file = box.write(
      "aligned.jsonl",
      rewinds(12, (i) => (i % 2 ? "短い" : "short 👍🏽"))
    )
    const folded = rowsOf(await box.text(["tree", file])).filter((row) => ages.test(row))
    assert.isAtLeast(folded.length, 11)
    for (const row of folded) assert.strictEqual(Width.of(row), 80, row)
  })

  it("the size of a branch gives way to the text, and its label is cut", async () => {
    const lines = (text: string) =>
      fileOf(
        header(),
        user("aaaa0001", null, "root"),
        user("bbbb0001", "aaaa0001", text),
        user("aaaa0002", "aaaa0001", "here"),
        entry("aaaa0003", "aaaa0002", { type: "label", targetId: "bbbb0001", label: "a label of many words indeed" })
      )
    const sideRow = async (text: string, columns: number) => {
      const file = box.write("labels.jsonl", lines(text))
      const drawn = await box.text(["tree", file], { env: { COLUMNS: String(columns) } })
      return drawn.split("\n").find((line) => line.startsWith("├▸"))!
    }
    assert.match(await sideRow("short", 80), /short +\[a label of many words i…\] {2}1 entry · 1 leaf · \d+w$/)
    assert.match(await sideRow("long ".repeat(30), 80), /^├▸ you {2}(long )+l?o?n?g?… {2}\[.*…\] {2}1 entry/)
    assert.match(await sideRow("long ".repeat(30), 40), /^├▸ you {2}(long )+l?o?n?g?… {2}\[a l…\]$/)
  })

  it("a branch deeper than the screen is wide keeps its nearest columns and its text", async () => {
    // Every reply is answered twice; the answer that goes on is never where the session stands.
    const depth = 30
    const lines = Array.from({ length: depth }, (_, i) => {
      const parent = i === 0 ? null : `d${i - 1}-side`
      return [user(`d${i}-side`, parent, `side ${i} ${"word ".repeat(30)}`), user(`d${i}-end`, parent, "end")]
    }).flat()
    const heavy = Array.from({ length: depth }, (_, i) =>
      Array.from({ length: 2 ** Math.min(depth - i, 7) }, (_, j) =>
        user(`w${i}-${j}`, j === 0 ? `d${i}-end` : `w${i}-${j - 1}`, "weight")
      )
    ).flat()
    const file = box.write("deep.jsonl", fileOf(header(), ...lines, ...heavy, user("here", null, "here")))
    for (const [columns, least] of [
      [40, 24],
      [80, 40]
    ] as const) {
      const drawn = await box.text(["tree", file, "--unfold"], { env: { COLUMNS: String(columns) } })
      const rows = rowsOf(drawn).filter((row) => row.includes("side "))
      assert.strictEqual(rows.length, depth)
      for (const row of rows) {
        assert.isAtMost(Width.of(row), columns, row)
        assert.isAtLeast(Width.of(parts(row).text), least, row)
      }
    }
  })

  it("a terminal of absurd width is treated as one people have", async () => {
    const file = box.write("example.jsonl", example)
    for (const [columns, shown] of [
      ["1", 40],
      ["-7", 40],
      ["1e9", 500],
      ["Infinity", 500],
      ["no number", 80],
      ["", 80]
    ] as const) {
      const drawn = await box.text(["tree", file], { env: { COLUMNS: columns } })
      assert.strictEqual(Math.max(...drawn.split("\n").map(Width.of)), shown, columns)
    }
  })

  it("an empty session, one of marks alone and a filter that nothing passes say what to do", async () => {
    const empty = /This session is empty: nothing was said in it yet\. grove ls lists the others\.\n$/
    const marks = box.write(
      "only-marks.jsonl",
      fileOf(header(), entry("aaaa0001", null, { type: "custom", customType: "grove.leaf", data: { targetId: null } }))
    )
    assert.match(await box.text(["tree", join(box.fixtures, "omp/sessions/empty.jsonl")]), empty)
    assert.match(await box.text(["tree", join(box.fixtures, "omp/sessions/header-only.jsonl")]), empty)
    assert.match(await box.text(["tree", marks]), empty)
    const file = box.write("plain.jsonl", fileOf(header(), user("aaaa0001", null, "hello")))
    assert.match(
      await box.text(["tree", file, "--filter", "errors"]),
      /No entry passes the filter "errors"; --filter all shows every entry\.\n$/
    )
  })
})

describe("colour", () => {
  it("never reaches a pipe", async () => {
    const file = box.write("example.jsonl", example)
    assert.notInclude(await box.text(["tree", file], { env: { FORCE_COLOR: "3", TERM: "xterm-256color" } }), "\x1b")
  })

  /** `script` lends a command a terminal. */
  const onTerminal = async (env: Readonly<Record<string, string>>) => {
    const file = box.write("example.jsonl", example)
    const command = `'${process.execPath}' '${program}' tree '${file}'`
    const { stdout } = await run("script", ["-qec", command, "/dev/null"], {
      env: { ...box.env, TERM: "xterm", ...env }
    })
    return stdout
  }
  const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0
  if (!hasTerminal) console.warn("SKIPPED: no `script` program here, so colours on a terminal are not tested")

  it.skipIf(!hasTerminal)("is there on a terminal, and not with NO_COLOR or a dumb one", async () => {
    assert.include(await onTerminal({}), "\x1b[1mauth\x1b[0m")
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      const drawn = await onTerminal(env)
      assert.include(drawn, "auth")
      assert.notInclude(drawn, "\x1b")
    }
  })
})

it("a reader that has seen enough ends it quietly", async () => {
  const file = join(box.fixtures, "omp/sessions/deep-chain.jsonl")
  const command = `{ "$0" "$1" tree "$2" --filter all; echo "exit $?" >&2; } | head -1`
  const ran = await run("sh", ["-c", command, process.execPath, program, file], {
    env: { ...box.env },
    timeout: 20_000
  })
  assert.strictEqual(ran.stdout.trimEnd().split("\n").length, 1)
  assert.strictEqual(ran.stderr, "exit 0\n")
})

it("output that cannot be written is an error that says so", async () => {
  const file = box.write("example.jsonl", example)
  const ran = await run("sh", ["-c", `exec "$0" "$1" tree "$2" > /dev/full`, process.execPath, program, file], {
    env: { ...box.env }
  })
  assertRefused(ran, 1, /cannot write the output: ENOSPC/)
})
