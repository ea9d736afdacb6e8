/** The first line of a session file, and the title slot that may stand before it. */
import { Schema } from "effect"
import { isObject, open } from "./open.ts"

/** The version Grove writes. */
export const CURRENT_VERSION = 3

export const Header = open({
  type: Schema.tag("session"),
  id: Schema.NonEmptyString,
  version: Schema.optionalKey(Schema.Finite),
  timestamp: Schema.optionalKey(Schema.String),
  cwd: Schema.optionalKey(Schema.String),
  title: Schema.optionalKey(Schema.String),
  /** Opaque lineage: the id or the path of the session this one came from. */
  parentSession: Schema.optionalKey(Schema.String)
})
export type Header = typeof Header.Type

/** oh-my-pi keeps a session's title in a line of fixed width before the header. */
export interface TitleSlot {
  readonly type: "title"
  readonly title?: unknown
  readonly [key: string]: unknown
}

/** Only `type` and a non-empty `id` decide; everything else is taken as it is. */
export const isHeader = (value: unknown): value is Header =>
  isObject(value) && value.type === "session" && typeof value.id === "string" && value.id !== ""

export const isTitleSlot = (value: unknown): value is TitleSlot => isObject(value) && value.type === "title"

/** Absent means 1. What is no number at all counts as newer than anything known, so that nothing migrates it. */
export const version = (header: Header): number => {
  const stored: unknown = header.version
  if (stored === undefined || stored === null) return 1
  return typeof stored === "number" && stored >= 1 ? stored : Number.POSITIVE_INFINITY
}
