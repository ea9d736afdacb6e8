/** What a person is writing: text, a caret, and everything that keys do to them. Nothing typed is lost: undo brings it back. */
import * as Glyphs from "./Glyphs.ts"

/** Something that stands in the text as one character and is sent in full. */
export type Attachment =
  | { readonly _tag: "Text"; readonly text: string }
  /** A block of a message, as it is stored. */
  | { readonly _tag: "Image"; readonly block: { readonly [field: string]: unknown } }

interface Moment {
  readonly text: string
  readonly caret: number
}

export interface Editor extends Moment {
  /** By the character that stands for each. */
  readonly attachments: ReadonlyMap<string, Attachment>
  readonly past: ReadonlyArray<Moment>
  readonly future: ReadonlyArray<Moment>
  /** What was last cut away by a key, for Ctrl+Y. */
  readonly killed: string
  /** The last edit, if another of its kind belongs to the same step of undo. */
  readonly run: "typing" | "deleting" | "killing" | null
  /** The column that moving up and down tries to keep. */
  readonly goal: number | null
}

/** Characters that Unicode promises to never give a meaning: they stand for attachments, and are taken from nobody's text. */
const FIRST_STAND_IN = 0xfdd0
const STAND_INS = 32
const STAND_IN = /[\ufdd0-\ufdef]/
const ANY_STAND_IN = /[\ufdd0-\ufdef]/g

/** A paste longer than this is folded. */
export const LONG_PASTE = { lines: 10, characters: 1000 } as const
const MOST_UNDO = 200

export const empty: Editor = {
  text: "",
  caret: 0,
  attachments: new Map(),
  past: [],
  future: [],
  killed: "",
  run: null,
  goal: null
}

/** An editor that holds a text, caret at the end. */
export const of = (text: string): Editor => insert(empty, text)

export const isEmpty = (editor: Editor): boolean => editor.text === ""

/** What is sent: folded pastes in full, images left out. */
export const textOf = ({ text, attachments }: Editor): string =>
  text.replace(ANY_STAND_IN, (character) => {
    const attachment = attachments.get(character)
    return attachment?._tag === "Text" ? attachment.text : ""
  })

export const imagesOf = ({ text, attachments }: Editor): ReadonlyArray<{ readonly [field: string]: unknown }> =>
  [...text].flatMap((character) => {
    const attachment = attachments.get(character)
    return attachment?._tag === "Image" ? [attachment.block] : []
  })

// ------------------------------------------------------------------------------------------------------- changing

/** What was undone stays in the past as well: going back and then writing something else loses neither. */
const remembered = (editor: Editor, run: Editor["run"]): Pick<Editor, "past" | "future" | "run"> => {
  if (run !== null && run === editor.run) return { past: editor.past, future: [], run }
  const now = { text: editor.text, caret: editor.caret }
  const undone = editor.future.length === 0 ? [] : [now, ...editor.future.toReversed()]
  return { past: [...editor.past, ...undone, now].slice(-MOST_UNDO), future: [], run }
}

const replace = (editor: Editor, from: number, to: number, by: string, run: Editor["run"]): Editor => {
  if (from === to && by === "") return editor
  const text = editor.text.slice(0, from) + by + editor.text.slice(to)
  return { ...editor, ...remembered(editor, run), text, caret: onBoundary(text, from + by.length), goal: null }
}

/** Puts text at the caret. */
export const insert = (editor: Editor, text: string): Editor => {
  const clean = text.replace(/\r\n?/g, "\n").replace(ANY_STAND_IN, "\ufffd")
  const isWord = Glyphs.graphemes(clean).length === 1 && !/\s/.test(clean)
  return replace(editor, editor.caret, editor.caret, clean, isWord ? "typing" : null)
}

