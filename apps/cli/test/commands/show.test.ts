/** `grove show` tells what a session is, as the programs that wrote it see it. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ompSessions, piSessions } from "../fixtures.ts"
import { assertRefused, entry, fileOf, header, inTurn, type Json, reply, sandbox, user } from "../support.ts"

const box = sandbox({ fixtures: true })

interface Shown {
  readonly id: string | null
  readonly path: string
  readonly version: number | null
  readonly readOnly: boolean
  readonly header: Json | null
  readonly name: string | null
  readonly leaf: string | null
  readonly counts: { readonly [name: string]: number }
  readonly labels: Json
  readonly config: Json
  readonly usage: { readonly [name: string]: Json }
}
const show = (file: string, ...args: ReadonlyArray<string>): Promise<Shown> => box.json(["show", file, ...args])

it("Pi's sessions have the leaf, the labels, the name, the header and the counts that Pi sees", async () => {
  const shown = await inTurn(piSessions, ({ file }) => show(join(box.fixtures, "pi", file)))
  for (const [i, { file, ...pi }] of piSessions.entries()) {
    const { leaf, labels, name, counts, header } = shown[i]!
    assert.deepStrictEqual({ leaf, labels, name } as unknown, {
      leaf: pi.defaultLeafId,
      labels: pi.labels,
      name: pi.sessionName
    })
    assert.deepStrictEqual([counts.entries, counts.roots], [pi.entryCount, pi.rootCount], file)
    // Pi makes a header up for an empty file.
    if (pi.entryCount > 0) assert.deepStrictEqual(header, pi.header)
  }
})

it("sessions of oh-my-pi that have labels have the leaf and the labels that it sees", async () => {
  const sessions = ompSessions.filter(({ labels }) => Object.keys(labels).length > 0)
  assert.strictEqual(sessions.length, 6)
  const shown = await inTurn(sessions, ({ file }) => show(join(box.fixtures, "omp", file)))
  for (const [i, { file, leaf, labels }] of sessions.entries()) {
    assert.deepStrictEqual([shown[i]!.leaf, shown[i]!.labels], [leaf, labels], file)
  }
})

describe("its answer", () => {
  const zero = { requests: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, costMicros: 0 }
  const config = { approvalMode: "default", approvalTools: [], summary: null, pastedTextMap: {}, pastedImageMap: {} }

  it("has exactly these keys, absent values null", async () => {
    const usage = { input: 3, output: 5, cacheRead: 7, cacheWrite: 11, reasoning: 2, cost: { total: 0.000123 } }
    const file = box.write(
      "whole.jsonl",
      fileOf(
        header({ title: "from the header", extra: [1] }),
        user("aaaa0001", null, "hello"),
        reply("aaaa0002", "aaaa0001", "an answer", { usage }),
        reply("aaaa0003", "aaaa0001", "another", { usage: { ...usage, cost: undefined } }),
        entry("aaaa0004", "aaaa0002", { type: "label", targetId: "aaaa0002", label: "good" }),
        "not json"
      )
    )
    const { cost: _, ...tokens } = usage
    assert.deepStrictEqual(await show(file), {
      id: "0195d1a0-0000-7000-8000-00000000cafe",
      path: file,
      version: 3,
      readOnly: false,
      header: header({ title: "from the header", extra: [1] }),
      name: "from the header",
      leaf: "aaaa0004",
      counts: { entries: 4, messages: 3, roots: 1, branches: 2, problems: 1 },
      labels: { aaaa0002: "good" },
      config,
      usage: {
        path: { requests: 1, ...tokens, costMicros: 123 },
        tree: { requests: 2, input: 6, output: 10, cacheRead: 14, cacheWrite: 22, reasoning: 4, costMicros: null },
        abandoned: { requests: 1, ...tokens, costMicros: null }
      }
    })
  })

  it("is of nothing for an empty file", async () => {
    const file = join(box.fixtures, "omp/sessions/empty.jsonl")
    assert.deepStrictEqual(await show(file), {
      id: null,
      path: file,
      version: null,
      readOnly: false,
      header: null,
      name: null,
      leaf: null,
      counts: { entries: 0, messages: 0, roots: 0, branches: 0, problems: 0 },
      labels: {},
      config,
      usage: { path: zero, tree: zero, abandoned: zero }
    })
  })

  it("says of a newer file that it is read-only, and of an old one which version it is", async () => {
    const newer = await show(join(box.fixtures, "omp/sessions/v99-future.jsonl"))
    assert.deepStrictEqual([newer.version, newer.readOnly], [99, true])
    const old = await show(join(box.fixtures, "pi/v1.jsonl"))
    assert.deepStrictEqual([old.version, old.readOnly, old.header?.version], [1, false, 3])
  })

  it("counts what is on the path of --leaf", async () => {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 1 } }
    const file = box.write(
      "leaf.jsonl",
      fileOf(
        header(),
        reply("aaaa0001", null, "root", { usage }),
        reply("aaaa0002", "aaaa0001", "left", { usage }),
        reply("aaaa0003", "aaaa0001", "right", { usage })
      )
    )
    const requests = async (...args: ReadonlyArray<string>) => {
      const { leaf, usage } = await show(file, ...args)
      return [leaf, usage.path!.requests, usage.tree!.requests, usage.abandoned!.requests]
    }
    assert.deepStrictEqual(await requests("--leaf", "aaaa0001"), ["aaaa0001", 1, 3, 2])
    assert.deepStrictEqual(await requests("--leaf", "none"), [null, 0, 3, 3])
    assert.deepStrictEqual(await requests(), ["aaaa0003", 2, 3, 1])
    assertRefused(await box.grove(["show", file, "--leaf", "nobody"]), 1, /no entry nobody in this session/)
  })

  it("takes the name from the last session_info, else the config, else the title slot, else the header", async () => {
    const lines = [
      { type: "title", v: 1, title: "from the slot" },
      header({ title: "from the header" }),
      entry("aaaa0001", null, { type: "custom", customType: "grove.config", data: { summary: "from the config" } }),
      entry("aaaa0002", null, { type: "session_info", name: "an older name" }),
      entry("aaaa0003", "aaaa0002", { type: "session_info", name: "a name" })
    ]
    const named = async (...chosen: ReadonlyArray<number>) =>
      (await show(box.write("named.jsonl", fileOf(...chosen.map((i) => lines[i]!))))).name
    assert.strictEqual(await named(0, 1, 2, 3, 4), "a name")
    assert.strictEqual(await named(0, 1, 2), "from the config")
    assert.strictEqual(await named(0, 1), "from the slot")
    assert.strictEqual(await named(1), "from the header")
  })

  it("names a file by its whole path, however it was given", async () => {
    const file = box.write("work/here.jsonl", fileOf(header()))
    for (const name of ["here.jsonl", "./here.jsonl", "../work/here.jsonl"])
      assert.strictEqual((await show(name)).path, file)
  })
})

it("people are told the name, where the session stands, what it holds and what its dead ends cost", async () => {
  const usage = { input: 10, output: 20, cacheRead: 5, cacheWrite: 0, cost: { total: 1.5 } }
  const file = box.write(
    "people.jsonl",
    fileOf(
      header(),
      user("aaaa0001", null, "hello"),
      reply("aaaa0002", "aaaa0001", "left", { usage }),
      reply("aaaa0003", "aaaa0001", "right", { usage: { ...usage, cost: { total: 0.25 } } }),
      entry("aaaa0004", "aaaa0003", { type: "label", targetId: "aaaa0002", label: "plan-a" }),
      entry("aaaa0005", "aaaa0004", { type: "session_info", name: "Rate limits" })
    )
  )
  assert.deepStrictEqual((await box.text(["show", file])).split("\n"), [
    "Rate limits",
    "id         0195d1a0-0000-7000-8000-00000000cafe",
    `file       ${file}`,
    "folder     /home/ada",
    "version    3",
    "stands at  aaaa0005",
    "holds      5 entries · 3 messages · 2 branches · 1 root",
    "this path  1 request · 10 in · 20 out · 5 cached · $0.25",
    "whole tree 2 requests · 20 in · 40 out · 10 cached · $1.75",
    "dead ends  1 request · 10 in · 20 out · 5 cached · $1.50",
    "labels",
    "  [plan-a] aaaa0002",
    ""
  ])
})

it("people are told of problems, and which command lists them", async () => {
  const file = box.write("damaged.jsonl", fileOf(header(), "junk", user("aaaa0001", "nobody", "hello")))
  assert.include(await box.text(["show", file]), `problems   2; see grove check ${file}\n`)
})

it("bad bodies are counted too where bodies stay in the file", async () => {
  const large = user("a1", null, "x".repeat(17 * 1024 * 1024))
  const file = box.write("large.jsonl", fileOf(header(), large, entry("a2", "a1", { type: "label", targetId: 7 })))
  assert.strictEqual((await show(file)).counts.problems, 1)
})
