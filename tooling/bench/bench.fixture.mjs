/** A row that measures nothing, for the tests of the harness: its jobs are run in processes of their own. */

export const title = "a row"
export const prepare = () => ({})
export const jobs = {
  naive: async () => ({ ms: 2, answer: "same", id: process.pid }),
  grove: async () => ({ ms: 1, answer: "same", id: process.pid }),
  pi: async () => {
    throw new Error("pi is broken")
  }
}
export const lines = () => []
