/** Markdown as rows, complete or still arriving. Links and images are named, HTML is text: nothing is followed or obeyed. */
import type { Symbols } from "@grove/core/model"
import { lexer, type Token, type Tokens } from "marked"
import * as Row from "./Row.ts"

/** Beyond this a text is shown as it is: nobody reads it as a page, and parsing it would be felt. */
const LONGEST = 200_000
/** Deeper nesting is shown flat. */
const DEEPEST = 12

interface Options {
  readonly columns: number
  readonly symbols: Symbols.Symbols
}

const decoded: { readonly [entity: string]: string } = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'"
}
const plain = (text: string): string => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => decoded[entity] ?? entity)

/** The pieces of a paragraph; a line break is a span of its own. */
const inline = (tokens: ReadonlyArray<Token>, style: Row.Style, depth: number): ReadonlyArray<Row.Span | "break"> =>
  tokens.flatMap((token): ReadonlyArray<Row.Span | "break"> => {
    const inner = "tokens" in token && token.tokens !== undefined && depth < DEEPEST ? token.tokens : undefined
    switch (token.type) {
      case "strong":
        return inner === undefined ? texts(token.raw, style) : inline(inner, "strong", depth + 1)
      case "em":
        return inner === undefined ? texts(token.raw, style) : inline(inner, "emphasis", depth + 1)
      case "codespan":
        return texts(plain((token as Tokens.Codespan).text), "code")
      case "br":
        return ["break"]
      case "link": {
        const { text, href } = token as Tokens.Link
        const name = inner === undefined ? texts(text, "link") : inline(inner, "link", depth + 1)
        return href === text || href === `mailto:${text}` ? name : [...name, Row.span(` (${href})`, "dim")]
      }
      case "image": {
        const { text, href } = token as Tokens.Image
        return [Row.span(`[image: ${text || href}]`, "link")]
      }
      case "escape":
        return texts((token as Tokens.Escape).text, style)
      case "text":
        return inner === undefined ? texts(plain((token as Tokens.Text).text), style) : inline(inner, style, depth + 1)
      default:
        return inner === undefined ? texts(token.raw, style) : inline(inner, style, depth + 1)
    }
  })

const texts = (text: string, style: Row.Style): ReadonlyArray<Row.Span | "break"> =>
  text.split("\n").flatMap((line, i) => [...(i === 0 ? [] : (["break"] as const)), Row.span(line, style)])

const lines = (spans: ReadonlyArray<Row.Span | "break">): ReadonlyArray<Row.Row> => {
  const found: Array<Array<Row.Span>> = [[]]
  for (const span of spans) {
    if (span === "break") found.push([])
    else found.at(-1)!.push(span)
  }
  return found
}

const paragraph = (tokens: ReadonlyArray<Token>, style: Row.Style, columns: number): ReadonlyArray<Row.Row> =>
  lines(inline(tokens, style, 0)).flatMap((line) => Row.wrap(line, columns))

/** Lines as they are, broken where they do not fit. */
export const verbatim = (text: string, style: Row.Style, columns: number): ReadonlyArray<Row.Row> =>
  text.split(/\r\n?|\n/).flatMap((line) => Row.wrap(Row.row(line, style), columns))

const code = ({ text, lang }: Tokens.Code, columns: number): ReadonlyArray<Row.Row> => {
  const rows = Row.indent(verbatim(text, "code", columns - 2), Row.row("  "), Row.row("  "))
  return lang === undefined || lang === "" ? rows : [Row.row(`  ${lang}`, "dim"), ...rows]
}

