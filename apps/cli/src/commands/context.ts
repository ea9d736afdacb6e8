/** `grove context`: what the model is shown. */
import { BlobStore, Capabilities, ContextBuilder, ContextPolicy, type Policy, Preview } from "@grove/core"
import { FileBlobStore, Persist } from "@grove/storage-files"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

type Json = { readonly [key: string]: unknown }

const asText = (message: Json): string => {
  const summary = typeof message.summary === "string" ? message.summary : ""
  const entry = { type: "message", id: "", parentId: null, timestamp: "", message }
  return Preview.inert(summary || Preview.textOfEntry(entry as never))
}

type Context = Omit<ContextBuilder.SessionContext, "sources" | "edited">

const forPeople = (
  { messages, model, thinkingLevel, mode, leaf }: Context,
  { line, symbols }: Style.Style
): ReadonlyArray<string> => {
  if (messages.length === 0) {
    const why = leaf === null ? "no entry is chosen" : "no entry on this path speaks to the model"
    return [`Nothing: ${why}. --leaf takes any entry; grove branches lists the ends of all paths.`]
  }
  const facts = [
    Words.count(messages.length, "message"),
    line(model === null ? "no model yet" : `${model.provider}/${model.modelId}`, 60),
    `thinking ${line(thinkingLevel, 30)}`,
    `mode ${line(mode, 30)}`
  ]
  return [
    facts.join(symbols.dot),
    ...messages.flatMap((message) => [
      "",
      `${symbols.rule.repeat(2)} ${line(String(message.role), 30)}`,
      asText(message)
    ])
  ]
}

/** How many entries a line of changes names. */
const NAMED = 3

const named = (changes: ReadonlyArray<Policy.Change>, { line }: Style.Style): string => {
  const ids = changes.flatMap(({ entry }) => (entry === undefined ? [] : [line(entry.slice(-8), 8)]))
  const rest = ids.length > NAMED ? [`${Words.count(ids.length - NAMED, "more", "more")}`] : []
  return ids.length === 0 ? "" : ` (${[...ids.slice(0, NAMED), ...rest].join(", ")})`
}

/** One line for all changes that are alike: what, how often, and to which entries. */
const changesForPeople = (changes: ReadonlyArray<Policy.Change>, style: Style.Style): ReadonlyArray<string> => {
  const alike = new Map<string, Array<Policy.Change>>()
  for (const change of changes) {
    const key = JSON.stringify([change.step, change.kind, change.message])
    const others = alike.get(key)
    if (others === undefined) alike.set(key, [change])
    else others.push(change)
  }
  const lines = [...alike.values()].map((found) => {
    const { kind, message } = found[0]!
    const often = found.length > 1 ? `, ${Words.count(found.length, "time")}` : ""
    return `  ${kind.replace("-", " ")}${often}: ${message}${named(found, style)}`
  })
  return lines.length === 0 ? [] : ["Changed to be sendable:", ...lines, ""]
}

export const run = Effect.fn("context")(function* ({ arguments: [name], flags }: Input) {
  const { ref, tree: written } = yield* SessionArgument.look(name!)
  const tree = flags.linear === true ? written.linear() : written
  const leaf = yield* SessionArgument.leaf(tree, flags.leaf)
  const { sources, edited, ...built } = ContextBuilder.build(tree, leaf)
  const style = Style.make(yield* Environment)
  if (flags.json !== true && flags.sendable !== true) return yield* Output.lines(forPeople(built, style))

  const { blobs } = yield* Paths
  const store = FileBlobStore.make({ directory: blobs, fallbacks: FileBlobStore.beside(ref.path) })
  const restored = yield* Effect.provideService(Persist.restoreImages(built.messages), BlobStore, store)
  const { thinkingLevel, model, models, mode, modeData, injectedTtsrRules } = built
  const settings = { thinkingLevel, model, models, mode, modeData, injectedTtsrRules }
  if (flags.sendable !== true) return yield* Output.json({ leaf, messages: restored, ...settings })

  const policy = yield* Effect.provide(ContextPolicy, ContextPolicy.layer)
  const request = { model: Capabilities.of(model) }
  const { messages, systemPrompt, changes } = yield* policy.apply({ messages: restored, sources, edited }, request)
  if (flags.json === true) return yield* Output.json({ leaf, messages, ...settings, systemPrompt, changes })
  const system = systemPrompt === "" ? [] : [{ role: "system", content: systemPrompt }]
  const shown = forPeople({ leaf, messages: [...system, ...messages], ...settings }, style)
  yield* Output.lines([...changesForPeople(changes, style), ...shown])
})
