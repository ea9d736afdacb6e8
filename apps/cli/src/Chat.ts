/** Everything a chat stands on, wired for this home; or for none, where nothing is to be recorded. */
import { join } from "node:path"
import { Approval, ChatSummarizer, Engine, Models, Workplace } from "@grove/agent"
import {
  type ApprovalMode,
  BlobStore,
  Compactor,
  Consents,
  ContextPolicy,
  EntryIds,
  PromptHistory,
  RunningReplies,
  type Session,
  SessionStore,
  Sessions
} from "@grove/core"
import {
  FileBlobStore,
  FileConsents,
  FileRunningReplies,
  ImagePolicy,
  JsonlSessionStore,
  type SessionPaths
} from "@grove/storage-files"
import { Effect, Layer } from "effect"
import type { Input } from "./Command.ts"
import { Environment } from "./Environment.ts"
import * as History from "./History.ts"
import { Paths } from "./Paths.ts"
import * as Settings from "./Settings.ts"
import * as Words from "./Words.ts"

/** All models there are here: by keys, by what is configured, by servers on this machine. */
export const models = Layer.unwrap(
  Effect.gen(function* () {
    const { home, variables } = yield* Environment
    const { providers = [], models: { overrides = {} } = {} } = yield* Settings.read
    const { ANTHROPIC_BASE_URL: anthropicUrl, OPENAI_BASE_URL: openAiUrl, OLLAMA_HOST: ollama } = variables
    return Models.layer({
      environment: variables,
      file: join(home, "auth.json"),
      providers,
      overrides,
      ...(anthropicUrl && { anthropicUrl }),
      ...(openAiUrl && { openAiUrl }),
      ...(ollama && { ollamaUrl: ollama.includes("://") ? ollama : `http://${ollama}` })
    })
  })
)

/** A chat without its history is still a chat: what is wrong with it is told once. */
const history = (paths: SessionPaths.SessionPaths): Layer.Layer<PromptHistory> =>
  Layer.catch(History.layer(paths), (trouble) => {
    process.stderr.write(`grove: ${Words.safe(History.explain(trouble))}; prompts are not added to the history\n`)
    return PromptHistory.layerMemory
  })

const onDisk = ({ beside, isOnScreen = false }: Options) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const paths = yield* Paths
      const fallbacks = beside === undefined ? [] : FileBlobStore.beside(beside)
      const blobs = FileBlobStore.layer({ directory: paths.blobs, fallbacks })
      return Layer.mergeAll(
        Layer.provideMerge(Layer.mergeAll(JsonlSessionStore.layer({ paths }), ImagePolicy.layer), blobs),
        FileConsents.layer({ directory: FileConsents.folder(paths.home) }),
        FileRunningReplies.layer({ home: paths.home }),
        isOnScreen ? History.lazy(paths) : history(paths)
      )
    })
  )

const inMemory = Layer.mergeAll(
  SessionStore.layerMemory,
  BlobStore.layerMemory,
  ContextPolicy.layer,
  Consents.layerMemory,
  RunningReplies.layerMemory,
  PromptHistory.layerMemory
)

/** How turns of a session are answered here: as the folder has it, and as the flags say. */
export const replyOptions = Effect.fnUntraced(function* (session: Session, flags: Input["flags"]) {
  const { cwd } = yield* Environment
  return yield* Workplace.options(session, {
    cwd,
    ...(typeof flags.model === "string" && { model: flags.model }),
    ...(typeof flags.approval === "string" && { approval: flags.approval as ApprovalMode }),
    ...(flags.linear === true && { linear: true })
  })
})

export interface Options {
  /** Off: whatever happens is forgotten on exit, and nothing is written anywhere. */
  readonly records: boolean
  /** The session's file; images that are not kept at home are sought beside it. */
  readonly beside?: string | undefined
  /** The chat is on the screen, where nothing may be printed and nobody should wait. */
  readonly isOnScreen?: boolean
}

export const layer = (options: Options) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { home } = yield* Environment
      const settings = yield* Settings.read
      const storage = options.records ? onDisk(options) : inMemory
      const use = Layer.mergeAll(
        Layer.provideMerge(Sessions.layer, EntryIds.layer),
        Approval.Approvals.layer({ guarded: [home] }),
        Layer.provideMerge(Compactor.layer, ChatSummarizer.layer({ model: settings.compaction?.model }))
      )
      return Engine.layer(settings).pipe(
        Layer.provideMerge(use),
        Layer.provideMerge(storage),
        Layer.provideMerge(models)
      )
    })
  )
