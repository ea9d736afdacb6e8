/** `grove compare`: two branches side by side. */
import { Comparison, Preview, type SessionTree, Width } from "@grove/core"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as Prices from "../Prices.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const SIGNS = { same: " ", removed: "-", added: "+" } as const
/** Of each part of a turn so many lines are shown; `--json` has all of them. */
const MOST_LINES = 12
/** What both say is only needed to find one's way. */
const MOST_SAME = 2

/** Words moved to the next line where they do not fit; one that never fits is cut in pieces. */
const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let [line, width] = ["", 0]
  for (const [at, word] of text.split(" ").entries()) {
    const gap = at === 0 ? 0 : 1
    for (const [part, piece] of Width.pieces(word, columns).entries()) {
      const more = Width.of(piece)
      if (part === 0 && width + gap + more <= columns) {
        line += " ".repeat(gap) + piece
        width += gap + more
      } else {
        lines.push(line)
        line = piece
        width = more
      }
    }
  }
  return [...lines, line]
}

const partLines = (
  { kind, text }: Comparison.Part,
  columns: number,
  { dim, symbols }: Style.Style
): ReadonlyArray<string> => {
  const most = kind === "same" ? MOST_SAME : MOST_LINES
  // No more of a long text is looked at than can be shown.
  const shown = text.slice(0, (most + 1) * columns * 4)
  const lines = Preview.inert(shown.replace(/\n$/, ""))
    .split("\n")
    .flatMap((line) => wrap(line, columns - 2))
  const drawn = lines.slice(0, most).map((line) => `${SIGNS[kind]} ${line}`.trimEnd())
  const rest = lines.length > most || shown.length < text.length
  const all = rest ? [...drawn, `${SIGNS[kind]} ${symbols.more}`] : drawn
  return kind === "same" ? all.map(dim) : all
}

const sideLines = (sign: string, side: Comparison.Side, columns: number, { line, symbols }: Style.Style) => {
  const facts = [
    Words.count(side.entries.length, "entry", "entries"),
    `about ${Words.count(side.tokens, "token")}`,
    Words.money(side.costMicros)
  ].join(symbols.dot)
  const left = `${sign} ${Preview.line(side.leaf, 24)}  `
  const files = side.files.length === 0 ? [] : [`  ${line(`files: ${side.files.join(", ")}`, columns - 2)}`]
  return [`${left}${line(facts, columns - Width.of(left))}`, ...files]
}

const turnLines = (
  { a, b, diff }: Comparison.TurnPair,
  at: number,
  columns: number,
  style: Style.Style
): ReadonlyArray<string> => {
  const { rule } = style.symbols
  const isSame = diff.every(({ kind }) => kind === "same")
  const where = a === null ? `${b}, only +` : b === null ? `${a}, only -` : `${a}, ${b}`
  return [
    "",
    style.line(`${rule.repeat(2)} turn ${at + 1} (${where})${isSame ? ": the same words" : ""}`, columns),
    ...(isSame ? [] : diff.flatMap((part) => partLines(part, columns, style)))
  ]
}

const forkLine = (
  tree: SessionTree,
  { common }: Comparison.Comparison,
  columns: number,
  style: Style.Style
): string => {
  const last = common.at(-1)
  if (last === undefined) return "nothing in common: they begin at different roots"
  const text = Preview.ofEntry(tree.get(last)!, columns)
  return style.line(`${Words.count(common.length, "entry", "entries")} in common, up to ${last}: ${text}`, columns)
}

export const run = Effect.fn("compare")(function* ({ arguments: [name, nameA, nameB], flags }: Input) {
  const { tree } = yield* SessionArgument.look(name!)
  const a = yield* SessionArgument.entry(tree, nameA!)
  const b = yield* SessionArgument.entry(tree, nameB!)
  const comparison = Comparison.compare(tree, a, b, yield* Prices.today)
  if (flags.json === true) return yield* Output.json(comparison)
  const surroundings = yield* Environment
  const style = Style.make(surroundings)
  const { columns } = surroundings
  yield* Output.lines([
    forkLine(tree, comparison, columns, style),
    ...sideLines("-", comparison.a, columns, style),
    ...sideLines("+", comparison.b, columns, style),
    ...comparison.turns.flatMap((turn, at) => turnLines(turn, at, columns, style))
  ])
})
