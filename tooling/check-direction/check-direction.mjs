/** Checks the direction of every import and dependency in the repository. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { violations } from "./direction.mjs"

const root = fileURLToPath(new URL("../../", import.meta.url))

const read = (/** @type {string} */ path) => ({ path, text: readFileSync(root + path, "utf8") })

const workspaces = ["packages", "apps", "tooling"].flatMap((group) =>
  readdirSync(root + group)
    .map((name) => `${group}/${name}`)
    .filter((folder) => existsSync(`${root}${folder}/package.json`))
)

const files = workspaces
  .filter((folder) => !folder.startsWith("tooling/") && existsSync(`${root}${folder}/src`))
  .flatMap((folder) =>
    readdirSync(`${root}${folder}/src`, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.[cm]?[jt]sx?$/.test(name))
      .map((name) => read(`${folder}/src/${name.replaceAll("\\", "/")}`))
  )

const found = violations(
  files,
  workspaces.map((folder) => read(`${folder}/package.json`))
)
for (const { path, line, message } of found) console.log(`${path}:${line}  ${message}`)
if (found.length === 0) console.log(`direction: ${files.length} files, ok`)
process.exitCode = found.length === 0 ? 0 : 1
