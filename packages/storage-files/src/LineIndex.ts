/**
 * Where every line of a session file is and what its envelope says, found without parsing bodies.
 *
 * A line counts by its envelope alone if it begins as every writer of the format begins one, ends in `}`, holds no NUL
 * and names `parentId` once; every other line is parsed. Flat columns instead of objects: 100,000 entries take a few
 * megabytes, and the columns are written to the cache as they are.
 */
import { Entry, type EntryId, EntryTable, type Header, type Json, Jsonl, Mark, type Problem } from "@grove/core/model"

const { NONE } = EntryTable

/** Names that occur again and again are kept as their position in a list. */
export class Names {
  readonly list: Array<string>
  readonly #codes: Map<string, number>

  constructor(list: ReadonlyArray<string>) {
    this.list = [...list]
    this.#codes = new Map(list.map((name, code) => [name, code]))
  }

  code(name: string): number {
    const known = this.#codes.get(name)
    if (known !== undefined) return known
    this.#codes.set(name, this.list.length)
    return this.list.push(name) - 1
  }

  find(name: string): number {
    return this.#codes.get(name) ?? NONE
  }
}

export interface Columns {
  readonly starts: Float64Array
  readonly lengths: Uint32Array
  readonly lines: Uint32Array
  readonly ids: Float64Array
  readonly times: Float64Array
  /** When a prompt or reply was made by its own word; NaN where only the body tells. */
  readonly spoken: Float64Array
  readonly parents: Int32Array
  readonly types: Uint32Array
  /** One more than the position in the list of roles; 0 where there is none. */
  readonly roles: Uint32Array
  /** What of Grove's own a line is: `MARK`, `COPY` or neither. */
  readonly marks: Uint8Array
}

export const MARK = 1
/** An entry that says it was copied from another. */
export const COPY = 2

type ColumnType = {
  new (buffer: ArrayBuffer, offset: number, length: number): Columns[keyof Columns]
  readonly BYTES_PER_ELEMENT: number
}

/** The order of the columns where they lie one after the other: widest first, so that each begins at a multiple of its width. */
const layout: ReadonlyArray<readonly [keyof Columns, ColumnType]> = [
  ["starts", Float64Array],
  ["ids", Float64Array],
  ["times", Float64Array],
  ["spoken", Float64Array],
  ["lengths", Uint32Array],
  ["lines", Uint32Array],
  ["parents", Int32Array],
  ["types", Uint32Array],
  ["roles", Uint32Array],
  ["marks", Uint8Array]
]

/** What the columns take for each row. */
export const ROW_BYTES = layout.reduce((sum, [, Column]) => sum + Column.BYTES_PER_ELEMENT, 0)

/** Columns of so many rows as views on one buffer, beginning at a multiple of 8. */
export const columnsIn = (buffer: ArrayBuffer, start: number, rows: number): Columns => {
  let offset = start
  const columns: Record<string, Columns[keyof Columns]> = {}
  for (const [name, Column] of layout) {
    columns[name] = new Column(buffer, offset, rows)
    offset += rows * Column.BYTES_PER_ELEMENT
  }
  return columns as unknown as Columns
}

/** The first rows of the columns as bytes, as `columnsIn` takes them. */
export const bytesOfColumns = (columns: Columns, rows: number): ReadonlyArray<Uint8Array> =>
  layout.map(([name]) => {
    const column = columns[name].subarray(0, rows)
    return Buffer.from(column.buffer, column.byteOffset, column.byteLength)
  })

const makeColumns = (capacity: number): Columns => columnsIn(new ArrayBuffer(capacity * ROW_BYTES), 0, capacity)

const widened = (columns: Columns): Columns => {
  const wider = makeColumns(Math.max(1024, columns.ids.length * 2))
  for (const name of Object.keys(wider) as Array<keyof Columns>) wider[name].set(columns[name])
  return wider
}

