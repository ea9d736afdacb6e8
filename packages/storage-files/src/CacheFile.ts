/** Files that may be lost: what they hold can be made again. */
import { randomBytes } from "node:crypto"
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

/** Written whole or not at all. A cache that cannot be written is no failure. */
export const write = (path: string, data: Uint8Array | string): void => {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(temporary, data, { mode: 0o600 })
    renameSync(temporary, path)
  } catch {
    remove(temporary)
  }
}

const remove = (path: string): void => {
  try {
    rmSync(path, { force: true })
  } catch {
    // Where nothing can be written, nothing can be removed.
  }
}
