/** The one direction of dependencies: model → core → storage, agent, formats → sdk → apps. */
import { isBuiltin } from "node:module"
import { posix } from "node:path"

/**
 * The first rule whose `at` holds a file or a package decides for it. `may` names the workspaces it can import, `node`
 * whether it can use Node; `pure` keeps it to its own folder, its package's dependencies and what of effect is data.
 *
 * @type {ReadonlyArray<{ at: string, may: ReadonlyArray<string>, node: boolean, pure?: true }>}
 */
const RULES = [
  { at: "packages/core/src/model", may: [], node: false, pure: true },
  { at: "packages/core/src/testing", may: [], node: true },
  { at: "packages/core", may: [], node: false },
  { at: "packages/storage-*", may: ["packages/core"], node: true },
  { at: "packages/agent", may: ["packages/core"], node: true },
  { at: "packages/local-http", may: ["packages/core"], node: true },
  { at: "packages/formats", may: ["packages/core"], node: true },
  { at: "packages/sdk", may: ["packages/core", "packages/storage-*"], node: true },
  { at: "apps/cli", may: ["packages/*", "apps/*"], node: true },
  { at: "apps/*", may: ["packages/*"], node: true }
]

/** Effect's modules that do things, or ask for them to be done. */
const SERVICES = new Set([
  ...["Clock", "Config", "Console", "Context", "Deferred", "Effect", "Fiber", "FileSystem", "Layer", "ManagedRuntime"],
  ...["Path", "PubSub", "Queue", "Random", "Ref", "Schedule", "Scope", "Stream", "Terminal"]
])

/** Where the environment may be read. */
const EDGE = /\/main\.ts$|^apps\/viewer\/src\/runtime\.ts$/

/** `.name` or `["name"]`, with or without a question mark. @param {string} name */
const member = (name) => `\\s*(?:\\??\\.\\s*${name}\\b|(?:\\?\\.)?\\s*\\[\\s*["'\`]${name}["'\`]\\s*\\])`

/** Also taken apart, or reached by way of the global object, which would hide it. */
const ENVIRONMENT = new RegExp(
  [
    `\\bprocess${member("env")}`,
    `\\bglobal(?:This)?${member("process")}`,
    "\\{[^{}=]*\\benv\\b[^{}=]*\\}\\s*=\\s*process\\b"
  ].join("|"),
  "g"
)

/** What is pure is given the time and its ids. `new Date(0)` only spells a time. */
const CLOCK_OR_CHANCE = new RegExp(
  [
    `\\bDate${member("now")}`,
    "\\bnew\\s+Date\\s*(?:\\(\\s*\\)|(?![\\s(]))",
    "(?<!new\\s+|[\\w$.])Date\\s*\\(",
    `\\bMath${member("random")}`,
    `\\bperformance${member("now")}`,
    `\\bcrypto${member("(?:randomUUID|getRandomValues)")}`
  ].join("|"),
  "g"
)

/** @typedef {{ readonly path: string, readonly text: string }} File `path` is from the root, with forward slashes. */
/** @typedef {{ readonly path: string, readonly line: number, readonly message: string }} Violation */
/** @typedef {{ readonly line: number, readonly specifier: string, readonly names: ReadonlyArray<string> }} Import */

/**
 * Whether `path` is what `pattern` names, or inside it.
 *
 * @param {string} pattern
 * @param {string} path
 */
const covers = (pattern, path) => new RegExp(`^${pattern.replaceAll("*", "[^/]*")}(/|$)`).test(path)

/** @param {string} text @param {number} index */
const lineAt = (text, index) => text.slice(0, index).split("\n").length

const STRING = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//
const STRING_OR_COMMENT = new RegExp(`(${STRING.source})|${COMMENT.source}`, "g")

/** @param {string} text */
const withoutComments = (text) =>
  text.replace(STRING_OR_COMMENT, (comment, string) => string ?? comment.replace(/[^\n]/g, " "))

