/** What a package has to say of itself before strangers may install it. */
import { existsSync, readFileSync } from "node:fs"
import { root, workspaces } from "../setup/tools.mjs"

/** @typedef {{ readonly folder: string, readonly manifest: any }} Package `folder` is from the root. */

/** @param {string} path from the root */
const json = (path) => JSON.parse(readFileSync(`${root}${path}`, "utf8"))

/** Every package that is published. @type {ReadonlyArray<Package>} */
export const published = workspaces
  .map((folder) => ({ folder, manifest: json(`${folder}/package.json`) }))
  .filter(({ manifest }) => manifest.private !== true)

/** What others can import from it, as they write it. @param {any} manifest @returns {ReadonlyArray<string>} */
export const entryPoints = ({ name, exports = {} }) =>
  Object.entries(exports)
    .filter(([, target]) => typeof target === "object")
    .map(([path]) => name + path.slice(1))

/** An entry that is code has its types beside it. @param {unknown} target */
const isTyped = (target) =>
  typeof target === "string"
    ? !target.endsWith(".js")
    : /\.d\.ts$/.test(Object(target).types) && /\.js$/.test(Object(target).default)

/**
 * What a manifest leaves unsaid.
 *
 * @param {any} manifest
 * @param {any} whole the manifest of the repository
 * @returns {ReadonlyArray<string>}
 */
export const omissions = (manifest, whole) => {
  const targets = Object.entries(manifest.exports ?? {})
  const local = Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith("@grove/"))
  return [
    !(manifest.description?.length > 0) && "has no description",
    manifest.type !== "module" && "is not of type module",
    manifest.license !== whole.license && `is not under ${whole.license}`,
    manifest.engines?.node !== whole.engines.node && `does not ask for Node ${whole.engines.node}`,
    !manifest.files?.includes("dist") && "does not list dist in its files",
    targets.length === 0 && "has no exports",
    ...targets.map(([path, target]) => !isTyped(target) && `exports ${path} without types`),
    ...local.map(([name, range]) => range !== manifest.version && `wants ${name} ${range}, not its own version`)
  ].filter((omission) => omission !== false)
}

/** The same for a package on disk. @param {Package} found */
export const omissionsOf = ({ folder, manifest }) => [
  ...omissions(manifest, json("package.json")),
  ...["README.md", "LICENSE"].filter((name) => !existsSync(`${root}${folder}/${name}`)).map((name) => `has no ${name}`)
]

/** Packages that get one version together. */
export const versioned = () => json(".changeset/config.json").fixed.flat()
