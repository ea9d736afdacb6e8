/** `node scripts/writers.mjs [rewrites] [killed]`: several programs on one session, at length. */
import { load, numbers } from "./bundle.mjs"

const [rewrites, killed] = numbers(200, 100)
const { write, writeAmongTorn } = await load("Writers")
const settings = [
  { writers: 2, appends: 10_000, durability: "never" },
  { writers: 4, appends: 10_000, durability: "never" },
  { writers: 4, appends: 10_000, durability: "always" },
  { writers: 2, appends: 10_000, durability: "never", rewrites, pause: 20 },
  { writers: 4, appends: 2_000, durability: "always", rewrites, pause: 20 }
]
let isWrong = false
for (const setting of settings) {
  const { expected, found, trees, milliseconds } = await write(setting)
  const [lost, torn] = [expected - found.ids.size, found.problems.length]
  const isEqual = trees.every(({ size, digest }) => size === expected && digest === trees[0].digest)
  const told = trees.reduce((sum, { own, twice }) => sum + own + twice, 0)
  console.log(JSON.stringify({ ...setting, lost, torn, isEqual, told, milliseconds: Math.round(milliseconds) }))
  isWrong ||= lost > 0 || torn > 0 || !isEqual || told > 0 || !found.isSound
}
const { acknowledged, lost, torn } = await writeAmongTorn(killed, Date.now() % 1e6)
console.log(JSON.stringify({ killed, acknowledged, lost: lost.length, torn }))
process.exitCode = isWrong || lost.length > 0 ? 1 : 0
