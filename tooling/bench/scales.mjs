/** How much is measured. The goals are meant for the usual sizes; small ones only show that the bench works. */

/**
 * @typedef {object} Scale
 * @property {number} rounds
 * @property {number} entries of the large session
 * @property {number} appends
 * @property {number} durable appends by all writers together
 * @property {number} serial appends, each with its own sync
 * @property {number} sessions
 * @property {number} perSession entries of each of them
 * @property {ReadonlyArray<number>} prompts how many there are, in each history
 * @property {string | null} pi where its sessions module is
 * @property {string | null} omp
 */

/** @type {Readonly<Record<"usual" | "quick" | "full", Omit<Scale, "pi" | "omp">>>} */
export const scales = {
  // More than 16 MB, so that the session is opened the way large ones are.
  quick: {
    rounds: 2,
    entries: 8_000,
    appends: 1_000,
    durable: 1_280,
    serial: 100,
    sessions: 100,
    perSession: 20,
    prompts: [2_000]
  },
  usual: {
    rounds: 5,
    entries: 100_000,
    appends: 10_000,
    durable: 9_600,
    serial: 1_000,
    sessions: 1_000,
    perSession: 200,
    prompts: [100_000, 1_000_000]
  },
  full: {
    rounds: 9,
    entries: 100_000,
    appends: 10_000,
    durable: 9_600,
    serial: 2_000,
    sessions: 1_000,
    perSession: 200,
    prompts: [100_000, 1_000_000]
  }
}
