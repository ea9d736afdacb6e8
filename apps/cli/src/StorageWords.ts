/** What the storage did or refused, as people are told it. */
import { SessionStoreError, Store } from "@grove/core"
import type { Backup, FileRefused, Purge, Trash } from "@grove/storage-files"
import { Effect } from "effect"
import { Failure } from "./CliError.ts"
import { explain } from "./SessionArgument.ts"

const UNITS = ["B", "kB", "MB", "GB", "TB"]

/** `812 B`, `3.4 MB`. */
export const size = (bytes: number): string => {
  let amount = bytes
  let unit = 0
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000
    unit++
  }
  return `${unit === 0 || amount >= 99.95 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`
}

type Trouble =
  | FileRefused
  | Trash.PlaceTaken
  | Trash.NotInTrash
  | Trash.TrashAmbiguous
  | Backup.BackupNotEmpty
  | Backup.BackupInside
  | Purge.PurgeNotASession
  | Purge.PurgeUnfitText

const asStore = (session: string, reason: SessionStoreError["reason"]): string =>
  explain(new SessionStoreError({ session, reason }))

/** One line: what, where, and what to do. */
const words = (trouble: Trouble): string => {
  switch (trouble._tag) {
    case "FileRefused":
      return asStore(trouble.path, new Store.StoreRefused({ cause: trouble.cause }))
    case "PlaceTaken":
      return `it cannot be put back: ${trouble.path} is there already; move that away first`
    case "NotInTrash":
      return `no session ${trouble.session} in the trash; grove ls lists those that are not`
    case "TrashAmbiguous":
      return asStore(trouble.session, new Store.SessionAmbiguous({ candidates: trouble.candidates }))
    case "BackupNotEmpty":
      return `${trouble.directory} is not empty; name a folder that is empty or not there yet`
    case "BackupInside":
      return `${trouble.directory} is inside ${trouble.folder}, which would be copied; name a folder outside of it`
    case "PurgeNotASession":
      return asStore(trouble.path, new Store.NotASession({ line: trouble.line }))
    case "PurgeUnfitText":
      return `that text cannot be purged: ${trouble.objection}`
  }
}

/** The trouble in one line; `consequence` says what that means for everything else. */
export const told =
  (consequence = "") =>
  <A, E extends Trouble, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Failure, R> =>
    Effect.mapError(effect, (trouble) => new Failure({ message: `${words(trouble)}${consequence}` }))
