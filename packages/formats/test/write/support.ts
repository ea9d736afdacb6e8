/** What the tests of writers share: sessions from lines, exports as text, the fixtures, and texts that mean harm. */
import { type Entry, type EntryId, type Json, Store } from "@grove/core"
import { Effect, Result, Stream } from "effect"
import * as Redactor from "../../src/redact/Redactor.ts"
import * as Exporter from "../../src/write/Exporter.ts"
import { bytesOf, namesIn, utf8 } from "../support.ts"

export const person = { home: "/home/ada", user: "ada" }

export const sessionFrom = (bytes: Uint8Array): Exporter.Session & { readonly id: string } => {
  const { header, title, tree, ref } = Result.getOrThrow(Store.snapshotOf({ id: "", path: "" }, bytes))
  return { id: ref.id, header, title, tree, restore: Effect.succeed }
}

export const fixture = (path: string) => sessionFrom(bytesOf(path))

export const sessionOf = (...entries: ReadonlyArray<Json>) =>
  sessionFrom(utf8([header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("")))

export const header = {
  ...{ type: "session", version: 3, id: "0195d1a0-0000-7000-8000-00000000cafe" },
  ...{ timestamp: "2026-01-01T00:00:00.000Z", cwd: "/home/ada/shop" }
}

let minutes = 0
const envelope = (id: string, parentId: string | null) => ({
  id,
  parentId,
  timestamp: new Date(Date.UTC(2026, 0, 1) + minutes++ * 60_000).toISOString()
})
export const entry = (type: string, id: string, parentId: string | null, fields: Json): Json => ({
  type,
  ...envelope(id, parentId),
  ...fields
})
export const user = (id: string, parentId: string | null, content: unknown): Json =>
  entry("message", id, parentId, { message: { role: "user", content } })
export const reply = (id: string, parentId: string | null, content: unknown, fields: Json = {}): Json =>
  entry("message", id, parentId, {
    message: {
      ...{ role: "assistant", provider: "p", model: "m", stopReason: "stop" },
      content: typeof content === "string" ? [{ type: "text", text: content }] : content,
      ...fields
    }
  })
export const result = (id: string, parentId: string | null, toolCallId: string, content: unknown): Json =>
  entry("message", id, parentId, {
    message: { role: "toolResult", toolCallId, toolName: "bash", content, isError: false }
  })

export const exported = (
  session: Exporter.Session,
  to: Exporter.Format,
  options: { readonly leaf?: string; readonly redactor?: Redactor.Redactor } = {}
): Promise<string> =>
  Effect.runPromise(
    Stream.runFold(
      Exporter.stream(session, { to, redactor: options.redactor, leaf: options.leaf as EntryId | undefined }),
      () => [] as Array<Uint8Array>,
      (parts, part) => {
        parts.push(part.slice())
        return parts
      }
    ).pipe(Effect.map((parts) => Buffer.concat(parts).toString("utf8")))
  )

export const redactor = (): Redactor.Redactor => Redactor.make(person)

export const linesOf = (text: string): ReadonlyArray<Json> =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

export const entriesOf = (session: Exporter.Session): ReadonlyArray<Entry.Entry> => session.tree.entries

/** Fixtures that are sessions, of both families. */
export const fixtures: ReadonlyArray<string> = [
  ...namesIn("pi", /\.jsonl$/).map((name) => `pi/${name}`),
  ...namesIn("omp/sessions", /\.jsonl$/).map((name) => `omp/sessions/${name}`)
].filter((path) => Result.isSuccess(Store.snapshotOf({ id: "", path: "" }, bytesOf(path))))
