/** What every `Consents` promises. Nothing is taken for granted about what is already noted. */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { Consent, Consents, noConsent } from "../Consents.ts"

let sessions = 0
/** A session that nobody has noted anything for. */
const fresh = () => ({ id: `session-${sessions++}`, path: `/sessions/${crypto.randomUUID()}.jsonl` })

export const suite = (name: string, layer: Layer.Layer<Consents, unknown>) =>
  it.layer(layer, { excludeTestServices: true })(`${name} keeps the Consents promises`, (it) => {
    it.effect("nothing is allowed in a session for which nothing was noted", () =>
      Effect.gen(function* () {
        const consents = yield* Consents
        assert.deepStrictEqual(yield* consents.find(fresh()), noConsent)
      })
    )

    it.effect.prop("what was noted last is found, and nothing of what was noted before", [Consent, Consent], (noted) =>
      Effect.gen(function* () {
        const consents = yield* Consents
        const session = fresh()
        for (const consent of noted) {
          yield* consents.note(session, consent)
          assert.deepStrictEqual(yield* consents.find(session), consent)
        }
      })
    )

    it.effect.prop("any id and any path make a session of their own", [Schema.String, Schema.String], ([id, path]) =>
      Effect.gen(function* () {
        const consents = yield* Consents
        const session = { id: `${id}!`, path: `${path}/${crypto.randomUUID()}` }
        yield* consents.note(session, { mode: "yolo", tools: ["bash"] })
        assert.strictEqual((yield* consents.find(session)).mode, "yolo")
        for (const other of [
          { ...session, id },
          { ...session, path: `${session.path}2` },
          { id: "", path: session.id + session.path },
          { id: session.id + session.path, path: "" }
        ]) {
          assert.deepStrictEqual(yield* consents.find(other), noConsent)
        }
      })
    )

    it.effect("of many that are noted at once, one is found whole", () =>
      Effect.gen(function* () {
        const consents = yield* Consents
        const session = fresh()
        const many = Array.from({ length: 20 }, (_, n) => ({ mode: "autoEdit" as const, tools: [`tool-${n}`] }))
        yield* Effect.forEach(many, (consent) => consents.note(session, consent), { concurrency: "unbounded" })
        assert.deepInclude(many, yield* consents.find(session))
      })
    )

    it.effect("who goes on changing a list that was noted changes nothing", () =>
      Effect.gen(function* () {
        const consents = yield* Consents
        const session = fresh()
        const tools = ["edit"]
        yield* consents.note(session, { mode: "default", tools })
        tools.push("bash")
        assert.deepStrictEqual((yield* consents.find(session)).tools, ["edit"])
      })
    )
  })
