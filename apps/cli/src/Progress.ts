/** What long work is at: one line on standard error where a person looks at it, nothing elsewhere. */
import { basename } from "node:path"
import { Preview, Width } from "@grove/core/model"
import { Effect } from "effect"
import { Environment } from "./Environment.ts"

/** Work that is done before this is not worth a line. */
const NOTICEABLE = 300
const REFRESH = 100

/** To be told each file that is begun. The line is gone when the scope ends. */
export const files = (doing: string) =>
  Effect.gen(function* () {
    const { columns } = yield* Environment
    const { stderr } = process
    let shownAt = Date.now() + NOTICEABLE - REFRESH
    let count = 0
    let isShown = false
    const clear = () => {
      if (isShown) stderr.write("\r\x1b[K")
      isShown = false
    }
    yield* Effect.addFinalizer(() => Effect.sync(clear))
    return {
      onFile: (path: string): void => {
        count++
        if (stderr.isTTY !== true || Date.now() - shownAt < REFRESH) return
        shownAt = Date.now()
        isShown = true
        stderr.write(`\r\x1b[K${Width.cut(Preview.line(`${doing} ${count}: ${basename(path)}`, columns), columns - 1)}`)
      },
      /** Before anything else is printed or asked. */
      clear: Effect.sync(clear)
    }
  })
