/** Seeded chance: the same seed gives the same test. */

export class Chance {
  #state: number
  constructor(seed: number) {
    this.#state = seed
  }
  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }
  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }
  pick<A>(items: ReadonlyArray<A>): A {
    return items[this.below(items.length)]!
  }
}

/** Runs a check for many seeds and names the one that failed. */
export const forSeeds = async (
  count: number,
  check: (chance: Chance, seed: number) => void | Promise<void>,
  first = 1
): Promise<void> => {
  for (let seed = first; seed < first + count; seed++) {
    try {
      await check(new Chance(seed), seed)
    } catch (cause) {
      throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}