const attach = (editor: Editor, attachment: Attachment): Editor | undefined => {
  const kept = new Map(
    [...editor.attachments].filter(([character]) =>
      [editor, ...editor.past, ...editor.future].some(({ text }) => text.includes(character))
    )
  )
  for (let i = 0; i < STAND_INS; i++) {
    const character = String.fromCharCode(FIRST_STAND_IN + i)
    if (kept.has(character) || editor.killed.includes(character)) continue
    const attachments = kept.set(character, attachment)
    return { ...replace(editor, editor.caret, editor.caret, character, null), attachments }
  }
  return undefined
}

/** Pasted text: what is long is folded to one sign, and sent in full. */
export const paste = (editor: Editor, text: string): Editor => {
  const clean = text.replace(/\r\n?/g, "\n").replace(ANY_STAND_IN, "\ufffd")
  const isLong = clean.length > LONG_PASTE.characters || clean.split("\n").length > LONG_PASTE.lines
  const folded = isLong ? attach(editor, { _tag: "Text", text: clean }) : undefined
  return folded ?? { ...insert(editor, clean), run: null }
}

export const attachImage = (editor: Editor, block: { readonly [field: string]: unknown }): Editor =>
  attach(editor, { _tag: "Image", block }) ?? editor

/** Everything away, as one step that can be undone. */
export const clear = (editor: Editor): Editor => replace(editor, 0, editor.text.length, "", null)

/** Another text instead, caret at its end, as one step that can be undone. */
export const set = (editor: Editor, text: string): Editor =>
  replace(editor, 0, editor.text.length, text.replace(ANY_STAND_IN, "\ufffd"), null)

/** What stands between two places, by another text: for completions. */
export const splice = (editor: Editor, from: number, to: number, by: string): Editor =>
  replace(editor, from, to, by, null)

const undo = (editor: Editor): Editor => {
  const before = editor.past.at(-1)
  if (before === undefined) return editor
  const now = { text: editor.text, caret: editor.caret }
  return {
    ...editor,
    ...before,
    past: editor.past.slice(0, -1),
    future: [...editor.future, now],
    run: null,
    goal: null
  }
}

const redo = (editor: Editor): Editor => {
  const after = editor.future.at(-1)
  if (after === undefined) return editor
  const now = { text: editor.text, caret: editor.caret }
  return { ...editor, ...after, past: [...editor.past, now], future: editor.future.slice(0, -1), run: null, goal: null }
}

const kill = (editor: Editor, from: number, to: number): Editor => {
  if (from === to) return editor
  const cut = editor.text.slice(from, to)
  const isBackwards = to === editor.caret && from < to
  const before = editor.run === "killing" ? editor.killed : ""
  const killed = isBackwards ? cut + before : before + cut
  return { ...replace(editor, from, to, "", "killing"), killed }
}

// --------------------------------------------------------------------------------------------------------- places

const lineStart = (text: string, caret: number): number => text.lastIndexOf("\n", caret - 1) + 1
const lineEnd = (text: string, caret: number): number => {
  const end = text.indexOf("\n", caret)
  return end === -1 ? text.length : end
}

/** Boundaries of the graphemes in the line around a place, as places in the text. */
const boundaries = (text: string, caret: number): ReadonlyArray<number> => {
  const from = lineStart(text, caret)
  const places = [from]
  for (const grapheme of Glyphs.graphemes(text.slice(from, lineEnd(text, caret)))) {
    places.push(places.at(-1)! + grapheme.length)
  }
  return places
}

/** The place itself, or the end of the grapheme it would split: what is typed can join what follows. */
const onBoundary = (text: string, caret: number): number =>
  boundaries(text, caret).find((place) => place >= caret) ?? caret

const before = (text: string, caret: number): number => {
  if (caret === 0) return 0
  if (text[caret - 1] === "\n") return caret - 1
  return boundaries(text, caret).findLast((place) => place < caret) ?? caret - 1
}

const after = (text: string, caret: number): number => {
  if (caret >= text.length) return text.length
  if (text[caret] === "\n") return caret + 1
  return boundaries(text, caret).find((place) => place > caret) ?? caret + 1
}

const words = new Intl.Segmenter(undefined, { granularity: "word" })

