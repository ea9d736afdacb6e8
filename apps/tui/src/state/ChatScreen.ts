/** The chat itself: the conversation above, the editor below, and what keys do to them. */
import { Preview } from "@grove/core/model"
import * as Blocks from "./Blocks.ts"
import * as Commands from "./Commands.ts"
import * as Completion from "./Completion.ts"
import * as Editor from "./Editor.ts"
import * as ForkView from "./ForkView.ts"
import * as Row from "./Row.ts"
import * as Transcript from "./Transcript.ts"
import type { Event, Frame, Intent, Next, Notice, Prompt, SessionState, World } from "./View.ts"
import * as Words from "./Words.ts"

export interface ChatState {
  readonly editor: Editor.Editor
  readonly position: Transcript.Position
  /** Folds that were opened, or with `openAll` those that were closed. */
  readonly toggled: ReadonlySet<string>
  readonly openAll: boolean
  /** The key of the selected block. */
  readonly selected: string | null
  /** Going through earlier prompts: which, and what was being written. */
  readonly recall: { readonly index: number; readonly draft: Editor.Editor } | null
  readonly folderPrompts: ReadonlyArray<string>
  readonly completion: Completion.Completion | null
  /** For completing their names; `null` before they are there. */
  readonly files: ReadonlyArray<string> | null
  readonly hasAskedForFiles: boolean
  readonly find: { readonly query: Editor.Editor; readonly hit: string | null } | null
  readonly notice: Notice | null
  readonly escapedAt: number
  readonly interruptedAt: number
}

export const initial: ChatState = {
  editor: Editor.empty,
  position: null,
  toggled: new Set(),
  openAll: false,
  selected: null,
  recall: null,
  folderPrompts: [],
  completion: null,
  files: null,
  hasAskedForFiles: false,
  find: null,
  notice: null,
  escapedAt: 0,
  interruptedAt: 0
}

export interface Step extends Omit<Next, "view"> {
  readonly chat: ChatState
}

const DOUBLE_MILLIS = 500
const QUIT_MILLIS = 2000
const MOST_COMPLETIONS = 8
/** Before the text of the editor. */
const PROMPT_COLUMNS = 3

export const editorColumns = (columns: number): number => Math.max(4, columns - PROMPT_COLUMNS - 1)

// ----------------------------------------------------------------------------------------------------- the transcript

interface Drawn {
  readonly columns: number
  readonly toggled: ReadonlySet<string>
  readonly openAll: boolean
  readonly isSelected: boolean
  readonly linear: boolean
  readonly rows: ReadonlyArray<Row.Row>
}
/** Rows of blocks that were drawn before: what did not change is not drawn again. */
const drawn = new WeakMap<Blocks.Block, Drawn>()

export const content = (chat: ChatState, world: World): Transcript.Content => {
  const blocks = Blocks.shown(world)
  const { columns, linear } = world
  const { toggled, openAll } = chat
  const rows = (index: number): ReadonlyArray<Row.Row> => {
    const block = blocks[index]!
    const isSelected = block.key === chat.selected
    // The last blocks change while a reply is being made.
    const isSettled = world.turn === null || index < blocks.length - 2
    const known = drawn.get(block)
    if (
      isSettled &&
      known?.columns === columns &&
      known.toggled === toggled &&
      known.openAll === openAll &&
      known.isSelected === isSelected &&
      known.linear === linear
    ) {
      return known.rows
    }
    const made = Blocks.draw(block, world, {
      columns,
      symbols: world.symbols,
      isOpen: (key) => toggled.has(key) !== openAll,
      isSelected,
      marksForks: !linear
    })
    if (isSettled) drawn.set(block, { columns, toggled, openAll, isSelected, linear, rows: made })
    return made
  }
  return { count: blocks.length, rows }
}

// ----------------------------------------------------------------------------------------------------------- recall

const sessionPrompts = new WeakMap<SessionState, ReadonlyArray<string>>()

