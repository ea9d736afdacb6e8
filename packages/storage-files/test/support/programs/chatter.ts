/**
 * Makes sessions until it is killed, each from its draft to its second prompt, and prints what was acknowledged:
 * `made <path>`, `prompt <path> <id>`, `reply <path> <id>`. `chatter <home>`.
 */
import { type NewEntry, Sessions } from "@grove/core"
import { Effect } from "effect"
import { sessionsLayer } from "../Stores.ts"
import { ready, tell } from "./program.ts"

const [home = ""] = process.argv.slice(2)
const image = { type: "image", mimeType: "image/png", data: Buffer.alloc(2000, home).toString("base64") }
const prompt = (text: string): NewEntry => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }, image] }
})
const reply: NewEntry = { type: "message", message: { role: "assistant", content: [{ type: "text", text: "yes" }] } }

const chat = Effect.gen(function* () {
  const sessions = yield* Sessions
  const { path } = yield* sessions.create({ cwd: "/work", draft: true })
  tell(`made ${path}`)
  const session = yield* sessions.open(path)
  tell(`prompt ${path} ${(yield* session.main.append(prompt("hello"))).id}`)
  tell(`reply ${path} ${(yield* session.main.append(reply)).id}`)
  tell(`prompt ${path} ${(yield* session.main.append(prompt("more"))).id}`)
}).pipe(Effect.scoped, Effect.forever)

await ready()
await Effect.runPromise(Effect.provide(chat, sessionsLayer(home)) as Effect.Effect<never, unknown>)
