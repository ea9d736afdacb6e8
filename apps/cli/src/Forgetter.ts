/** What the history and the index must forget when something is purged. */
import { existsSync } from "node:fs"
import { PromptHistory, type Prompts } from "@grove/core"
import { FileRefused, type Purge, type SessionPaths } from "@grove/storage-files"
import { SqliteSessionIndex } from "@grove/storage-sqlite"
import { Effect } from "effect"
import * as History from "./History.ts"
import * as SessionIndex from "./SessionIndex.ts"

const meant = (target: Purge.Target): Prompts.Forgotten => {
  switch (target.is) {
    case "session":
      return { is: "session", session: target.session.id }
    case "entry":
      return { is: "session", session: target.session.id, entry: target.entry }
    case "text":
      return target
  }
}

const forget = (paths: SessionPaths.SessionPaths, target: Purge.Target, dryRun: boolean) => {
  const path = History.pathFor(paths)
  if (!existsSync(path)) return Effect.succeed(0)
  return PromptHistory.use((history) => history.forget(meant(target), { dryRun })).pipe(
    Effect.provide(History.layer(paths)),
    Effect.mapError((trouble) => new FileRefused({ path, cause: new Error(History.reasonOf(trouble)) }))
  )
}

/** How many prompts would be forgotten. */
export const remembered = (paths: SessionPaths.SessionPaths, target: Purge.Target) => forget(paths, target, true)

/** The index is a cache: rather than taken apart, it is made anew when somebody searches. */
export const forgetter =
  (paths: SessionPaths.SessionPaths): Purge.Forgetter =>
  (target) =>
    Effect.andThen(
      forget(paths, target, false),
      Effect.sync(() => SqliteSessionIndex.forget(SessionIndex.pathFor(paths)))
    )
