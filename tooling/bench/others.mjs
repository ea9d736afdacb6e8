/** The programs that Grove is measured against, from their public packages; the bench goes on without them. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { cache } from "./data.mjs"

/** Only the module that keeps sessions is loaded, so that nothing else of a program costs it time or memory. */
const PROGRAMS = {
  pi: {
    name: "Pi",
    spec: "@mariozechner/pi-coding-agent@0.73.1",
    module: "@mariozechner/pi-coding-agent/dist/core/session-manager.js"
  },
  omp: {
    name: "oh-my-pi",
    spec: "@oh-my-pi/pi-coding-agent@18.2.3",
    module: "@oh-my-pi/pi-coding-agent/src/session/session-manager.ts"
  }
}

/** @param {string} command */
const onPath = (command) =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find(existsSync)

/** @param {string} stderr */
const reasonIn = (stderr) =>
  stderr
    .split("\n")
    .find((line) => /^npm error (?!code|syscall|errno|type|address|port)/.test(line))
    ?.slice(10) ?? "npm failed"

/**
 * The module of a program, or why there is none.
 *
 * @param {keyof typeof PROGRAMS} which
 * @returns {{ readonly module: string } | { readonly problem: string }}
 */
export const installed = (which) => {
  const { name, spec, module } = PROGRAMS[which]
  const folder = `${cache}${spec.replace(/[@/]+/g, "-").slice(1)}`
  const path = `${folder}/node_modules/${module}`
  const done = `${folder}/installed`
  if (existsSync(done)) return { module: path }
  process.stderr.write(`bench: installing ${spec} beside the bench's data, once…\n`)
  // Each in a folder of its own, given its name at the end: tests that need it may begin at the same time.
  const own = `${folder}.${process.pid}`
  mkdirSync(own, { recursive: true })
  writeFileSync(`${own}/package.json`, '{ "private": true }\n')
  const options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--workspaces=false"]
  const { status, stderr } = spawnSync("npm", ["install", ...options, "--prefix", own, spec], {
    cwd: own,
    encoding: "utf8",
    shell: process.platform === "win32"
  })
  if (status !== 0 || !existsSync(`${own}/node_modules/${module}`)) {
    return { problem: `${name} could not be installed: ${reasonIn(stderr ?? "")}` }
  }
  writeFileSync(`${own}/installed`, "")
  try {
    renameSync(own, folder)
  } catch {
    // Somebody else was first, or an earlier attempt left something behind.
    if (!existsSync(done)) return { module: `${own}/node_modules/${module}` }
    rmSync(own, { recursive: true, force: true })
  }
  return { module: path }
}

/** What there is to measure against, and a line about each that is missing. */
export const others = () => {
  const bun = onPath("bun")
  const pi = installed("pi")
  const omp =
    bun === undefined ? { problem: "oh-my-pi is left out: it needs Bun, and bun is not on the PATH" } : installed("omp")
  return {
    modules: { pi: "module" in pi ? pi.module : null, omp: "module" in omp ? omp.module : null },
    programs: bun === undefined ? {} : { omp: bun },
    notes: [pi, omp].flatMap((found) => ("problem" in found ? [found.problem] : []))
  }
}