const wordBefore = (text: string, caret: number): number => {
  const from = lineStart(text, caret)
  if (from === caret) return before(text, caret)
  const found = [...words.segment(text.slice(from, caret))].findLast(({ isWordLike }) => isWordLike === true)
  return found === undefined ? from : from + found.index
}

const wordAfter = (text: string, caret: number): number => {
  const to = lineEnd(text, caret)
  if (to === caret) return after(text, caret)
  const found = [...words.segment(text.slice(caret, to))].find(({ isWordLike }) => isWordLike === true)
  return found === undefined ? to : caret + found.index + found.segment.length
}

/** Back to the last white space: what a shell calls a word. */
const bigWordBefore = (text: string, caret: number): number => {
  const from = lineStart(text, caret)
  if (from === caret) return before(text, caret)
  return from + /\S*\s*$/.exec(text.slice(from, caret))!.index
}

// --------------------------------------------------------------------------------------------------------- layout

/** A line of the editor as it is shown. */
export interface Line {
  /** Where it begins and ends in the text; what breaks it is not part of it. */
  readonly from: number
  readonly to: number
  readonly shown: string
}

export interface Layout {
  readonly lines: ReadonlyArray<Line>
  /** Where the caret is among them. */
  readonly line: number
  readonly column: number
}

const sizeOf = (text: string): string =>
  text.length < 10_000 ? `${text.length} characters` : `${Math.round(text.length / 1000)}k characters`

const labelOf = (attachment: Attachment | undefined, ordinal: number): string => {
  if (attachment === undefined) return "\ufffd"
  if (attachment._tag === "Image") return `[image ${ordinal}]`
  const lines = attachment.text.split("\n").length
  return `[paste ${ordinal}: ${lines > 1 ? `${lines} lines` : sizeOf(attachment.text)}]`
}

const shownGrapheme = ({ attachments }: Editor, grapheme: string): string => {
  if (!STAND_IN.test(grapheme)) return Glyphs.shown(grapheme)
  return [...grapheme]
    .map((character) =>
      STAND_IN.test(character)
        ? labelOf(attachments.get(character), character.charCodeAt(0) - FIRST_STAND_IN + 1)
        : Glyphs.shown(character)
    )
    .join("")
}

/** Breaks the text into lines of at most `columns`, between words where there are any. */
export const layout = (editor: Editor, columns: number): Layout => {
  const room = Math.max(2, columns)
  const { text, caret } = editor
  const lines: Array<Line> = []
  let at = { line: 0, column: 0 }
  let start = 0
  for (const logical of text.split("\n")) {
    let from = start
    let shown = ""
    let wide = 0
    /** After the last space of the line: where it breaks best. */
    let space: { readonly place: number; readonly shown: number; readonly wide: number } | undefined
    let place = start
    const isHere = () => caret === place
    if (isHere()) at = { line: lines.length, column: 0 }
    for (const grapheme of Glyphs.graphemes(logical)) {
      const glyph = shownGrapheme(editor, grapheme)
      const columnsOf = Glyphs.columns(glyph)
      if (wide + columnsOf > room && place > from) {
        const broken =
          space !== undefined && space.place > from && grapheme !== " " ? space : { place, shown: shown.length, wide }
        lines.push({ from, to: broken.place, shown: shown.slice(0, broken.shown) })
        if (caret >= broken.place && at.line === lines.length - 1)
          at = { line: lines.length, column: at.column - broken.wide }
        from = broken.place
        shown = shown.slice(broken.shown)
        wide -= broken.wide
        space = undefined
      }
      shown += glyph
      wide += columnsOf
      place += grapheme.length
      if (grapheme === " ") space = { place, shown: shown.length, wide }
      if (isHere()) at = { line: lines.length, column: wide }
    }
    lines.push({ from, to: place, shown })
    start = place + 1
  }
  // A caret behind a full line stands at the beginning of the next, so that what is typed appears where it is.
  if (at.column >= room) {
    const line = lines[at.line]!
    const isLast = at.line === lines.length - 1 || lines[at.line + 1]!.from !== line.to
    if (isLast) lines.splice(at.line + 1, 0, { from: line.to, to: line.to, shown: "" })
    at = { line: at.line + 1, column: 0 }
  }
  return { lines, ...at }
}

