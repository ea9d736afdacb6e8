/** Requests of every shape: right ones, nearly right ones, and nonsense. Whatever comes, no answer is a failure of the server. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { raw, served, TOKEN } from "./support.ts"

const lot = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

const ROUTES: ReadonlyArray<readonly [method: string, path: string]> = [
  ["GET", "/api/sessions"],
  ["POST", "/api/sessions"],
  ["POST", "/api/sessions/:s/fork"],
  ["PUT", "/api/sessions/:s/title"],
  ["GET", "/api/chat/:s/tree"],
  ["POST", "/api/chat/:s/message"],
  ["PUT", "/api/chat/:s/tree/edit"],
  ["PUT", "/api/chat/:s/node/:n/state"],
  ["PUT", "/api/chat/:s/nodes/state"],
  ["PUT", "/api/chat/:s/active_leaf"],
  ["POST", "/api/chat/:s/node/:n/cancel"],
  ["GET", "/api/chat/:s/context"],
  ["GET", "/api/chat/:s/compare"],
  ["GET", "/api/history"],
  ["GET", "/api/search"],
  ["GET", "/openapi.json"],
  ["GET", "/api/chat/:s/events"]
]

const KEYS = [
  "ops",
  "op",
  "id",
  "ids",
  "source",
  "target",
  "branch",
  "onto",
  "pick",
  "text",
  "first",
  "last",
  "label",
  "name",
  "rating",
  "note",
  "edit",
  "states",
  "isEnabled",
  "leafId",
  "parentId",
  "content",
  "samples",
  "model",
  "follow",
  "at",
  "all",
  "title",
  "force",
  "__proto__",
  "constructor"
]
const OPS = [
  "enable",
  "disable",
  "prune",
  "graft",
  "merge",
  "summarize",
  "leaf",
  "label",
  "name",
  "rate",
  "undo",
  "redo",
  "toString",
  ""
]
const TEXTS = [
  "",
  " ",
  "hello",
  "\u0000",
  "\ud800",
  "‮evil",
  "👩‍👩‍👧‍👦",
  "../../etc/passwd",
  "none",
  "__proto__",
  "constructor",
  "x".repeat(2000),
  "!sprout fail",
  "1e999",
  "null"
]

it.live("no request makes the server fail", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* served({ limits: { burst: 1e9, perSecond: 1e9 } })
      yield* Effect.promise(async () => {
        const chat = await server.create("fuzzed")
        const { body } = await chat.say("hello", null, { follow: true })
        const ids = [body.prompt.id, body.nodes[0].id]
        const draw = lot(17)
        const pick = <A>(items: ReadonlyArray<A>): A => items[draw(items.length)]!
        const id = (): unknown => (draw(3) > 0 ? pick(ids) : draw(2) === 0 ? pick(TEXTS) : value(1))
        const value = (depth: number): unknown => {
          switch (draw(depth <= 0 ? 6 : 9)) {
            case 0:
              return null
            case 1:
              return draw(2) === 0
            case 2:
              return pick([0, 1, 3, -1, 1.5, 1e308, 2 ** 53 + 2, 16, 17])
            case 3:
            case 4:
              return pick(TEXTS)
            case 5:
              return pick(ids)
            case 6:
              return Array.from({ length: draw(4) }, () => value(depth - 1))
            default:
              return Object.fromEntries(Array.from({ length: draw(5) }, () => [pick(KEYS), value(depth - 1)]))
          }
        }
        const operation = (): unknown =>
          draw(6) === 0
            ? value(2)
            : {
                op: pick(OPS),
                ...(draw(2) === 0 && { id: id() }),
                ...(draw(2) === 0 && { ids: [id(), id()] }),
                source: id(),
                target: draw(3) === 0 ? null : id(),
                branch: id(),
                ...(draw(2) === 0 && { pick: [id()] }),
                first: id(),
                last: id(),
                ...(draw(2) === 0 && { text: pick(TEXTS) }),
                label: pick(TEXTS),
                name: pick(TEXTS),
                rating: pick([1, 5, 6, null, "3"]),
                ...(draw(3) === 0 && { edit: id() })
              }
        const bodyFor = (path: string): unknown => {
          if (draw(5) === 0) return value(3)
          if (path.endsWith("/edit")) return { ops: Array.from({ length: 1 + draw(4) }, operation) }
          if (path.endsWith("/message"))
            return {
              parentId: draw(4) === 0 ? null : id(),
              content: pick(TEXTS),
              samples: pick([1, 2, 0, 17, "2"]),
              ...(draw(3) === 0 && { follow: draw(2) === 0 })
            }
          if (path.endsWith("nodes/state"))
            return { states: Array.from({ length: draw(4) }, () => ({ id: id(), isEnabled: draw(3) > 0 })) }
          if (path.endsWith("/state")) return { isEnabled: pick([true, false, "true", 1, null]) }
          if (path.endsWith("/active_leaf")) return { leafId: draw(3) === 0 ? null : id() }
          return { title: pick(TEXTS), at: id(), all: draw(2) === 0 }
        }
        const encoded = (text: string) => encodeURIComponent(text.replace(/\p{Cs}/gu, "x"))
        const statuses = new Map<number, number>()
        for (let round = 0; round < 700; round++) {
          const [method, path] = pick(ROUTES)
          const session = draw(8) === 0 ? encoded(pick(TEXTS)) : chat.id
          const node = encoded(String(draw(4) === 0 ? pick(TEXTS) : pick(ids)))
          const query =
            draw(2) === 0
              ? ""
              : `?${["leaf", "a", "b", "q", "limit", "sendable", "since", "session"].map((key) => `${key}=${encoded(String(id()))}`).join("&")}`
          const target = path.replace(":s", session).replace(":n", node) + query
          const text =
            method === "GET"
              ? undefined
              : draw(20) === 0
                ? pick(["", "{", "[1,", "\u0000", "nul", '"\\ud800"'])
                : JSON.stringify(bodyFor(path))
          const headers: Record<string, string> = {
            host: `127.0.0.1:${server.port}`,
            authorization: `Bearer ${TOKEN}`,
            ...(text !== undefined && {
              "content-type": "application/json",
              "content-length": String(Buffer.byteLength(text))
            }),
            ...(draw(6) === 0 && { "if-match": pick(["*", "1", '"2"', "soon", "-1", "9".repeat(30)]) }),
            ...(draw(6) === 0 && { "idempotency-key": pick(["a", "b", "x".repeat(300), " "]) })
          }
          const answer = await raw(server.port, {
            method,
            path: target,
            headers,
            ...(text !== undefined && { body: text })
          })
          const told = `${method} ${target} ${text} → ${answer.status} ${answer.body}`
          assert.isBelow(answer.status, 500, told)
          if (answer.status >= 400) {
            const { code, message } = JSON.parse(answer.body)
            assert.isString(code, told)
            assert.isString(message, told)
            assert.notMatch(answer.body, /\bat .*\.[jt]s:\d+|node_modules|\.jsonl/, "no stack, no path")
          }
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        }
        for (const status of [200, 201, 202, 400, 404, 409])
          assert.isAbove(statuses.get(status) ?? 0, 0, `${status} was never answered`)
        assert.strictEqual((await server.ask("GET", `${chat.at}/tree`)).status, 200)
      })
    })
  )
)