/** Prompts of this session, newest first, read from the end as far as anyone goes back. */
const promptsOf = (session: SessionState): ReadonlyArray<string> => {
  const known = sessionPrompts.get(session)
  if (known !== undefined) return known
  const { tree } = session
  const rows = tree.rows().filter((row) => tree.roleAt(row) === "user")
  const prompts = tree.entriesAt(rows.slice(-200)).map((entry) => Preview.textOfEntry(entry))
  const newest = [...new Set(prompts.reverse())].filter((text) => text !== "")
  sessionPrompts.set(session, newest)
  return newest
}

const recallable = (chat: ChatState, world: World): ReadonlyArray<string> => [
  ...new Set([...promptsOf(world.session), ...chat.folderPrompts])
]

const recall = (chat: ChatState, world: World, by: 1 | -1): ChatState => {
  const prompts = recallable(chat, world)
  const from = chat.recall?.index ?? -1
  const draft = chat.recall?.draft ?? chat.editor
  const index = from + by
  if (index < -1 || index >= prompts.length) return chat
  if (index === -1) return { ...chat, editor: draft, recall: null }
  // What was recalled and then changed is kept by the undo of the editor.
  return { ...chat, editor: Editor.set(chat.editor, prompts[index]!), recall: { index, draft } }
}

// ------------------------------------------------------------------------------------------------------------- keys

const promptOf = (editor: Editor.Editor): Prompt => ({ text: Editor.textOf(editor), images: Editor.imagesOf(editor) })

export const filled = ({ text, images }: Prompt, before: Editor.Editor): Editor.Editor =>
  images.reduce<Editor.Editor>((editor, block) => Editor.attachImage(editor, block), Editor.set(before, text))

const completed = (chat: ChatState, screens: Commands.Screens): Step => {
  const completion = Completion.at(chat.editor, Commands.commands(screens), chat.files)
  const asks = !chat.hasAskedForFiles && Completion.asksForFiles(chat.editor)
  const intents: ReadonlyArray<Intent> = asks ? [{ _tag: "ListFiles" }] : []
  return { chat: { ...chat, completion, hasAskedForFiles: asks || chat.hasAskedForFiles }, intents }
}

const edited = (chat: ChatState, editor: Editor.Editor, screens: Commands.Screens): Step =>
  completed({ ...chat, editor, recall: editor.text === chat.editor.text ? chat.recall : null, notice: null }, screens)

const accept = (chat: ChatState, completion: Completion.Completion): ChatState => {
  const { text } = completion.items[completion.selected]!
  const editor = Editor.splice(chat.editor, completion.from, completion.to, `${text} `)
  return { ...chat, editor, completion: null }
}

const outcome = (chat: ChatState, { find = false, ...rest }: Commands.Outcome): Step => ({
  ...rest,
  chat: find ? { ...chat, find: { query: Editor.empty, hit: null } } : chat
})

const nearest = (name: string, commands: ReadonlyArray<Commands.Command>): string => {
  const close = commands.find((command) => command.name.startsWith(name.slice(0, 2)))
  return close === undefined ? "? lists them all" : `did you mean /${close.name}?`
}

const send = (chat: ChatState, world: World, screens: Commands.Screens): Step => {
  const prompt = promptOf(chat.editor)
  const line = Commands.parse(prompt.text)
  const all = Commands.commands(screens)
  const command = line === undefined ? undefined : all.find(({ name }) => name === line.name)
  if (line !== undefined && command === undefined && prompt.images.length === 0) {
    const text = `no command /${line.name}; ${nearest(line.name, all)}`
    return { chat: { ...chat, completion: null, notice: { kind: "error", text } } }
  }
  const cleared = { ...chat, editor: Editor.clear(chat.editor), completion: null, recall: null, notice: null }
  if (line !== undefined && command !== undefined)
    return outcome(cleared, command.run(line.words, world, { text: "", images: [] }))
  return { chat: { ...cleared, position: null, selected: null }, intents: [{ _tag: "Send", prompt }] }
}

