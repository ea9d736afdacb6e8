/** Runs the long forms of the tests with plain Node: their TypeScript is bundled into one file first. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

const support = fileURLToPath(new URL("../test/support/", import.meta.url))
/** Inside the package, so that what is not bundled is found from there. */
const scratch = fileURLToPath(new URL("../node_modules/.scripts/", import.meta.url))

/**
 * The module `name` of the tests' support.
 *
 * @param {string} name
 * @returns {Promise<any>}
 */
export const load = async (name) => {
  mkdirSync(scratch, { recursive: true })
  const folder = mkdtempSync(scratch)
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, `${basename(name)}.mjs`)
  await build({
    entryPoints: [join(support, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    external: ["esbuild"],
    // Where the modules look for fixtures and for each other.
    define: { "import.meta.url": JSON.stringify(pathToFileURL(join(support, `${name}.ts`)).href) }
  })
  return import(pathToFileURL(outfile).href)
}

/** The numbers given on the command line, or those that stand for them. */
export const numbers = (/** @type {ReadonlyArray<number>} */ ...defaults) =>
  defaults.map((number, i) => Number(process.argv[i + 2] ?? number))
