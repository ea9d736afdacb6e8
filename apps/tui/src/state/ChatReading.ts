/** Reading the conversation: what of it is in sight, which message is selected, what is unfolded. */
import * as Blocks from "./Blocks.ts"
import type { ChatState } from "./ChatState.ts"
import * as Editor from "./Editor.ts"
import type * as Row from "./Row.ts"
import * as Transcript from "./Transcript.ts"
import type { World } from "./View.ts"

/** Before the text of the editor. */
export const PROMPT_COLUMNS = 3

export const editorColumns = (columns: number): number => Math.max(4, columns - PROMPT_COLUMNS - 1)

export const editorHeight = (lines: number, rows: number): number => Math.max(1, Math.min(lines, Math.floor(rows / 3)))

export const transcriptHeight = (chat: ChatState, world: World): number => {
  const { lines } = Editor.layout(chat.editor, editorColumns(world.columns))
  return Math.max(1, world.rows - 3 - editorHeight(lines.length, world.rows))
}

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

export const scrolled = (chat: ChatState, world: World, by: number): ChatState => ({
  ...chat,
  position: Transcript.scroll(content(chat, world), chat.position, transcriptHeight(chat, world), by)
})

/** Selects the block above or below; from nothing, the last one. */
export const selected = (chat: ChatState, world: World, by: -1 | 1): ChatState => {
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

export const toggled = (chat: ChatState, world: World): ChatState => {
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

export const toTop = (chat: ChatState, world: World): ChatState => ({
  ...chat,
  position: Transcript.scroll(content(chat, world), { block: 0, row: 0 }, transcriptHeight(chat, world), 0)
})