const table = ({ header, rows }: Tokens.Table, { columns, symbols }: Options): ReadonlyArray<Row.Row> => {
  const cellsOf = (cells: ReadonlyArray<Tokens.TableCell>, style: Row.Style) =>
    cells.map((cell) => lines(inline(cell.tokens, style, 0)).flat())
  const all = [cellsOf(header, "strong"), ...rows.map((cells) => cellsOf(cells, "plain"))]
  const gap = 2
  const wanted = header.map((_, i) => Math.max(1, ...all.map((cells) => Row.width(cells[i] ?? Row.empty))))
  const room = Math.max(header.length, columns - gap * (header.length - 1))
  const total = wanted.reduce((sum, wide) => sum + wide, 0)
  const share = wanted.map((wide) => (total <= room ? wide : Math.max(1, Math.floor((wide * room) / total))))
  const drawn = all.map((cells) =>
    cells.flatMap((cell, i) => [
      ...Row.fill(cell, share[i] ?? 1),
      Row.span(i < cells.length - 1 ? " ".repeat(gap) : "")
    ])
  )
  const rule = Row.row(
    symbols.rule.repeat(
      Math.min(
        columns,
        share.reduce((sum, wide) => sum + wide + gap, -gap)
      )
    ),
    "dim"
  )
  return [drawn[0]!, rule, ...drawn.slice(1)].map((row) => Row.cut(row, columns))
}

const list = ({ items, ordered, start }: Tokens.List, options: Options, depth: number): ReadonlyArray<Row.Row> =>
  items.flatMap((item, i) => {
    const sign = ordered ? `${Number(start || 1) + i}. ` : `${options.symbols.bullet} `
    const box = item.task ? (item.checked === true ? "[x] " : "[ ] ") : ""
    const wide = sign.length
    const tokens = item.tokens.filter(({ type }) => type !== "checkbox")
    const rows = blocks(tokens, { ...options, columns: options.columns - wide - box.length }, depth + 1)
    const body = rows.length === 0 ? [Row.empty] : rows
    const first = [Row.span(sign, "dim"), ...(box === "" ? [] : [Row.span(box, "accent")])]
    return Row.indent(body, first, Row.row(" ".repeat(wide)))
  })

const block = (token: Token, options: Options, depth: number): ReadonlyArray<Row.Row> => {
  const { columns, symbols } = options
  if (depth >= DEEPEST) return verbatim(token.raw, "plain", columns)
  switch (token.type) {
    case "space":
      return []
    case "heading":
      return paragraph((token as Tokens.Heading).tokens, "heading", columns)
    case "paragraph":
      return paragraph((token as Tokens.Paragraph).tokens, "plain", columns)
    case "text": {
      const { tokens, text } = token as Tokens.Text
      return tokens === undefined ? verbatim(plain(text), "plain", columns) : paragraph(tokens, "plain", columns)
    }
    case "code":
      return code(token as Tokens.Code, columns)
    case "list":
      return list(token as Tokens.List, options, depth)
    case "blockquote": {
      const bar = Row.row(`${symbols.quote} `, "dim")
      return Row.indent(
        blocks((token as Tokens.Blockquote).tokens, { ...options, columns: columns - 2 }, depth + 1),
        bar,
        bar
      )
    }
    case "table":
      return table(token as Tokens.Table, options)
    case "hr":
      return [Row.row(symbols.rule.repeat(Math.min(columns, 40)), "dim")]
    default:
      return verbatim(token.raw.replace(/\n+$/, ""), "plain", columns)
  }
}

const isTight = (above: Token | undefined): boolean => above === undefined || above.type === "text"

const blocks = (tokens: ReadonlyArray<Token>, options: Options, depth: number): ReadonlyArray<Row.Row> => {
  const rows: Array<Row.Row> = []
  let above: Token | undefined
  for (const token of tokens) {
    const drawn = block(token, options, depth)
    if (drawn.length === 0) continue
    if (!isTight(above) && depth === 0) rows.push(Row.empty)
    for (const row of drawn) rows.push(row)
    above = token
  }
  return rows
}

const parse = (text: string): ReadonlyArray<Token> | undefined => {
  try {
    return text.length > LONGEST ? undefined : lexer(text, { gfm: true, breaks: true })
  } catch {
    // Nesting that overflows the parser's stack: shown as it is.
    return undefined
  }
}

/** The rows of a text. */
export const render = (text: string, options: Options): ReadonlyArray<Row.Row> => {
  const tokens = parse(text)
  const narrowest = Math.max(8, options.columns)
  return tokens === undefined
    ? verbatim(text, "plain", narrowest)
    : blocks(tokens, { ...options, columns: narrowest }, 0).map((row) => Row.cut(row, narrowest))
}
