/** `grove view`: started as a person would, asked over HTTP, and stopped. */
import { type ChildProcess, spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { afterEach, assert, it } from "@effect/vitest"
import { assertRefused, fileOf, header, program, reply, sandbox, user } from "../support.ts"

const box = sandbox()
const running: Array<ChildProcess> = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL")
})

interface Started {
  readonly link: string
  readonly took: number
  readonly child: ChildProcess
}

/** The first line it prints, and how soon. */
const view = (
  folder: string,
  words: ReadonlyArray<string> = [],
  env: Record<string, string> = {},
  where: ReadonlyArray<string> = ["--session-dir", folder]
): Promise<Started> =>
  new Promise((resolve, reject) => {
    const begun = Date.now()
    const child = spawn(process.execPath, [program, "view", "--no-open", ...where, ...words], {
      env: { ...process.env, GROVE_HOME: box.home, HOME: join(folder, "person"), ...env }
    })
    running.push(child)
    let said = ""
    child.stdout.on("data", (chunk) => {
      said += chunk
      if (said.includes("\n")) resolve({ link: said.split("\n", 1)[0]!, took: Date.now() - begun, child })
    })
    child.once("exit", (code) => reject(new Error(`exit ${code}`)))
  })

const SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcd-AA"

const session = (name: string) =>
  box.write(
    `${name}/one.jsonl`,
    fileOf(
      header({ id: "view-0001" }),
      user("aaaa0001", null, `hello ${SECRET}`),
      reply("aaaa0002", "aaaa0001", "<script>alert(1)</script>")
    )
  )

const json = async <A>(link: string, path: string): Promise<A> =>
  (await fetch(new URL(path, link))).json() as Promise<A>

it("its first line is a link, soon, at which every session is shown; Ctrl-C ends it", async () => {
  const folder = dirname(session("view-a"))
  const { link, took, child } = await view(folder)
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/$/)
  assert.isBelow(took, 5000)
  const page = await fetch(link)
  assert.strictEqual(page.status, 200)
  assert.include(await page.text(), "<title>Grove</title>")
  const { sessions } = await json<{ sessions: ReadonlyArray<{ key: string }> }>(link, "/api/sessions")
  assert.deepStrictEqual(
    sessions.map(({ key }) => key),
    ["view-0001"]
  )
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGINT")
  assert.strictEqual(await ended, 130)
})

it("a session and an entry of it can be named, wherever the file is", async () => {
  const file = session("view-b")
  const { link } = await view(join(dirname(file), "empty"), ["--session", file, "--entry", "0002"])
  const { pathname, search } = new URL(link)
  assert.strictEqual(pathname + search, "/s/view-0001?entry=aaaa0002")
  assert.strictEqual((await fetch(link)).status, 200)
  assert.strictEqual((await fetch(new URL("/api/s/view-0001", link))).status, 200)
})

it("exports are downloads without secrets, and what a session says stays text in them", async () => {
  const { link } = await view(dirname(session("view-c")))
  for (const format of ["html", "md", "jsonl"]) {
    const answer = await fetch(new URL(`/s/view-0001/export.${format}`, link))
    assert.strictEqual(answer.status, 200)
    assert.include(answer.headers.get("content-disposition")!, `view-0001.${format}`)
    const text = await answer.text()
    assert.include(text, "hello")
    assert.notInclude(text, SECRET)
    if (format === "html") assert.notInclude(text, "<script>alert(1)")
  }
  const whole = await fetch(new URL("/s/view-0001/export.md?redact=0", link))
  assert.include(await whole.text(), SECRET)
  assert.strictEqual((await fetch(new URL("/s/view-0001/export.exe", link))).status, 404)
})

it("others are let in by a link that works once, and not at all without one", async () => {
  const folder = dirname(session("view-d"))
  assertRefused(await box.grove(["view", "--no-open", "--host", "0.0.0.0", "--session-dir", folder]), 1, /--token/)
  assertRefused(await box.grove(["view", "--port", "none"]), 2, /--port/)
  const { link } = await view(folder, ["--token"])
  const first = await fetch(link, { redirect: "manual" })
  assert.strictEqual(first.status, 303)
  assert.strictEqual((await fetch(link, { redirect: "manual" })).status, 401)
  assert.strictEqual((await fetch(new URL("/api/sessions", link))).status, 401)
  const cookie = first.headers.get("set-cookie")!.split(";")[0]!
  assert.strictEqual((await fetch(new URL("/api/sessions", link), { headers: { cookie } })).status, 200)
})

it("sessions of other programs are shown beside one's own", async () => {
  const folder = join(box.folder, "view-e")
  session("view-e/home/sessions/--work--")
  const line = (fields: object) =>
    `${JSON.stringify({ sessionId: "5d0c6f2e-0000-4000-8000-000000000001", cwd: "/work", version: "2.0.0", timestamp: "2026-01-01T00:00:00.000Z", ...fields })}\n`
  box.write(
    "view-e/person/.claude/projects/-work/5d0c6f2e-0000-4000-8000-000000000001.jsonl",
    line({ type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content: "hello from elsewhere" } }) +
      line({
        type: "assistant",
        uuid: "u2",
        parentUuid: "u1",
        message: { id: "m1", role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: "hi" }] }
      })
  )
  box.write(
    "view-e/person/.pi/agent/sessions/--work--/a.jsonl",
    fileOf(header({ id: "from-pi-0001" }), user("bbbb0001", null, "hello from pi"))
  )
  const { link } = await view(folder, [], { GROVE_HOME: join(folder, "home") }, [])
  const sources = async () => {
    const { sessions } = await json<{ sessions: ReadonlyArray<{ source: string; firstMessage: string }> }>(
      link,
      "/api/sessions"
    )
    return sessions.map(({ source, firstMessage }) => `${source}: ${firstMessage.slice(0, 20)}`).toSorted()
  }
  let found = await sources()
  for (let n = 0; n < 100 && found.length < 3; n++) {
    await new Promise((done) => setTimeout(done, 50))
    found = await sources()
  }
  assert.deepStrictEqual(found, [
    "claude-code: hello from elsewhere",
    `grove: hello ${SECRET.slice(0, 14)}`,
    "pi: hello from pi"
  ])
})
