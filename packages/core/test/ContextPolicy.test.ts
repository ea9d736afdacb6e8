/** The policy as a service: the default steps, and those of an embedder among them. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { ContextPolicy, type PolicyStep } from "../src/ContextPolicy.ts"
import { Capabilities, Policy } from "../src/model/index.ts"

const request = { model: Capabilities.of(null), systemPrompt: "Be kind." }
const messages = [
  { role: "custom", content: "hi" },
  { role: "user", content: "there" }
]

const applied = Effect.flatMap(ContextPolicy, (policy) => policy.apply({ messages }, request))

describe("the context policy", () => {
  it.effect("does what its pure steps do", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* applied, Policy.apply({ messages }, request))
    }).pipe(Effect.provide(ContextPolicy.layer))
  )

  const lookup: PolicyStep = {
    name: "lookup",
    apply: (draft) =>
      Effect.succeed({
        ...draft,
        systemPrompt: `${draft.systemPrompt}\n\nFound.`,
        changes: [Policy.note("added", { entry: null }, "what was found")]
      })
  }

  it.effect(
    "runs a step of an embedder where it was put, also one that looks something up, and reports it by its name",
    () =>
      Effect.gen(function* () {
        const { systemPrompt, changes } = yield* applied
        assert.strictEqual(systemPrompt, "Be kind.\n\nFound.")
        assert.deepStrictEqual(changes.at(-1), { step: "lookup", kind: "added", message: "what was found" })
        assert.strictEqual(changes.filter(({ step }) => step === "turns").length, 1)
      }).pipe(Effect.provide(ContextPolicy.layerSteps((steps) => Policy.after(steps, "system-prompt", lookup))))
  )

  it.effect("can do without a step", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* applied).messages.length, 2)
    }).pipe(Effect.provide(ContextPolicy.layerSteps((steps) => Policy.without(steps, "turns"))))
  )

  it.effect("dies of a step that is put next to none", () =>
    Effect.gen(function* () {
      const layer = ContextPolicy.layerSteps((steps) => Policy.before(steps, "nowhere", lookup))
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(layer)))
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.match(Cause.pretty(exit.cause), /no step is named nowhere/)
    })
  )
})
