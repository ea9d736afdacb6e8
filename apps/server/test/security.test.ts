import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import WebSocket from "ws"
import * as Access from "../src/Access.ts"
import { client, raw, type Served, served, TOKEN } from "./support.ts"

const test = (name: string, check: (server: Served) => Promise<void>, options: Parameters<typeof served>[0] = {}) =>
  it.live(name, () => Effect.scoped(Effect.flatMap(served(options), (server) => Effect.promise(() => check(server)))))

const bearer = { authorization: `Bearer ${TOKEN}` }
const PATHS = ["/", "/api/sessions", "/openapi.json", "/nowhere", "/api/chat/x/tree"]

/** How an upgrade is answered: 101, or the status of its refusal. */
const upgrade = (
  server: Served,
  path: string,
  protocols: ReadonlyArray<string>,
  headers: Record<string, string> = {}
) =>
  new Promise<number>((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, [...protocols], { headers })
    socket.on("open", () => {
      socket.terminate()
      resolve(101)
    })
    socket.on("unexpected-response", (_, response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    socket.on("error", () => resolve(-1))
  })

describe("the server", () => {
  test("answers to its own names only, on every path and to every upgrade", async (server) => {
    const chat = await server.create()
    const { port } = server
    const bad = [
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.nip.io:${port}`,
      "",
      "localhost",
      `127.0.0.1:${port + 1}`
    ]
    for (const path of PATHS) {
      for (const host of bad) {
        const { status, body } = await raw(port, { path, headers: { ...bearer, host } })
        assert.strictEqual(status, 403, `${host} ${path}`)
        assert.strictEqual(JSON.parse(body).code, "forbidden")
        assert.notInclude(body, chat.id)
      }
      assert.strictEqual((await raw(port, { path, headers: { ...bearer } })).status, 403, "no name at all")
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
      assert.strictEqual((await raw(port, { path: "/api/sessions", headers: { ...bearer, host } })).status, 200)
    }
    const protocols = ["grove", `bearer.${TOKEN}`]
    assert.strictEqual(await upgrade(server, `${chat.at}/events`, protocols, { host: `evil.example:${port}` }), 403)
    assert.strictEqual(await upgrade(server, `${chat.at}/events`, protocols), 101)
  })

  test("wants its token for everything but the empty page, and takes no other", async (server) => {
    const chat = await server.create()
    const { port } = server
    const host = `127.0.0.1:${port}`
    const wrong = [
      undefined,
      "",
      TOKEN,
      `Basic ${TOKEN}`,
      "Bearer",
      "Bearer ",
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Bearer ${TOKEN.toUpperCase()}`
    ]
    for (const path of PATHS.slice(1)) {
      for (const authorization of wrong.slice(0, path === "/api/sessions" ? undefined : 2)) {
        const { status, body, headers } = await raw(port, {
          path,
          headers: { host, ...(authorization !== undefined && { authorization }) }
        })
        assert.strictEqual(status, 401, `${authorization} ${path}`)
        assert.strictEqual(JSON.parse(body).code, "unauthorized")
        assert.match(String(headers["www-authenticate"]), /^Bearer/)
      }
    }
    assert.strictEqual(
      (await raw(port, { path: `/api/sessions?token=${TOKEN}`, headers: { host } })).status,
      401,
      "never in an address"
    )
    assert.strictEqual(
      (await raw(port, { path: "/api/sessions", headers: { host, "sec-websocket-protocol": `bearer.${TOKEN}` } }))
        .status,
      401
    )
    const page = await raw(port, { headers: { host } })
    assert.strictEqual(page.status, 200)
    assert.notInclude(page.body, chat.id)
    assert.notInclude(page.body, TOKEN)
    const events = `${chat.at}/events`
    assert.strictEqual(await upgrade(server, events, ["grove"]), 401)
    assert.strictEqual(await upgrade(server, events, ["grove", "bearer.wrong"]), 401)
    assert.strictEqual(await upgrade(server, events, ["grove"], bearer), 101)
  })

  test("is of no use to pages of other sites, and sends no leave for them", async (server) => {
    const chat = await server.create()
    const { port } = server
    const host = `127.0.0.1:${port}`
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `http://localhost:${port}` },
      { origin: `https://127.0.0.1:${port}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" }
    ]) {
      const { status, headers: sent } = await raw(port, {
        path: "/api/sessions",
        headers: { ...bearer, host, ...(headers as Record<string, string>) }
      })
      assert.strictEqual(status, 403, JSON.stringify(headers))
      assert.isEmpty(Object.keys(sent).filter((name) => name.startsWith("access-control-")))
      const protocols = ["grove", `bearer.${TOKEN}`]
      assert.strictEqual(await upgrade(server, `${chat.at}/events`, protocols, headers as Record<string, string>), 403)
    }
    const own = await raw(port, { path: "/api/sessions", headers: { ...bearer, host, origin: `http://${host}` } })
    assert.deepStrictEqual(
      [own.status, Object.keys(own.headers).some((name) => name.startsWith("access-control-"))],
      [200, false]
    )
    const asked = await raw(port, {
      method: "OPTIONS",
      path: "/api/sessions",
      headers: { host, origin: "https://evil.example", "access-control-request-method": "POST" }
    })
    assert.strictEqual(asked.status, 405)
    assert.isEmpty(Object.keys(asked.headers).filter((name) => name.startsWith("access-control-")))
  })

  test("tells browsers to run and load nothing that is not its own, with every answer", async (server) => {
    for (const path of PATHS) {
      const { headers } = await raw(server.port, { path, headers: { host: `127.0.0.1:${server.port}` } })
      const policy = String(headers["content-security-policy"])
      assert.match(policy, /default-src 'none'/)
      assert.notMatch(policy, /unsafe|https?:|\*/)
      assert.deepStrictEqual(
        [headers["x-content-type-options"], headers["referrer-policy"], headers["cache-control"]],
        ["nosniff", "no-referrer", "no-store"]
      )
    }
  })

  test("takes bodies up to a size, of JSON, and methods that it knows", async (server) => {
    const chat = await server.create()
    const long = await server.ask("POST", `${chat.at}/message`, { parentId: null, content: "x".repeat(1 << 20) })
    assert.deepStrictEqual([long.status, long.body.code], [413, "too-large"])
    const many = await server.ask("PUT", `${chat.at}/nodes/state`, {
      states: Array.from({ length: 10_001 }, () => ({ id: "x", isEnabled: true }))
    })
    assert.strictEqual(many.status, 400)
    const host = `127.0.0.1:${server.port}`
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const { status, body } = await raw(server.port, {
        method: "POST",
        path: "/api/sessions",
        headers: { ...bearer, host, "content-type": type },
        body: "{}"
      })
      assert.deepStrictEqual([status, JSON.parse(body).code], [415, "unsupported-media-type"])
    }
    for (const method of ["DELETE", "PATCH", "TRACE", "PROPFIND"]) {
      assert.strictEqual(
        (await raw(server.port, { method, path: "/api/sessions", headers: { ...bearer, host } })).status,
        405
      )
    }
  })

  test(
    "slows down whoever asks too often",
    async (server) => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => server.ask("GET", "/api/sessions")))
      const statuses = answers.map(({ status }) => status)
      assert.isAtLeast(statuses.filter((status) => status === 200).length, 10)
      assert.isAtLeast(statuses.filter((status) => status === 429).length, 1)
      assert.strictEqual(answers.find(({ status }) => status === 429)!.body.code, "too-many")
    },
    { limits: { burst: 10, perSecond: 5 } }
  )

  test(
    "slows down whoever guesses, and nobody else",
    async (server) => {
      const guesser = client(server.url, "f".repeat(64))
      const statuses: Array<number> = []
      for (let at = 0; at < 8; at++) statuses.push((await guesser.ask("GET", "/api/sessions")).status)
      assert.deepStrictEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
      assert.strictEqual((await server.ask("GET", "/api/sessions")).status, 200)
    },
    { limits: { guesses: 5 } }
  )

  test("writes a line for each request that may write, with nothing in it that was said", async (server) => {
    const chat = await server.create("a secret title")
    await chat.say("a secret prompt", null)
    await chat.tree()
    await chat.edit([{ op: "undo" }])
    assert.deepStrictEqual(
      server.audited.map((line) => line.replace(/^\S+Z /, "")),
      ["POST /api/sessions 201", `POST ${chat.at}/message 202`, `PUT ${chat.at}/tree/edit 409`]
    )
    assert.notInclude(server.audited.join(), "secret")
    assert.notInclude(server.audited.join(), TOKEN)
  })

  test("listens on loopback alone unless it is told otherwise", async (server) => {
    const elsewhere = Object.values(networkInterfaces())
      .flat()
      .find((found) => found !== undefined && !found.internal && found.family === "IPv4")
    if (elsewhere === undefined) return
    const reached = await fetch(`http://${elsewhere.address}:${server.port}/`).then(
      () => true,
      () => false
    )
    assert.isFalse(reached)
  })

  it.live("that is told to listen elsewhere still wants its token, and answers to that name", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* served({ host: "0.0.0.0" })
        yield* Effect.promise(async () => {
          assert.strictEqual((await fetch(`${server.url}api/sessions`)).status, 401)
          assert.strictEqual((await server.ask("GET", "/api/sessions")).status, 200)
          assert.strictEqual(
            (
              await raw(server.port, {
                path: "/api/sessions",
                headers: { ...bearer, host: `evil.example:${server.port}` }
              })
            ).status,
            403
          )
        })
      })
    )
  )
})

describe("the token", () => {
  it("is kept for its owner alone, is the same after a restart, and is made anew where others could have read it", () => {
    const home = mkdtempSync(join(tmpdir(), "grove-token-"))
    try {
      const path = join(home, "deep", "server.token")
      const token = Access.tokenAt(path)
      assert.match(token, /^[0-9a-f]{64}$/)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.strictEqual(readFileSync(path, "utf8"), `${token}\n`)
      assert.strictEqual(Access.tokenAt(path), token)
      chmodSync(path, 0o644)
      const second = Access.tokenAt(path)
      assert.notStrictEqual(second, token)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      writeFileSync(path, "short\n")
      const third = Access.tokenAt(path)
      assert.match(third, /^[0-9a-f]{64}$/)
      const other = join(home, "other")
      writeFileSync(other, `${"a".repeat(64)}\n`, { mode: 0o600 })
      const link = join(home, "link")
      symlinkSync(other, link)
      assert.notStrictEqual(Access.tokenAt(link), "a".repeat(64))
      assert.strictEqual(readFileSync(other, "utf8"), `${"a".repeat(64)}\n`, "what a link leads to is left alone")
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
})
