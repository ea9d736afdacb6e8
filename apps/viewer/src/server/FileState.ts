/** Whether a file is as it was. */
import { statSync } from "node:fs"

/** The same for as long as nobody wrote to the file or put another in its place. */
export const of = (file: string): string => {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`
}
