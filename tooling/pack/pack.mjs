/**
 * Packs every published package, installs the tarballs as a stranger would, and uses them: imports and types, the command
 * on an empty home, the pages it serves, and the agents of `examples/`.
 *
 *   npm run check:pack
 */
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { root } from "../setup/tools.mjs"
import { entryPoints, published } from "./manifests.mjs"

const PATIENCE = 60_000
/** How npm names a registry that cannot be reached. */
const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|E?TIMEDOUT|ENOTCACHED)\b/

class Unreachable extends Error {}

const scratch = mkdtempSync(join(tmpdir(), "grove-pack-"))
/** @param {string} name */
const folder = (name) => {
  const path = join(scratch, name)
  mkdirSync(path)
  return path
}
const tarballs = folder("tarballs")
/** Apart from each other, so that the command cannot lean on what only the libraries depend on. */
const libraries = folder("libraries")
const command = folder("command")
const home = folder("home")
const grove = [process.execPath, join(command, "node_modules/@grove/cli/bin/grove.js")]
/** A person's surroundings without keys or settings. */
const surroundings = { PATH: process.env.PATH, HOME: home, USERPROFILE: home, LANG: "C.UTF-8" }

/**
 * What a program printed; throws unless it succeeded.
 *
 * @param {ReadonlyArray<string>} words
 * @param {{ readonly cwd?: string, readonly env?: any, readonly input?: string }} [options]
 */
const run = ([program = "", ...args], { cwd = scratch, env = surroundings, input = "" } = {}) => {
  const shell = process.platform === "win32" && program === "npm"
  const done = spawnSync(program, args, { cwd, env, input, shell, encoding: "utf8", timeout: PATIENCE })
  const said = `${done.error ?? ""}${done.stdout}${done.stderr}`
  if (program === "npm" && done.status !== 0 && UNREACHABLE.test(said)) throw new Unreachable(said)
  assert.equal(done.status, 0, `${[program, ...args].join(" ")}\n${said}`)
  return done.stdout.trimEnd()
}

const npm = (/** @type {ReadonlyArray<string>} */ args, /** @type {string} */ cwd) =>
  run(["npm", ...args, "--loglevel=error"], { cwd, env: process.env })

/** @param {string} into @param {(tarball: string) => boolean} isWanted */
const install = (into, isWanted) => {
  const wanted = readdirSync(tarballs).filter(isWanted)
  assert.notEqual(wanted.length, 0)
  writeFileSync(join(into, "package.json"), `{ "private": true, "type": "module" }`)
  const calm = ["--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
  npm(["install", ...calm, ...wanted.map((name) => join(tarballs, name))], into)
}

const isCommand = (/** @type {string} */ tarball) => tarball.startsWith("grove-cli-")

/** Suites for adapters need a test runner of their user's choice beside them. */
const entries = published
  .flatMap(({ manifest }) => entryPoints(manifest))
  .filter((entry) => entry !== "@grove/core/testing")

const program = () => `
${entries.map((entry, index) => `import * as entry${index} from "${entry}"`).join("\n")}
import { openGrove } from "@grove/sdk"

const empty = Object.entries({ ${entries.map((_, index) => `entry${index}`).join(", ")} })
  .filter(([, module]) => Object.keys(module).length === 0)
if (empty.length > 0) throw new Error(\`nothing in \${empty.map(([name]) => name)}\`)

const grove = openGrove({ home: "sdk-home" })
const session = await grove.create({ cwd: "." })
const prompt = await session.prompt("plant an elm")
// @ts-expect-error: types that came along know that an id is no number
const wrong: number = prompt.id
const { messages } = await session.context()
console.log(typeof wrong, messages.length)
await grove.close()
`

/** Its types as strictly as can be, declarations included, then the program itself. */
const compileAndRun = () => {
  writeFileSync(join(libraries, "program.mts"), program())
  const compilerOptions = {
    ...{ strict: true, skipLibCheck: false, module: "NodeNext", target: "ES2024", lib: ["ES2024", "DOM"] },
    ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] }
  }
  writeFileSync(join(libraries, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts"] }))
  run([process.execPath, join(root, "node_modules/typescript/bin/tsc")], { cwd: libraries })
  assert.equal(run([process.execPath, "program.mjs"], { cwd: libraries }), "string 1")
}

/** Waits for the address that a server of the command prints, and asks there. @param {ReadonlyArray<string>} words */
const page = async (words) => {
  const [node = "", ...args] = [...grove, ...words]
  const server = spawn(node, args, { cwd: scratch, env: surroundings, stdio: ["ignore", "pipe", "inherit"] })
  const overdue = setTimeout(() => server.kill(), PATIENCE)
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const address = /https?:\/\/\S+/.exec(line)?.[0]
      if (address === undefined) continue
      const answer = await fetch(address)
      assert.equal(answer.status, 200)
      return await answer.text()
    }
    return assert.fail(`grove ${words.join(" ")} printed no address`)
  } finally {
    clearTimeout(overdue)
    server.kill()
  }
}