const transcriptHeight = (chat: ChatState, world: World): number => {
  const { lines } = Editor.layout(chat.editor, editorColumns(world.columns))
  return Math.max(1, world.rows - 3 - editorHeight(lines.length, world.rows))
}

const scrolled = (chat: ChatState, world: World, by: number): ChatState => ({
  ...chat,
  position: Transcript.scroll(content(chat, world), chat.position, transcriptHeight(chat, world), by)
})

/** Selects the block above or below; from nothing, the last one. */
const selected = (chat: ChatState, world: World, by: -1 | 1): ChatState => {
  const blocks = Blocks.shown(world)
  const from = blocks.findIndex(({ key }) => key === chat.selected)
  const view = content(chat, world)
  let index = from === -1 ? (by === -1 ? blocks.length - 1 : blocks.length) : from + by
  while (index >= 0 && index < blocks.length && view.rows(index).length === 0) index += by
  const block = blocks[index]
  if (block === undefined) return by === 1 ? { ...chat, selected: null, position: null } : chat
  const next = { ...chat, selected: block.key }
  return {
    ...next,
    position: Transcript.reveal(content(next, world), chat.position, transcriptHeight(chat, world), index)
  }
}

const toggled = (chat: ChatState, world: World): ChatState => {
  const block = Blocks.shown(world).find(({ key }) => key === chat.selected)
  const folds = block === undefined ? [] : Blocks.foldsOf(block, world)
  const open = new Set(chat.toggled)
  const isOpen = folds.some((key) => open.has(key) !== chat.openAll)
  for (const key of folds) {
    if (isOpen === chat.openAll) open.add(key)
    else open.delete(key)
  }
  return { ...chat, toggled: open }
}

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
    const position = Transcript.reveal(content(next, world), chat.position, transcriptHeight(chat, world), index)
    return { ...next, position }
  }
  return { ...chat, selected: null, find: { ...find, hit: null } }
}

