/** Replaces a file by itself so many times while others write to it: `copier <path> <times> <pause>`. */
import { real } from "../../../src/Disk.ts"
import { rewrite } from "../../../src/Rewrite.ts"
import { ready, tell } from "./program.ts"

const [path = "", times = "", pause = ""] = process.argv.slice(2)
await ready()
for (let i = 0; i < Number(times); i++) {
  await rewrite({ disk: real, path }, (bytes) => bytes)
  await new Promise((next) => setTimeout(next, Number(pause)))
}
tell("done")
process.exit(0)