/** The place in a line that is nearest to a column. */
const placeAt = (editor: Editor, { from, to }: Line, column: number): number => {
  let place = from
  let wide = 0
  for (const grapheme of Glyphs.graphemes(editor.text.slice(from, to))) {
    const columnsOf = Glyphs.columns(shownGrapheme(editor, grapheme))
    if (wide + columnsOf > column) break
    wide += columnsOf
    place += grapheme.length
  }
  return place
}

const move = (editor: Editor, caret: number): Editor => ({ ...editor, caret, run: null, goal: null })

/** Up or down by lines as shown; `undefined` where there is none. */
const vertical = (editor: Editor, by: -1 | 1, columns: number): Editor | undefined => {
  const { lines, line, column } = layout(editor, columns)
  const target = lines[line + by]
  if (target === undefined) return undefined
  const goal = editor.goal ?? column
  const place = placeAt(editor, target, goal)
  // The end of a line that goes on below is the beginning of the one below.
  const isBorrowed = lines[line + by + 1]?.from === place && place > target.from
  return { ...editor, caret: isBorrowed ? before(editor.text, place) : place, run: null, goal }
}

// ----------------------------------------------------------------------------------------------------------- keys

/** What a key does to the text; `undefined` for keys that are not the editor's. */
export const press = (editor: Editor, name: string, columns: number): Editor | undefined => {
  const { text, caret } = editor
  switch (name) {
    case "left":
    case "ctrl+b":
      return move(editor, before(text, caret))
    case "right":
    case "ctrl+f":
      return move(editor, after(text, caret))
    case "ctrl+left":
    case "alt+b":
      return move(editor, wordBefore(text, caret))
    case "ctrl+right":
    case "alt+f":
      return move(editor, wordAfter(text, caret))
    case "home":
    case "ctrl+a":
      return move(editor, lineStart(text, caret))
    case "end":
    case "ctrl+e":
      return move(editor, lineEnd(text, caret))
    case "ctrl+home":
    case "alt+<":
      return move(editor, 0)
    case "ctrl+end":
    case "alt+>":
      return move(editor, text.length)
    case "up":
      return vertical(editor, -1, columns)
    case "down":
      return vertical(editor, 1, columns)
    case "shift+enter":
    case "alt+enter":
    case "ctrl+enter":
      return insert(editor, "\n")
    case "backspace":
    case "shift+backspace":
      return replace(editor, before(text, caret), caret, "", "deleting")
    case "delete":
      return replace(editor, caret, after(text, caret), "", "deleting")
    case "ctrl+w":
      return kill(editor, bigWordBefore(text, caret), caret)
    case "alt+backspace":
    case "ctrl+backspace":
      return kill(editor, wordBefore(text, caret), caret)
    case "alt+d":
    case "ctrl+delete":
    case "alt+delete":
      return kill(editor, caret, wordAfter(text, caret))
    case "ctrl+u":
      return kill(editor, lineStart(text, caret), caret)
    case "ctrl+k":
      return kill(editor, caret, lineEnd(text, caret) === caret ? after(text, caret) : lineEnd(text, caret))
    case "ctrl+y":
      return replace(editor, caret, caret, editor.killed, null)
    case "ctrl+_":
    case "ctrl+-":
    case "alt+u":
      return undo(editor)
    case "alt+r":
    case "alt+y":
      return redo(editor)
    default:
      return undefined
  }
}

/** A backslash before the caret asks for a line break where Enter would send; `undefined` if there is none. */
export const continued = (editor: Editor): Editor | undefined =>
  editor.text[editor.caret - 1] === "\\" ? replace(editor, editor.caret - 1, editor.caret, "\n", null) : undefined
