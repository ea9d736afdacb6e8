/** Service: the steps that make a context sendable. An embedder adds its own, replaces or removes any. */
import { Context, Effect, Layer } from "effect"
import type { Change, Draft, Outcome, Request } from "./model/Policy.ts"
import * as Policy from "./model/Policy.ts"

/** As a step of the model, or one that has to look something up first. What it needs it takes when it is made. */
export interface PolicyStep {
  readonly name: string
  readonly apply: (draft: Draft, request: Request) => Outcome | Effect.Effect<Outcome>
}

const make = (steps: ReadonlyArray<PolicyStep>) => ({
  steps,
  apply: Effect.fn("ContextPolicy.apply")(function* (context: Policy.Given, request: Request) {
    let draft = Policy.draftOf(context)
    const changes: Array<Change> = []
    for (const step of steps) {
      const outcome = step.apply(draft, request)
      const { systemPrompt, said, changes: notes } = Effect.isEffect(outcome) ? yield* outcome : outcome
      draft = { systemPrompt, said }
      for (const change of Policy.changesOf(step.name, notes)) changes.push(change)
    }
    return Policy.sendableOf(draft, changes)
  })
})

export class ContextPolicy extends Context.Service<
  ContextPolicy,
  {
    readonly steps: ReadonlyArray<PolicyStep>
    /** Never fails and loses no word of a person. With the default steps every provider accepts the result. */
    readonly apply: (context: Policy.Given, request: Request) => Effect.Effect<Policy.Sendable>
  }
>()("@grove/core/ContextPolicy") {
  static readonly layer = Layer.succeed(ContextPolicy, make(Policy.steps))

  /** The default steps, changed: `(steps) => Policy.after(steps, "system-prompt", mine)`. */
  static readonly layerSteps = (
    change: (steps: ReadonlyArray<PolicyStep>) => ReadonlyArray<PolicyStep>
  ): Layer.Layer<ContextPolicy> => Layer.sync(ContextPolicy, () => make(change(Policy.steps)))
}
