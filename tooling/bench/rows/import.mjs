/** Row 9: how long it takes to translate sessions of other programs, against parsing their files and nothing more. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import { timed } from "../timed.mjs"

export const title = "import"

const MEGABYTES = { quick: 1, usual: 20 }

/** A session of each program, which is said again and again under other names until the file is long enough. */
const SAMPLES = {
  pi: "pi/linear.jsonl",
  omp: "omp/sessions/all-entry-types.jsonl",
  neovate: "neovate/tools.jsonl",
  "claude-code": "claude-code/linear-tools.jsonl",
  codex: "codex/rollout-2026-11-18T07-36-16-01a1ed95-bf3d-7d30-83dd-34b4e1d6a6f5.jsonl",
  opencode: "opencode/export-tools.json",
  gemini: "gemini/tools.jsonl",
  chatgpt: "chat-exports/chatgpt-tree.json",
  librechat: "chat-exports/librechat-tree.json",
  simple: "simple/tree.jsonl"
}

/** As long as what people and models say to each other. */
const WORDS = "The ferry leaves at nine and the lamp is on the table. ".repeat(20)

/** Names that nobody has had before, and texts of some length. @param {string} text @param {number} round */
const again = (text, round) => {
  const tag = round.toString(16).padStart(8, "0")
  return text
    .replace(/"((?:msg|prt|ses|toolu|call)_)?([0-9a-zA-Z-]*?)([0-9a-f]{8})((?:-[0-9a-f-]+)?)"/g, `"$1$2$3${tag}$4"`)
    .replace(/"(id|parentId)":\s*"(\d+)"/g, `"$1":"$2-${tag}"`)
    .replace(/"(text|content)":\s*"/g, `"$1":"${WORDS}`)
}

/** @param {string} path @param {string} sample @param {number} size */
const grow = (path, sample, size) => {
  if (existsSync(path) && statSync(path).size >= size) return
  const text = readFileSync(new URL(`../../../fixtures/${sample}`, import.meta.url), "utf8")
  const isJson = sample.endsWith(".json")
  const [head = "", ...lines] = text.trimEnd().split("\n")
  const whole = isJson ? text.trim().replace(/^\[|\]$/g, "") : lines.join("\n")
  const parts = []
  for (let round = 0, length = 0; length < size; round++) {
    const part = again(whole, round)
    parts.push(part)
    length += part.length
  }
  writeFileSync(path, isJson ? `[${parts.join(",")}]` : `${head}\n${parts.join("\n")}\n`)
}

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { entries }) => {
  const megabytes = entries < 100_000 ? MEGABYTES.quick : MEGABYTES.usual
  const files = Object.fromEntries(
    Object.entries(SAMPLES).map(([format, sample]) => {
      const path = scratch(`import-${format}.${sample.endsWith(".json") ? "json" : "jsonl"}`)
      grow(path, sample, megabytes * 1_000_000)
      return [format, path]
    })
  )
  return { files, megabytes }
}

/** The same bytes as values, by lines or as a whole. @param {string} path */
const naive = (path) =>
  timed(() => {
    const text = readFileSync(path, "utf8")
    return path.endsWith(".json") ? [JSON.parse(text)] : text.split("\n").map((line) => line && JSON.parse(line))
  })

/** As far as the text of a session file. @param {string} format @param {string} path */
const grove = async (format, path) => {
  const { Readers, Translation } = await import("@grove/formats")
  return timed(() => {
    const source = { file: path, bytes: readFileSync(path), beside: () => undefined, namesIn: () => [] }
    const { sessions } = Readers.read(/** @type {any} */ (format), source)
    return sessions.map((session) => Translation.encode(session).length)
  })
}

export const jobs = Object.fromEntries(
  Object.keys(SAMPLES).flatMap((format) => [
    [
      `naive ${format}`,
      async (/** @type {any} */ { files }) => ({ ...(await naive(files[format])), value: undefined, answer: "" })
    ],
    [
      `grove ${format}`,
      async (/** @type {any} */ { files }) => ({
        ...(await grove(format, files[format])),
        value: undefined,
        answer: ""
      })
    ]
  ])
)

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { megabytes }) =>
  Object.keys(SAMPLES).map((format) => ({
    work: `import ${megabytes} MB of ${format} (naive: parse it)`,
    unit: "ms",
    columns: { naive: column(found[`naive ${format}`]), grove: column(found[`grove ${format}`]) },
    goals: [{ against: "naive", within: 10 }]
  }))
