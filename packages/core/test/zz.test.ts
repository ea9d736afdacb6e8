import { it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { Entry } from "../src/model/index.ts"

it("x", () => {
  const run = (s: any, n = 12) =>
    Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(s), { count: n, seed: 1, size: 8 }))
  console.log(
    run(Schema.String, 40)
      .map((s) => JSON.stringify(s))
      .join("\n")
  )
  console.log(run(Schema.Uint8Array))
  let t = Date.now()
  console.log(
    run(Entry.KnownEntry, 6)
      .map((s) => JSON.stringify(s)?.slice(0, 500))
      .join("\n"),
    Date.now() - t
  )
  t = Date.now()
  const many = run(Schema.Array(Entry.KnownEntry), 100)
  console.log(many.map((m: any) => m.length).join(), Date.now() - t)
  console.log(run(Schema.Record(Schema.String, Schema.Json), 20).map((x) => JSON.stringify(x)))
})
