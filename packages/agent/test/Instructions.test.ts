import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Instructions from "../src/Instructions.ts"
import * as Tools from "../src/Tools.ts"
import { put, temporary } from "./support.ts"

const found = (cwd: string) => Effect.runPromise(Instructions.projectFile(cwd))

describe("the project's own word", () => {
  it("is the nearest AGENTS.md up to the root of the repository", async () => {
    const root = temporary()
    mkdirSync(join(root, ".git"))
    mkdirSync(join(root, "a/b"), { recursive: true })
    put(join(root, "AGENTS.md"), "root")
    assert.deepStrictEqual(await found(join(root, "a/b")), { path: join(root, "AGENTS.md"), text: "root" })
    put(join(root, "a/AGENTS.md"), "near")
    assert.strictEqual((await found(join(root, "a/b")))?.text, "near")
  })

  it("is never taken from above the repository, nor from above the folder where there is none", async () => {
    const root = temporary()
    put(join(root, "AGENTS.md"), "planted")
    mkdirSync(join(root, "plain"))
    mkdirSync(join(root, "repository/.git"), { recursive: true })
    assert.isNull(await found(join(root, "plain")))
    assert.isNull(await found(join(root, "repository")))
    assert.strictEqual((await found(root))?.text, "planted")
  })

  it("is not what a link out of the project leads to, but may be a link within it", async () => {
    const root = temporary()
    put(join(root, "secret"), "key")
    mkdirSync(join(root, "repository/.git"), { recursive: true })
    symlinkSync("../secret", join(root, "repository/AGENTS.md"))
    assert.isNull(await found(join(root, "repository")))
    mkdirSync(join(root, "repository/in"))
    put(join(root, "repository/OTHER.md"), "ours")
    symlinkSync("../OTHER.md", join(root, "repository/in/AGENTS.md"))
    assert.strictEqual((await found(join(root, "repository/in")))?.text, "ours")
  })

  it("is bounded, and says where the rest is", async () => {
    const root = temporary()
    const path = put(join(root, "AGENTS.md"), "x".repeat(100_000))
    const text = (await found(root))!.text
    assert.isBelow(text.length, 33_000)
    assert.isTrue(text.endsWith(`[AGENTS.md goes on; read ${path}]`))
  })
})

describe("the system prompt", () => {
  it("names the folder, the date, the tools and the project's word", () => {
    const tools = [Tools.read.definition]
    const prompt = Instructions.systemPrompt({
      cwd: "/w",
      date: "2026-11-18",
      tools,
      project: { path: "/w/A", text: "Go." }
    })
    for (const part of ["Working directory: /w\n", "Date: 2026-11-18", "- read: Reads", "/w/A:\n\nGo."]) {
      assert.include(prompt, part)
    }
  })

  it("does not speak of tools where there are none", () => {
    assert.notMatch(Instructions.systemPrompt({ cwd: "/w", date: "d", tools: [], project: null }), /tool|project/)
  })
})
