/** Who is answered and who is not, over real sockets. */
import { networkInterfaces } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope, Stream } from "effect"
import { LocalServer, OneTimeLink } from "../src/index.ts"
import { ask, raw } from "./raw.ts"

const SECRET = "a line of a session"

const started = (options: Partial<LocalServer.Options> = {}) =>
  LocalServer.serve({
    handler: ({ url }) =>
      url.pathname === "/breaks"
        ? Effect.die(new Error("/home/me/secret.ts"))
        : Effect.succeed({ status: 200, body: SECRET }),
    isData: (path) => path.startsWith("/api/"),
    ...options
  })

const request = (port: number, target: string, headers?: ReadonlyArray<string>, method?: string) =>
  Effect.promise(() => ask(port, target, headers, method))

const ELSEWHERE = [
  "evil.example",
  "localhost.evil.example",
  "127.0.0.1.nip.io",
  "127.0.0.2",
  "0.0.0.0",
  "127.1",
  "2130706433",
  "[::ffff:127.0.0.1]",
  "localhost."
]

describe("names", () => {
  it.effect("only its own names with its own port are answered, on every path", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      for (const name of ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"]) {
        assert.strictEqual((yield* request(port, "/", [`Host: ${name}:${port}`])).status, 200)
      }
      for (const path of ["/", "/api/sessions", "/_next/static/a.js", "/nowhere", "/breaks"]) {
        for (const name of ELSEWHERE) {
          const { status, body } = yield* request(port, path, [`Host: ${name}:${port}`])
          assert.strictEqual(status, 403, name)
          assert.notInclude(body, SECRET)
        }
        for (const host of ["", "localhost", `localhost:${port + 1}`, `localhost:${port}0`, `me@localhost:${port}`]) {
          assert.strictEqual((yield* request(port, path, [`Host: ${host}`])).status, 403, host)
        }
      }
    })
  )

  it.effect("two names, no name and a whole address are no name", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      const own = `Host: localhost:${port}`
      const twice = yield* Effect.promise(() =>
        raw(port, ["GET / HTTP/1.1", own, "Host: evil.example", "Connection: close"])
      )
      const none = yield* Effect.promise(() => raw(port, ["GET / HTTP/1.1", "Connection: close"]))
      const whole = yield* request(port, `http://localhost:${port}/`, [own])
      assert.deepStrictEqual([twice.status, none.status, whole.status], [403, 403, 400])
    })
  )

  it.effect("headers that once let requests pass a framework's checks change nothing", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      const tricks = [
        "x-middleware-subrequest: middleware:middleware",
        "x-forwarded-host: localhost",
        "x-original-url: /"
      ]
      const { status } = yield* request(port, "/?nxtPid=1", [`Host: evil.example:${port}`, ...tricks])
      assert.strictEqual(status, 403)
    })
  )
})

describe("methods and sites", () => {
  it.effect("what is not allowed is refused everywhere, by name of what is", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]) {
        const { status, headers } = yield* request(port, "/api/sessions", ["Content-Length: 0"], method)
        assert.strictEqual(status, 405, method)
        assert.strictEqual(headers.get("allow"), "GET, HEAD")
      }
      const head = yield* request(port, "/", [], "HEAD")
      assert.deepStrictEqual([head.status, head.body], [200, ""])
    })
  )

  it.effect("pages of other sites read no data, but may link to a page", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      const from = (site: string, path: string) => request(port, path, [`Sec-Fetch-Site: ${site}`])
      for (const site of ["cross-site", "same-site", "Cross-Site"]) {
        assert.strictEqual((yield* from(site, "/api/sessions?q=1")).status, 403)
        assert.strictEqual((yield* from(site, "/s/abc")).status, 200)
      }
      for (const site of ["same-origin", "none"]) assert.strictEqual((yield* from(site, "/api/sessions")).status, 200)
      const foreign = yield* request(port, "/api/sessions", ["Origin: https://evil.example"])
      assert.isFalse([...foreign.headers.keys()].some((name) => name.startsWith("access-control-")))
    })
  )
})

