/** The viewer over real HTTP: who is answered, with what, and that nothing is ever written. */
import { execFileSync } from "node:child_process"
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type * as Wire from "../src/wire/Wire.ts"
import { ask, raw } from "./raw.ts"
import { forked, Script, showcase } from "./store.ts"
import { hashOf, type Running, start } from "./support.ts"

let viewer: Running
beforeAll(async () => {
  viewer = await start()
})
afterAll(() => viewer.stop())

const get = (path: string, headers?: ReadonlyArray<string>, method?: string) => ask(viewer.port, path, headers, method)
const json = async <A>(path: string): Promise<A> => (await fetch(`${viewer.url}${path}`)).json() as Promise<A>

const SESSION = showcase().id
/** Every kind of address there is. */
const ADDRESSES = [
  "/",
  "/healthz",
  `/s/${SESSION}`,
  "/nowhere",
  "/_next/static/nothing.js",
  "/api/sessions",
  "/api/text?q=x",
  `/api/details?key=${SESSION}`,
  `/api/s/${SESSION}`,
  `/api/s/${SESSION}/previews?id=x`,
  `/api/s/${SESSION}/entries?id=x`,
  `/api/s/${SESSION}/usage`,
  `/api/s/${SESSION}/find?q=redis`,
  `/api/s/${SESSION}/image?entry=x&at=/x`,
  `/s/${SESSION}/export.html`
]
const EVENTS = `/api/s/${SESSION}/events`

describe("names, methods and sites", () => {
  it("no address answers to another name, also not with headers that once passed a framework by", async () => {
    for (const path of [...ADDRESSES, EVENTS]) {
      for (const name of ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io"]) {
        const tricks = ["x-middleware-subrequest: src/middleware", "x-nextjs-data: 1", "x-forwarded-host: localhost"]
        const answer = await get(`${path}${path.includes("?") ? "&" : "?"}nxtPid=${SESSION}`, [
          `Host: ${name}:${viewer.port}`,
          ...tricks
        ])
        assert.strictEqual(answer.status, 403, path)
        assert.notInclude(answer.body, "auth-rate-limit")
      }
    }
  })

  it("nothing but GET and HEAD is allowed anywhere", async () => {
    for (const path of [...ADDRESSES, EVENTS]) {
      for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
        assert.strictEqual((await get(path, ["Content-Length: 0"], method)).status, 405, `${method} ${path}`)
      }
    }
  })

  it("data, events and exports are for its own pages; pages may be linked to from anywhere", async () => {
    for (const path of [...ADDRESSES, EVENTS].filter((each) => each.startsWith("/api/") || each.includes("export"))) {
      assert.strictEqual((await get(path, ["Sec-Fetch-Site: cross-site"])).status, 403, path)
    }
    assert.strictEqual((await get(`/s/${SESSION}`, ["Sec-Fetch-Site: cross-site"])).status, 200)
  })

  it("every answer has the policy, and every script of a page its nonce", async () => {
    for (const path of ADDRESSES) {
      const { headers, body } = await get(path)
      const policy = headers.get("content-security-policy") ?? ""
      assert.include(policy, "default-src 'none'", path)
      const nonce = /'nonce-([^']+)'/.exec(policy)![1]!
      if (!headers.get("content-type")?.startsWith("text/html")) continue
      const tags = body.match(/<(script|style)[\s>][^>]*/g) ?? []
      assert.isAbove(tags.length, 3)
      for (const tag of tags) assert.include(tag, `nonce="${nonce}"`)
      assert.notMatch(body, /\sstyle="|https?:\/\/(?!www\.w3\.org)/)
    }
  })

  it("a connection that asks to be upgraded is refused", async () => {
    const { status } = await raw(viewer.port, [
      "GET /api/sessions HTTP/1.1",
      `Host: localhost:${viewer.port}`,
      "Connection: Upgrade",
      "Upgrade: websocket"
    ])
    assert.strictEqual(status, 426)
  })
})

