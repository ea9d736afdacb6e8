/**
 * Holds the documents to their word: code compiles and runs, commands print what is shown, links lead somewhere.
 * Examples see the packages as built, so build first.
 *
 * - ts: type-checked and run; `ts no-run`: type-checked; `ts part`: a fragment, left alone.
 * - sh: every `$ grove …` is run and must print the lines below it; other commands are left alone.
 *
 * The blocks of one document share a home and a copy of docs/examples, so each sees what those before it did.
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { transformSync } from "esbuild"
import { anchors, blocks, commands, isPrinted, links } from "./markdown.mjs"

/** @typedef {import("./markdown.mjs").Block & { readonly path: string }} Block of the document at `path` */

const root = fileURLToPath(new URL("../../", import.meta.url))
/** Inside the repository, so that examples import its packages as anybody would. */
const scratch = `${root}node_modules/.check-docs`

/** @type {Array<string>} */
const failures = []

/** @param {string} path @param {number} line @param {string} message */
const fail = (path, line, message) => failures.push(`${path}:${line}  ${message.trimEnd().replaceAll("\n", "\n    ")}`)

const read = (/** @type {string} */ path) => readFileSync(root + path, "utf8")

/** @param {string} folder @param {boolean} recursive */
const namesIn = (folder, recursive = false) =>
  existsSync(root + folder) ? readdirSync(root + folder, { recursive, encoding: "utf8" }) : []

const documents = [
  ...namesIn(""),
  ...namesIn("docs", true).map((name) => `docs/${name.replaceAll("\\", "/")}`),
  ...["packages", "apps"].flatMap((group) => namesIn(group).map((name) => `${group}/${name}/README.md`))
].filter((path) => path.endsWith(".md") && !path.startsWith("docs/examples/") && existsSync(root + path))

const isExample = (/** @type {Block} */ { language, flags }) => language === "ts" && !flags.includes("part")
const isGrove = (/** @type {string} */ command) => /(^|\|\s*)grove\b/.test(command)

/** @param {Block} block */
const fileOf = ({ path, line }) => `${path.replace(/\W+/g, "-")}-${line}`

/**
 * One compiler for all the examples. Each stands in its file at the lines it has in its document.
 *
 * @param {ReadonlyArray<Block>} examples
 */
const typecheck = (examples) => {
  if (examples.length === 0) return
  for (const block of examples) {
    writeFileSync(`${scratch}/${fileOf(block)}.mts`, "\n".repeat(block.line - 1) + block.text)
  }
  const tsconfig = {
    extends: `${root}tooling/tsconfig/base.json`,
    compilerOptions: { noEmit: true, declaration: false, noUnusedLocals: false, types: ["node"] },
    files: examples.map((block) => `${fileOf(block)}.mts`)
  }
  writeFileSync(`${scratch}/tsconfig.json`, JSON.stringify(tsconfig))
  const tsc = [`${root}node_modules/typescript/bin/tsc`, "--project", "tsconfig.json", "--pretty", "false"]
  const { status, stdout } = spawnSync(process.execPath, tsc, { cwd: scratch, encoding: "utf8" })
  if (status === 0) return
  for (const error of stdout.trim().split(/\n(?!\s)/)) {
    const [, file, line, message] = error.match(/^(.*)\.mts\((\d+),\d+\): (.*)$/s) ?? []
    const block = examples.find((block) => fileOf(block) === file)
    fail(block?.path ?? "tooling/check-docs", Number(line ?? 1), message ?? error)
  }
}

/** A home nobody has used, and nothing of the caller's: no keys, no colours, one time zone. */
const sandbox = () => {
  const folder = mkdtempSync(join(tmpdir(), "grove-docs-"))
  const cwd = join(folder, "work")
  if (existsSync(`${root}docs/examples`)) cpSync(`${root}docs/examples`, cwd, { recursive: true })
  mkdirSync(cwd, { recursive: true })
  const PATH = `${root}node_modules/.bin${delimiter}${process.env.PATH}`
  const env = { PATH, HOME: folder, GROVE_HOME: join(folder, "grove"), LANG: "C.UTF-8", NO_COLOR: "1", TZ: "UTC" }
  /** @param {string} command @param {ReadonlyArray<string>} args */
  const run = (command, args) =>
    spawnSync(command, args, { cwd, env, encoding: "utf8", timeout: 60_000, stdio: ["ignore", "pipe", "pipe"] })
  return { run, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** @param {Block} block @param {ReturnType<typeof sandbox>} box */
const runExample = (block, box) => {
  const file = `${scratch}/${fileOf(block)}.mjs`
  const source = "\n".repeat(block.line - 1) + block.text
  const options = /** @type {const} */ ({
    loader: "ts",
    format: "esm",
    sourcemap: "inline",
    sourcefile: root + block.path
  })
  writeFileSync(file, transformSync(source, options).code)
  const { status, stderr, error } = box.run(process.execPath, ["--enable-source-maps", file])
  if (status !== 0) fail(block.path, block.line, `does not run: ${stderr || (error?.message ?? "")}`)
}

/** @param {Block} block @param {ReturnType<typeof sandbox>} box */
const runSession = (block, box) => {
  for (const { line, command, output } of commands(block).filter(({ command }) => isGrove(command))) {
    const { stdout } = box.run("sh", ["-c", `exec 2>&1\n${command}`])
    if (!isPrinted(output, stdout)) fail(block.path, line, `${command}\nprinted otherwise:\n${stdout}`)
  }
}

/** @param {string} from @param {import("./markdown.mjs").Link} link */
const follow = (from, { line, path, anchor }) => {
  const folder = path.startsWith("/") ? "" : posix.dirname(from)
  const target = path === "" ? from : posix.join(folder, path.replace(/^\//, ""))
  if (target.startsWith("..") || !existsSync(root + target)) fail(from, line, `${path} does not exist`)
  else if (anchor !== "" && target.endsWith(".md") && !anchors(read(target)).has(anchor)) {
    fail(from, line, `${target} has no heading #${anchor}`)
  }
}

const found = documents.map((path) => {
  const text = read(path)
  const inFile = blocks(text).map((block) => ({ ...block, path }))
  const isSession = (/** @type {Block} */ block) =>
    block.language === "sh" && commands(block).some(({ command }) => isGrove(command))
  return { path, links: links(text), blocks: inFile.filter((block) => isExample(block) || isSession(block)) }
})
const checked = found.flatMap(({ blocks }) => blocks)

rmSync(scratch, { recursive: true, force: true })
mkdirSync(scratch, { recursive: true })
typecheck(checked.filter(isExample))
const compiles = failures.length === 0
for (const { path, blocks, links } of found) {
  for (const link of links) follow(path, link)
  if (!compiles || blocks.length === 0) continue
  const box = sandbox()
  for (const block of blocks) {
    if (!isExample(block)) runSession(block, box)
    else if (!block.flags.includes("no-run")) runExample(block, box)
  }
  box.remove()
}

for (const failure of failures) console.log(failure)
if (failures.length === 0) {
  console.log(`docs: ${checked.length} blocks, ${found.flatMap(({ links }) => links).length} links, ok`)
}
process.exitCode = failures.length === 0 ? 0 : 1
