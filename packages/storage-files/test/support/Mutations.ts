/** Session files that something went wrong with: lines damaged in every way that was seen or thought of. */
import { readdirSync, readFileSync } from "node:fs"
import type { Chance } from "./Chance.ts"

const LF = 10
const fixtures = new URL("../../../../fixtures/", import.meta.url)

const linesIn = (bytes: Buffer): Array<Buffer> => {
  const lines: Array<Buffer> = []
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf(LF, start)
    const end = lf === -1 ? bytes.length : lf
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return lines
}

/** Every fixture as its lines; long ones are no better for this than short ones. */
export const loadFixtures = (): ReadonlyArray<ReadonlyArray<Buffer>> =>
  ["pi/", "omp/sessions/"].flatMap((folder) =>
    readdirSync(new URL(folder, fixtures))
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) =>
        linesIn(readFileSync(new URL(`${folder}${name}`, fixtures))).filter(({ length }) => length < 20_000)
      )
      .filter(({ length }) => length > 1)
  )

type Value = { [key: string]: unknown }

/** A mutation of the bytes of one line. */
type ByteMutation = (line: Buffer, chance: Chance) => Buffer
/** A mutation of what one line says; `ids` are those of its file. */
type ValueMutation = (value: Value, chance: Chance, ids: ReadonlyArray<string>) => Value | string

const splice = (line: Buffer, at: number, remove: number, insert: Uint8Array | string): Buffer =>
  Buffer.concat([line.subarray(0, at), Buffer.from(insert as string), line.subarray(at + remove)])

const insertOneOf =
  (...texts: ReadonlyArray<Uint8Array | string>): ByteMutation =>
  (line, chance) =>
    splice(line, chance.below(line.length + 1), 0, chance.pick(texts))

const bytes = (...values: ReadonlyArray<number>): Uint8Array => Uint8Array.of(...values)

const byteMutations: { readonly [name: string]: ByteMutation } = {
  "a bit flipped": (line, chance) => {
    const flipped = Buffer.from(line)
    if (flipped.length > 0) flipped[chance.below(flipped.length)]! ^= 1 << chance.below(8)
    return flipped
  },
  "a bit of the envelope flipped": (line, chance) => {
    const flipped = Buffer.from(line)
    if (flipped.length > 0) flipped[chance.below(Math.min(160, flipped.length))]! ^= 1 << chance.below(8)
    return flipped
  },
  "the end cut off": (line, chance) => line.subarray(0, chance.below(line.length + 1)),
  "the start cut off": (line, chance) => line.subarray(chance.below(line.length + 1)),
  "a part left out": (line, chance) =>
    splice(line, chance.below(line.length + 1), chance.below(Math.min(200, line.length + 1)), ""),
  "a part zeroed": (line, chance) => {
    const zeroed = Buffer.from(line)
    const start = chance.below(line.length + 1)
    return zeroed.fill(0, start, Math.min(line.length, start + chance.between(1, 64)))
  },
  "a part written twice": (line, chance) => {
    const start = chance.below(line.length + 1)
    return splice(line, start, 0, line.subarray(start, start + chance.below(120)))
  },
  "punctuation put in": insertOneOf(
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    '",',
    '"}',
    '{"',
    "}}",
    " ",
    "\t",
    "\\u0000"
  ),
  "NULs put in": insertOneOf("\0", "\0\0\0\0"),
  "control characters put in": insertOneOf("\u0001", "\u001b[31m", "\r", "\u007f", "\u2028", "\ufeff"),
  "bytes that are no UTF-8 put in": insertOneOf(
    bytes(0xff),
    bytes(0xc3),
    bytes(0xed, 0xa0, 0x80),
    bytes(0xc0, 0xaf),
    bytes(0xf5, 0x80)
  ),
  "a parentId in its text": insertOneOf('"parentId":', '\\"parentId\\":', '"parentId":"x",'),
  "white space around": (line, chance) =>
    Buffer.concat([Buffer.from(chance.pick([" ", "\t", "  \r"])), line, Buffer.from(" ")]),
  "a carriage return at the end": (line) => Buffer.concat([line, Buffer.from("\r")]),
  "torn and completed": (line, chance) => Buffer.concat([line.subarray(0, chance.below(line.length)), line]),
  "two lines in one": (line) => Buffer.concat([line, line]),
  "one line in two": (line, chance) => splice(line, chance.below(line.length + 1), 0, "\n"),
  "nothing left": () => Buffer.alloc(0)
}

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