describe("answers", () => {
  it.effect("every answer carries the policy, with a nonce of its own", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      const nonces = new Set<string>()
      const targets = [["/"], ["/nowhere"], ["/breaks"], ["/", "Host: evil.example"]] as const
      for (const [path, ...headers] of targets) {
        const { headers: sent } = yield* request(port, path, headers)
        const policy = sent.get("content-security-policy") ?? ""
        assert.include(policy, "default-src 'none'")
        assert.notMatch(policy, /unsafe|https?:|\*/)
        assert.strictEqual(sent.get("x-content-type-options"), "nosniff")
        assert.strictEqual(sent.get("cross-origin-resource-policy"), "same-origin")
        assert.strictEqual(sent.get("referrer-policy"), "no-referrer")
        nonces.add(/'nonce-([^']+)'/.exec(policy)![1]!)
      }
      assert.strictEqual(nonces.size, targets.length)
    })
  )

  it.effect("a handler that breaks tells nothing of the machine", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      const { status, body } = yield* request(port, "/breaks")
      assert.strictEqual(status, 500)
      assert.notMatch(body, /home|secret|Error|at /)
    })
  )

  it.effect("a stream ends when its reader goes", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const endless = Stream.concat(Stream.make(new TextEncoder().encode("first\n")), Stream.never)
      const { address } = yield* started({
        handler: () =>
          Effect.succeed({ status: 200, body: Stream.ensuring(endless, Deferred.succeed(ended, undefined)) })
      })
      const controller = new AbortController()
      const response = yield* Effect.promise(() => fetch(address, { signal: controller.signal }))
      const { value } = yield* Effect.promise(() => response.body!.getReader().read())
      assert.strictEqual(new TextDecoder().decode(value), "first\n")
      controller.abort()
      yield* Deferred.await(ended)
    })
  )

  it.effect("an upgrade is refused unless somebody takes it, and its name is checked too", () =>
    Effect.gen(function* () {
      const headers = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
      const upgrade = (port: number, host: string) =>
        Effect.promise(() => raw(port, ["GET / HTTP/1.1", `Host: ${host}:${port}`, ...headers]))
      const plain = yield* started()
      assert.strictEqual((yield* upgrade(plain.port, "localhost")).status, 426)
      const taking = yield* started({
        upgrade: (_, socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n")
      })
      assert.strictEqual((yield* upgrade(taking.port, "localhost")).status, 101)
      assert.strictEqual((yield* upgrade(taking.port, "evil.example")).status, 403)
    })
  )
})

describe("binding", () => {
  it.effect("without a way to tell who asks, only this machine is served", () =>
    Effect.gen(function* () {
      for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
        const error = yield* Effect.flip(started({ host }))
        assert.strictEqual(error.reason, "needs-access")
      }
      const { port } = yield* started()
      const others = Object.values(networkInterfaces())
        .flatMap((found) => found ?? [])
        .filter(({ family, internal }) => family === "IPv4" && !internal)
      for (const { address } of others) {
        const answer = Effect.promise(() =>
          fetch(`http://${address}:${port}/`).then(
            () => "answered",
            () => "refused"
          )
        )
        assert.strictEqual(yield* answer, "refused")
      }
    })
  )

  it.effect("a port that is taken is said to be", () =>
    Effect.gen(function* () {
      const { port } = yield* started()
      const error = yield* Effect.flip(started({ port }))
      assert.deepStrictEqual([error.reason, error.port], ["port-taken", port])
    })
  )

  it.effect("it is gone when its scope ends, open streams included", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { address } = yield* Scope.provide(
        started({ handler: () => Effect.succeed({ status: 200, body: Stream.never }) }),
        scope
      )
      const response = yield* Effect.promise(() => fetch(address))
      yield* Scope.close(scope, Exit.void)
      const ended = response.text().then(
        () => "whole",
        () => "cut"
      )
      assert.strictEqual(yield* Effect.promise(() => ended), "cut")
      assert.strictEqual(
        yield* Effect.promise(() =>
          fetch(address).then(
            () => "there",
            () => "gone"
          )
        ),
        "gone"
      )
    })
  )
})

describe("links that work once", () => {
  it.effect("a token is exchanged for a cookie and leaves the address", () =>
    Effect.gen(function* () {
      const link = OneTimeLink.make("Ask again.")
      const { port, address } = yield* started({ access: link.access })
      const target = (url: string) => url.slice(address.length - 1)
      const first = target(link.linkTo(`${address}s/abc?leaf=1`))
      assert.strictEqual((yield* request(port, "/s/abc")).status, 401)
      assert.strictEqual((yield* request(port, "/?token=guess")).status, 401)
      const { status, headers } = yield* request(port, first)
      assert.deepStrictEqual([status, headers.get("location")], [303, "/s/abc?leaf=1"])
      const cookie = headers.get("set-cookie")!
      assert.match(cookie, /HttpOnly; SameSite=Lax/)
      assert.strictEqual((yield* request(port, first)).status, 401)
      assert.strictEqual((yield* request(port, "/", [`Cookie: ${cookie.split(";")[0]}`])).status, 200)
      assert.strictEqual((yield* request(port, "/", [`Cookie: ${cookie.split("=")[0]}=0`])).status, 401)
      assert.strictEqual(
        (yield* request(port, "/", [`Host: evil.example:${port}`, `Cookie: ${cookie.split(";")[0]}`])).status,
        403
      )
    })
  )
})
