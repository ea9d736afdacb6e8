/** A screen of a terminal, as it was captured with its colours, drawn as SVG. */
import headless from "@xterm/headless"

const CELL = { width: 8.4, height: 18 }
const MARGIN = 12
const FOREGROUND = "#d4d4d4"
const BACKGROUND = "#1e1e1e"
const COLORS = [
  ...["#1e1e1e", "#f14c4c", "#23d18b", "#e5e510", "#3b8eea", "#d670d6", "#29b8db", "#d4d4d4"],
  ...["#7f7f7f", "#ff6b6b", "#4be39f", "#f5f543", "#6cb0f7", "#e58be5", "#55d1ec", "#ffffff"]
]
const LEVELS = [0, 95, 135, 175, 215, 255]

/** One of 256 colours. @param {number} code */
const color = (code) => {
  if (code < 16) return COLORS[code]
  if (code >= 232) return `rgb(${Array(3).fill(8 + (code - 232) * 10)})`
  const cube = code - 16
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((at) => LEVELS[at])})`
}

const escaped = (/** @type {string} */ text) =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] ?? sign)

/** @param {any} cell */
const paintOf = (cell) => {
  const [own, behind] = [
    cell.isFgDefault() ? FOREGROUND : color(cell.getFgColor()),
    cell.isBgDefault() ? BACKGROUND : color(cell.getBgColor())
  ]
  const [fill, back] = cell.isInverse() ? [behind, own] : [own, behind]
  return { fill, back, bold: cell.isBold() !== 0, dim: cell.isDim() !== 0 }
}

/** @param {string} captured @param {string} title @param {{ readonly columns: number, readonly rows: number }} size */
export const svg = async (captured, title, { columns, rows }) => {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true })
  const text = captured.replace(/\n$/, "").replaceAll("\n", "\r\n")
  await new Promise((done) => terminal.write(text, () => done(undefined)))
  const parts = []
  for (let y = 0; y < rows; y++) {
    const line = terminal.buffer.active.getLine(y)
    for (let x = 0; x < columns; x++) {
      const cell = line?.getCell(x)
      if (cell === undefined || cell.getWidth() === 0) continue
      const { fill, back, bold, dim } = paintOf(cell)
      const [left, top] = [MARGIN + x * CELL.width, MARGIN + y * CELL.height]
      const wide = cell.getWidth() * CELL.width
      if (back !== BACKGROUND) {
        parts.push(`<rect x="${left}" y="${top}" width="${wide}" height="${CELL.height}" fill="${back}"/>`)
      }
      const sign = cell.getChars()
      if (sign.trim() === "") continue
      const weight = `${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.65"' : ""}`
      parts.push(`<text x="${left.toFixed(1)}" y="${top + 13}" fill="${fill}"${weight}>${escaped(sign)}</text>`)
    }
  }
  const [width, height] = [2 * MARGIN + columns * CELL.width, 2 * MARGIN + rows * CELL.height]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    '<g font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14">',
    ...parts,
    "</g></svg>",
    ""
  ].join("\n")
}
