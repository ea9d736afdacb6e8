/** Opens and lists sessions until it is killed, throwing the caches away now and then: `lister <home> <seed>`. */
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as Catalogue from "../../../src/Catalogue.ts"
import * as SessionFiles from "../../../src/SessionFiles.ts"
import * as SessionPaths from "../../../src/SessionPaths.ts"
import { Chance } from "../Chance.ts"
import { ready, tell } from "./program.ts"

const [home = "", seed = ""] = process.argv.slice(2)
const paths = SessionPaths.make({ home })
const chance = new Chance(Number(seed))

await ready()
for (;;) {
  for (const { path } of Catalogue.list(paths, true)) {
    const opened = SessionFiles.open({ id: "", path }, path, { cache: paths.cache, parsedWhole: 0, cachedAbove: 0 })
    if (opened._tag === "Success") opened.success.close()
  }
  tell("listed")
  for (const name of readdirSync(paths.cache)) if (chance.oneIn(2)) rmSync(join(paths.cache, name), { force: true })
}
