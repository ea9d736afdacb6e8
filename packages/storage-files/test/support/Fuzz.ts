/** Mutated files read both ways, by the thousands. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Chance } from "./Chance.ts"
import * as LazyEager from "./LazyEager.ts"
import { loadFixtures, mutatedFile } from "./Mutations.ts"

export interface Fuzzed {
  readonly files: number
  readonly lines: number
  readonly slowest: number
}

/** Reads files until so many lines were mutated; a failure names its seed. */
export const fuzz = (lines: number, firstSeed = 1): Fuzzed => {
  const home = mkdtempSync(join(tmpdir(), "grove-fuzz-"))
  const fixtures = loadFixtures()
  let done = 0
  let slowest = 0
  let seed = firstSeed
  try {
    for (; done < lines; seed++) {
      const chance = new Chance(seed)
      const { bytes, count } = mutatedFile(chance, fixtures)
      const start = performance.now()
      try {
        LazyEager.check(home, bytes)
        if (chance.oneIn(10)) {
          const at = chance.below(bytes.length + 1)
          const cut = chance.oneIn(2) ? at : bytes.indexOf(10, at) + 1
          LazyEager.checkGrown(home, bytes.subarray(0, cut), bytes.subarray(cut))
        }
      } catch (cause) {
        throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
      }
      slowest = Math.max(slowest, performance.now() - start)
      done += count
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
  return { files: seed - firstSeed, lines: done, slowest }
}
