/** Exports the pages into dist/site and compiles the server into dist/server, without network or telemetry. */
import { spawnSync } from "node:child_process"
import { cp, readdir, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"

const here = import.meta.dirname
const require = createRequire(import.meta.url)
const site = join(here, "dist/site")

const run = (script, args) => {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" }
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: here, env, stdio: ["ignore", 2, 2] })
  if (status !== 0) process.exit(status ?? 1)
}

await rm(site, { recursive: true, force: true })
await rm(join(here, "out"), { recursive: true, force: true })
run(join(require.resolve("typescript/package.json"), "../bin/tsc"), ["-p", "tsconfig.server.json"])
run(require.resolve("next/dist/bin/next"), ["build"])
await cp(join(here, "out"), site, { recursive: true })
await rm(join(here, "out"), { recursive: true })
// What only the framework's own router would ask for: pages here are whole documents.
for (const item of await readdir(site, { recursive: true, withFileTypes: true })) {
  if (item.isFile() && item.name.endsWith(".txt")) await rm(join(item.parentPath, item.name))
}
