/** What the tests of the command share: the built program, run on copies of the fixtures with a home nobody has used. */
import { type SpawnOptions, spawn } from "node:child_process"
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, assert } from "@effect/vitest"

export type Json = { readonly [key: string]: unknown }

const root = fileURLToPath(new URL("../../../", import.meta.url))
export const program = join(root, "apps/cli/bin/grove.js")

// ---------------------------------------------------------------------------------------------- the program

export interface Ran {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  /** A command that hangs is killed and fails, instead of the whole suite. */
  readonly timeout?: number
}

export const run = (command: string, args: ReadonlyArray<string>, options: SpawnOptions): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options })
    const chunks: { readonly stdout: Array<Buffer>; readonly stderr: Array<Buffer> } = { stdout: [], stderr: [] }
    child.stdout!.on("data", (chunk: Buffer) => chunks.stdout.push(chunk))
    child.stderr!.on("data", (chunk: Buffer) => chunks.stderr.push(chunk))
    child.on("error", reject)
    child.on("close", (code, signal) =>
      resolve({
        code,
        signal,
        stdout: Buffer.concat(chunks.stdout).toString("utf8"),
        stderr: Buffer.concat(chunks.stderr).toString("utf8")
      })
    )
  })

/** Runs all, a few at a time, in their order. */
export const inTurn = async <A, B>(items: ReadonlyArray<A>, work: (item: A) => Promise<B>): Promise<Array<B>> => {
  const results: Array<B> = new Array(items.length)
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at]!)
    }
  }
  await Promise.all([worker(), worker(), worker()])
  return results
}

// ----------------------------------------------------------------------------------------------- the sandbox

/** Caches may be deleted at any time, so they may be written at any time. */
const isCache = (path: string): boolean => basename(path) === "cache"

/**
 * Every path below a folder with all that a write changes: which file it is, its size, and when it was last touched.
 * Folders that are caches, or that were made to hold one, are left out.
 */
const stateOf = (folder: string): string => {
  const found: Array<string> = []
  const pending = [folder]
  while (pending.length > 0) {
    const directory = pending.pop()!
    const items = readdirSync(directory, { withFileTypes: true }).filter(({ name }) => !isCache(name))
    if (items.length > 0 || !existsSync(join(directory, "cache"))) found.push(`${directory}/`)
    for (const item of items) {
      const path = join(directory, item.name)
      if (item.isDirectory()) pending.push(path)
      else {
        const { ino, mode, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true })
        found.push([path, ino, mode, size, mtimeNs, ctimeNs].join(" "))
      }
    }
  }
  return found.sort().join("\n")
}

export interface Sandbox {
  readonly folder: string
  /** The home the program is given. */
  readonly home: string
  /** Copies of the fixtures. */
  readonly fixtures: string
  /** Where the program is started. */
  readonly cwd: string
  readonly grove: (args: ReadonlyArray<string>, options?: Running) => Promise<Ran>
  /** The one JSON value that the command printed. */
  readonly json: <A>(args: ReadonlyArray<string>, options?: Running) => Promise<A>
  /** What people are shown. */
  readonly text: (args: ReadonlyArray<string>, options?: Running) => Promise<string>
  /** Changes the sandbox from outside, before the next command is run. */
  readonly prepare: <A>(change: () => A) => A
  /** Writes a file into the sandbox: its path. */
  readonly write: (name: string, data: string | Uint8Array) => string
  readonly env: Readonly<Record<string, string>>
}

const copyFixtures = (to: string): void => {
  const isInput = (path: string) => !/\.(json|md|txt)$/.test(path)
  for (const name of ["pi", "omp/sessions", "omp/blobs"]) {
    cpSync(join(root, "fixtures", name), join(to, name), { recursive: true, filter: isInput })
  }
}

/** The copies are byte for byte what they were copied from. */
const assertSameAsOriginals = (copies: string): void => {
  for (const name of readdirSync(copies, { recursive: true, encoding: "utf8" })) {
    if (!lstatSync(join(copies, name)).isFile()) continue
    const original = readFileSync(join(root, "fixtures", name))
    assert.isTrue(original.equals(readFileSync(join(copies, name))), `${name} was changed`)
  }
}

/**
 * A sandbox for the tests of one file. After every test its files must be what they were, whatever the test asked for:
 * commands that read write nothing.
 */
