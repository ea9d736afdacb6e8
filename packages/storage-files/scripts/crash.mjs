/** `node scripts/crash.mjs [rounds] [seed]`: programs killed at random moments. A thousand rounds unless said otherwise. */
import { load, numbers } from "./bundle.mjs"

const [rounds, seed] = numbers(1000, Date.now() % 1e6)
const { appends, blobs, caches, drafts, rewrites } = await load("Crash")
const { steps } = await load("../../src/Rewrite")
const report = {
  seed,
  appends: await appends(rounds, seed),
  drafts: await drafts(rounds, seed),
  blobs: await blobs(rounds, seed),
  caches: await caches(rounds, seed),
  rewrites: await rewrites(steps)
}
console.log(JSON.stringify(report, null, 2))
const isWrong = Object.values(report).some((part) => typeof part === "object" && part.wrong.length > 0)
process.exitCode = isWrong ? 1 : 0
