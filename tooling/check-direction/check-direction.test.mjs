/** What the direction check lets through, and what it does not. */
import assert from "node:assert/strict"
import { test } from "node:test"
import { violations } from "./direction.mjs"

const manifest = (folder, fields = {}) => ({
  path: `${folder}/package.json`,
  text: JSON.stringify({ name: `@grove/${folder.split("/")[1]}`, ...fields }, null, 2)
})
const packages = [
  manifest("packages/core", { dependencies: { effect: "1", "get-east-asian-width": "1" } }),
  manifest("packages/storage-files"),
  manifest("packages/storage-sqlite"),
  manifest("packages/agent"),
  manifest("packages/sdk"),
  manifest("apps/cli"),
  manifest("apps/tui"),
  manifest("apps/viewer"),
  manifest("tooling/vitest")
]

/** What is said of `text` at `path`, each as `line message`. */
const said = (path, text) => violations([{ path, text }], packages).map(({ line, message }) => `${line} ${message}`)
const allows = (path, text) => assert.deepEqual(said(path, text), [])
const refuses = (path, text, ...messages) => assert.deepEqual(said(path, text), messages)

test("the model imports data, itself and its package's dependencies", () => {
  const model = "packages/core/src/model"
  allows(`${model}/Entry.ts`, 'import { Option, Schema, type Result } from "effect"\nimport * as A from "./A.ts"')
  allows(`${model}/Width.ts`, 'import { eastAsianWidth } from "get-east-asian-width"')
  allows(`${model}/Width.ts`, 'import * as Schema from "effect/Schema"')
  refuses(
    `${model}/A.ts`,
    'import {\n  Schema,\n  type Effect\n} from "effect"',
    `1 ${model} may not import Effect of effect`
  )
  refuses(`${model}/A.ts`, 'import * as E from "effect"', `1 ${model} may not import * of effect`)
  refuses(`${model}/A.ts`, 'import * as P from "effect/Path"', `1 ${model} may not import Path of effect`)
  refuses(`${model}/A.ts`, 'import { SqlClient } from "effect/sql"', `1 ${model} may not import sql of effect`)
  refuses(`${model}/A.ts`, 'import x from "node:fs"', `1 ${model} may not import node:fs: it is Node's`)
  refuses(`${model}/A.ts`, '\nexport * from "../Sessions.ts"', `2 ../Sessions.ts leaves ${model}`)
  refuses(`${model}/A.ts`, 'import "marked"', `1 ${model} may not import marked: @grove/core does not depend on it`)
})

test("core knows nothing of Node, storage or apps, but its test suites may use Node", () => {
  allows(
    "packages/core/src/Sessions.ts",
    'import { Effect, Layer } from "effect"\nimport { a } from "./model/Entry.ts"'
  )
  allows("packages/core/src/testing/Contract.ts", 'import assert from "node:assert"')
  refuses("packages/core/src/A.ts", 'import path from "path"', "1 packages/core may not import path: it is Node's")
  refuses(
    "packages/core/src/A.ts",
    'const a = 1\nconst b = await import("@grove/storage-files")',
    "2 packages/core may not import @grove/storage-files"
  )
})

test("what stands beside storage imports core and not its neighbours", () => {
  allows("packages/agent/src/A.ts", 'import { Sessions } from "@grove/core"\nimport fs from "node:fs"')
  for (const name of ["agent", "storage-sqlite"]) {
    refuses(
      `packages/${name}/src/A.ts`,
      'export type { A } from "@grove/storage-files"',
      `1 packages/${name === "agent" ? name : "storage-*"} may not import @grove/storage-files`
    )
  }
  allows("packages/sdk/src/A.ts", 'import "@grove/core/model"\nimport "@grove/storage-files"')
  refuses("packages/sdk/src/A.ts", 'import "@grove/agent"', "1 packages/sdk may not import @grove/agent")
})

test("only the cli starts other apps, and nobody ships tooling", () => {
  allows("apps/cli/src/commands/tui.ts", 'const start = () => import("@grove/tui")')
  refuses("apps/viewer/src/a.ts", 'import { a } from "@grove/tui"', "1 apps/* may not import @grove/tui")
  refuses("apps/cli/src/a.ts", 'import a from "@grove/vitest"', "1 apps/cli may not import @grove/vitest")
})

test("a relative import stays in its package", () => {
  allows("apps/cli/src/a.ts", 'import manifest from "../package.json" with { type: "json" }')
  refuses(
    "apps/cli/src/a.ts",
    'import { a } from "../../../packages/core/src/A.ts"',
    "1 ../../../packages/core/src/A.ts leaves apps/cli"
  )
})

test("only the edge reads the environment", () => {
  const text = 'import { Config } from "effect"\nconst home = process.env.HOME'
  allows("apps/cli/src/main.ts", text)
  allows("apps/viewer/src/runtime.ts", text)
  refuses("apps/cli/src/a.ts", text, "1 only main.ts may import Config", "2 only main.ts may read process.env")
})

test("the environment is the edge's however it is spelled", () => {
  for (const text of [
    'process["env"].HOME',
    "process?.env",
    "process?.['env']",
    "globalThis.process",
    'globalThis["process"].env',
    "global.process",
    "const { env, stdout } = process"
  ]) {
    allows("apps/cli/src/main.ts", text)
    refuses("packages/storage-files/src/A.ts", text, "1 only main.ts may read process.env")
  }
  allows("packages/storage-files/src/A.ts", "process.pid\nconst { env } = surroundings\nprocess.environment")
})

test("the model asks neither the clock nor chance", () => {
  for (const text of [
    "Date.now()",
    "Date['now']",
    "new Date()",
    "new Date( )",
    "new Date\n",
    "x = Date()",
    "Math.random()",
    'Math["random"]()',
    "performance.now()",
    "crypto.randomUUID()"
  ]) {
    refuses("packages/core/src/model/A.ts", text, "1 packages/core/src/model may not ask the clock or chance")
    allows("packages/core/src/A.ts", text)
  }
  allows("packages/core/src/model/A.ts", "new Date(milliseconds).toISOString()\nDate.parse(text)\nMath.round(1)")
})

test("comments and strings are not imports", () => {
  allows("packages/core/src/A.ts", '/**\nimport { a } from "@grove/sdk"\n*/\n// process.env, import("node:fs")')
  allows("packages/core/src/A.ts", 'const glob = "src/**"\nconst url = "https://a.b/*"\nconst from = "node:fs"')
  refuses(
    "packages/core/src/A.ts",
    'const a = "/*"\nimport "node:fs"',
    "2 packages/core may not import node:fs: it is Node's"
  )
})

test("a manifest's dependencies point the same way; what tests need is free", () => {
  const core = manifest("packages/core", {
    dependencies: { "@grove/sdk": "0" },
    devDependencies: { "@grove/vitest": "0" }
  })
  assert.deepEqual(violations([], [core, manifest("packages/sdk"), manifest("tooling/vitest")]), [
    { path: "packages/core/package.json", line: 4, message: "packages/core may not depend on @grove/sdk" }
  ])
})

test("a workspace without a rule is not let through", () => {
  refuses("packages/new/src/A.ts", "", "1 no rule says what it may import")
})
