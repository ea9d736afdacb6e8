/** `grove context`: what the model is shown. */
import { BlobStore, ContextBuilder, Preview } from "@grove/core"
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

const forPeople = (
  { messages, model, thinkingLevel, mode, leaf }: ContextBuilder.SessionContext,
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
    ...messages.flatMap((message) => ["", `${symbols.rule} ${line(String(message.role), 30)}`, asText(message)])
  ]
}

export const run = Effect.fn("context")(function* ({ arguments: [name], flags }: Input) {
  const { ref, tree } = yield* SessionArgument.read(name!)
  const leaf = yield* SessionArgument.leaf(tree, flags.leaf)
  const context = ContextBuilder.build(tree, leaf)
  if (flags.json !== true) return yield* Output.lines(forPeople(context, Style.make(yield* Environment)))
  const { blobs } = yield* Paths
  const store = FileBlobStore.make({ directory: blobs, fallbacks: FileBlobStore.beside(ref.path) })
  const messages = yield* Effect.provideService(Persist.restoreImages(context.messages), BlobStore, store)
  const { thinkingLevel, model, models, mode, modeData, injectedTtsrRules } = context
  yield* Output.json({ leaf, messages, thinkingLevel, model, models, mode, modeData, injectedTtsrRules })
})
