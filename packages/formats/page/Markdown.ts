/** Markdown as elements: the common part of it, and nothing that could load, run or hide anything. */
import { h, inert, marked } from "./dom.ts"

type Words = ReadonlyArray<string>

const SAFE = /^(?:https?:\/\/|mailto:)[^\s]+$/i

const link = (url: string, label: Node): Node =>
  SAFE.test(url) ? h("a", { href: url, rel: "noopener noreferrer nofollow", target: "_blank" }, label) : label

const hostOf = (url: string): string => /^https?:\/\/([^/\s]{1,100})/i.exec(url)?.[1] ?? "elsewhere"

/** Each alternative ends where it began or at once, so that a line is looked at once. */
const INLINE =
  /(`+)(?!`)([^`]{1,5000}?)\1(?!`)|!\[([^\]]{0,500})\]\(([^()\s]{0,2000})[^()]{0,200}\)|\[([^\]]{1,500})\]\(([^()\s]{1,2000})[^()]{0,200}\)|\*\*([^*]{1,2000})\*\*|(?<![\w*])\*([^*\s][^*]{0,2000})\*(?!\w)|(?<!\w)_([^_\s][^_]{0,2000})_(?!\w)|~~([^~]{1,2000})~~|(https?:\/\/[^\s<>()"'`]{1,2000})/g

/** Beyond this a line is shown as it is. */
const LONGEST_LINE = 20_000

export const inline = (text: string, words: Words): DocumentFragment => {
  const fragment = document.createDocumentFragment()
  if (text.length > LONGEST_LINE) {
    fragment.append(marked(text, words))
    return fragment
  }
  let from = 0
  for (const found of text.matchAll(INLINE)) {
    const [whole, , code, alt, image, label, target, strong, em, em2, del, url] = found
    fragment.append(marked(text.slice(from, found.index), words))
    from = found.index + whole.length
    if (code !== undefined) fragment.append(h("code", {}, marked(code.trim() || code, words)))
    else if (image !== undefined) fragment.append(h("span", { class: "chip" }, `image from ${hostOf(image)}: ${alt}`))
    else if (target !== undefined) fragment.append(link(target, marked(label!, words)))
    else if (strong !== undefined) fragment.append(h("strong", {}, marked(strong, words)))
    else if (em !== undefined || em2 !== undefined) fragment.append(h("em", {}, marked(em ?? em2!, words)))
    else if (del !== undefined) fragment.append(h("del", {}, marked(del, words)))
    else fragment.append(link(url!, marked(url!, words)))
  }
  fragment.append(marked(text.slice(from), words))
  return fragment
}

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/
const HEADING = /^(#{1,6})\s+(.*?)\s*#*\s*$/
const BULLET = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/
const CELLS = /^\s*\|.*\|\s*$/
const DIVIDER = /^\s*\|(?:\s*:?-{1,}:?\s*\|)+\s*$/

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .trim()
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim())

export const code = (text: string, words: Words): HTMLElement =>
  h("pre", { tabindex: 0 }, h("code", {}, marked(inert(text), words)))

const tableOf = (lines: ReadonlyArray<string>, words: Words): HTMLElement => {
  const row = (line: string, tag: "td" | "th") =>
    h("tr", {}, ...cellsOf(line).map((cell) => h(tag, {}, inline(cell, words))))
  const body = lines.slice(2).map((line) => row(line, "td"))
  return h("div", { class: "table" }, h("table", {}, h("thead", {}, row(lines[0]!, "th")), h("tbody", {}, ...body)))
}

/** Lines of the same kind, from `at` on. */
const runOf = (lines: ReadonlyArray<string>, at: number, belongs: (line: string, i: number) => boolean): number => {
  let end = at
  while (end < lines.length && belongs(lines[end]!, end)) end++
  return end
}

const listOf = (lines: ReadonlyArray<string>, words: Words): HTMLElement => {
  const isOrdered = BULLET.exec(lines[0]!)![2] !== undefined
  const items: Array<HTMLElement> = []
  for (const line of lines) {
    const found = BULLET.exec(line)
    if (found === null) items.at(-1)!.append(" ", inline(line.trim(), words))
    else {
      const [, indent, , text] = found
      const task = /^\[([ xX])\]\s+(.*)$/.exec(text!)
      const depth = Math.min(3, Math.floor(indent!.length / 2))
      const said = task === null ? text! : `${task[1] === " " ? "☐" : "☑"} ${task[2]}`
      items.push(h("li", { class: `depth${depth}` }, inline(said, words)))
    }
  }
  if (!isOrdered) return h("ul", {}, ...items)
  return h("ol", { start: BULLET.exec(lines[0]!)![2]! }, ...items)
}

const startsBlock = (line: string): boolean =>
  FENCE.test(line) || HEADING.test(line) || BULLET.test(line) || RULE.test(line) || /^\s{0,3}>/.test(line)

export const render = (source: string, words: Words): DocumentFragment => {
  const fragment = document.createDocumentFragment()
  const lines = inert(source.replaceAll("\r\n", "\n")).split("\n")
  let at = 0
  while (at < lines.length) {
    const line = lines[at]!
    const fence = FENCE.exec(line)
    const heading = HEADING.exec(line)
    let end = at + 1
    if (line.trim() === "") {
      // Parts paragraphs.
    } else if (fence !== null) {
      const mark = fence[1]!
      end = runOf(lines, at + 1, (inner) => !(inner.trim().startsWith(mark) && /^[`~]+$/.test(inner.trim())))
      fragment.append(code(lines.slice(at + 1, end).join("\n"), words))
      end++
    } else if (heading !== null) {
      fragment.append(h(`h${Math.min(6, heading[1]!.length + 2)}` as "h3", {}, inline(heading[2]!, words)))
    } else if (RULE.test(line)) {
      fragment.append(h("hr"))
    } else if (/^\s{0,3}>/.test(line)) {
      end = runOf(lines, at, (inner) => /^\s{0,3}>/.test(inner))
      const quoted = lines.slice(at, end).map((inner) => inner.replace(/^\s{0,3}>\s?/, ""))
      fragment.append(h("blockquote", {}, ...quoted.map((inner) => h("p", {}, inline(inner, words)))))
    } else if (CELLS.test(line) && DIVIDER.test(lines[at + 1] ?? "")) {
      end = runOf(lines, at, (inner) => CELLS.test(inner))
      fragment.append(tableOf(lines.slice(at, end), words))
    } else if (BULLET.test(line)) {
      end = runOf(
        lines,
        at,
        (inner, i) => BULLET.test(inner) || (i > at && /^\s{2,}\S/.test(inner) && !FENCE.test(inner))
      )
      fragment.append(listOf(lines.slice(at, end), words))
    } else {
      end = runOf(lines, at, (inner, i) => inner.trim() !== "" && (i === at || !startsBlock(inner)))
      const paragraph = h("p")
      lines.slice(at, end).forEach((inner, i) => {
        if (i > 0) paragraph.append(h("br"))
        paragraph.append(inline(inner, words))
      })
      fragment.append(paragraph)
    }
    at = end
  }
  return fragment
}
