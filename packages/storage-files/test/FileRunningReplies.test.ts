/** Replies being generated, as files. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, it } from "@effect/vitest"
import { EntryId, type RunningReply } from "@grove/core"
import { RunningRepliesContract } from "@grove/core/testing"
import { Effect, Layer } from "effect"
import * as FileRunningReplies from "../src/FileRunningReplies.ts"

const folders: Array<string> = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "grove-running-"))
  folders.push(folder)
  return folder
}

/** A process that was, and is no more. */
const dead = (): string => {
  const { pid } = spawnSync(process.execPath, ["-e", ""])
  return FileRunningReplies.ownerOf(pid)
}

const leave = (home: string, left: ReadonlyArray<RunningReply>, owner: string) =>
  Effect.forEach(left, FileRunningReplies.make({ home, owner }).note, { discard: true })

RunningRepliesContract.suite("files", (left) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const home = temporary()
      yield* leave(home, left, dead())
      return FileRunningReplies.layer({ home })
    })
  )
)

const reply: RunningReply = {
  session: "0195d1a0-0000-7000-8000-00000000cafe",
  entry: EntryId.make("a1b2c3d4e5f6"),
  parentId: EntryId.make("000000000001"),
  model: "grove/sprout",
  started: "2026-01-01T00:00:00.000Z",
  text: "so far"
}

it.effect("a note is a file that only its owner can read, named by session and entry", () =>
  Effect.gen(function* () {
    const home = temporary()
    yield* FileRunningReplies.make({ home }).note(reply)
    const folder = join(home, "running")
    assert.deepStrictEqual(readdirSync(folder), [`${reply.session}.${reply.entry}.json`])
    assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
    assert.strictEqual(statSync(join(folder, readdirSync(folder)[0]!)).mode & 0o777, 0o600)
  })
)

it.effect("a number that another process has now does not make the dead one live", () =>
  Effect.gen(function* () {
    const home = temporary()
    const [host, pid] = FileRunningReplies.ownerOf(process.pid).split(":")
    yield* leave(home, [reply], [host, pid, "1"].join(":"))
    assert.deepStrictEqual(yield* FileRunningReplies.make({ home }).takeAbandoned(reply.session), [reply])
  })
)

it.effect("who took a reply over and died leaves it to the next", () =>
  Effect.gen(function* () {
    const home = temporary()
    yield* leave(home, [reply], dead())
    assert.deepStrictEqual(yield* FileRunningReplies.make({ home, owner: dead() }).takeAbandoned(reply.session), [
      reply
    ])
    const next = FileRunningReplies.make({ home })
    assert.deepStrictEqual(yield* next.takeAbandoned(reply.session), [reply])
    assert.deepStrictEqual(yield* FileRunningReplies.make({ home }).takeAbandoned(reply.session), [])
    yield* next.forget(reply.session, reply.entry)
    assert.deepStrictEqual(readdirSync(join(home, "running")), [])
  })
)

it.live("a process on another machine is believed to be at work for an hour after its last note", () =>
  Effect.gen(function* () {
    const home = temporary()
    yield* leave(home, [reply], "elsewhere:1:1")
    const replies = FileRunningReplies.make({ home })
    assert.deepStrictEqual(yield* replies.takeAbandoned(reply.session), [])
    const path = join(home, "running", readdirSync(join(home, "running"))[0]!)
    const then = new Date(Date.now() - 3_700_000)
    utimesSync(path, then, then)
    assert.deepStrictEqual(yield* replies.takeAbandoned(reply.session), [reply])
  })
)

it.effect("files that are no notes are left alone", () =>
  Effect.gen(function* () {
    const home = temporary()
    mkdirSync(join(home, "running"))
    const name = `${reply.session}.${reply.entry}.json`
    for (const text of ["", "{", "[]", '{"session":1}', JSON.stringify({ ...reply, owner: "%:%:%" })]) {
      writeFileSync(join(home, "running", name), text)
      yield* FileRunningReplies.make({ home }).takeAbandoned("other")
    }
    writeFileSync(join(home, "running", name), "{")
    assert.deepStrictEqual(yield* FileRunningReplies.make({ home }).takeAbandoned(reply.session), [])
    assert.deepStrictEqual(readdirSync(join(home, "running")), [name])
  })
)

it.effect("where nothing can be written, a reply goes on without its note", () =>
  Effect.gen(function* () {
    const home = join(temporary(), "file")
    writeFileSync(home, "")
    const replies = FileRunningReplies.make({ home })
    yield* replies.note(reply)
    yield* replies.forget(reply.session, reply.entry)
    assert.deepStrictEqual(yield* replies.list(reply.session), [])
  })
)