const CLAUSE = /(?:\s+type\b)?(?:\s*[\w$]+\s*,?)?\s*(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})?\s*from/
const STATIC = new RegExp(`^(?:import|export)\\b(${CLAUSE.source})?\\s*["']([^"'\\n]+)["']`, "gm")
const DYNAMIC = /\b(?:import|require)\s*\(\s*["'`]([^"'`\n]+)["'`]/g

/**
 * The names an import takes; `*` if it takes the whole module.
 *
 * @param {string | undefined} clause
 */
const namesIn = (clause) => {
  const braces = clause?.match(/\{([^}]*)\}/)
  return braces ? [...braces[1].matchAll(/(?:^|,)\s*(?:type\s+)?([\w$]+)/g)].map((name) => name[1]) : ["*"]
}

/**
 * @param {string} code
 * @returns {ReadonlyArray<Import>}
 */
const importsIn = (code) => [
  ...[...code.matchAll(STATIC)].map(({ index, 1: clause, 2: specifier }) => ({
    line: lineAt(code, index),
    specifier,
    names: namesIn(clause)
  })),
  ...[...code.matchAll(DYNAMIC)].map(({ index, 1: specifier }) => ({
    line: lineAt(code, index),
    specifier,
    names: ["*"]
  }))
]

/** @param {string} specifier `@grove/core/model` is of `@grove/core` */
const packageOf = (specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/")

/** @param {Import} found */
const effectModules = ({ specifier, names }) => {
  if (specifier === "effect") return names
  return specifier.startsWith("effect/") ? [specifier.split("/")[1]] : []
}

/** Areas of effect are lower case (`effect/sql`), and only its schemas are data. @param {string} module */
const isData = (module) => module === "schema" || (/^[A-Z]/.test(module) && !SERVICES.has(module))

/** Development dependencies are not among them: tests may reach further. */
const DEPENDENCIES = ["dependencies", "peerDependencies", "optionalDependencies"]

/**
 * Every place where a dependency points the wrong way.
 *
 * @param {ReadonlyArray<File>} files
 * @param {ReadonlyArray<File>} packages the package.json of every workspace
 * @returns {ReadonlyArray<Violation>}
 */
export const violations = (files, packages) => {
  const homes = packages.map((file) => ({ file, folder: posix.dirname(file.path), manifest: JSON.parse(file.text) }))
  const folders = new Map(homes.map(({ manifest, folder }) => [manifest.name, folder]))
  const ruleOf = (/** @type {string} */ path) => RULES.find(({ at }) => covers(at, path))

  /** Of importing or depending on a workspace. @param {(typeof RULES)[number]} rule @param {string} name */
  const isForbidden = (rule, name) => {
    const folder = folders.get(name)
    return folder !== undefined && !rule.may.some((pattern) => covers(pattern, folder))
  }

  /** @param {(typeof homes)[number]} home @returns {ReadonlyArray<Violation>} */
  const inManifest = ({ file: { path, text }, folder, manifest }) => {
    const rule = ruleOf(folder)
    if (rule === undefined) return []
    return DEPENDENCIES.flatMap((kind) =>
      Object.keys(manifest[kind] ?? {})
        .filter((name) => isForbidden(rule, name))
        .map((name) => ({
          path,
          line: lineAt(text, text.indexOf(`"${name}"`, text.indexOf(`"${kind}"`))),
          message: `${rule.at} may not depend on ${name}`
        }))
    )
  }

  /** @param {File} file @returns {ReadonlyArray<Violation>} */
  const inFile = ({ path, text }) => {
    const rule = ruleOf(path)
    const home = homes.find(({ folder }) => covers(folder, path))
    if (rule === undefined || home === undefined) return [{ path, line: 1, message: "no rule says what it may import" }]
    const code = withoutComments(text)
    const inside = rule.pure ? rule.at : home.folder

    /** @param {Import} found */
    const problemsOf = (found) => {
      const { specifier } = found
      const name = packageOf(specifier)
      const modules = effectModules(found)
      const isRelative = specifier.startsWith(".")
      const isForeign = !isRelative && !isBuiltin(specifier) && !folders.has(name)
      return [
        isRelative && !covers(inside, posix.join(posix.dirname(path), specifier)) && `${specifier} leaves ${inside}`,
        isBuiltin(specifier) && !rule.node && `${rule.at} may not import ${specifier}: it is Node's`,
        isForbidden(rule, name) && `${rule.at} may not import ${specifier}`,
        isForeign &&
          rule.pure &&
          !(name in (home.manifest.dependencies ?? {})) &&
          `${rule.at} may not import ${specifier}: ${home.manifest.name} does not depend on it`,
        ...modules.map((module) => rule.pure && !isData(module) && `${rule.at} may not import ${module} of effect`),
        modules.includes("Config") && !EDGE.test(path) && "only main.ts may import Config"
      ].filter((message) => message !== false && message !== undefined)
    }

    /** @param {RegExp} pattern @param {string} message */
    const uses = (pattern, message) =>
      [...code.matchAll(pattern)].map(({ index }) => ({ path, line: lineAt(code, index), message }))

    return [
      ...importsIn(code).flatMap((found) => problemsOf(found).map((message) => ({ path, line: found.line, message }))),
      ...(EDGE.test(path) ? [] : uses(ENVIRONMENT, "only main.ts may read process.env")),
      ...(rule.pure ? uses(CLOCK_OR_CHANCE, `${rule.at} may not ask the clock or chance`) : [])
    ]
  }

  return [...homes.flatMap(inManifest), ...files.flatMap(inFile)]
}