const finding = (chat: ChatState, find: NonNullable<ChatState["find"]>, event: Event, world: World): ChatState => {
  const typed = (query: Editor.Editor): ChatState =>
    found({ ...chat, find: { query, hit: find.hit } }, world, Editor.textOf(query), -1, false)
  if (event._tag === "Paste") return typed(Editor.insert(find.query, event.text.replace(/\s+/g, " ")))
  if (event._tag === "Wheel") return scrolled(chat, world, event.lines)
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

const escape = (chat: ChatState, world: World, screens: Commands.Screens): Step => {
  if (chat.completion !== null) return { chat: { ...chat, completion: null } }
  if (chat.selected !== null) return { chat: { ...chat, selected: null } }
  if (world.turn !== null) return { chat, intents: [{ _tag: "Cancel" }] }
  const isDouble = world.now - chat.escapedAt <= DOUBLE_MILLIS
  if (!isDouble)
    return { chat: { ...chat, escapedAt: world.now, position: Editor.isEmpty(chat.editor) ? null : chat.position } }
  const calm = { ...chat, escapedAt: 0 }
  switch (world.doubleEscape) {
    case "branch":
      return { chat: calm, open: ForkView.branchHere(world) }
    case "fork":
      return { chat: calm, open: ForkView.fork(world) }
    case "tree":
      return { chat: calm, open: screens.tree(world) }
    case "none":
      return { chat: calm }
  }
}

const interrupt = (chat: ChatState, world: World): Step => {
  if (!Editor.isEmpty(chat.editor)) {
    const text = "cleared; Ctrl+_ brings it back"
    return { chat: { ...chat, editor: Editor.clear(chat.editor), completion: null, notice: { kind: "info", text } } }
  }
  if (world.turn !== null) return { chat, intents: [{ _tag: "Cancel" }] }
  if (world.now - chat.interruptedAt <= QUIT_MILLIS) return { chat, intents: [{ _tag: "Quit" }] }
  return {
    chat: {
      ...chat,
      interruptedAt: world.now,
      notice: { kind: "info", text: "Ctrl+C again leaves; the session stays" }
    }
  }
}

const onKey = (
  chat: ChatState,
  { name, text }: { readonly name: string; readonly text?: string },
  world: World,
  screens: Commands.Screens
): Step => {
  const { completion } = chat
  if (completion !== null) {
    const by = name === "up" ? -1 : name === "down" ? 1 : 0
    if (by !== 0) {
      const { length } = completion.items
      return {
        chat: { ...chat, completion: { ...completion, selected: (completion.selected + by + length) % length } }
      }
    }
    if (name === "tab") return { chat: accept(chat, completion) }
    if (name === "enter") {
      const next = accept(chat, completion)
      return completion.kind === "command" ? send(next, world, screens) : { chat: next }
    }
  }
  const page = Math.max(1, transcriptHeight(chat, world) - 2)
  switch (name) {
    case "enter": {
      const broken = Editor.continued(chat.editor)
      if (broken !== undefined) return edited(chat, broken, screens)
      if (Editor.textOf(chat.editor).trim() !== "" || Editor.imagesOf(chat.editor).length > 0)
        return send(chat, world, screens)
      return { chat: chat.selected === null ? chat : toggled(chat, world) }
    }
    case "escape":
      return escape(chat, world, screens)
    case "ctrl+c":
      return interrupt(chat, world)
    case "ctrl+d":
      if (Editor.isEmpty(chat.editor)) return { chat, intents: [{ _tag: "Quit" }] }
      return edited(chat, Editor.press(chat.editor, "delete", editorColumns(world.columns)) ?? chat.editor, screens)
    case "ctrl+z":
      return { chat, intents: [{ _tag: "Suspend" }] }
    case "ctrl+l":
      return { chat, intents: [{ _tag: "Redraw" }] }
    case "ctrl+g":
      return { chat, intents: [{ _tag: "EditOutside", text: Editor.textOf(chat.editor) }] }
    case "ctrl+o":
      return { chat: { ...chat, openAll: !chat.openAll, toggled: new Set() } }
    case "ctrl+s":
      return { chat: { ...chat, find: { query: Editor.empty, hit: null } } }
    case "ctrl+p":
      return { chat, open: Commands.palette(screens) }
    case "ctrl+t":
      return { chat, open: screens.tree(world) }
    case "ctrl+r":
      return outcome(chat, screens.history(world))
    case "pageup":
      return { chat: scrolled(chat, world, -page) }
    case "pagedown":
      return { chat: scrolled(chat, world, page) }
    case "shift+up":
      return { chat: scrolled(chat, world, -1) }
    case "shift+down":
      return { chat: scrolled(chat, world, 1) }
    case "ctrl+pageup":
    case "shift+home":
      return {
        chat: {
          ...chat,
          position: Transcript.scroll(content(chat, world), { block: 0, row: 0 }, transcriptHeight(chat, world), 0)
        }
      }
    case "ctrl+pagedown":
    case "shift+end":
      return { chat: { ...chat, position: null, selected: null } }
    case "alt+up":
      return { chat: selected(chat, world, -1) }
    case "alt+down":
      return { chat: selected(chat, world, 1) }
    case "alt+left":
      return outcome(chat, Commands.step(world, chat.selected, -1))
    case "alt+right":
      return outcome(chat, Commands.step(world, chat.selected, 1))
    case "tab":
      return completed(chat, screens)
    case "?":
      if (Editor.isEmpty(chat.editor)) {
        const help = Commands.commands(screens).find((command) => command.name === "help")!
        return outcome(chat, help.run("", world, promptOf(chat.editor)))
      }
      break
    case "up":
      if (Editor.isEmpty(chat.editor) && world.queue.length > 0) return { chat, intents: [{ _tag: "Unqueue" }] }
      break
  }
  if (text !== undefined) return edited(chat, Editor.insert(chat.editor, text), screens)
  const pressed = Editor.press(chat.editor, name, editorColumns(world.columns))
  if (pressed !== undefined) return edited(chat, pressed, screens)
  if (name === "up") return { chat: recall(chat, world, 1) }
  if (name === "down") return { chat: recall(chat, world, -1) }
  return { chat }
}

/** What the chat makes of an event. Keys come here only while no view is open on top. */
export const on = (chat: ChatState, event: Event, world: World, screens: Commands.Screens): Step => {
  switch (event._tag) {
    case "Key":
    case "Paste":
    case "Wheel":
      break
    case "Opened":
      return { chat: { ...chat, position: null, selected: null, toggled: new Set(), find: null, recall: null } }
    case "Filled":
      return { chat: { ...chat, editor: filled(event.prompt, chat.editor), recall: null, completion: null } }
    case "Returned": {
      const said = filled(event.prompt, Editor.empty)
      const editor = Editor.isEmpty(chat.editor)
        ? filled(event.prompt, chat.editor)
        : Editor.set(chat.editor, `${said.text}\n${Editor.textOf(chat.editor)}`)
      return { chat: { ...chat, editor, recall: null } }
    }
    case "Told":
      return { chat: { ...chat, notice: event.notice } }
    case "Files":
      return completed({ ...chat, files: event.paths }, screens)
    case "Recalled":
      return { chat: { ...chat, folderPrompts: event.prompts } }
    default:
      return { chat }
  }
  if (chat.find !== null) return { chat: finding(chat, chat.find, event, world) }
  if (event._tag === "Wheel") return { chat: scrolled(chat, world, event.lines) }
  if (event._tag === "Paste") return edited(chat, Editor.paste(chat.editor, event.text), screens)
  const quiet = chat.notice === null ? chat : { ...chat, notice: null }
  return onKey(quiet, event, world, screens)
}

// ---------------------------------------------------------------------------------------------------------- drawing

const editorHeight = (lines: number, rows: number): number => Math.max(1, Math.min(lines, Math.floor(rows / 3)))

interface Place {
  readonly branch: string
}
const places = new WeakMap<SessionState, Place>()

/** Which branch this is, told at the last fork of the path. */
const placeOf = (session: SessionState): Place => {
  const known = places.get(session)
  if (known !== undefined) return known
  const { tree } = session
  const blocks = Blocks.of(session)
  let branch = ""
  let label: string | undefined
  for (let i = blocks.length - 1; i >= 0; i--) {
    const { row } = blocks[i]!
    label ??= tree.facts.labels.get(tree.idAt(row)!)
    const siblings = Blocks.siblingsOf(tree, row)
    if (siblings === undefined) continue
    const turn = blocks.slice(0, i + 1).filter((block) => tree.roleAt(block.row) === "user").length
    const name = label === undefined ? "" : ` ${Preview.line(label, 20)}`
    branch = `branch${name} (${siblings.index + 1} of ${siblings.rows.length} at turn ${Math.max(1, turn)})`
    break
  }
  const place = { branch }
  places.set(session, place)
  return place
}

const shortId = (id: string): string => id.slice(-8)

const header = (world: World): Row.Row => {
  const { columns, symbols, session, model, linear } = world
  const { branch } = placeOf(session)
  const parts = [
    "grove",
    session.name === null ? shortId(session.ref.id) : Preview.line(session.name, Math.floor(columns / 3)),
    ...(linear ? ["linear"] : branch === "" ? [] : [branch])
  ].filter((part) => part !== "")
  const share = model?.window == null ? "" : `${Math.min(999, Math.round((100 * session.tokens) / model.window))} %`
  const right = [model?.model ?? "no model", share, ...(world.approval === "default" ? [] : [world.approval])]
    .filter((part) => part !== "")
    .join(symbols.dot)
  const left: Row.Row = [
    Row.span(` ${parts[0]}`, "title"),
    Row.span(
      parts
        .slice(1)
        .map((part) => symbols.dot + part)
        .join(""),
      "dim"
    )
  ]
  return Row.spread(left, Row.row(`${right} `, "dim"), columns)
}

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

const footer = (chat: ChatState, world: World): Row.Row => {
  const { columns, symbols, session } = world
  if (chat.notice !== null) {
    const { kind, text } = chat.notice
    const sign = kind === "error" ? `${symbols.error} ` : ""
    return Row.cut(Row.row(` ${sign}${text}`, kind === "error" ? "error" : "accent"), columns)
  }
  const money = [Words.cost(session.usage.tree.costMicros), `${Words.tokens(session.tokens)}`].join(symbols.dot)
  const other = world.linear ? "" : `Alt+${symbols.previous}${symbols.next} other answers`
  const hints = ["/tree", "/fork", "^R history", other, "? keys"].filter((hint) => hint !== "")
  return Row.spread(Row.row(` ${hints.join("  ")}`, "dim"), Row.row(` ${money} `, "dim"), columns)
}

const findBar = (find: NonNullable<ChatState["find"]>, world: World): { row: Row.Row; column: number } => {
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

const welcome = (world: World): ReadonlyArray<Row.Row> => {
  if (world.session.isOpening === true) return [Row.empty, Row.row("  opening the session", "dim")]
  const { columns, model, symbols } = world
  const say = (text: string, style: Row.Style = "dim") => Row.wrap(Row.row(text, style), columns - 4)
  const isOffline = model?.provider === "grove"
  const rows = [
    ...say("Say something to begin.", "strong"),
    Row.empty,
    ...say("Everything said here becomes a tree: go back, try again, and nothing is lost."),
    ...say(
      `Esc Esc goes back to an earlier prompt${symbols.dot}/tree shows all branches${symbols.dot}? lists the keys`
    ),
    Row.empty,
    ...(isOffline
      ? say(
          "grove/sprout answers, offline: it says what it was shown. For a model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run Ollama; then /model."
        )
      : say(`${model?.ref ?? "No model"} answers; /model chooses another.`))
  ]
  return [Row.empty, ...Row.indent(rows, Row.row("  "), Row.row("  "))]
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

const highlighted = (row: Row.Row, words: string): Row.Row => {
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

export const draw = (chat: ChatState, world: World): Frame => {
  const { columns, rows } = world
  const { lines, line, column } = Editor.layout(chat.editor, editorColumns(columns))
  const height = editorHeight(lines.length, rows)
  const top = Math.max(0, Math.min(line - Math.floor(height / 2), lines.length - height))
  const editor = lines
    .slice(top, top + height)
    .map(
      ({ shown }, i): Row.Row => [Row.span(top + i === 0 ? " > " : "   ", "accent"), { text: shown, style: "plain" }]
    )
  const completion = chat.completion === null ? [] : completionRows(chat.completion, world)
  const room = Math.max(0, rows - 3 - editor.length - completion.length)
  const words = chat.find === null ? "" : Editor.textOf(chat.find.query).toLowerCase()
  const view = content(chat, world)
  const seen =
    view.count === 0
      ? welcome(world)
      : Transcript.visible(view, chat.position, room).map(({ spans }) => highlighted(spans, words))
  const shown = seen.slice(0, room)
  const filler = Array.from({ length: room - shown.length }, () => Row.empty)
  const find = chat.find === null ? undefined : findBar(chat.find, world)
  const caret =
    find === undefined
      ? { line: rows - 1 - editor.length + (line - top), column: Math.min(columns - 1, PROMPT_COLUMNS + column) }
      : { line: rows - 1, column: find.column }
  return {
    rows: [
      header(world),
      ...shown,
      ...filler,
      ...completion,
      rule(chat, world),
      ...editor,
      find?.row ?? footer(chat, world)
    ].slice(0, rows),
    caret
  }
}
