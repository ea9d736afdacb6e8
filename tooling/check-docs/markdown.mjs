/** What a markdown file promises: blocks of code, commands with their output, links and the anchors they lead to. */

/** @typedef {{ readonly line: number, readonly language: string, readonly flags: ReadonlyArray<string>, readonly text: string }} Block `line` is that of its first line of code. */
/** @typedef {{ readonly line: number, readonly command: string, readonly output: ReadonlyArray<string> }} Command */
/** @typedef {{ readonly line: number, readonly path: string, readonly anchor: string }} Link `path` is empty for the same file. */

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/

/**
 * The file's code and its prose, where code leaves blank lines behind.
 *
 * @param {string} markdown
 * @returns {{ readonly blocks: ReadonlyArray<Block>, readonly prose: ReadonlyArray<string> }}
 */
const split = (markdown) => {
  /** @type {Array<Block>} */
  const blocks = []
  /** @type {Array<string>} */
  const prose = []
  /** @type {{ indent: string, fence: string, info: string, line: number, lines: Array<string> } | undefined} */
  let open
  for (const [row, line] of markdown.split(/\r?\n/).entries()) {
    const [, indent, fence, info] = line.match(FENCE) ?? []
    prose.push(open === undefined && fence === undefined ? line : "")
    if (open === undefined) {
      if (fence !== undefined) open = { indent, fence, info, line: row + 2, lines: [] }
    } else if (fence?.startsWith(open.fence) && info === "") {
      const [language = "", ...flags] = open.info.trim().split(/\s+/)
      blocks.push({ line: open.line, language, flags, text: open.lines.join("\n") })
      open = undefined
    } else {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line)
    }
  }
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

const escape = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")

const LINKS = [/\]\(\s*<?([^\s)>]+)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g, /^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)/g]

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
