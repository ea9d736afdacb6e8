/** Other programs on one history: their TypeScript is bundled into one file first, as plain Node needs it. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

/** Inside the package, so that the drivers are found from there. */
const scratch = fileURLToPath(new URL("../../node_modules/.scripts/", import.meta.url))

export interface Options {
  readonly path: string
  readonly name: string
  readonly count: number
  /** So many are asked for at once. */
  readonly together: number
  readonly driver: string
}

export interface Writer {
  readonly child: ChildProcess
  /** Numbers that are sure to be kept. */
  readonly acknowledged: ReadonlyArray<number>
  readonly ended: Promise<void>
}

export const bundled = async (): Promise<{
  readonly start: (options: Options) => Writer
  readonly clean: () => void
}> => {
  mkdirSync(scratch, { recursive: true })
  const folder = mkdtempSync(scratch)
  const program = join(folder, "writer.mjs")
  await build({
    entryPoints: [fileURLToPath(new URL("writer.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error"
  })
  const start = ({ path, name, count, together, driver }: Options): Writer => {
    const child = spawn(process.execPath, [program, path, name, String(count), String(together), driver], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const acknowledged: Array<number> = []
    let rest = ""
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop()!
      for (const line of lines) acknowledged.push(Number(line))
    })
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()))
    return { child, acknowledged, ended }
  }
  return { start, clean: () => rmSync(folder, { recursive: true, force: true }) }
}
