/**
 * Texts with a NUL in them, as SQLite can keep them: some drivers end a text there. A NUL is written as two characters
 * that stand for nothing in Unicode and part words for the index; the first of them, where a text has it, is doubled.
 */
import type { Row, Value } from "./SqliteDriver.ts"

const ESCAPE = "\ufdd0"
const NUL = `${ESCAPE}\ufdd1`

export const written = (value: unknown): unknown =>
  typeof value === "string" && (value.includes("\0") || value.includes(ESCAPE))
    ? value.replaceAll(ESCAPE, ESCAPE + ESCAPE).replaceAll("\0", NUL)
    : value

const readText = (text: string): string =>
  text.replace(/\ufdd0([\ufdd0\ufdd1])/g, (_, second) => (second === ESCAPE ? ESCAPE : "\0"))

const isEscaped = (value: Value | undefined): value is string => typeof value === "string" && value.includes(ESCAPE)

/** Every row that is found passes here, so one without an escape costs a look at its texts and nothing more. */
export const read = (row: Row): Row => {
  for (const name in row) {
    if (isEscaped(row[name])) {
      return Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, isEscaped(value) ? readText(value) : value])
      )
    }
  }
  return row
}
