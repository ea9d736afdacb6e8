/** `grove migrate --dry-run`: what bringing files to the current version would change. */
import { basename, join } from "node:path"
import { assert, it } from "@effect/vitest"
import { assertRefused, namesIn, sandbox } from "../support.ts"

const box = sandbox({ fixtures: true })

const refused = /missing-header|header-garbage|header-no-id|header-numeric-id|garbage-only|no-header/
const files = [
  ...namesIn("pi", /\.jsonl$/).map((name) => join(box.fixtures, "pi", name)),
  ...namesIn("omp/sessions", /\.jsonl$/).map((name) => join(box.fixtures, "omp/sessions", name))
].filter((path) => !refused.test(path))

interface Plan {
  readonly file: string
  readonly from: number | null
  readonly to: number | null
  readonly changed: boolean
  readonly backup: string | null
}

it("says of every fixture from which version to which it would go, and changes none", async () => {
  const plans = await box.json<ReadonlyArray<Plan>>(["migrate", "--dry-run", ...files])
  const versions: { readonly [name: string]: number | null } = {
    "repo-large-session": 1,
    v1: 1,
    "v1-compaction-index": 1,
    "v1-header-only": 1,
    "v1-hook-message": 1,
    "v1-linear": 1,
    "v1-with-ids": 1,
    v2: 2,
    "v2-hook-message": 2,
    "v99-future": 99,
    empty: null,
    "malformed-empty": null,
    "whitespace-only": null
  }
  const expected = files.map((file) => {
    const name = basename(file, ".jsonl")
    const from = Object.hasOwn(versions, name) ? versions[name]! : 3
    const changed = from !== null && from < 3
    return { file, from, to: changed ? 3 : from, changed, backup: null }
  })
  assert.deepStrictEqual(plans, expected)
})

it("tells people the same", async () => {
  const [v1, linear, empty] = ["v1", "linear", "malformed-empty"].map((name) => join(box.fixtures, `pi/${name}.jsonl`))
  assert.deepStrictEqual((await box.text(["migrate", v1!, linear!, empty!, "--dry-run"])).split("\n"), [
    `${v1}: would go from version 1 to 3`,
    `${linear}: nothing to do, version 3`,
    `${empty}: nothing to do, it is empty`,
    ""
  ])
})

it("refuses what is no session, and says that the file was not changed", async () => {
  const file = join(box.fixtures, "pi/malformed-no-header.jsonl")
  assertRefused(
    await box.grove(["migrate", "--dry-run", file]),
    1,
    /malformed-no-header\.jsonl is not a session: no session header before line 1/
  )
})
