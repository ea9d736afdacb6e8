/**
 * Tells of every entry that others append to a session (`heard <id>`), and appends those it is given on its input, one
 * id a line (`appended <id>`): `listener <path>`.
 */

import { dirname } from "node:path"
import { createInterface } from "node:readline"
import { type Entry, SessionStore } from "@grove/core"
import { Effect, Stream } from "effect"
import { line } from "../Lines.ts"
import { storeLayer } from "../Stores.ts"
import { tell } from "./program.ts"

const [path = ""] = process.argv.slice(2)

const work = Effect.gen(function* () {
  const store = yield* SessionStore
  const log = yield* store.open({ id: "", path })
  yield* log.changes.pipe(
    Stream.runForEach((entries) =>
      Effect.sync(() => {
        for (const { id } of entries) tell(`heard ${id}`)
      })
    ),
    Effect.forkScoped({ startImmediately: true })
  )
  tell("ready")
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), (cause) => cause).pipe(
    Stream.runForEach((id) =>
      Effect.andThen(
        log.append([JSON.parse(line(id)) as Entry.Entry]),
        Effect.sync(() => tell(`appended ${id}`))
      )
    )
  )
}).pipe(Effect.scoped)

await Effect.runPromise(Effect.provide(work, storeLayer(dirname(path))))
