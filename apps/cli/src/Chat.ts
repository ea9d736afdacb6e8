/** Everything a chat stands on, wired for this home; or for none, where nothing is to be recorded. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
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
import { Context, Effect, Layer } from "effect"
import type { Input } from "./Command.ts"
import { Environment } from "./Environment.ts"
import * as History from "./History.ts"
import { Paths } from "./Paths.ts"
import * as Settings from "./Settings.ts"
import * as Words from "./Words.ts"

/** Where the long outputs of commands are kept: with the temporary files, and of an unrecorded chat only until it ends. */
export class Outputs extends Context.Service<Outputs, { readonly folder: string | undefined }>()(
  "@grove/cli/Outputs"
) {}

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
const historyOrNone = (paths: SessionPaths.SessionPaths): Layer.Layer<PromptHistory> =>
  Layer.catch(History.layer(paths), (trouble) => {
    process.stderr.write(`grove: ${Words.safe(History.explain(trouble))}; prompts are not added to the history\n`)
    return PromptHistory.layerMemory
  })

/** What was typed before. On the screen nothing may be printed and nobody should wait, so it is opened when it is needed. */
export const history = ({
  records,
  isOnScreen = false
}: {
  readonly records: boolean
  readonly isOnScreen?: boolean
}) =>
  Layer.unwrap(
    Effect.map(Paths, (paths) => {
      if (!records) return PromptHistory.layerMemory
      return isOnScreen ? History.lazy(paths) : historyOrNone(paths)
    })
  )

const onDisk = ({ beside }: Options) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const paths = yield* Paths
      const fallbacks = beside === undefined ? [] : FileBlobStore.beside(beside)
      const blobs = FileBlobStore.layer({ directory: paths.blobs, fallbacks })
      return Layer.mergeAll(
        Layer.provideMerge(Layer.mergeAll(JsonlSessionStore.layer({ paths }), ImagePolicy.layer), blobs),
        FileConsents.layer({ directory: FileConsents.folder(paths.home) }),
        FileRunningReplies.layer({ home: paths.home }),
        Layer.succeed(Outputs, { folder: undefined })
      )
    })
  )

const inMemory = Layer.mergeAll(
  SessionStore.layerMemory,
  BlobStore.layerMemory,
  ContextPolicy.layer,
  Consents.layerMemory,
  RunningReplies.layerMemory,
  Layer.effect(
    Outputs,
    Effect.acquireRelease(
      Effect.sync(() => ({ folder: mkdtempSync(join(tmpdir(), "grove-")) })),
      ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
  )
)

/** How turns of a session are answered here: as the folder has it, and as the flags say. */
export const replyOptions = Effect.fnUntraced(function* (session: Session, flags: Input["flags"]) {
  const { cwd } = yield* Environment
  const given = {
    cwd,
    ...(typeof flags.model === "string" && { model: flags.model }),
    ...(typeof flags.approval === "string" && { approval: flags.approval as ApprovalMode }),
    ...(flags.linear === true && { linear: true })
  }
  return yield* Workplace.options(session, given, yield* Outputs)
})

export interface Options {
  /** Off: whatever happens is forgotten on exit, and nothing is written anywhere. */
  readonly records: boolean
  /** The session's file; images that are not kept at home are sought beside it. */
  readonly beside?: string | undefined
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
