/** Bundles the command into dist/, one chunk per subcommand, so that starting one loads no other. */
import { rm } from "node:fs/promises"
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
  // Starts a script that lies beside it.
  external: ["open"],
  legalComments: "none",
  chunkNames: "chunks/[name]-[hash]",
  logLevel: "warning"
})
