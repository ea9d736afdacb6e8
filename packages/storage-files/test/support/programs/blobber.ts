/** Stores blobs until it is killed, and prints the hash of each that is durable: `blobber <directory> <seed>`. */
import { Effect } from "effect"
import * as FileBlobStore from "../../../src/FileBlobStore.ts"
import { Chance } from "../Chance.ts"
import { ready, tell } from "./program.ts"

const [directory = "", seed = ""] = process.argv.slice(2)
const blobs = FileBlobStore.make({ directory })
const chance = new Chance(Number(seed))

await ready()
for (;;) {
  const bytes = Buffer.alloc(chance.pick([1, 3_000, 2_000_000]), String(chance.below(1e9)))
  tell(await Effect.runPromise(blobs.put(bytes)))
}
