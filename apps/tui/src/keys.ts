/** Bytes of a terminal in, keys out: pure, and total over whatever a terminal or a person's clipboard may send. */

export type Input =
  /** `name` as `ctrl+left`, `alt+enter`, `a`; `text` is what the key types, if it types anything. */
  | { readonly _tag: "Key"; readonly name: string; readonly text?: string }
  /** What a terminal says was pasted, so that no line break in it is an Enter. */
  | { readonly _tag: "Paste"; readonly text: string }
  /** Lines to scroll, upwards below zero. */
  | { readonly _tag: "Wheel"; readonly lines: number }

export interface Decoded {
  readonly inputs: ReadonlyArray<Input>
  /** The beginning of something whose end has not come yet. */
  readonly rest: string
}

/** Terminals that understand more report pasted text, Shift+Enter and the wheel once they have been told to. */
export const ENABLE = "\x1b[?2004h\x1b[>1u\x1b[>4;1m\x1b[?1000h\x1b[?1006h"
export const DISABLE = "\x1b[?1006l\x1b[?1000l\x1b[>4;0m\x1b[<u\x1b[?2004l"

/** How long an Escape may be the beginning of another key. */
export const ESCAPE_MILLIS = 30

const WHEEL_LINES = 3
const PASTE_BEGIN = "\x1b[200~"
const PASTE_END = "\x1b[201~"

const LETTERS: { readonly [final: string]: string } = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "center",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  M: "enter"
}

const NUMBERS: { readonly [code: string]: string } = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12"
}

const CODES: { readonly [code: number]: string } = {
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageup",
  57422: "pagedown",
  57423: "home",
  57424: "end",
  57426: "delete"
}

const CONTROLS: { readonly [code: number]: string } = {
  0: "ctrl+space",
  8: "ctrl+backspace",
  9: "tab",
  // A terminal, or a person's own mapping of Shift+Enter, that sends a bare line feed means a line break.
  10: "shift+enter",
  13: "enter",
  27: "escape",
  28: "ctrl+\\",
  29: "ctrl+]",
  30: "ctrl+^",
  31: "ctrl+_",
  127: "backspace"
}

const key = (name: string, text?: string): Input =>
  text === undefined ? { _tag: "Key", name } : { _tag: "Key", name, text }

const typed = (character: string): Input => key(character === " " ? "space" : character, character)

/** The second number of a sequence is one more than a set of bits. */
const modified = (name: string, modifiers: string | undefined): Input => {
  const bits = Math.max(0, (Number.parseInt(modifiers ?? "1", 10) || 1) - 1)
  const prefix = `${bits & 4 ? "ctrl+" : ""}${bits & 2 ? "alt+" : ""}${bits & 1 ? "shift+" : ""}`
  return key(prefix + name)
}

/** A key told by its code point: what is only shifted types itself. */
const byCode = (code: number, modifiers: string | undefined): ReadonlyArray<Input> => {
  const named = CODES[code]
  const bits = Math.max(0, (Number.parseInt(modifiers ?? "1", 10) || 1) - 1)
  if (named !== undefined) return named === "space" && (bits & 6) === 0 ? [typed(" ")] : [modified(named, modifiers)]
  const isCharacter =
    code > 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && !(code >= 57344 && code <= 63743)
  if (!isCharacter) return []
  const character = String.fromCodePoint(code)
  if ((bits & 6) === 0) return [typed(bits & 1 ? character.toUpperCase() : character)]
  return [modified(character.toLowerCase(), String((bits & ~1) + 1))]
}

const control = (parameters: string, final: string): ReadonlyArray<Input> => {
  if (parameters.startsWith("<")) {
    const button = Number.parseInt(parameters.slice(1), 10)
    if (final !== "M" || (button & 64) === 0) return []
    return [{ _tag: "Wheel", lines: (button & 1) === 0 ? -WHEEL_LINES : WHEEL_LINES }]
  }
  if (/^[?>=]/.test(parameters)) return []
  const [first = "", second, third] = parameters.split(";").map((part) => part.split(":")[0])
  if (final === "Z") return [key("shift+tab")]
  if (final === "u") return byCode(Number.parseInt(first, 10), second)
  if (final === "~") {
    if (first === "27" && third !== undefined) return byCode(Number.parseInt(third, 10), second)
    const named = NUMBERS[first]
    return named === undefined ? [] : [modified(named, second)]
  }
  const named = LETTERS[final]
  return named === undefined ? [] : [modified(named, second)]
}

