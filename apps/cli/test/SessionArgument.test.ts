/** Names people type for sessions and entries. */
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { assertRefused, at, entry, fileOf, header, type Json, sandbox, user } from "./support.ts"

const box = sandbox()

const session = (id: string, fields: Json = {}): string => fileOf(header({ id, ...fields }), user("aaaa0001", null, id))
const store = (id: string, folder = "--home-ada--", data = session(id)): string =>
  box.write(`home/sessions/${folder}/2026-01-01T00-00-00-000Z_${id}.jsonl`, data)

const first = store("0195d1a0-1111-7000-8000-00000000cafe")
store("0195d1a0-2222-7000-8000-00000000beef", "--other--")

const pathOf = async (name: string, options = {}) =>
  (await box.json<{ readonly path: string }>(["show", name], options)).path
const refused = async (name: string, says: RegExp, code = 1) =>
  assertRefused(await box.grove(["show", name]), code, says)

describe("a session", () => {
  it.each([
    "0195d1a0-1111-7000-8000-00000000cafe",
    "0195d1a0-1",
    "0000cafe",
    "cafe",
    "0195d1a0-1111-7000-8000-00000000caf"
  ])("is named by %s", async (name) => {
    assert.strictEqual(await pathOf(name), first)
  })

  it("is not named by three characters, nor by some from its middle", async () => {
    for (const name of ["afe", "1111", "1111-7000"])
      await refused(name, new RegExp(`no session ${name}; grove ls lists them`))
  })

  it("that could be several is refused with all of them", async () => {
    await refused(
      "0195d1a0",
      /session 0195d1a0 could be 0195d1a0-1111\S+cafe, 0195d1a0-2222\S+beef; name one of them|session 0195d1a0 could be 0195d1a0-2222\S+beef, 0195d1a0-1111\S+cafe; name one of them/
    )
  })

  it("that could be very many is refused with some of them and the number of the others", async () => {
    for (let i = 0; i < 11; i++) store(`manymany-${i}`, "--many--")
    await refused("manymany", /session manymany could be (manymany-\d+, ){7}manymany-\d+ or 3 others; name one of them/)
  })

  it("is named by its whole id though that begins another", async () => {
    const short = store("shared-id")
    store("shared-id-and-more")
    assert.strictEqual(await pathOf("shared-id"), short)
  })

  it("is found by the id in its header, whatever its file is called and whatever stands before the header", async () => {
    const titled = box.write(
      "home/sessions/--odd--/title.jsonl",
      fileOf({ type: "title", title: "x" }, header({ id: "titled-0001" }))
    )
    const late = box.write(
      "home/sessions/--odd--/late.jsonl",
      fileOf("", "junk", "42", "{}", header({ id: "late-0001" }))
    )
    const far = box.write(
      "home/sessions/--odd--/far.jsonl",
      fileOf(header({ id: "far-0001", title: "long ".repeat(50_000) }))
    )
    assert.strictEqual(await pathOf("titled-0001"), titled)
    assert.strictEqual(await pathOf("late-0001"), late)
    assert.strictEqual(await pathOf("far-0001"), far)
  })

  it("is named by a path, and by a file's bare name", async () => {
    const here = box.write("work/plain", session("plain-0001"))
    const linked = join(box.cwd, "link")
    box.prepare(() => symlinkSync(here, linked))
    assert.strictEqual(await pathOf("plain"), here)
    assert.strictEqual(await pathOf("./plain"), here)
    assert.strictEqual(await pathOf(here), here)
    assert.strictEqual(await pathOf("link"), linked)
  })

  it("is sought in the flat folder that was given", async () => {
    const flat = box.write("flat/one.jsonl", session("flat-0001"))
    const env = { GROVE_SESSION_DIR: join(box.folder, "flat") }
    assert.strictEqual(await pathOf("flat-0001", { env }), flat)
    assertRefused(await box.grove(["show", "cafe"], { env }), 1, /no session cafe/)
    assertRefused(await box.grove(["show", "flat-0001"]), 1, /no session flat-0001/)
  })
})

describe("@last", () => {
  it("is the newest session of this very folder", async () => {
    const cwd = join(box.folder, "a/b-c")
    box.prepare(() => mkdirSync(cwd, { recursive: true }))
    store("last-0001", "--x--", session("last-0001", { cwd, timestamp: at(1) }))
    const newest = store(
      "last-0002",
      "--x--",
      fileOf(header({ id: "last-0002", cwd }), user("aaaa0001", null, "x", { timestamp: at(9) }))
    )
    store("last-0003", "--x--", session("last-0003", { cwd: join(box.folder, "a-b/c"), timestamp: at(99) }))
    assert.strictEqual(await pathOf("@last", { cwd }), newest)
  })

  it("is refused where there is none, and says where to look", async () => {
    await refused("@last", /no session in \S+\/work yet, so there is no @last; grove ls lists all sessions/)
  })
})

describe("an entry", () => {
  const file = box.write(
    "entries.jsonl",
    fileOf(
      header(),
      user("0123456789ab", null, "one"),
      user("0123fedcba98", "0123456789ab", "two"),
      user("ffff-none", "0123fedcba98", "three"),
      user("-dash", "ffff-none", "four"),
      entry("tail", "-dash", { type: "custom", customType: "x" })
    )
  )
  const leafOf = async (name: string) =>
    (await box.json<{ readonly leaf: string | null }>(["context", file, `--leaf=${name}`])).leaf

  it.each([
    ["0123456789ab", "0123456789ab"],
    ["01234", "0123456789ab"],
    ["89ab", "0123456789ab"],
    ["ba98", "0123fedcba98"],
    ["tail", "tail"],
    ["-dash", "-dash"]
  ])("named %s is %s", async (name, id) => {
    assert.strictEqual(await leafOf(name), id)
  })

  it("named none is none", async () => {
    assert.isNull(await leafOf("none"))
  })

  it("that is not there, or is named by too little, is refused by name", async () => {
    for (const name of ["0124", "9ab", "0123456789abc", "\x1b[2J"]) {
      const ran = await box.grove(["context", file, "--leaf", name, "--json"])
      assertRefused(ran, 1, /no entry .+ in this session; grove tree --ids shows its entries/)
      assert.include(ran.stderr, name.replace("\x1b", "␛"))
    }
  })

  it("that could be several is refused with all of them", async () => {
    const ran = await box.grove(["show", file, "--leaf", "0123"])
    assertRefused(ran, 1, /entry 0123 could be 0123456789ab, 0123fedcba98; name one of them/)
  })
})
