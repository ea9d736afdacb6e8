/** Names of sessions and entries, and how a person may abbreviate them. */
import { Schema } from "effect"

/** Any non-empty string is read; Grove itself writes 12 hex digits. */
export const EntryId = Schema.NonEmptyString.pipe(Schema.brand("EntryId"))
export type EntryId = typeof EntryId.Type

/** Safe as part of a file name, so no adapter has to escape it. */
export const SessionId = Schema.String.check(
  Schema.isPattern(/^(?=.{1,128}$)[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?$/)
).pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

/** The shortest prefix or suffix that may stand for an id. */
export const SHORTEST_ABBREVIATION = 4

/** The form shown to people: the last eight characters, where random ids differ most. */
export const short = (id: string): string => id.slice(-8)

/** Every id that `text` may stand for: the id itself if there is one, else those it begins or ends. */
export const candidates = <Id extends string>(text: string, ids: Iterable<Id>): ReadonlyArray<Id> => {
  const found: Array<Id> = []
  for (const id of ids) {
    if (id === text) return [id]
    if (text.length >= SHORTEST_ABBREVIATION && (id.startsWith(text) || id.endsWith(text))) found.push(id)
  }
  return found
}
