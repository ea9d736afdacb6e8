/** Entries of every kind, for properties: all types we know, types we do not, unknown fields, text of every script. */
import { Arbitrary, Schema } from "effect"
import * as Entry from "../model/Entry.ts"
import type { EntryId } from "../model/EntryId.ts"

/** Text that a careless writer breaks: its line ends, its quotes, its planes, its direction. */
export const awkwardTexts = [
  "two\nlines\r\nand a third",
  'quotes " and \\ and \u0000',
  "日本語の文、中文和한국어",
  "👩‍👩‍👧‍👦 🇨🇭 𠮷",
  "line\u2028and paragraph\u2029separators",
  "שלום, עולם",
  "e\u0301 is not é",
  '{"type":"session","id":"inside a string"}'
] as const

/** A line of a program that is newer than ours. */
const Unknown = Schema.StructWithRest(
  Schema.Struct({
    type: Schema.Literals(["future_thing", "custom2", "toString", "label ", ""]),
    text: Schema.Literals(awkwardTexts)
  }),
  [Schema.Record(Schema.String, Schema.Json)]
)

/** Halves of surrogate pairs are no text; JSON escapes them, so they are found there. */
const HALVES = /\\ud[89a-f][0-9a-f]{2}/g
const asJson = (value: unknown): object => JSON.parse(JSON.stringify(value).replace(HALVES, "\\ufffd"))

const one = Arbitrary.all({
  body: Arbitrary.schema(Schema.Union([Entry.KnownEntry, Unknown])),
  id: Arbitrary.schema(Schema.Literals(["", "0123456789ab", ...awkwardTexts])),
  /** How far above its parent is, in the order of the file. */
  above: Arbitrary.schema(Schema.Literals([1, 1, 2, 3, 7]))
})

/** Entries with ids of their own, each under an earlier one or none. Nothing in them is lost by JSON. */
export const entries: Arbitrary.Arbitrary<ReadonlyArray<Entry.Entry>> = Arbitrary.map(
  Arbitrary.array(one, { maxLength: 12 }),
  (drafts) => {
    const placed: Array<Entry.Entry> = []
    for (const [row, { body, id, above }] of drafts.entries()) {
      const link = {
        id: `${row} ${id}` as EntryId,
        parentId: placed[row - above]?.id ?? null,
        timestamp: new Date(row * 1000).toISOString()
      }
      placed.push({ ...asJson(body), ...link } as Entry.Entry)
    }
    return placed
  }
)
