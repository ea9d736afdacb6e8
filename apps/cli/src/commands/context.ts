/** `grove context`: what the model is shown. */
import { BlobStore, ContextBuilder, Preview } from "@grove/core"
import { FileBlobStore, ImageBlobs } from "@grove/storage-files"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Words from "../Words.ts"

type Json = { readonly [key: string]: unknown }

const asText = (message: Json): string => {
  const summary = typeof message.summary === "string" ? message.summary : ""
  const entry = { type: "message", id: "", parentId: null, timestamp: "", message }
  return Preview.inert(summary || Preview.textOfEntry(entry as never))
}

const forPeople = ({
  messages,
  model,
  thinkingLevel,
  mode,
  leaf
}: ContextBuilder.SessionContext): ReadonlyArray<string> => {
  if (messages.length === 0) {
    return [
      leaf === null
        ? "Nothing: the session stands before its first entry."
        : "Nothing: no entry on this path speaks to the model."
    ]
  }
  const answering = model === null ? "no model yet" : `${model.provider}/${model.modelId}`
  return [
    `${Words.count(messages.length, "message")} · ${Preview.line(answering, 60)} · thinking ${thinkingLevel} · mode ${mode}`,
    ...messages.flatMap((message) => ["", `── ${Preview.line(String(message.role), 30)}`, asText(message)])
  ]
}

export const run = Effect.fn("context")(function* ({ arguments: [name], flags }: Input) {
  const { ref, tree } = yield* SessionArgument.read(name!)
  const leaf = yield* SessionArgument.leaf(tree, flags.leaf)
  const context = ContextBuilder.build(tree, leaf)
  if (flags.json !== true) return yield* Output.lines(forPeople(context))
  const { blobs } = yield* Paths
  const store = FileBlobStore.make({ directory: blobs, fallbacks: FileBlobStore.beside(ref.path) })
  const messages = yield* Effect.provideService(ImageBlobs.restore(context.messages), BlobStore, store)
  const { thinkingLevel, model, models, mode, modeData, injectedTtsrRules } = context
  yield* Output.json({ leaf, messages, thinkingLevel, model, models, mode, modeData, injectedTtsrRules })
})
