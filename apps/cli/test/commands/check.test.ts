/** `grove check`: every problem by its line. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmdirSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { assertRefused, entry, fileOf, header, namesIn, onlyValue, sandbox, user } from "../support.ts"

const box = sandbox({ fixtures: true })

interface Report {
  readonly file: string
  readonly ok: boolean
  readonly version: number | null
  readonly entries: number
  readonly problems: ReadonlyArray<{ readonly line: number; readonly kind: string; readonly message: string }>
}

/** Every fixture in which something is wrong, and what. All others are sound. */
const damaged: { readonly [file: string]: ReadonlyArray<readonly [line: number, kind: string]> } = {
  "blob-refs-odd.jsonl": [[2, "missing-blob"]],
  "branched-file.jsonl": [[4, "unknown-parent"]],
  "cycle-two.jsonl": [[2, "cycle"]],
  "duplicate-ids.jsonl": [[4, "duplicate-id"]],
  "entry-missing-fields.jsonl": [
    [4, "bad-body"],
    [5, "bad-body"],
    [6, "bad-body"]
  ],
  "entry-without-id.jsonl": [[4, "bad-entry"]],
  "garbage-fused.jsonl": [
    [4, "not-json"],
    [5, "unknown-parent"]
  ],
  "garbage-middle.jsonl": [[4, "not-json"]],
  "garbage-only.jsonl": [
    [1, "not-json"],
    [1, "no-header"],
    [2, "not-json"]
  ],
  "header-garbage.jsonl": [
    [1, "not-json"],
    [2, "no-header"]
  ],
  "header-no-id.jsonl": [
    [1, "bad-entry"],
    [2, "no-header"]
  ],
  "header-numeric-id.jsonl": [
    [1, "bad-entry"],
    [2, "no-header"]
  ],
  "missing-header.jsonl": [[1, "no-header"]],
  "nul-bytes.jsonl": [[4, "not-json"]],
  "orphan-parent.jsonl": [[4, "unknown-parent"]],
  "scalar-lines.jsonl": [
    [4, "not-object"],
    [5, "not-object"],
    [6, "not-object"],
    [7, "bad-entry"]
  ],
  "self-cycle.jsonl": [[4, "cycle"]],
  "torn-last-line.jsonl": [[6, "torn-tail"]],
  "two-headers.jsonl": [[4, "second-header"]],
  "v99-future.jsonl": [[1, "newer-version"]],
  "fork-by-0.73.1.jsonl": [[6, "unknown-parent"]],
  "malformed-no-final-newline.jsonl": [
    [2, "not-json"],
    [7, "not-json"],
    [34, "unknown-parent"],
    [37, "bad-body"],
    [38, "bad-body"],
    [41, "bad-body"]
  ],
  "malformed-no-header.jsonl": [[1, "no-header"]],
  "malformed-torn-tail.jsonl": [
    [2, "not-json"],
    [7, "not-json"],
    [34, "unknown-parent"],
    [37, "bad-body"],
    [38, "bad-body"],
    [41, "bad-body"],
    [43, "torn-tail"]
  ]
}

const all = [
  ...namesIn("pi", /\.jsonl$/).map((name) => join(box.fixtures, "pi", name)),
  ...namesIn("omp/sessions", /\.jsonl$/).map((name) => join(box.fixtures, "omp/sessions", name))
]

describe("over all fixtures at once", () => {
  it("finds every problem on its line and none that is not there", async () => {
    const { code, stdout, stderr } = await box.grove(["check", ...all, "--json"])
    assert.deepStrictEqual([code, stderr], [1, ""])
    const reports = onlyValue<ReadonlyArray<Report>>(stdout)
    assert.deepStrictEqual(
      reports.map(({ file }) => file),
      all
    )
    for (const { file, ok, problems } of reports) {
      const expected = damaged[basename(file)] ?? []
      assert.deepStrictEqual(
        problems.map(({ line, kind }) => [line, kind] as const),
        expected,
        file
      )
      assert.strictEqual(ok, expected.length === 0, file)
    }
    assert.strictEqual(reports.filter(({ ok }) => !ok).length, Object.keys(damaged).length)
  })
})