/** Everything about a file that is not a column. */
export interface Facts {
  types: Names
  roles: Names
  /** Ids that are not short hex: their code is -1, -2, … */
  oddIds: Names
  header: Header.Header | null
  headerLine: number
  title: Header.TitleSlot | null
  problems: Array<Problem>
  /** Rows that stand without the parent they name, and that parent: it is not here, or following it would go round. */
  unlinked: Array<readonly [row: number, parent: EntryId]>
  /** The line of an entry that came before any header: then this is no session. */
  noHeaderAt: number | null
  lastId: EntryId | null
  /** Lines seen, and bytes they took: where reading goes on when the file has grown. */
  lineCount: number
  end: number
}

const initialTypes = ["message", "custom", "session"]
const initialRoles = ["user", "assistant", "toolResult", "bashExecution", "custom", "system"]
const MESSAGE = 0
const CUSTOM = 1
const SESSION = 2

export const emptyFacts = (): Facts => ({
  types: new Names(initialTypes),
  roles: new Names(initialRoles),
  oddIds: new Names([]),
  header: null,
  headerLine: 0,
  title: null,
  problems: [],
  unlinked: [],
  noHeaderAt: null,
  lastId: null,
  lineCount: 0,
  end: 0
})

/** Up to 12 lower-case hex digits fit a number together with how many they are. */
const LONGEST_HEX = 12
const LENGTH_UNIT = 2 ** 48

const hexDigit = (byte: number): number => {
  if (byte >= 48 && byte <= 57) return byte - 48
  return byte >= 97 && byte <= 102 ? byte - 87 : NONE
}

const HEX = /^[0-9a-f]{1,12}$/

/** What stands for `parentId: null`; no id has this code. */
const NO_PARENT = 0

const QUOTE = 34
const BACKSLASH = 92
const CLOSING_BRACE = 125

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1")
/** The text of bytes that were read as characters of one byte each. */
const textOf = (latin1: string): string => Buffer.from(latin1, "latin1").toString()
const HEAD = bytesOf('{"type":"')
const ID = bytesOf('","id":"')
const PARENT = bytesOf('","parentId":')
const NULL = bytesOf("null")
const TIME = bytesOf(',"timestamp":"')
const ROLE = bytesOf('","message":{"role":"')
const CUSTOM_TYPE = bytesOf('","customType":"')
const GROVE = bytesOf("grove.")
const ORIGIN = bytesOf('","origin":')
const MESSAGE_TYPE = bytesOf('message"')
const TAIL =
  /","id":"([^"\\]+)","parentId":(?:"([^"\\]+)"|null),"timestamp":"([^"\\]{10,40})"\}$|,"id":"([^"\\]+)","parentId":(?:"([^"\\]+)"|null),"timestamp":"([^"\\]{10,40})"\}$/
const TAIL_BYTES = 320

const startsWith = (bytes: Uint8Array, at: number, wanted: Uint8Array): boolean => {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}

/** Where the string that begins at `from` ends; `NONE` if it is longer than `most` or needs unescaping. */
const stringEnd = (bytes: Uint8Array, from: number, most: number): number => {
  for (let at = from; at <= from + most; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at
    if (byte === BACKSLASH || byte === undefined) return NONE
  }
  return NONE
}

