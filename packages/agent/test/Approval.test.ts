import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Consent, Consents, Facts, noConsent } from "@grove/core"
import { Effect, Layer } from "effect"
import { Approvals, type Options } from "../src/Approval.ts"
import type { Tool } from "../src/Tool.ts"
import * as Tools from "../src/Tools.ts"
import { put, temporary } from "./support.ts"

const consent = (mode: Consent["mode"], ...tools: ReadonlyArray<string>): Consent => ({ mode, tools })
const layer = (options?: Options) => Layer.provide(Approvals.layer(options), Consents.layerMemory)

const review = (
  tool: Tool,
  args: { readonly [name: string]: unknown },
  cwd: string,
  allowed: Consent,
  options?: Options
) =>
  Effect.runSync(
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const request = yield* tool.describe(args, { cwd })
      const verdict = yield* approvals.review(tool, request, { cwd }, allowed)
      return verdict._tag === "Run" ? "run" : verdict.because
    }).pipe(Effect.provide(layer(options)))
  )

/** `read` and `bash` describe themselves at once; what writes looks at the file first. */
const writer: Tool = {
  ...Tools.read,
  definition: { ...Tools.read.definition, name: "edit" },
  kind: "write"
}

describe("what runs without asking", () => {
  const path = "src/a.ts"
  it.each([
    ["default", "run", "writes a file", "runs a command"],
    ["autoEdit", "run", "run", "runs a command"],
    ["yolo", "run", "run", "run"]
  ] as const)("in the mode %s", (mode, reads, writes, commands) => {
    const cwd = temporary()
    assert.strictEqual(review(Tools.read, { path }, cwd, consent(mode)), reads)
    assert.strictEqual(review(writer, { path }, cwd, consent(mode)), writes)
    assert.strictEqual(review(Tools.bash, { command: "ls" }, cwd, consent(mode)), commands)
  })

  it("what is remembered, and only that", () => {
    const cwd = temporary()
    assert.strictEqual(review(Tools.bash, { command: "ls" }, cwd, consent("default", "bash")), "run")
    assert.strictEqual(review(writer, { path }, cwd, consent("default", "bash")), "writes a file")
    assert.strictEqual(review(writer, { path }, cwd, consent("default", "edit")), "run")
  })

  it("an agent, since each of its calls is looked at", () => {
    const agent: Tool = { ...Tools.bash, kind: "agent" }
    assert.strictEqual(review(agent, { command: "x" }, temporary(), noConsent), "run")
  })
})

describe("outside the working directory", () => {
  const places = () => {
    const folder = temporary()
    const cwd = join(folder, "in")
    mkdirSync(cwd)
    put(join(folder, "out/secret"), "")
    symlinkSync("../out", join(cwd, "dir"))
    symlinkSync("../out/secret", join(cwd, "file"))
    symlinkSync("../out/new", join(cwd, "new"))
    return {
      cwd,
      folder,
      outside: ["../out/secret", join(folder, "out/x"), "dir/secret", "file", "new", "../in2/x", "~/x"]
    }
  }

  it("every path asks, whichever way it leads there and whatever is remembered", () => {
    const { cwd, outside } = places()
    for (const path of outside) {
      for (const tool of [Tools.read, writer]) {
        const verdict = review(tool, { path }, cwd, consent("autoEdit", "read", "edit"))
        assert.match(verdict, /^outside the working directory: \//, path)
      }
    }
  })

  it("no path asks in the mode yolo", () => {
    const { cwd, outside } = places()
    for (const path of outside) assert.strictEqual(review(writer, { path }, cwd, consent("yolo")), "run")
  })

  it("is told from inside by where the working directory is in truth", () => {
    const { cwd, folder } = places()
    symlinkSync(cwd, join(folder, "alias"))
    assert.strictEqual(review(writer, { path: join(cwd, "x") }, join(folder, "alias"), consent("autoEdit")), "run")
  })

  it("a path that leads nowhere that can be known asks", () => {
    const { cwd } = places()
    symlinkSync("loop", join(cwd, "loop"))
    assert.match(review(writer, { path: "loop" }, cwd, consent("autoEdit")), /^nobody can say where it leads/)
  })
})

describe("inside the working directory", () => {
  it("what a repository runs by itself is not written without asking", () => {
    const cwd = temporary()
    for (const path of [".git/hooks/pre-commit", "lib/.GIT/config"]) {
      assert.match(review(writer, { path }, cwd, consent("autoEdit", "edit")), /^inside the repository's own files/)
      assert.strictEqual(review(Tools.read, { path }, cwd, noConsent), "run")
    }
    assert.strictEqual(review(writer, { path: ".gitignore" }, cwd, consent("autoEdit")), "run")
  })

  it("where keys and consents are kept asks, also to read", () => {
    const cwd = temporary()
    const guarded = [join(cwd, ".grove")]
    assert.match(review(Tools.read, { path: ".grove/auth.json" }, cwd, noConsent, { guarded }), /keeps its keys/)
    assert.strictEqual(review(Tools.read, { path: "auth.json" }, cwd, noConsent, { guarded }), "run")
  })
})

describe("what a session's file records", () => {
  const session = { id: "s1", path: "/s1.jsonl" }
  const recorded = (approvalMode: string, ...approvalTools: ReadonlyArray<string>) => ({
    ...Facts.defaultConfig,
    approvalMode,
    approvalTools
  })
  const settings = (file: Facts.SessionConfig, chosen?: Consent) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      if (chosen !== undefined) yield* approvals.choose(session, chosen)
      return yield* approvals.settings(session, file)
    }).pipe(Effect.provide(layer()))

  it.effect("is of no effect where nobody chose it here, and is offered", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* settings(recorded("yolo", "bash")), {
        allowed: noConsent,
        offered: consent("yolo", "bash")
      })
    })
  )

  it.effect("counts where it was chosen here for this very session", () =>
    Effect.gen(function* () {
      const chosen = consent("yolo", "bash")
      assert.deepStrictEqual(yield* settings(recorded("yolo", "bash"), chosen), { allowed: chosen, offered: null })
      const other = yield* Effect.gen(function* () {
        const approvals = yield* Approvals
        yield* approvals.choose(session, chosen)
        return yield* approvals.settings({ ...session, path: "/copy.jsonl" }, recorded("yolo"))
      }).pipe(Effect.provide(layer()))
      assert.deepStrictEqual(other.allowed, noConsent)
    })
  )

  it.effect("counts as far as it goes no further than what was chosen", () =>
    Effect.gen(function* () {
      const chosen = consent("autoEdit", "edit")
      assert.deepStrictEqual(yield* settings(recorded("yolo", "edit", "bash"), chosen), {
        allowed: chosen,
        offered: consent("yolo", "edit", "bash")
      })
      assert.deepStrictEqual(yield* settings(recorded("default"), chosen), { allowed: noConsent, offered: null })
    })
  )

  it.effect("may be a mode that nobody knows, which is the strictest", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* settings(recorded("everything"), consent("yolo"))).allowed, noConsent)
    })
  )
})
