/** Where other programs keep their sessions, and which files there hold any. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Stores from "../src/Stores.ts"

const scratch = mkdtempSync(join(tmpdir(), "grove-stores-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const homeWith = (name: string, ...files: ReadonlyArray<string>): string => {
  const home = join(scratch, name)
  for (const file of files) {
    mkdirSync(join(home, dirname(file)), { recursive: true })
    writeFileSync(join(home, file), "")
  }
  return home
}
const foundIn = (home: string, variables = {}) =>
  Stores.find(home, variables).flatMap((store) =>
    Stores.filesOf(store).map(({ file, format }) => [format, relative(home, file)])
  )

describe("Stores", () => {
  it("of opencode are its database; without one, the files of sessions and not those of messages", () => {
    const data = ".local/share/opencode"
    const folders = [
      `${data}/storage/session/global/ses_1.json`,
      `${data}/storage/message/ses_1/msg_1.json`,
      `${data}/project/acme/storage/session/info/ses_2.json`,
      `${data}/project/acme/storage/session/message/ses_2/msg_2.json`,
      `${data}/project/acme/storage/session/part/ses_2/msg_2/prt_2.json`
    ]
    assert.deepStrictEqual(foundIn(homeWith("folders", ...folders)), [
      ["opencode", folders[2]],
      ["opencode", folders[0]]
    ])
    assert.deepStrictEqual(foundIn(homeWith("database", ...folders, `${data}/opencode.db`, `${data}/other.db`)), [
      ["opencode", `${data}/opencode.db`]
    ])
  })

  it("of Gemini CLI are the chats of every project, those of sub-agents too", () => {
    const project = ".gemini/tmp/acme"
    const chats = [
      `${project}/chats/0198/a.jsonl`,
      `${project}/chats/session-1.json`,
      `${project}/chats/session-2.jsonl`
    ]
    const home = homeWith("gemini", ...chats, `${project}/logs.json`, `${project}/checkpoint-x.json`)
    assert.deepStrictEqual(
      foundIn(home),
      chats.map((file) => ["gemini", file])
    )
  })

  it("lie where the environment says instead", () => {
    const home = homeWith("moved", ".codex/sessions/a.jsonl", "elsewhere/sessions/b.jsonl")
    assert.deepStrictEqual(foundIn(home, { CODEX_HOME: join(home, "elsewhere") }), [
      ["codex", join("elsewhere", "sessions", "b.jsonl")]
    ])
  })
})
