/** Programs of their own process: bundled once, started ahead of time, killed without warning. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const programs = fileURLToPath(new URL("./programs/", import.meta.url))
const bundles = new Map<string, Promise<string>>()

/** A program as one file that plain Node can run. */
const bundle = (program: string): Promise<string> => {
  const known = bundles.get(program)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(tmpdir(), "grove-program-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, `${program}.mjs`)
  const made = build({
    entryPoints: [join(programs, `${program}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error"
  }).then(() => outfile)
  bundles.set(program, made)
  return made
}

export class Child {
  readonly #process: ChildProcess
  readonly #ended: Promise<number | null>
  #output = ""
  #errors = ""
  #wake = () => {}

  constructor(file: string, parameters: ReadonlyArray<string>) {
    this.#process = spawn(process.execPath, [file, ...parameters], { stdio: ["pipe", "pipe", "pipe"] })
    this.#process.stdin!.on("error", () => {})
    this.#process.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text
      this.#wake()
    })
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text
    })
    this.#ended = new Promise((done) => this.#process.once("close", (code) => done(code)))
    void this.#ended.then(() => this.#wake())
  }

  /** The whole lines it has printed. */
  get lines(): ReadonlyArray<string> {
    return this.#output.split("\n").slice(0, -1)
  }

  get errors(): string {
    return this.#errors
  }

  /** Waits until it has printed so many lines; fails if it ends before. */
  async printed(count: number): Promise<void> {
    let hasEnded = false
    void this.#ended.then(() => {
      hasEnded = true
    })
    while (this.lines.length < count) {
      if (hasEnded) throw new Error(`the program ended early: ${this.#errors}`)
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
  }

  say(text: string): void {
    this.#process.stdin!.write(`${text}\n`)
  }

  /** Ends it in the middle of whatever it does. Everything it printed is in `lines` then. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL")
    await this.#ended
  }

  /** Waits for its end; fails unless that was a good one. */
  async end(): Promise<void> {
    const code = await this.#ended
    if (code !== 0) throw new Error(`the program failed with ${code}: ${this.#errors}`)
  }

  get ended(): Promise<number | null> {
    return this.#ended
  }
}

export const start = async (program: string, ...parameters: ReadonlyArray<string>): Promise<Child> =>
  new Child(await bundle(program), parameters)

const AHEAD = 3

/** One child after the other, the next ones started while one is used. Each has printed its first line. */
export async function* startEach(
  program: string,
  parameters: Iterable<ReadonlyArray<string>>
): AsyncGenerator<readonly [Child, ReadonlyArray<string>]> {
  const waiting: Array<readonly [Child, ReadonlyArray<string>]> = []
  const file = await bundle(program)
  try {
    for (const each of parameters) {
      waiting.push([new Child(file, each), each])
      if (waiting.length <= AHEAD) continue
      await waiting[0]![0].printed(1)
      yield waiting.shift()!
    }
    while (waiting.length > 0) {
      await waiting[0]![0].printed(1)
      yield waiting.shift()!
    }
  } finally {
    await Promise.all(waiting.map(([child]) => child.kill()))
  }
}