/** The number that `count` digits say; `NaN` if they are not all digits. */
const digits = (bytes: Uint8Array, at: number, count: number): number => {
  let value = 0
  for (let i = 0; i < count; i++) {
    const digit = bytes[at + i]! - 48
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

const DASH = 45
const DOT = 46
const COLON = 58
const CAPITAL_T = 84
const CAPITAL_Z = 90

/** `2026-01-31T12:00:00.000Z` at `at`, in milliseconds; any other spelling is left to the model, `NaN` if it is none. */
const timeAt = (bytes: Buffer, at: number, end: number): number => {
  const isDate = end - at === 24 && bytes[at + 4] === DASH && bytes[at + 7] === DASH && bytes[at + 10] === CAPITAL_T
  const isTime = bytes[at + 13] === COLON && bytes[at + 16] === COLON && bytes[at + 19] === DOT
  if (isDate && isTime && bytes[at + 23] === CAPITAL_Z) {
    const year = digits(bytes, at, 4)
    const month = digits(bytes, at + 5, 2)
    const day = digits(bytes, at + 8, 2)
    const hour = digits(bytes, at + 11, 2)
    const minute = digits(bytes, at + 14, 2)
    const second = digits(bytes, at + 17, 2)
    const millisecond = digits(bytes, at + 20, 3)
    const isOrdinary = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24
    if (isOrdinary && minute < 60 && second < 60) {
      const time = Date.UTC(year, month - 1, day, hour, minute, second, millisecond)
      if (!Number.isNaN(time)) return time
    }
  }
  return spelledTime(bytes.toString("utf8", at, end))
}

const spelledTime = (text: string): number => (Entry.isTimestamp(text) ? Entry.time(text) : Number.NaN)

/** Numbers of so many digits add up exactly. */
const EXACT_DIGITS = 15
const SPOKEN = bytesOf('"timestamp":')

/** The number in `"timestamp":1760000000000}}` at the end of a line, where most writers put a message's own time. */
const spokenAt = (bytes: Uint8Array, end: number): number => {
  let at = end - 3
  let value = 0
  for (let unit = 1; at > 0 && bytes[at]! >= 48 && bytes[at]! <= 57; at--, unit *= 10) value += (bytes[at]! - 48) * unit
  const count = end - 3 - at
  const isTime = bytes[end - 2] === CLOSING_BRACE && startsWith(bytes, at + 1 - SPOKEN.length, SPOKEN)
  return isTime && count > 0 && count <= EXACT_DIGITS ? value : Number.NaN
}

/** A line in a buffer, and where it stands in the file. */
export interface Line {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  /** Byte offset of `start` in the file. */
  readonly offset: number
  /** Whether the envelope may be believed: one `"parentId":` and no NUL. */
  readonly isPlain: boolean
}

/** Looks back at lines that were taken, for the rare case that an id comes again. */
export interface Earlier {
  /** Whether the line of that row is the same as the one being taken, byte by byte. */
  readonly isSame: (row: number) => boolean
  readonly parsed: (row: number) => Jsonl.Parsed
}

/** Entries are seldom smaller on average; where they are, the columns grow. */
const BYTES_PER_ENTRY = 2048
const FEWEST_ROWS = 64

export class LineIndex {
  size: number
  columns: Columns
  readonly facts: Facts
  /** Parents as ids, for the rows that are not linked yet. */
  #parentCodes: Float64Array
  #linked: number
  #slots: Int32Array | undefined
  readonly #replaced = new Set<number>()
  #lastCode: number | undefined
  /** Set when a line was met that only a whole new index can place. */
  isConfused = false

  /** An empty index with room for the entries that a file of so many bytes is likely to have. */
  static forFile(bytes: number): LineIndex {
    return new LineIndex(emptyFacts(), makeColumns(Math.max(FEWEST_ROWS, Math.ceil(bytes / BYTES_PER_ENTRY))))
  }

  constructor(facts: Facts = emptyFacts(), columns: Columns = makeColumns(FEWEST_ROWS), size = 0) {
    this.facts = facts
    this.columns = columns
    this.size = size
    this.#linked = size
    this.#parentCodes = new Float64Array(columns.ids.length)
  }

  // ----------------------------------------------------------------------------------------------------- ids

  #codeAt(bytes: Buffer, from: number, to: number): number {
    const length = to - from
    if (length > LONGEST_HEX) return this.#code(bytes.toString("utf8", from, to))
    let value = 0
    for (let at = from; at < to; at++) {
      const digit = hexDigit(bytes[at]!)
      if (digit === NONE) return this.#code(bytes.toString("utf8", from, to))
      value = value * 16 + digit
    }
    return value + length * LENGTH_UNIT
  }

  #code(id: string): number {
    return HEX.test(id) ? Number.parseInt(id, 16) + id.length * LENGTH_UNIT : -1 - this.facts.oddIds.code(id)
  }

  #findCode(id: string): number {
    if (HEX.test(id)) return Number.parseInt(id, 16) + id.length * LENGTH_UNIT
    const odd = this.facts.oddIds.find(id)
    return odd === NONE ? Number.NaN : -1 - odd
  }

  #idOf(code: number): EntryId {
    if (code < 0) return this.facts.oddIds.list[-1 - code]! as EntryId
    const length = Math.floor(code / LENGTH_UNIT)
    return (code - length * LENGTH_UNIT).toString(16).padStart(length, "0") as EntryId
  }

  id(row: number): EntryId {
    return this.#idOf(this.columns.ids[row]!)
  }

  rowOf(id: string): number {
    return this.#rowOfCode(this.#findCode(id))
  }

  #rowOfCode(code: number): number {
    if (Number.isNaN(code)) return NONE
    const slots = this.#slots ?? this.#hash()
    return slots[this.#slotOf(code, slots)]!
  }

  /** Open addressing: the slot that holds the code, or the empty one where it belongs. */
  #slotOf(code: number, slots: Int32Array): number {
    const { ids } = this.columns
    const mask = slots.length - 1
    let at = mix(code) & mask
    while (slots[at] !== NONE && ids[slots[at]!] !== code) at = (at + 1) & mask
    return at
  }

  /** Made when the first id is asked for, so that following parents alone never pays for it. */
  #hash(): Int32Array {
    let capacity = 2 * FEWEST_ROWS
    while (capacity < Math.max(this.size, this.columns.ids.length) * 2) capacity *= 2
    const slots = new Int32Array(capacity).fill(NONE)
    for (let row = 0; row < this.size; row++) slots[this.#slotOf(this.columns.ids[row]!, slots)] = row
    this.#slots = slots
    return slots
  }

  // --------------------------------------------------------------------------------------------------- lines

  /** Takes the next line of the file, whatever it is. */
  take(line: Line, terminated: boolean, earlier: Earlier): void {
    this.facts.lineCount++
    if (line.end <= line.start) return
    if (this.facts.header !== null && terminated && line.isPlain && this.#takeEnvelope(line, earlier)) return
    this.#takeParsed(line, terminated, earlier)
  }

  #takeEnvelope({ bytes, start, end, offset }: Line, earlier: Earlier): boolean {
    if (bytes[end - 1] !== CLOSING_BRACE || !startsWith(bytes, start, HEAD)) return false
    const typeStart = start + HEAD.length
    const typeEnd = startsWith(bytes, typeStart, MESSAGE_TYPE) ? typeStart + 7 : stringEnd(bytes, typeStart, 40)
    if (typeEnd === NONE) return false
    if (!startsWith(bytes, typeEnd, ID))
      return this.#takeTail({ bytes, start, end, offset }, typeStart, typeEnd, earlier)
    const idStart = typeEnd + ID.length
    const idEnd = stringEnd(bytes, idStart, 128)
    if (idEnd === NONE || idEnd === idStart || !startsWith(bytes, idEnd, PARENT)) return false
    let at = idEnd + PARENT.length
    let parent = NO_PARENT
    if (bytes[at] === QUOTE) {
      const parentEnd = stringEnd(bytes, at + 1, 128)
      if (parentEnd === NONE || parentEnd === at + 1) return false
      parent = this.#codeAt(bytes, at + 1, parentEnd)
      at = parentEnd + 1
    } else if (startsWith(bytes, at, NULL)) at += NULL.length
    else return false
    if (!startsWith(bytes, at, TIME)) return false
    const timeStart = at + TIME.length
    const timeEnd = stringEnd(bytes, timeStart, 40)
    if (timeEnd === NONE || timeEnd >= end) return false
    const type = this.#typeCode(bytes, typeStart, typeEnd)
    if (type === SESSION) return false
    let role = 0
    let mark = 0
    if (type === MESSAGE) {
      if (!startsWith(bytes, timeEnd, ROLE)) return false
      const roleStart = timeEnd + ROLE.length
      const roleEnd = stringEnd(bytes, roleStart, 40)
      if (roleEnd === NONE) return false
      role = this.#roleCode(bytes.toString("utf8", roleStart, roleEnd))
    } else if (type === CUSTOM) {
      if (!startsWith(bytes, timeEnd, CUSTOM_TYPE)) return false
      mark = startsWith(bytes, timeEnd + CUSTOM_TYPE.length, GROVE) ? MARK : 0
    } else if (startsWith(bytes, timeEnd, ORIGIN)) return false
    const time = timeAt(bytes, timeStart, timeEnd)
    if (Number.isNaN(time)) return false
    const id = this.#codeAt(bytes, idStart, idEnd)
    const spoken = type === MESSAGE ? spokenAt(bytes, end) : Number.NaN
    return this.#add(id, parent, time, spoken, type, role, mark, offset, end - start, earlier, false)
  }

  /** `custom` and `custom_message` as Pi writes them: their own fields first, the envelope at the end. */
  #takeTail(line: Omit<Line, "isPlain">, typeStart: number, typeEnd: number, earlier: Earlier): boolean {
    const { bytes, start, end, offset } = line
    if (!startsWith(bytes, typeEnd, CUSTOM_TYPE)) return false
    const type = this.#typeCode(bytes, typeStart, typeEnd)
    if (type === MESSAGE || type === SESSION) return false
    const mark = type === CUSTOM && startsWith(bytes, typeEnd + CUSTOM_TYPE.length, GROVE) ? MARK : 0
    const found = TAIL.exec(bytes.toString("latin1", Math.max(start, end - TAIL_BYTES), end))
    if (found === null) return false
    const [id, parent, spelled] =
      found[1] === undefined ? [found[4], found[5], found[6]] : [found[1], found[2], found[3]]
    const time = spelledTime(textOf(spelled!))
    if (Number.isNaN(time)) return false
    const parentCode = parent === undefined ? NO_PARENT : this.#code(textOf(parent))
    const code = this.#code(textOf(id!))
    return this.#add(code, parentCode, time, Number.NaN, type, 0, mark, offset, end - start, earlier, false)
  }

  #typeCode(bytes: Buffer, from: number, to: number): number {
    if (to - from === 7 && startsWith(bytes, from, MESSAGE_TYPE)) return MESSAGE
    return this.facts.types.code(bytes.toString("utf8", from, to))
  }

  #roleCode(role: string | null): number {
    return role === null ? 0 : this.facts.roles.code(role) + 1
  }

  role(row: number): string | null {
    return this.facts.roles.list[this.columns.roles[row]! - 1] ?? null
  }

  #skip(kind: keyof typeof Jsonl.messages): void {
    this.facts.problems.push({ line: this.facts.lineCount, kind, message: Jsonl.messages[kind] })
  }

  #takeParsed({ bytes, start, end, offset }: Line, terminated: boolean, earlier: Earlier): void {
    const { facts } = this
    const parsed = Jsonl.parseLine(bytes.subarray(start, end))
    if (parsed.is === "blank") return
    if (parsed.is === "not-json") {
      this.#skip(terminated ? "not-json" : "torn-tail")
      return
    }
    const { value, damagedText } = parsed
    const kind = Jsonl.kindOf(value, facts.header, facts.title)
    if (kind === "title") facts.title = value as Header.TitleSlot
    else if (kind === "header") {
      facts.header = value as Header.Header
      facts.headerLine = facts.lineCount
    } else if (kind !== "entry") this.#skip(kind)
    else if (facts.header === null) facts.noHeaderAt = facts.lineCount
    else {
      const entry = Entry.fromJson(value)
      // Version 1 has no ids yet; such a file is parsed whole anyway.
      if (entry === undefined) return
      const bent = Jsonl.bentEnvelope(value as Json, entry.id, facts.lineCount)
      if (bent !== undefined) facts.problems.push(bent)
      if (damagedText) facts.problems.push(Jsonl.damagedText(entry.id, facts.lineCount))
      const parent = entry.parentId === null ? NO_PARENT : this.#code(entry.parentId)
      const role = this.#roleCode(Entry.role(entry))
      const type = facts.types.code(entry.type)
      const mark = Mark.isMark(entry) ? MARK : Entry.isCopy(entry) ? COPY : 0
      this.#add(
        this.#code(entry.id),
        parent,
        Entry.time(entry.timestamp),
        Number.NaN,
        type,
        role,
        mark,
        offset,
        end - start,
        earlier,
        true
      )
    }
  }

  /** False for a line whose id was there before: only one that was parsed may repeat or replace another. */
  #add(
    id: number,
    parent: number,
    time: number,
    spoken: number,
    type: number,
    role: number,
    mark: number,
    start: number,
    length: number,
    earlier: Earlier,
    isParsed: boolean
  ): boolean {
    const slots = this.#slots ?? this.#hash()
    const slot = this.#slotOf(id, slots)
    const before = slots[slot]!
    if (before !== NONE && !isParsed) return false
    this.#lastCode = id
    if (before !== NONE) {
      if (earlier.isSame(before)) return true
      this.#replace(before, earlier.parsed(before))
    }
    if (this.size === this.columns.ids.length) this.#grow()
    const row = this.size++
    const { columns } = this
    columns.ids[row] = id
    this.#parentCodes[row] = parent
    columns.times[row] = time
    columns.spoken[row] = spoken
    columns.types[row] = type
    columns.roles[row] = role
    columns.marks[row] = mark
    columns.starts[row] = start
    columns.lengths[row] = length
    columns.lines[row] = this.facts.lineCount
    slots[slot] = row
    if (slots.length < this.size * 2) this.#hash()
    return true
  }

  #grow(): void {
    this.columns = widened(this.columns)
    const wider = new Float64Array(this.columns.ids.length)
    wider.set(this.#parentCodes)
    this.#parentCodes = wider
  }

  /** The later line with an id counts; the earlier one, if it was any, is taken out before the rows are linked. */
  #replace(row: number, before: Jsonl.Parsed): void {
    const { problems } = this.facts
    const id = this.id(row)
    const line = this.columns.lines[row]!
    if (before.is !== "value") problems.push({ line, kind: "not-json", message: Jsonl.messages["not-json"] })
    else {
      const isToldAlready = () => problems.some((problem) => problem.line === line && problem.kind === "bad-body")
      if (before.damagedText && !isToldAlready()) problems.push(Jsonl.damagedText(id, line))
      problems.push(Jsonl.duplicateId(id, this.facts.lineCount, line))
    }
    if (row < this.#linked) this.isConfused = true
    else this.#replaced.add(row)
  }

  #dropReplaced(): void {
    let kept = 0
    const columns = [...Object.values(this.columns), this.#parentCodes]
    for (let row = 0; row < this.size; row++) {
      if (this.#replaced.has(row)) continue
      if (kept < row) for (const column of columns) column[kept] = column[row]!
      kept++
    }
    this.size = kept
    this.#replaced.clear()
    this.#hash()
  }

  /** Row of the last entry line of the file, repeated or not: it alone decides the leaf. */
  get last(): number {
    if (this.#lastCode !== undefined) return this.#rowOfCode(this.#lastCode)
    return this.facts.lastId === null ? NONE : this.rowOf(this.facts.lastId)
  }

  // --------------------------------------------------------------------------------------------------- links

  /** Resolves the parents of new rows. Where that would change older rows, the index is confused and must be made anew. */
  link(): void {
    if (this.#replaced.size > 0) this.#dropReplaced()
    this.facts.problems.sort((a, b) => a.line - b.line)
    if (this.last !== NONE) this.facts.lastId = this.id(this.last)
    const { parents } = this.columns
    const from = this.#linked
    const named = (row: number): number => {
      const code = this.#parentCodes[row]!
      return code === NO_PARENT ? NONE : this.#rowOfCode(code)
    }
    if (from === 0) {
      parents.set(EntryTable.link(this.size, named, (row) => this.id(row)).parents)
      for (let row = 0; row < this.size; row++) {
        const code = this.#parentCodes[row]!
        if (code !== NO_PARENT && parents[row] === NONE) this.facts.unlinked.push([row, this.#idOf(code)])
      }
    } else {
      for (let row = from; row < this.size; row++) {
        const parent = named(row)
        if (this.#parentCodes[row] !== NO_PARENT && (parent === NONE || parent >= row)) this.isConfused = true
        parents[row] = parent
      }
      if (this.size > from && this.facts.unlinked.length > 0) this.isConfused = true
    }
    this.#linked = this.size
  }
}

/** Codes are up to 52 bits; both halves must tell. */
const mix = (code: number): number => {
  const low = code | 0
  const high = (code / 4294967296) | 0
  let hash = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1)
  hash ^= hash >>> 15
  return hash >>> 0
}
