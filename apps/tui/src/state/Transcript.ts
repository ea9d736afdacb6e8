/**
 * Scrolling over the conversation. A position is a row of a block, counted from the block and not from the beginning,
 * so nothing above or below the window is ever drawn, however long the conversation is.
 */
import type { Row } from "./Row.ts"

/** What there is to scroll over; rows of a block are made when they are asked for. */
export interface Content {
  readonly count: number
  readonly rows: (block: number) => ReadonlyArray<Row>
}

/** The topmost row of the window; `null` follows the end. */
export type Position = { readonly block: number; readonly row: number } | null

/** Where the window begins when it shows the end. */
const endPosition = ({ count, rows }: Content, height: number): { readonly block: number; readonly row: number } => {
  let left = height
  for (let block = count - 1; block >= 0; block--) {
    const length = rows(block).length
    if (length >= left) return { block, row: length - left }
    left -= length
  }
  return { block: 0, row: 0 }
}

const isAtOrAfter = (a: { block: number; row: number }, b: { block: number; row: number }): boolean =>
  a.block > b.block || (a.block === b.block && a.row >= b.row)

/** Moves the window; at the end it follows again. */
export const scroll = (content: Content, position: Position, height: number, by: number): Position => {
  if (content.count === 0) return null
  const end = endPosition(content, height)
  const from = position === null || position.block >= content.count ? end : position
  let { block, row } = from
  row += by
  while (row < 0 && block > 0) {
    block--
    row += content.rows(block).length
  }
  if (row < 0) row = 0
  while (block < content.count - 1 && row >= content.rows(block).length) {
    row -= content.rows(block).length
    block++
  }
  return isAtOrAfter({ block, row }, end) ? null : { block, row }
}

/** The window so that a block is in sight, near the top. */
export const reveal = (content: Content, position: Position, height: number, block: number): Position => {
  const seen = visible(content, position, height)
  if (seen.some((each) => each.block === block && each.row === 0)) return position
  return scroll(content, { block: Math.min(block, content.count - 1), row: 0 }, height, -Math.min(2, height - 1))
}

export interface Line {
  readonly block: number
  readonly row: number
  readonly spans: Row
}

/** The rows in the window, at most `height`. */
export const visible = (content: Content, position: Position, height: number): ReadonlyArray<Line> => {
  if (content.count === 0 || height <= 0) return []
  const start = position === null || position.block >= content.count ? endPosition(content, height) : position
  const lines: Array<Line> = []
  for (let block = start.block; block < content.count && lines.length < height; block++) {
    const rows = content.rows(block)
    const from = block === start.block ? Math.min(start.row, Math.max(0, rows.length - 1)) : 0
    for (let row = from; row < rows.length && lines.length < height; row++) {
      lines.push({ block, row, spans: rows[row]! })
    }
  }
  return lines
}
