/** The files of a folder, for naming them in a prompt: what the repository knows, else what is found by looking. */
import { execFile } from "node:child_process"
import { readdir } from "node:fs/promises"
import { join, relative } from "node:path"

const MOST = 20_000
const DEEPEST = 8
const SKIPPED = new Set(["node_modules", ".git", "dist", "target", ".venv", "__pycache__"])

const known = (cwd: string): Promise<ReadonlyArray<string> | undefined> =>
  new Promise((resolve) => {
    const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    execFile("git", words, { cwd, maxBuffer: 16 * 1024 * 1024, timeout: 5000 }, (error, stdout) => {
      resolve(error === null ? stdout.split("\0").filter((path) => path !== "") : undefined)
    })
  })

const found = async (cwd: string): Promise<ReadonlyArray<string>> => {
  const paths: Array<string> = []
  const folders = [{ path: cwd, depth: 0 }]
  for (const { path, depth } of folders) {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (SKIPPED.has(entry.name)) continue
      const whole = join(path, entry.name)
      if (entry.isDirectory() && depth < DEEPEST) folders.push({ path: whole, depth: depth + 1 })
      else if (entry.isFile()) paths.push(relative(cwd, whole))
    }
    if (paths.length >= MOST) break
  }
  return paths
}

export const list = async (cwd: string): Promise<ReadonlyArray<string>> =>
  ((await known(cwd)) ?? (await found(cwd))).slice(0, MOST).toSorted()
