/** Whether a tool may run, or a person is asked first. */
import {
  type ApprovalMode,
  approvalModes,
  type Consent,
  Consents,
  type ConsentsError,
  type Facts,
  type SessionRef
} from "@grove/core"
import { Context, Effect, Layer } from "effect"
import type { Tool, ToolPlace, ToolRequest } from "./Tool.ts"
import * as Paths from "./tools/Paths.ts"

export type Verdict =
  | { readonly _tag: "Run" }
  /** `because` is a few words for the person who is asked: `runs a command`, `outside the working directory: /etc/hosts`. */
  | { readonly _tag: "Ask"; readonly because: string }

export interface Settings {
  /** What counts. */
  readonly allowed: Consent
  /** What the file records beyond that; of no effect until the person chooses it. `null` where there is nothing to offer. */
  readonly offered: Consent | null
}

export interface Options {
  /** Folders of which every path asks, as one outside the working directory does: where keys and consents are kept. */
  readonly guarded?: ReadonlyArray<string>
}

const run: Verdict = { _tag: "Run" }
const ask = (because: string): Verdict => ({ _tag: "Ask", because })

/** Modes we do not know are the strictest one. */
export const modeOf = (name: string): ApprovalMode => approvalModes.find((mode) => mode === name) ?? "default"

const rank = (mode: ApprovalMode): number => approvalModes.indexOf(mode)

/** What a file records counts as far as the person has consented to it here, and the rest is offered. */
export const settingsOf = (recorded: Facts.SessionConfig, consent: Consent): Settings => {
  const mode = modeOf(recorded.approvalMode)
  const allowed = {
    mode: rank(mode) <= rank(consent.mode) ? mode : consent.mode,
    tools: recorded.approvalTools.filter((tool) => consent.tools.includes(tool))
  }
  const isMore = allowed.mode !== mode || allowed.tools.length < recorded.approvalTools.length
  return { allowed, offered: isMore ? { mode, tools: recorded.approvalTools } : null }
}

/** What is run by others without anybody asking: who writes there, runs commands. */
const isRepository = (path: string): boolean => /(^|[\\/])\.git([\\/]|$)/i.test(path)

/** Why a path asks whatever was remembered; `undefined` where it does not. */
const objection = (tool: Tool, path: string, cwd: string, guarded: ReadonlyArray<string>): string | undefined => {
  const real = Paths.real(path)
  if (real === undefined) return `nobody can say where it leads: ${path}`
  if (!Paths.isInside(cwd, real)) return `outside the working directory: ${real}`
  if (guarded.some((folder) => Paths.isInside(folder, real))) return `where Grove keeps its keys: ${real}`
  if (tool.kind === "write" && isRepository(real)) return `inside the repository's own files: ${real}`
  return undefined
}

const makeReview =
  ({ guarded = [] }: Options) =>
  (tool: Tool, request: ToolRequest, at: ToolPlace, allowed: Consent): Verdict => {
    if (allowed.mode === "yolo") return run
    const cwd = Paths.real(at.cwd) ?? at.cwd
    const folders = guarded.map((folder) => Paths.real(folder) ?? folder)
    for (const path of request.paths) {
      const because = objection(tool, path, cwd, folders)
      if (because !== undefined) return ask(because)
    }
    if (allowed.tools.includes(tool.definition.name)) return run
    switch (tool.kind) {
      case "read":
      // What an agent does is reviewed call by call.
      case "agent":
        return run
      case "write":
        return allowed.mode === "autoEdit" ? run : ask("writes a file")
      case "command":
        return ask("runs a command")
    }
  }

export class Approvals extends Context.Service<
  Approvals,
  {
    /** What counts in a session whose marks record `recorded`, and what to offer. */
    readonly settings: (session: SessionRef, recorded: Facts.SessionConfig) => Effect.Effect<Settings>
    /**
     * The person chose this for the session. Succeeds once it is noted here; whoever calls then records it in the session
     * as a `grove.config` mark, without which it does not count either.
     */
    readonly choose: (session: SessionRef, consent: Consent) => Effect.Effect<void, ConsentsError>
    /**
     * Whether a call runs or a person is asked. Paths are followed to where they lead at this moment: one outside the
     * working directory asks, whatever is remembered, and only `yolo` runs everything.
     */
    readonly review: (tool: Tool, request: ToolRequest, at: ToolPlace, allowed: Consent) => Effect.Effect<Verdict>
  }
>()("@grove/agent/Approvals") {
  static readonly layer = (options: Options = {}) =>
    Layer.effect(
      Approvals,
      Effect.map(Consents, (consents) => {
        const review = makeReview(options)
        return Approvals.of({
          settings: (session, recorded) =>
            Effect.map(consents.find(session), (consent) => settingsOf(recorded, consent)),
          choose: consents.note,
          review: (...call) => Effect.sync(() => review(...call))
        })
      })
    )
}