const envelopeLast = ({ type, id, parentId, timestamp, ...rest }: Value): Value => ({
  type,
  ...rest,
  id,
  parentId,
  timestamp
})
const shuffled = (value: Value, chance: Chance): Value => {
  const keys = Object.keys(value)
  const from = chance.below(keys.length + 1)
  return Object.fromEntries([...keys.slice(from), ...keys.slice(0, from)].map((key) => [key, value[key]]))
}

const valueMutations: { readonly [name: string]: ValueMutation } = {
  "another's id": (value, chance, ids) => ({ ...value, id: chance.pick(ids) }),
  "another's id and parent": (value, chance, ids) => ({ ...value, id: chance.pick(ids), parentId: chance.pick(ids) }),
  "any parent at all": (value, chance, ids) => ({
    ...value,
    parentId: chance.pick([...ids, "nobody", value.id, null, "", 7])
  }),
  "an odd id": (value, chance) => ({
    ...value,
    id: chance.pick([
      "",
      7,
      null,
      "ABC",
      "0",
      "00",
      "abcdef123456",
      "abcdef1234567",
      "日本",
      "a\ud800",
      "\u0000",
      "__proto__",
      "x".repeat(200)
    ])
  }),
  "an odd type": (value, chance) => ({
    ...value,
    type: chance.pick([
      "session",
      "title",
      "message",
      "custom",
      "leaf",
      "título",
      "",
      "x".repeat(60),
      7,
      null,
      "compaction",
      "label"
    ])
  }),
  "an odd time": (value, chance) => ({
    ...value,
    timestamp: chance.pick([
      "",
      7,
      null,
      "yesterday",
      "2026-13-01T00:00:00.000Z",
      "0026-01-01T00:00:00.000Z",
      "2026-02-31T00:00:00.000Z",
      "2026-01-01T24:00:00.000Z",
      "2026-01-01T25:00:00.000Z",
      "20a6-01-01T00:00:00.000Z",
      "2026-01-01",
      "2026-01-01T00:00:00.000+01"
    ])
  }),
  "an odd message": (value, chance) => ({
    ...value,
    message: chance.pick([
      null,
      7,
      "text",
      [],
      {},
      { role: 7 },
      { role: "" },
      { role: "rôle", content: [] },
      { content: "x", role: "user" }
    ])
  }),
  "a huge number": (value, chance) =>
    JSON.stringify({ ...value, number: 0, message: { role: "user", content: "", timestamp: 0 } })
      .replace('"number":0', `"number":${chance.pick(["1e999", "-0", "9".repeat(400), "1e-999"])}`)
      .replace(
        '"timestamp":0}',
        `"timestamp":${chance.pick(["1e999", "9".repeat(400), "12345678901234567", "1760000000000", "1.5", "-3"])}}`
      ),
  "a body nested deeply": (value, chance) => ({ ...value, deep: nested(chance.between(10, 300)) }),
  "a mark": (value, chance, ids) => ({
    type: "custom",
    id: value.id,
    parentId: chance.pick([value.parentId, chance.pick(ids), null]),
    timestamp: value.timestamp,
    customType: `grove.${chance.pick(["leaf", "state", "config", "annotation", "unheard-of"])}`,
    data: {
      targetId: chance.pick(ids),
      targetIds: [chance.pick(ids)],
      enabled: chance.oneIn(2),
      rating: 3,
      summary: "s"
    }
  }),
  "a leaf line": (value, chance, ids) => ({
    ...value,
    type: "leaf",
    targetId: chance.pick([null, chance.pick(ids), "nobody"])
  }),
  "a label": (value, chance, ids) => ({
    ...value,
    type: "label",
    targetId: chance.pick(ids),
    label: chance.pick(["", "here", null])
  }),
  "a compaction": (value, chance, ids) => ({
    ...value,
    type: "compaction",
    summary: "s",
    firstKeptEntryId: chance.pick(ids),
    tokensBefore: 1
  }),
  "a context edit": (value, chance, ids) => ({
    ...value,
    type: "context_edit",
    targetId: chance.pick(ids),
    replacement: chance.pick([null, { content: "new" }])
  }),
  "a setting": (value, chance) => ({
    ...value,
    type: chance.pick(["thinking_level_change", "model_change", "mode_change"]),
    thinkingLevel: "high",
    model: "p/m",
    mode: "plan"
  }),
  "its envelope last": (value, chance) =>
    envelopeLast({
      ...value,
      type: chance.pick(["custom", "custom_message"]),
      customType: chance.pick(["x", "grove.state", "grove.x"])
    }),
  "its fields in another order": shuffled,
  "the same again": (value) => value,
  "spaces between": (value) => JSON.stringify(value, null, 1).replaceAll("\n", ""),
  "a second header": (value) => ({
    type: "session",
    id: value.id,
    parentId: null,
    timestamp: value.timestamp,
    version: 3
  }),
  "no object": (_, chance) => chance.pick(["7", '"text"', "null", "[]", "[{}]", "true"])
}

