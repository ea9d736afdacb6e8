/** The chat itself: what keys and other events do to the conversation and the editor. */
import * as ChatFind from "./ChatFind.ts"
import * as ChatReading from "./ChatReading.ts"
import type { ChatState, Step } from "./ChatState.ts"
import * as Commands from "./Commands.ts"
import * as Completion from "./Completion.ts"
import * as Editor from "./Editor.ts"
import * as ForkView from "./ForkView.ts"
import * as Recall from "./Recall.ts"
import type { Event, Intent, Prompt, World } from "./View.ts"

const DOUBLE_MILLIS = 500
const QUIT_MILLIS = 2000

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
      return outcome(calm, screens.tree(world))
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
  const page = Math.max(1, ChatReading.transcriptHeight(chat, world) - 2)
  switch (name) {
    case "enter": {
      const broken = Editor.continued(chat.editor)
      if (broken !== undefined) return edited(chat, broken, screens)
      if (Editor.textOf(chat.editor).trim() !== "" || Editor.imagesOf(chat.editor).length > 0)
        return send(chat, world, screens)
      return { chat: chat.selected === null ? chat : ChatReading.toggled(chat, world) }
    }
    case "escape":
      return escape(chat, world, screens)
    case "ctrl+c":
      return interrupt(chat, world)
    case "ctrl+d":
      if (Editor.isEmpty(chat.editor)) return { chat, intents: [{ _tag: "Quit" }] }
      return edited(
        chat,
        Editor.press(chat.editor, "delete", ChatReading.editorColumns(world.columns)) ?? chat.editor,
        screens
      )
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
      return outcome(chat, screens.tree(world))
    case "ctrl+r":
      return outcome(chat, screens.history(world))
    case "pageup":
      return { chat: ChatReading.scrolled(chat, world, -page) }
    case "pagedown":
      return { chat: ChatReading.scrolled(chat, world, page) }
    case "shift+up":
      return { chat: ChatReading.scrolled(chat, world, -1) }
    case "shift+down":
      return { chat: ChatReading.scrolled(chat, world, 1) }
    case "ctrl+pageup":
    case "shift+home":
      return { chat: ChatReading.toTop(chat, world) }
    case "ctrl+pagedown":
    case "shift+end":
      return { chat: { ...chat, position: null, selected: null } }
    case "alt+up":
      return { chat: ChatReading.selected(chat, world, -1) }
    case "alt+down":
      return { chat: ChatReading.selected(chat, world, 1) }
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
  const pressed = Editor.press(chat.editor, name, ChatReading.editorColumns(world.columns))
  if (pressed !== undefined) return edited(chat, pressed, screens)
  if (name === "up") return { chat: Recall.recall(chat, world, 1) }
  if (name === "down") return { chat: Recall.recall(chat, world, -1) }
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
    case "TreeAsked":
      return outcome(chat, screens.tree(world))
    case "Files":
      return completed({ ...chat, files: event.paths }, screens)
    case "Recalled":
      return { chat: { ...chat, folderPrompts: event.prompts } }
    default:
      return { chat }
  }
  if (chat.find !== null) return { chat: ChatFind.finding(chat, chat.find, event, world) }
  if (event._tag === "Wheel") return { chat: ChatReading.scrolled(chat, world, event.lines) }
  if (event._tag === "Paste") return edited(chat, Editor.paste(chat.editor, event.text), screens)
  const quiet = chat.notice === null ? chat : { ...chat, notice: null }
  return onKey(quiet, event, world, screens)
}