describe("sessions that are not there", () => {
  const NAMES = [
    "unknown-id",
    "..%2f..%2fetc%2fpasswd",
    "%252e%252e%252f",
    "..%5c..%5c",
    "%00",
    "%2fetc%2fpasswd",
    "\u2024\u2024",
    "a".repeat(4096),
    "%ff%fe",
    "__proto__",
    "constructor"
  ].map((name) => (/^[\x20-\x7e]+$/.test(name) ? name : encodeURIComponent(name)))

  it("are all answered alike, and no answer names a path", async () => {
    const bodies = new Set<string>()
    for (const name of NAMES) {
      for (const what of ["", "/entries?id=x", "/events", "/image?entry=x&at=/y"]) {
        const { status, body } = await get(`/api/s/${name}${what}`)
        assert.strictEqual(status, 404, name)
        assert.notInclude(body, viewer.home)
        bodies.add(body)
      }
      assert.strictEqual((await get(`/s/${name}`)).status, 404)
    }
    assert.strictEqual(bodies.size, 1)
  })

  it("no file outside the pages is served", async () => {
    for (const path of [
      "/../package.json",
      "/..%2fpackage.json",
      "/_next/../../server/index.js",
      "/index.html",
      "/session.html",
      "/.env"
    ]) {
      const { status, body } = await get(path)
      assert.strictEqual(status, 404, path)
      assert.notInclude(body, "@grove/viewer")
    }
  })

  it("links, pipes and folders among the sessions are neither listed nor served", async () => {
    const folder = join(viewer.store.paths.sessions, "--links--")
    const outside = join(viewer.home, "outside.jsonl")
    const script = new Script("0ff51de0-0000-7000-8000-000000000001", "/x")
    script.user("not to be seen")
    writeFileSync(outside, script.text)
    mkdirSync(folder)
    symlinkSync(outside, join(folder, "link.jsonl"))
    symlinkSync(viewer.home, join(folder, "folder"))
    symlinkSync("/dev/zero", join(folder, "device.jsonl"))
    mkdirSync(join(folder, "directory.jsonl"))
    execFileSync("mkfifo", [join(folder, "pipe.jsonl")])
    const { sessions } = await json<Wire.Sessions>("/api/sessions")
    assert.isFalse(sessions.some(({ id }) => id === script.id))
    assert.strictEqual((await get(`/api/s/${script.id}`)).status, 404)
    rmSync(folder, { recursive: true })
  })

  it("a session that becomes a link after it was listed is not followed", async () => {
    const script = new Script("0ff51de0-0000-7000-8000-000000000002", "/home/ada/novel")
    script.user("a session like others")
    const file = viewer.store.fileOf(script)
    writeFileSync(file, script.text)
    assert.strictEqual((await get(`/api/s/${script.id}`)).status, 200)
    rmSync(file)
    symlinkSync(join(viewer.home, "outside.jsonl"), file)
    const { status, body } = await get(`/api/s/${script.id}`)
    assert.strictEqual(status, 404)
    assert.notInclude(body, "not to be seen")
    rmSync(file)
  })
})

