/** What a markdown file promises: code that runs, commands with what they print, links that lead somewhere. */

/**
 * @typedef {object} Block
 * @property {number} line where its code begins
 * @property {string} language
 * @property {ReadonlyArray<string>} flags what the fence says after the language
 * @property {string} text
 */
/** @typedef {{ readonly line: number, readonly command: string, readonly output: ReadonlyArray<string> }} Command */
/** @typedef {{ readonly line: number, readonly path: string, readonly anchor: string }} Link `path` is empty within a file. */

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/

/**
 * The file's code, and its prose with blank lines where the code was. A fence that is never closed runs to the end.
 *
 * @param {string} markdown
 * @returns {{ readonly blocks: ReadonlyArray<Block>, readonly prose: ReadonlyArray<string> }}
 */
const split = (markdown) => {
  /** @type {Array<{ indent: string, fence: string, info: string, line: number, lines: Array<string> }>} */
  const found = []
  let isOpen = false
  const prose = markdown.split(/\r?\n/).map((line, row) => {
    const [, indent, fence, info] = line.match(FENCE) ?? []
    const block = found.at(-1)
    if (isOpen && block) {
      isOpen = !(fence?.startsWith(block.fence) && info === "")
      if (isOpen) block.lines.push(line.startsWith(block.indent) ? line.slice(block.indent.length) : line)
      return ""
    }
    if (fence === undefined) return line
    isOpen = true
    found.push({ indent, fence, info, line: row + 2, lines: [] })
    return ""
  })
  const blocks = found.map(({ info, line, lines }) => {
    const [language = "", ...flags] = info.trim().split(/\s+/)
    return { line, language, flags, text: lines.join("\n") }
  })
  return { blocks, prose }
}

/** @param {string} markdown */
export const blocks = (markdown) => split(markdown).blocks

/**
 * The commands of a shell session and what each printed. A command may go on after a `\`.
 *
 * @param {Block} block
 * @returns {ReadonlyArray<Command>}
 */
export const commands = (block) => {
  /** @type {Array<{ line: number, command: string, output: Array<string> }>} */
  const found = []
  let goesOn = false
  for (const [row, line] of block.text.split("\n").entries()) {
    const last = found.at(-1)
    if (goesOn && last) last.command += `\n${line}`
    else if (line.startsWith("$ ")) found.push({ line: block.line + row, command: line.slice(2), output: [] })
    else last?.output.push(line)
    goesOn = (goesOn || line.startsWith("$ ")) && line.endsWith("\\")
  }
  return found
}

const escape = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
const trimmed = (/** @type {string} */ text) => text.replace(/[ \t\r]+$/gm, "").trimEnd()

/**
 * Whether a command printed what is written. A line `…` stands for any lines, and within a line for any characters.
 *
 * @param {ReadonlyArray<string>} written
 * @param {string} printed
 */
export const isPrinted = (written, printed) => {
  const lines = trimmed(written.join("\n")).split("\n")
  const pattern = lines
    .map((line) => (line.trim() === "…" ? "(?:.*\n)*?" : `${line.split("…").map(escape).join(".*")}\n`))
    .join("")
  return new RegExp(`^${pattern}$`).test(`${trimmed(printed)}\n`)
}

/** `[text](target "title")`, `[name]: target` and plain HTML. */
const LINKS = [
  /\]\(\s*<?([^\s)>]+)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g,
  /^ {0,3}\[(?!\^)[^\]]+\]:\s*<?([^\s>]+)/g,
  /<[^>]*\b(?:href|src)="([^"]+)"/g
]

/**
 * Links to other files of the repository, and within the file. Those to the world are not ours to check.
 *
 * @param {string} markdown
 * @returns {ReadonlyArray<Link>}
 */
export const links = (markdown) =>
  split(markdown).prose.flatMap((text, row) =>
    LINKS.flatMap((pattern) => [...text.replace(/`[^`]*`/g, "").matchAll(pattern)])
      .map(([, target]) => target)
      .filter((target) => !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(target))
      .map((target) => {
        const [path, anchor = ""] = decodeURIComponent(target).split("#")
        return { line: row + 1, path, anchor }
      })
  )

/** @param {string} heading */
const slug = (heading) =>
  heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-")

/**
 * The anchors of a file as GitHub names them; a repeated heading is numbered.
 *
 * @param {string} markdown
 * @returns {ReadonlySet<string>}
 */
export const anchors = (markdown) => {
  const found = new Set()
  for (const line of split(markdown).prose) {
    const heading = line.match(/^ {0,3}#{1,6}\s+(.*?)\s*#*$/)?.[1]
    if (heading !== undefined) {
      const name = slug(heading)
      let unique = name
      for (let n = 1; found.has(unique); n++) unique = `${name}-${n}`
      found.add(unique)
    }
    for (const [, id] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) found.add(id)
  }
  return found
}
