/** Searching the conversation for words: Ctrl+S. */
import * as Blocks from "./Blocks.ts"
import * as ChatReading from "./ChatReading.ts"
import type { ChatState } from "./ChatState.ts"
import * as Editor from "./Editor.ts"
import * as Row from "./Row.ts"
import * as Transcript from "./Transcript.ts"
import type { Event, World } from "./View.ts"

/** Looks for the next block with the words, upwards below zero; from the selected one, else from the end. */
const found = (chat: ChatState, world: World, query: string, by: -1 | 1, isAgain: boolean): ChatState => {
  const blocks = Blocks.of(world.session)
  const words = query.toLowerCase()
  const before = blocks.findIndex(({ key }) => key === chat.find?.hit)
  const find = { query: chat.find?.query ?? Editor.empty, hit: chat.find?.hit ?? null }
  if (words === "") return { ...chat, find: { ...find, hit: null } }
  const start = before === -1 ? blocks.length - 1 : isAgain ? before + by : before
  for (let i = 0; i < blocks.length; i++) {
    const index = (((start + i * by) % blocks.length) + blocks.length) % blocks.length
    const block = blocks[index]!
    if (!Blocks.textOf(block, world.session).toLowerCase().includes(words)) continue
    const next = { ...chat, selected: block.key, find: { ...find, hit: block.key } }
    const position = Transcript.reveal(
      ChatReading.content(next, world),
      chat.position,
      ChatReading.transcriptHeight(chat, world),
      index
    )
    return { ...next, position }
  }
  return { ...chat, selected: null, find: { ...find, hit: null } }
}

export const finding = (
  chat: ChatState,
  find: NonNullable<ChatState["find"]>,
  event: Event,
  world: World
): ChatState => {
  const typed = (query: Editor.Editor): ChatState =>
    found({ ...chat, find: { query, hit: find.hit } }, world, Editor.textOf(query), -1, false)
  if (event._tag === "Paste") return typed(Editor.insert(find.query, event.text.replace(/\s+/g, " ")))
  if (event._tag === "Wheel") return ChatReading.scrolled(chat, world, event.lines)
  if (event._tag !== "Key") return chat
  switch (event.name) {
    case "escape":
    case "ctrl+c":
      return { ...chat, find: null, selected: null }
    case "enter":
    case "up":
    case "ctrl+s":
      return found(chat, world, Editor.textOf(find.query), -1, true)
    case "down":
      return found(chat, world, Editor.textOf(find.query), 1, true)
    default:
      if (event.text !== undefined) return typed(Editor.insert(find.query, event.text))
      return event.name.includes("enter") ? chat : typed(Editor.press(find.query, event.name, 10_000) ?? find.query)
  }
}

export const findBar = (find: NonNullable<ChatState["find"]>, world: World): { row: Row.Row; column: number } => {
  const { columns, symbols } = world
  const { lines, column } = Editor.layout(find.query, 10_000)
  const label = " find: "
  const isEmpty = Editor.isEmpty(find.query)
  const state = isEmpty ? "" : find.hit === null ? "not found" : ""
  const hint = `${state === "" ? "" : `${state}${symbols.dot}`}Enter ${symbols.up} ${symbols.down} next${symbols.dot}Esc `
  const left: Row.Row = [Row.span(label, "accent"), { text: lines[0]?.shown ?? "", style: "plain" }]
  return {
    row: Row.spread(left, Row.row(hint, state === "" ? "dim" : "warning"), columns),
    column: Math.min(columns - 1, label.length + column)
  }
}

export const highlighted = (row: Row.Row, words: string): Row.Row => {
  if (words === "") return row
  return row.flatMap(({ text, style }) => {
    const spans: Array<Row.Span> = []
    const lower = text.toLowerCase()
    let from = 0
    for (
      let at = lower.length === text.length ? lower.indexOf(words) : -1;
      at !== -1;
      at = lower.indexOf(words, from)
    ) {
      spans.push({ text: text.slice(from, at), style }, { text: text.slice(at, at + words.length), style: "match" })
      from = at + words.length
    }
    return [...spans, { text: text.slice(from), style }]
  })
}
