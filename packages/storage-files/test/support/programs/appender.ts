/** Appends to a file until it is killed, and prints each id once it is acknowledged: `appender <path> <name> <durability>`. */
import { statSync } from "node:fs"
import { AppendFile, type Durability } from "../../../src/AppendFile.ts"
import { real } from "../../../src/Disk.ts"
import { Chance } from "../Chance.ts"
import { bytesOf, line } from "../Lines.ts"
import { ready, tell } from "./program.ts"

const [path = "", name = "", durability = "always"] = process.argv.slice(2)
const { ino, size } = statSync(path)
const nothing = () => {}
const file = new AppendFile({
  disk: real,
  names: [path],
  durability: durability as Durability,
  from: { inode: ino, end: size },
  onForeign: nothing,
  onReplaced: nothing,
  onFailure: (_, cause) => {
    throw cause
  }
})
const chance = new Chance(Number.parseInt(name, 36))

await ready()
for (let i = 0; ; i++) {
  const together = Array.from({ length: chance.pick([1, 1, 1, 4]) }, async (_, k) => {
    const id = `${name}-${i}-${k}`
    await file.append(bytesOf(line(id, chance.pick([20, 200, 5_000, 400_000]))))
    tell(id)
  })
  await Promise.all(together)
}
