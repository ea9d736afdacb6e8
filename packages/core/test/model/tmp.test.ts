import { it } from "@effect/vitest"
import { Effect, Arbitrary, Schema } from "effect"
import { Entry, Message } from "../../src/model/index.ts"
it("x", () => {
  for (const [t, s] of Object.entries(Entry.known)) {
    try {
    const xs = Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(s as any), { count: 40, seed: 1, size: 5 }))
    console.log(t, JSON.stringify(xs[20])?.slice(0, 600), xs.filter((x) => !Schema.is(s as any)(x)).length)
    console.dir(xs[21], {depth: 3})
    } catch (e) { console.log(t, "ERR", String(e).slice(0, 300)) }
  }
})