describe("what is told", () => {
  it("every session is listed once, with its project and without its path", async () => {
    const { sessions, places } = await json<Wire.Sessions>("/api/sessions")
    assert.strictEqual(sessions.length, 47)
    assert.strictEqual(new Set(sessions.map(({ key }) => key)).size, 47)
    assert.strictEqual(new Set(sessions.map(({ cwd }) => cwd)).size, 4)
    assert.notInclude(JSON.stringify(sessions), viewer.home)
    assert.strictEqual(places.length, 1)
    const fork = sessions.find(({ parent }) => parent !== null)
    assert.isTrue(sessions.some(({ key }) => key === fork?.parent))
  })

  it("two files with one id have addresses of their own", async () => {
    const script = new Script("d0ab1e00-0000-7000-8000-000000000001", "/home/ada/novel")
    script.user("the same twice")
    const file = viewer.store.fileOf(script)
    writeFileSync(file, script.text)
    linkSync(file, file.replace(".jsonl", ".copy.jsonl"))
    const { sessions } = await json<Wire.Sessions>("/api/sessions")
    const keys = sessions.filter(({ id }) => id === script.id).map(({ key }) => key)
    assert.strictEqual(new Set(keys).size, 2)
    for (const key of keys) assert.strictEqual((await get(`/api/s/${encodeURIComponent(key)}`)).status, 200)
    rmSync(file)
    rmSync(file.replace(".jsonl", ".copy.jsonl"))
  })

  it("words are found in sessions whatever their script", async () => {
    const { sessions } = await json<Wire.TextHits>(`/api/text?q=${encodeURIComponent("折叠")}`)
    assert.deepStrictEqual(sessions.map(({ key }) => key.slice(0, 8)).toSorted(), ["00000007", "00000023"])
  })

  it("what a path, a tree and the dead ends cost adds up", async () => {
    const script = forked()
    const costs = await json<Wire.Costs>(`/api/s/${script.id}/usage`)
    assert.deepStrictEqual(
      [costs.path.costMicros, costs.tree.costMicros, costs.abandoned.costMicros],
      [18_000, 30_000, 12_000]
    )
  })

  it("a long text is cut until somebody asks for all of it", async () => {
    const { skeleton } = await json<Wire.Session>("/api/s/c0220000-0000-7000-8000-00000000c022")
    assert.include(skeleton.ids, "eeeeeeeeeeee")
    const [cut] = await json<ReadonlyArray<Wire.Body>>(
      "/api/s/c0220000-0000-7000-8000-00000000c022/entries?id=eeeeeeeeeeee"
    )
    assert.deepStrictEqual(cut!.cut, { "/message/content": 5_000_015 })
    const [whole] = await json<ReadonlyArray<Wire.Body>>(
      "/api/s/c0220000-0000-7000-8000-00000000c022/entries?full=1&id=eeeeeeeeeeee"
    )
    assert.strictEqual((whole!.entry.message as { content: string }).content.length, 5_000_015)
  })

  it("a broken file is read as far as it goes, and every problem is counted", async () => {
    const { problems, problemCount } = await json<Wire.Session>("/api/s/c0220000-0000-7000-8000-00000000c022")
    const kinds = new Set(problems.map(({ kind }) => kind))
    for (const kind of ["not-json", "not-object", "duplicate-id", "unknown-parent", "cycle", "torn-tail"] as const) {
      assert.isTrue(kinds.has(kind), kind)
    }
    assert.strictEqual(problemCount, problems.length)
  })

  it("pictures come from the line or from a blob; a drawing that could hold a script is none", async () => {
    const key = "1ca6e000-0000-7000-8000-000000001ca6"
    const { skeleton } = await json<Wire.Session>(`/api/s/${key}`)
    const entry = skeleton.ids[1]
    const answers = await Promise.all(
      [1, 2, 3].map((at) => fetch(`${viewer.url}/api/s/${key}/image?entry=${entry}&at=/message/content/${at}/data`))
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 404]
    )
    assert.strictEqual(answers[0]!.headers.get("content-type"), "image/png")
    const hostile = await json<Wire.Session>("/api/s/bad00000-0000-7000-8000-00000000bad0")
    for (const id of hostile.skeleton.ids) {
      const drawing = await get(
        `/api/s/bad00000-0000-7000-8000-00000000bad0/image?entry=${id}&at=/message/content/0/data`
      )
      assert.strictEqual(drawing.status, 404)
    }
  })

  it("an entry that nests deeper than calls can go is sent without its depths", async () => {
    const script = new Script("deee0000-0000-7000-8000-000000000001", "/home/ada/novel")
    const id = script.user("deep")
    const deep = `{"type":"custom","id":"abcdefabcdef","parentId":"${id}","timestamp":"2026-01-01T00:00:00Z","customType":"x","data":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`
    const file = viewer.store.fileOf(script)
    writeFileSync(file, script.text + deep)
    const [body] = await json<ReadonlyArray<Wire.Body>>(`/api/s/${script.id}/entries?id=abcdefabcdef`)
    assert.isTrue(body!.isTooDeep)
    assert.deepStrictEqual((await json<Wire.Found>(`/api/s/${script.id}/find?q=deep`)).ids, [id])
    rmSync(file)
  })

  it("nothing that can be asked for changes a session", async () => {
    const before = hashOf(viewer.home)
    const { sessions } = await json<Wire.Sessions>("/api/sessions?subAgents=1")
    for (const { key } of sessions) {
      const path = `/api/s/${encodeURIComponent(key)}`
      const { skeleton } = await json<Wire.Session>(path)
      const ids = skeleton.ids
        .slice(0, 100)
        .map((id) => `id=${encodeURIComponent(id)}`)
        .join("&")
      for (const what of [`previews?${ids}`, `entries?${ids}`, "usage", "find?q=a", "export.html"])
        await get(`${path}/${what}`)
      await get(`/s/${encodeURIComponent(key)}`)
    }
    assert.strictEqual(hashOf(viewer.home), before)
  })
})

describe("beyond this machine", () => {
  it("the viewer does not start without a token", async () => {
    const refusal = await start({ host: "0.0.0.0" }).then(
      () => "started",
      (error: { readonly reason?: string }) => error.reason
    )
    assert.strictEqual(refusal, "needs-access")
  })
})