export const sandbox = (options: { readonly fixtures?: boolean } = {}): Sandbox => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "grove-cli-")))
  const home = join(folder, "home")
  const fixtures = join(folder, "fixtures")
  const cwd = join(folder, "work")
  mkdirSync(cwd)
  if (options.fixtures === true) copyFixtures(fixtures)
  let expected = stateOf(folder)
  const assertUnchanged = () => {
    const before = expected
    expected = stateOf(folder)
    assert.strictEqual(expected, before, "a reading command wrote something")
  }
  afterEach(assertUnchanged)
  afterAll(() => {
    if (options.fixtures === true) assertSameAsOriginals(fixtures)
    rmSync(folder, { recursive: true, force: true })
  })

  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    GROVE_HOME: home,
    LANG: "C.UTF-8",
    COLUMNS: "80",
    TZ: "UTC"
  }
  const grove = (args: ReadonlyArray<string>, options: Running = {}) =>
    run(process.execPath, [program, ...args], {
      cwd: options.cwd ?? cwd,
      env: { ...env, ...options.env },
      timeout: options.timeout ?? 20_000,
      killSignal: "SIGKILL",
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid })
    })
  const succeed = async (args: ReadonlyArray<string>, options?: Running): Promise<string> => {
    const { code, stdout, stderr } = await grove(args, options)
    assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, `grove ${args.join(" ")}`)
    return stdout
  }
  const prepare = <A>(change: () => A): A => {
    assertUnchanged()
    const result = change()
    expected = stateOf(folder)
    return result
  }
  return {
    folder,
    home,
    fixtures,
    cwd,
    env,
    grove,
    prepare,
    text: succeed,
    json: async (args, options) => onlyValue(await succeed([...args, "--json"], options)),
    write: (name, data) =>
      prepare(() => {
        const path = join(folder, name)
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, data)
        return path
      })
  }
}

/** Standard output as the one JSON value it is, on one line. */
export const onlyValue = <A>(stdout: string): A => {
  assert.match(stdout, /^[^\n]+\n$/, "one line, and nothing else")
  return JSON.parse(stdout)
}

/** One line on stderr, nothing on stdout, nothing a terminal would obey, nothing of how the program is made. */
export const assertRefused = (ran: Ran, code: number, says: RegExp): void => {
  const what = JSON.stringify(ran).slice(0, 2000)
  assert.strictEqual(ran.signal, null, what)
  assert.strictEqual(ran.code, code, what)
  assert.strictEqual(ran.stdout, "", what)
  assert.match(ran.stderr, /^grove: [^\n]+\n$/, what)
  assert.match(ran.stderr, says)
  assertInert(ran.stderr)
  assert.notMatch(ran.stderr, /\bat .+:\d+:\d+|node:internal|\.js:\d+|unexpected failure|undefined|\[object/, what)
}

/** Nothing that a terminal would obey: no control but line ends, no override of direction, nothing invisible. */
export const assertInert = (text: string): void => {
  const found = /(?!\n)[\p{Cc}]|(?![\u200c\u200d])\p{Cf}/u.exec(text)
  const where = found === null ? "" : JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 10))
  assert.isNull(found, `a terminal would obey U+${found?.[0].codePointAt(0)?.toString(16)} in ${where}`)
}

// ------------------------------------------------------------------------------------------------ fixtures

const inFixtures = (path: string) => join(root, "fixtures", path)
export const expectation = <A>(path: string): A => JSON.parse(readFileSync(inFixtures(path), "utf8"))
export const namesIn = (folder: string, pattern: RegExp): ReadonlyArray<string> =>
  readdirSync(inFixtures(folder))
    .filter((name) => pattern.test(name))
    .sort()

// ------------------------------------------------------------------------------------------- small sessions

export const header = (fields: Json = {}): Json => ({
  type: "session",
  version: 3,
  id: "0195d1a0-0000-7000-8000-00000000cafe",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/home/ada",
  ...fields
})

/** A file of those lines; objects are encoded, strings stand as they are. */
export const fileOf = (...lines: ReadonlyArray<object | string>): string =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")

/** Minutes after the beginning of the session. */
export const at = (minutes: number): string => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000).toISOString()

export const entry = (id: string, parentId: string | null, fields: Json): Json => ({
  type: "message",
  id,
  parentId,
  timestamp: at(1),
  ...fields
})

export const user = (id: string, parentId: string | null, text: string, fields: Json = {}): Json =>
  entry(id, parentId, { message: { role: "user", content: text }, ...fields })

export const reply = (id: string, parentId: string | null, text: string, body: Json = {}, fields: Json = {}): Json =>
  entry(id, parentId, {
    message: {
      role: "assistant",
      provider: "p",
      model: "m",
      content: [{ type: "text", text }],
      stopReason: "stop",
      ...body
    },
    ...fields
  })