const ANSWERED = "I was shown 1 messages."
/** Typed at every agent: a prompt, and the wish for another answer to it. */
const input = "plant an elm\n/again\n"

/** @param {string} name @param {ReadonlyArray<string>} words what runs it, and what it is given */
const example = (name, words) => {
  copyFileSync(join(root, "examples", name), join(libraries, name))
  const printed = run(words, { cwd: libraries, input }).split("\n")
  assert.deepEqual(printed.slice(0, 2), [ANSWERED, ANSWERED])
}

const hasPython = spawnSync("python3", ["--version"]).status === 0
const { version } = JSON.parse(readFileSync(join(root, "apps/cli/package.json"), "utf8"))

/** @type {ReadonlyArray<readonly [name: string, check: () => unknown]>} */
const checks = [
  [
    `${published.length} packages are packed`,
    () => npm(["pack", "--pack-destination", tarballs, ...published.map(({ folder }) => `--workspace=${folder}`)], root)
  ],
  ["the command is installed, alone", () => install(command, isCommand)],
  ["the libraries are installed", () => install(libraries, (tarball) => !isCommand(tarball))],
  [`a typed program imports ${entries.length} entries and keeps a session`, compileAndRun],
  ["grove tells its version", () => assert.ok(run([...grove, "--version"]).includes(version))],
  ["grove answers on an empty home", () => assert.notEqual(run([...grove, "-p", "hello"]), "")],
  ["grove finds what was said", () => assert.match(run([...grove, "history", "hello"]), /hello/)],
  ["grove view shows its page", async () => assert.match(await page(["view", "--no-open", "--port", "0"]), /<html/)],
  ["grove serve shows its page", async () => assert.match(await page(["serve", "--port", "0"]), /<html/)],
  ["the agent on the SDK", () => example("agent-sdk.mjs", [process.execPath, "agent-sdk.mjs", "agent-home"])],
  ["the agent on Effect's layers", () => example("agent-effect.mjs", [process.execPath, "agent-effect.mjs"])],
  hasPython
    ? ["the agent in Python", () => example("agent.py", ["python3", "agent.py", "python.jsonl", ...grove])]
    : ["the agent in Python: SKIPPED, python3 is not on this machine", () => assert.notEqual(process.env.CI, "true")]
]

const began = performance.now()
let current = ""
try {
  for (const [name, check] of checks) {
    current = name
    await check()
    console.log(`  ✔ ${name}`)
  }
  console.log(`packed packages hold (${((performance.now() - began) / 1000).toFixed(1)} s)`)
} catch (error) {
  const isSkipped = error instanceof Unreachable && process.env.CI !== "true"
  process.exitCode = isSkipped ? 0 : 1
  const rule = "!".repeat(72)
  const verdict = isSkipped ? "the registry cannot be reached: packed packages are SKIPPED" : `FAILED: ${current}`
  console.error(`\n${rule}\n  ${verdict}\n${rule}\n${error instanceof Error ? error.message : error}\n`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
