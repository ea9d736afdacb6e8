/** Bundles the command into dist/, one chunk per subcommand, so that starting one loads no other. */
import { cp, rm } from "node:fs/promises"
import { build } from "esbuild"

await rm(new URL("dist", import.meta.url), { recursive: true, force: true })
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["src/main.ts"],
  outdir: "dist",
  bundle: true,
  splitting: true,
  minify: true,
  keepNames: true,
  sourcemap: false,
  format: "esm",
  platform: "node",
  target: "node20",
  // `ws` asks for Node's modules by require, which a bundle of this format has not; `open` starts a script beside it.
  external: ["ws", "open"],
  legalComments: "none",
  chunkNames: "chunks/[name]-[hash]",
  logLevel: "warning"
})
// The pages of `serve` and `view` travel with the command, which asks for no package of ours at run time.
const pages = { static: "../server/static", site: "../viewer/dist/site" }
for (const [name, from] of Object.entries(pages)) {
  await cp(new URL(from, import.meta.url), new URL(`dist/${name}`, import.meta.url), { recursive: true })
}
