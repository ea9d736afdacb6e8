import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as LazyEager from "./support/LazyEager.ts"
import { temporary } from "./support.ts"

const fixtures = new URL("../../../fixtures/", import.meta.url)
const sessions = ["pi/", "omp/sessions/"].flatMap((folder) =>
  readdirSync(new URL(folder, fixtures))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => `${folder}${name}`)
)

describe("a session opened without parsing it", () => {
  it.each(sessions)("%s says what it says when it is parsed", (name) => {
    LazyEager.check(temporary(), readFileSync(new URL(name, fixtures)))
  })
})