export const names = [...Object.keys(byteMutations), ...Object.keys(valueMutations)]

const parse = (line: Buffer): Value | undefined => {
  try {
    const value: unknown = JSON.parse(line.toString())
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Value) : undefined
  } catch {
    return undefined
  }
}

/** No writer names a field twice in one object; which of the two counts is not promised. */
const namesFieldTwice = (line: Buffer): boolean => {
  if (parse(line) === undefined) return false
  const open: Array<Set<string>> = []
  for (const [token] of line.toString().matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (token === "{" || token === "[") open.push(new Set())
    else if (token === "}" || token === "]") open.pop()
    else if (token.endsWith(":")) {
      const field: string = JSON.parse(token.slice(0, -1))
      if (open.at(-1)!.has(field)) return true
      open.at(-1)!.add(field)
    }
  }
  return false
}

const idsIn = (lines: ReadonlyArray<Buffer>): ReadonlyArray<string> => {
  const ids = lines.map(parse).flatMap((value) => (typeof value?.id === "string" ? [value.id] : []))
  return ids.length === 0 ? ["nobody"] : ids
}

const mutate = (line: Buffer, chance: Chance, ids: ReadonlyArray<string>): Buffer => {
  const name = chance.pick(names)
  const onBytes = byteMutations[name]
  if (onBytes !== undefined) return onBytes(line, chance)
  const value = parse(line)
  if (value === undefined) return line
  const mutated = valueMutations[name]!(value, chance, ids)
  return Buffer.from(typeof mutated === "string" ? mutated : JSON.stringify(mutated))
}

const HEADER = Buffer.from(
  '{"type":"session","version":3,"id":"fuzzed","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}'
)
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

export interface Mutated {
  readonly bytes: Buffer
  /** How many lines were mutated. */
  readonly count: number
}

/** A stretch of a fixture, some or most of its lines mutated, its header mostly spared. */
export const mutatedFile = (chance: Chance, fixtures: ReadonlyArray<ReadonlyArray<Buffer>>): Mutated => {
  const [header, ...all] = chance.pick(fixtures)
  const from = chance.below(Math.max(1, all.length - 20))
  const lines = all.slice(from, from + chance.between(5, 40))
  const ids = idsIn(lines)
  const rate = chance.pick([1, 1, 2, 5])
  let count = 0
  const body = lines.map((line) => {
    if (!chance.oneIn(rate)) return line
    count++
    const once = mutate(line, chance, ids)
    const mutated = chance.oneIn(4) ? mutate(once, chance, ids) : once
    return namesFieldTwice(mutated) ? line : mutated
  })
  const first = chance.oneIn(20) ? mutate(header!, chance, ids) : chance.oneIn(3) ? header! : HEADER
  const lineEnd = chance.oneIn(10) ? "\r\n" : "\n"
  const text = [first, ...body].flatMap((line) => [line, Buffer.from(lineEnd)])
  const whole = Buffer.concat(chance.oneIn(20) ? [BOM, ...text] : text)
  const end = chance.oneIn(4) ? whole.length - chance.below(60) : whole.length
  return { bytes: whole.subarray(0, Math.max(0, end)), count }
}
