/** What every program of the tests does: say that it is ready, wait for the word, tell what it has done. */
import { writeSync } from "node:fs"

/** At once, so that nothing that was told is lost when the program is killed. */
export const tell = (text: string): void => {
  for (let rest = Buffer.from(`${text}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EAGAIN") throw cause
    }
  }
}

/** Prints `ready` and waits for a line. */
export const ready = (): Promise<void> => {
  tell("ready")
  return new Promise((go) => {
    process.stdin.once("data", () => {
      process.stdin.pause()
      go()
    })
  })
}
