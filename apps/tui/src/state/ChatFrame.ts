/** The chat as it is drawn: the conversation above, the editor below, and what stands between and around them. */
import { Preview } from "@grove/core"
import * as ChatFind from "./ChatFind.ts"
import * as ChatHeader from "./ChatHeader.ts"
import * as ChatReading from "./ChatReading.ts"
import type { ChatState } from "./ChatState.ts"
import type * as Completion from "./Completion.ts"
import * as Editor from "./Editor.ts"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import * as Transcript from "./Transcript.ts"
import type { Frame, World } from "./View.ts"
import * as Welcome from "./Welcome.ts"
import * as Words from "./Words.ts"

const MOST_COMPLETIONS = 8
const BUSY_MILLIS = 100

const ruleWords = (chat: ChatState, world: World): string => {
  const { symbols, turn, now, background, queue } = world
  const words: Array<string> = []
  if (turn !== null) {
    const sign = symbols.busy[Math.floor(now / BUSY_MILLIS) % symbols.busy.length]!
    const doing = turn.status ?? (turn.running.size > 0 ? "working" : turn.content.length > 0 ? "answering" : "waiting")
    words.push(`${sign} ${Preview.line(doing, 40)} ${Words.duration(Math.max(0, now - turn.started))}`, "Esc cancels")
  }
  if (background > 0) words.push(`${Words.count(background, "reply", "replies")} in the background`)
  if (queue.length > 0) words.push(`${queue.length} queued, ${symbols.up} takes back`)
  if (chat.position !== null) words.push(`${symbols.down} more below, Shift+End`)
  return words.join(symbols.dot)
}

const rule = (chat: ChatState, world: World): Row.Row => {
  const { columns, symbols } = world
  const words = ruleWords(chat, world)
  if (words === "") return Row.row(symbols.rule.repeat(columns), "dim")
  const left: Row.Row = [Row.span(`${symbols.rule.repeat(2)} `, "dim"), Row.span(words, "accent"), Row.span(" ")]
  const fitting = Row.cut(left, columns)
  return [...fitting, Row.span(symbols.rule.repeat(Math.max(0, columns - Row.width(fitting))), "dim")]
}

const footer = (world: World): Row.Row => {
  const { columns, symbols, session } = world
  const money = [
    Words.cost(session.usage.tree.costMicros),
    session.tokens === null ? symbols.more : Words.tokens(session.tokens)
  ].join(symbols.dot)
  const other = world.linear ? "" : `Alt+${symbols.previous}${symbols.next} other answers`
  const hints = ["/tree", "/fork", "^R history", other, "? keys"].filter((hint) => hint !== "")
  return Row.spread(Row.row(` ${hints.join("  ")}`, "dim"), Row.row(` ${money} `, "dim"), columns)
}

const completionRows = (completion: Completion.Completion, world: World): ReadonlyArray<Row.Row> => {
  const { columns, symbols } = world
  const from = Math.max(0, Math.min(completion.selected - 3, completion.items.length - MOST_COMPLETIONS))
  const wide = Math.max(10, ...completion.items.map(({ text }) => Row.width(Row.row(text)))) + 2
  return completion.items.slice(from, from + MOST_COMPLETIONS).map(({ text, about }, i) => {
    const isSelected = from + i === completion.selected
    const name = Row.fill(Row.row(text, "accent"), Math.min(wide, columns - 4))
    const row = [Row.span(isSelected ? ` ${symbols.select} ` : "   ", "accent"), ...name, Row.span(about, "dim")]
    return isSelected ? Row.fill(row, columns, "selected") : Row.cut(row, columns)
  })
}

export const draw = (chat: ChatState, world: World): Frame => {
  const { columns, rows } = world
  const { lines, line, column } = Editor.layout(chat.editor, ChatReading.editorColumns(columns))
  const height = ChatReading.editorHeight(lines.length, rows)
  const top = Math.max(0, Math.min(line - Math.floor(height / 2), lines.length - height))
  const editor = lines
    .slice(top, top + height)
    .map(
      ({ shown }, i): Row.Row => [Row.span(top + i === 0 ? " > " : "   ", "accent"), { text: shown, style: "plain" }]
    )
  const completion = chat.completion === null ? [] : completionRows(chat.completion, world)
  const find = chat.find === null ? undefined : ChatFind.findBar(chat.find, world)
  const notice = chat.notice === null ? [footer(world)] : Sheet.notice(world, chat.notice)
  const foot = find === undefined ? notice : [find.row]
  const room = Math.max(0, rows - 2 - foot.length - editor.length - completion.length)
  const words = chat.find === null ? "" : Editor.textOf(chat.find.query).toLowerCase()
  const view = ChatReading.content(chat, world)
  const seen =
    view.count === 0
      ? Welcome.rows(world)
      : Transcript.visible(view, chat.position, room).map(({ spans }) => ChatFind.highlighted(spans, words))
  const shown = seen.slice(0, room)
  const filler = Array.from({ length: room - shown.length }, () => Row.empty)
  const caret =
    find === undefined
      ? {
          line: rows - foot.length - editor.length + (line - top),
          column: Math.min(columns - 1, ChatReading.PROMPT_COLUMNS + column)
        }
      : { line: rows - 1, column: find.column }
  return {
    rows: [ChatHeader.header(world), ...shown, ...filler, ...completion, rule(chat, world), ...editor, ...foot].slice(
      0,
      rows
    ),
    caret
  }
}
