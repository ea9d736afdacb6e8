/** The repository's own tools, run from its root and without telemetry. */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../", import.meta.url))

/** The folder of every package and app, from the root. */
export const workspaces = ["packages", "apps"].flatMap((group) =>
  readdirSync(`${root}${group}`)
    .map((name) => `${group}/${name}`)
    .filter((folder) => existsSync(`${root}${folder}/package.json`))
)

/**
 * Whether the command succeeded. Its stdin is empty: what is piped to `npm start` is for the chat.
 *
 * @param {string} command
 * @param {ReadonlyArray<string>} args
 * @param {{ readonly stdout?: number, readonly env?: Readonly<Record<string, string>> }} [options]
 */
export const run = (command, args, options = {}) =>
  spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...options.env },
    shell: process.platform === "win32" && command === "npm",
    stdio: ["ignore", options.stdout ?? 1, 2]
  }).status === 0

/** @param {ReadonlyArray<string>} args @param {{ readonly stdout?: number }} [options] */
export const turbo = (args, options) =>
  run(process.execPath, ["node_modules/turbo/bin/turbo", "run", ...args, "--ui=stream"], {
    ...options,
    env: { NEXT_TELEMETRY_DISABLED: "1", TURBO_NO_UPDATE_NOTIFIER: "1", TURBO_TELEMETRY_DISABLED: "1" }
  })
