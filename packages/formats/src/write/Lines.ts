/** Sessions as lines of JSON: for Pi, for oh-my-pi, and as one JSON value. */
import { Entry, Facts, Header, isObject, JsonText } from "@grove/core/model"
import { Stream } from "effect"
import type { Draft } from "./Draft.ts"

/** Version 3, whatever the file was: its entries have been brought up to date. A newer one keeps its number. */
const headerOf = ({ header }: Draft): Header.Header => {
  const { type, version: _, id, ...rest } = header ?? { type: "session", id: "empty" }
  const version = header === null ? Header.CURRENT_VERSION : Math.max(Header.version(header), Header.CURRENT_VERSION)
  return { type, version: Number.isFinite(version) ? version : Header.CURRENT_VERSION, id, ...rest } as Header.Header
}

const lineOf = (value: object): string => `${JsonText.stringify(value)}\n`

const NO_USAGE = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
}

/** Pi counts the usage of every reply, and knows one spelling of a model and no roles. */
const forPi = (entry: Entry.Entry): Entry.Entry => {
  if (Entry.role(entry) === "assistant") {
    const message = entry.message as { readonly usage?: unknown }
    return isObject(message.usage) ? entry : { ...entry, message: { ...message, usage: NO_USAGE } }
  }
  if (entry.type !== "model_change" || typeof entry.model !== "string" || typeof entry.modelId === "string")
    return entry
  const { model, role = "default", type, ...rest } = entry
  if (role !== "default") return { ...rest, type: "custom", customType: type, data: { model, role } }
  const [provider, ...id] = model.split("/")
  return { ...entry, provider, modelId: id.join("/") }
}

const entryLines = (draft: Draft, change: (entry: Entry.Entry) => Entry.Entry): Stream.Stream<string> =>
  Stream.map(draft.entries, (entries) => entries.map((entry) => lineOf(change(entry))).join(""))

export const pi = (draft: Draft): Stream.Stream<string> =>
  Stream.concat(Stream.make(lineOf(headerOf(draft))), entryLines(draft, forPi))

/** oh-my-pi takes the name of a session from its header. */
export const omp = (draft: Draft): Stream.Stream<string> => {
  const name = Facts.nameOf(draft.tree.facts, draft.title, draft.header)
  const header = headerOf(draft)
  const named = name === null ? header : { ...header, title: draft.redact(name) }
  return Stream.concat(
    Stream.make(lineOf(named)),
    entryLines(draft, (entry) => entry)
  )
}

/** One value, for programs that read JSON and know nothing of sessions. */
export const json = (draft: Draft): Stream.Stream<string> => {
  const name = Facts.nameOf(draft.tree.facts, draft.title, draft.header)
  const about = { header: headerOf(draft), name: name === null ? null : draft.redact(name), leaf: draft.leaf }
  let isFirst = true
  const entries = Stream.map(draft.entries, (some) =>
    some
      .map((entry) => {
        const before = isFirst ? "\n" : ",\n"
        isFirst = false
        return before + JsonText.stringify(entry)
      })
      .join("")
  )
  const opening = `${JSON.stringify(about).slice(0, -1)},"entries":[`
  return Stream.make(opening).pipe(Stream.concat(entries), Stream.concat(Stream.make("\n]}\n")))
}