describe("its answer", () => {
  it("has exactly these keys: one object for one file, an array for several", async () => {
    const sound = box.write("sound.jsonl", fileOf(header(), user("aaaa0001", null, "hello")))
    const report = { file: sound, ok: true, version: 3, entries: 1, problems: [] }
    assert.deepStrictEqual(await box.json(["check", sound]), report)
    assert.deepStrictEqual(await box.json(["check", sound, sound]), [report, report])
    const bad = box.write("bad.jsonl", fileOf(header(), "junk"))
    const { code, stdout } = await box.grove(["check", bad, "--json"])
    assert.strictEqual(code, 1)
    assert.deepStrictEqual(onlyValue(stdout), {
      file: bad,
      ok: false,
      version: 3,
      entries: 0,
      problems: [{ line: 2, kind: "not-json", message: "this line is not JSON" }]
    })
  })

  it("has no version for what is no session, and is sound for an empty file", async () => {
    const empty = join(box.fixtures, "omp/sessions/empty.jsonl")
    assert.deepStrictEqual(await box.json(["check", empty]), {
      file: empty,
      ok: true,
      version: null,
      entries: 0,
      problems: []
    })
    const { stdout } = await box.grove(["check", join(box.fixtures, "pi/malformed-no-header.jsonl"), "--json"])
    const { version, entries } = onlyValue<Report>(stdout)
    assert.deepStrictEqual([version, entries], [null, 0])
  })

  it("for people is a line a problem, as editors understand it, and a sum", async () => {
    const file = box.write("bad.jsonl", fileOf(header(), "junk", user("aaaa0001", "nobody", "hello")))
    const sound = box.write("sound.jsonl", fileOf(header()))
    const { code, stdout, stderr } = await box.grove(["check", file, sound])
    assert.deepStrictEqual([code, stderr], [1, ""])
    assert.deepStrictEqual(stdout.split("\n"), [
      `${file}:2: not-json: this line is not JSON`,
      `${file}:3: unknown-parent: entry aaaa0001 follows nobody, which is not here`,
      `${file}: 2 problems, 1 entry readable, version 3`,
      `${sound}: ok, 0 entries, version 3`,
      ""
    ])
  })
})

describe("blobs", () => {
  const hash = namesIn("omp/blobs", /^[0-9a-f]{64}$/)[0]!
  const image = { type: "image", mimeType: "image/png", data: `blob:sha256:${hash}` }
  const session = fileOf(header(), entry("aaaa0001", null, { message: { role: "user", content: [image] } }))
  const kinds = async (args: ReadonlyArray<string>, cwd?: string) => {
    const { stdout } = await box.grove(["check", ...args, "--json"], cwd === undefined ? {} : { cwd })
    return onlyValue<Report>(stdout).problems.map(({ kind, message }) => `${kind}: ${message}`)
  }

  it("are sought beside the folder of the file, from wherever the command is started", async () => {
    const folder = join(box.fixtures, "omp/sessions")
    assert.deepStrictEqual(await kinds([join(folder, "images-omp.jsonl")]), [])
    assert.deepStrictEqual(await kinds(["images-omp.jsonl"], folder), [])
    assert.deepStrictEqual(await kinds(["sessions/images-omp.jsonl"], join(box.fixtures, "omp")), [])
  })

  it("that are missing or damaged are told, with the entry that names them", async () => {
    const file = box.write("lost/sessions/one.jsonl", session)
    assert.deepStrictEqual(await kinds([file]), [`missing-blob: blob ${hash} of entry aaaa0001 is missing`])
    box.write(`lost/blobs/${hash}`, "something else")
    assert.deepStrictEqual(await kinds([file]), [`missing-blob: blob ${hash} of entry aaaa0001 is damaged`])
  })

  it("that are no regular files are missing, and nothing waits for them", async () => {
    const file = box.write("odd/sessions/one.jsonl", session)
    const blob = join(box.folder, "odd/blobs", hash)
    const missing = [`missing-blob: blob ${hash} of entry aaaa0001 is missing`]
    box.prepare(() => mkdirSync(blob, { recursive: true }))
    assert.deepStrictEqual(await kinds([file]), missing)
    box.prepare(() => rmdirSync(blob))
    box.prepare(() => execFileSync("mkfifo", [blob]))
    assert.deepStrictEqual(await kinds([file]), missing)
  })
})

it("a file that cannot be read is an error by itself, and among others one more that is not ok", async () => {
  const sound = box.write("sound.jsonl", fileOf(header()))
  const missing = join(box.folder, "nowhere")
  assertRefused(await box.grove(["check", missing, "--json"]), 1, /no such session file: .*nowhere/)
  const { code, stdout, stderr } = await box.grove(["check", missing, sound, "--json"])
  const reports = JSON.parse(stdout) as ReadonlyArray<Report>
  assert.deepStrictEqual([code, stderr], [1, ""])
  assert.deepStrictEqual(
    reports.map(({ file, ok, problems }) => [file, ok, problems.map(({ line, kind }) => `${line} ${kind}`)]),
    [
      [missing, false, ["0 no-header"]],
      [sound, true, []]
    ]
  )
  assert.match(reports[0]!.problems[0]!.message, /no such session file/)
})
