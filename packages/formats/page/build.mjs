/** Bundles the page's script and style into src/write/PageAssets.ts, as the first step of the package's build. */
import { readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { build, transform } from "esbuild"

const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const TARGET = "../src/write/PageAssets.ts"

/** Of the model only what the page uses, module by module: its index would bring all of it. */
const MODEL = `
export * as Preview from "./Preview.js"
export * as TreeLayout from "./TreeLayout.js"
export * as TreeView from "./TreeView.js"
export { isObject } from "./open.js"
`
const model = {
  name: "model",
  setup: (/** @type {import("esbuild").PluginBuild} */ { onResolve, onLoad, resolve }) => {
    onResolve({ filter: /^@grove\/core\/model$/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === "found") return undefined
      const found = await resolve(path, { ...options, pluginData: "found" })
      return { ...found, namespace: "model" }
    })
    onLoad({ filter: /.*/, namespace: "model" }, ({ path }) => ({ contents: MODEL, resolveDir: dirname(path) }))
    // None of its modules does anything when it is loaded.
    onResolve({ filter: /.*/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === "pure" || pluginData === "found" || options.kind === "entry-point") return undefined
      return { ...(await resolve(path, { ...options, pluginData: "pure" })), sideEffects: false }
    })
  }
}

const assets = async () => {
  const script = await build({
    entryPoints: [here("main.ts")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    plugins: [model]
  })
  const style = await transform(readFileSync(here("style.css"), "utf8"), { loader: "css", minify: true })
  // The text of the script stands in a script element, which must not end in its midst.
  const code = script.outputFiles[0].text.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--")
  return [
    "// Generated from page/ by page/build.mjs; not to be edited.",
    `export const SCRIPT =\n  ${JSON.stringify(code)}`,
    `export const STYLE =\n  ${JSON.stringify(style.code.trim())}`,
    ""
  ].join("\n")
}

writeFileSync(here(TARGET), await assets())