const CONTROL = /\x1b(\x1b?)\[([0-9;:<=>?]*)[ -/]*([@-~])/y
const CONTROL_BEGUN = /\x1b\x1b?(?:\[[0-9;:<=>?]*[ -/]*)?$/y
const SINGLE = /\x1b(\x1b?)O([A-Za-z])/y
const SINGLE_BEGUN = /\x1b\x1b?O$/y
/** Answers of the terminal to questions that others asked. */
const REPORT = /\x1b[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)/y
const REPORT_BEGUN = /\x1b[\]P_^X][^\x07\x1b]*\x1b?$/y
/** An Escape and half of a pair of surrogates. */
const PAIR_BEGUN = /\x1b[\ud800-\udbff]$/y
const BEGUN = [CONTROL_BEGUN, SINGLE_BEGUN, REPORT_BEGUN, PAIR_BEGUN]

const at = (pattern: RegExp, text: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index
  return pattern.exec(text)
}

const alt = (input: Input): Input => (input._tag === "Key" ? key(`alt+${input.name}`) : input)

const plain = (character: string): Input => {
  const code = character.codePointAt(0)!
  const named = CONTROLS[code]
  if (named !== undefined) return key(named)
  if (code < 32) return key(`ctrl+${String.fromCharCode(code + 96)}`)
  return typed(character)
}

const characterAt = (text: string, index: number): string => String.fromCodePoint(text.codePointAt(index)!)

/** What a terminal means that has sent `text`. With `isAll` nothing follows soon, so an Escape is an Escape. */
export const decode = (text: string, isAll: boolean): Decoded => {
  const inputs: Array<Input> = []
  let index = 0
  while (index < text.length) {
    if (text[index] !== "\x1b") {
      const character = characterAt(text, index)
      // Half of a pair at the very end: the other half is on its way.
      if (!isAll && index === text.length - 1 && /[\ud800-\udbff]/.test(character)) break
      inputs.push(plain(character))
      index += character.length
      continue
    }
    if (text.startsWith(PASTE_BEGIN, index)) {
      const end = text.indexOf(PASTE_END, index)
      if (end === -1) break
      inputs.push({ _tag: "Paste", text: text.slice(index + PASTE_BEGIN.length, end).replace(/\r\n?/g, "\n") })
      index = end + PASTE_END.length
      continue
    }
    if (text.startsWith(PASTE_BEGIN, index + 1)) {
      inputs.push(key("escape"))
      index += 1
      continue
    }
    const sequence = at(CONTROL, text, index)
    if (sequence !== null) {
      const found = control(sequence[2]!, sequence[3]!)
      inputs.push(...(sequence[1] === "" ? found : found.map(alt)))
      index += sequence[0].length
      continue
    }
    const single = at(SINGLE, text, index)
    if (single !== null) {
      const found = control("", single[2]!)
      inputs.push(...(single[1] === "" ? found : found.map(alt)))
      index += single[0].length
      continue
    }
    const report = at(REPORT, text, index)
    if (report !== null) {
      index += report[0].length
      continue
    }
    if (!isAll && BEGUN.some((pattern) => at(pattern, text, index) !== null)) break
    const following = index + 1 < text.length ? characterAt(text, index + 1) : undefined
    if (following === undefined || following === "\x1b") {
      inputs.push(key("escape"))
      index += 1
    } else {
      inputs.push(alt(plain(following)))
      index += 1 + following.length
    }
  }
  return { inputs, rest: text.slice(index) }
}

/** Whether what is left can only be completed by the terminal, however long it takes. */
export const isPasting = (rest: string): boolean => rest.startsWith(PASTE_BEGIN)
