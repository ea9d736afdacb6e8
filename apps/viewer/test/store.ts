/** A home with sessions of every kind that the tests look at: made anew for each run, the same each time. */
import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { SessionPaths } from "@grove/storage-files"

type Line = { readonly [field: string]: unknown }

const DAY = 86_400_000
/** Far enough back that nothing counts as being written now. */
export const START = Date.UTC(2026, 0, 5, 9, 0, 0)

/** Writes entries one after the other; each follows the last unless said otherwise. */
export class Script {
  readonly lines: Array<Line> = []
  #time: number
  #count = 0
  leaf: string | null = null
  readonly id: string

  constructor(id: string, cwd: string, time = START, header: Line = {}) {
    this.id = id
    this.#time = time
    this.lines.push({ type: "session", version: 3, id, timestamp: new Date(time).toISOString(), cwd, ...header })
  }

  add(type: string, body: Line, at: { readonly parent?: string | null; readonly id?: string } = {}): string {
    this.#time += 30_000
    const id =
      at.id ??
      createHash("sha256")
        .update(`${this.id} ${this.#count++}`)
        .digest("hex")
        .slice(0, 12)
    const parentId = at.parent === undefined ? this.leaf : at.parent
    this.lines.push({ type, id, parentId, timestamp: new Date(this.#time).toISOString(), ...body })
    this.leaf = id
    return id
  }

  user(text: string, parent?: string | null): string {
    const content = [{ type: "text", text }]
    return this.add("message", { message: { role: "user", content } }, parent === undefined ? {} : { parent })
  }

  reply(text: string, more: Line = {}, blocks: ReadonlyArray<Line> = []): string {
    const content = [
      ...(more.thinking === undefined ? [] : [{ type: "thinking", thinking: more.thinking }]),
      { type: "text", text },
      ...blocks
    ]
    const { thinking: _, ...rest } = more
    return this.add("message", {
      message: {
        role: "assistant",
        content,
        provider: "anthropic",
        model: "claude-sonnet-4-5",
        usage: { input: 1000, output: 200, cacheRead: 0, cacheWrite: 0, cost: { total: 0.006 } },
        stopReason: blocks.length > 0 ? "toolUse" : "stop",
        ...rest
      }
    })
  }

  /** A reply that calls one tool, and the tool's answer. */
  tool(text: string, name: string, args: Line, result: string, isError = false): string {
    const id = `call_${this.#count}`
    this.reply(text, {}, [{ type: "toolCall", id, name, arguments: args }])
    return this.add("message", {
      message: {
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        content: [{ type: "text", text: result }],
        isError
      }
    })
  }

  turn(prompt: string, answer: string, parent?: string | null): string {
    this.user(prompt, parent)
    return this.reply(answer)
  }

  get text(): string {
    return this.lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  }

  get header(): { readonly id: string; readonly cwd: string; readonly timestamp: string } {
    return this.lines[0] as { readonly id: string; readonly cwd: string; readonly timestamp: string }
  }
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** The conversation of the pictures: one of everything that a transcript can hold. */
export const showcase = (): Script => {
  const s = new Script("5e550000-0000-7000-8000-00000000cafe", "/home/ada/gateway", START + 20 * DAY)
  s.add("session_info", { name: "auth-rate-limit" })
  s.add("model_change", { model: "anthropic/claude-sonnet-4-5" })
  s.user("Add rate limiting to `POST /login`: five attempts a minute for each address.\n\nTests should not sleep.")
  s.tool(
    "I will start with the middleware that is there.",
    "read",
    { path: "src/middleware/auth.ts" },
    'import { Router } from "express"\n\nexport const auth = Router()\n'
  )
  const plan = s.reply(
    [
      "The counter needs **a store that all workers share**. Two ways:",
      "",
      "| | SQLite | Redis |",
      "| --- | --- | --- |",
      "| new service | no | yes |",
      "| several hosts | no | yes |",
      "",
      "```ts",
      "export const attempt = async (address: string): Promise<boolean> => {",
      "  const count = await store.increment(address, { ttl: 60 })",
      "  return count <= 5 // the sixth has to wait",
      "}",
      "```",
      "",
      "Which one do you want?"
    ].join("\n"),
    {
      thinking:
        "The app runs behind two workers, so a Map in memory would count each worker on its own. SQLite is already a dependency."
    }
  )
  s.user("SQLite. No new service if we can avoid it.", plan)
  s.tool(
    "A table with a time to live.",
    "edit",
    { path: "src/limit.ts", oldText: "export {}\n", newText: "export const limit = 5\n" },
    "ok"
  )
  s.reply("Written. It locks the table under load, though.")
  s.user("In memory first, then.", plan)
  s.reply("A `Map` with a time to live is enough for one process.")
  s.user("And with several processes?")
  s.reply("", { stopReason: "aborted", content: [{ type: "text", text: "Each would count" }] })
  const redis = s.user("Then Redis, with the same limit.", plan)
  s.add("label", { targetId: redis, label: "plan-a" })
  s.tool(
    "Redis it is; keys are per address and per user.",
    "edit",
    {
      path: "src/limit.ts",
      oldText: "const limit = 5\n\nexport const attempt = () => true\n",
      newText:
        'import { redis } from "./redis"\n\nconst limit = 5\n\nexport const attempt = async (address: string) =>\n  (await redis.incr(keyOf(address))) <= limit\n'
    },
    "ok"
  )
  s.add("compaction", {
    summary: "## Goal\nRate limiting on login.\n\n## Progress\n- [x] Redis store\n- [ ] Tests",
    firstKeptEntryId: redis,
    tokensBefore: 48_213
  })
  s.user("Now the tests — cover clock skew and the Redis outage path, no sleeps.")
  s.tool(
    "I will run them.",
    "bash",
    { command: "npx vitest run limiter" },
    "\u001b[32m✓\u001b[39m limiter.test.ts \u001b[2m(41 tests)\u001b[22m \u001b[33m630 ms\u001b[39m\n\n \u001b[1mTests\u001b[22m  \u001b[32m41 passed\u001b[39m (41)\n"
  )
  s.tool(
    "One more for the outage.",
    "bash",
    { command: "npx vitest run outage" },
    "\u001b[31m✗ outage.test.ts\u001b[39m\nError: connect ECONNREFUSED",
    true
  )
  s.add("message", {
    message: {
      role: "bashExecution",
      command: "git status --short",
      output: " M src/limit.ts\n?? test/limiter.test.ts\n",
      exitCode: 0
    }
  })
  s.user("Here is what the dashboard shows. 用中文总结一下。")
  s.reply(
    "41 个测试全部通过，覆盖率 93 %。时钟偏移和 Redis 中断两条路径都已覆盖：\n\n1. 时钟偏移：用假时钟推进\n2. 中断：连接被拒绝时放行并记录"
  )
  return s
}

/** Eighty times the person went back to the same place. */
const rewinds = (): Script => {
  const s = new Script("80000000-0000-7000-8000-000000000080", "/home/ada/gateway", START + 18 * DAY)
  s.add("session_info", { name: "eighty rewinds" })
  let at: string | null = null
  for (let n = 1; n <= 80; n++) {
    const prompt: string = s.user(`attempt ${n}: make the parser accept nested comments without slowing it`, at)
    s.reply(`attempt ${n} passes the tests but is ${n} percent slower than before, so it should go`)
    at = n % 2 === 0 ? prompt : at
  }
  return s
}

export const TURNS = 10_000

const long = (): Script => {
  const s = new Script("10000000-0000-7000-8000-000000010000", "/home/ada/novel", START - 400 * DAY)
  s.add("session_info", { name: "ten thousand turns" })
  for (let n = 1; n <= TURNS; n++) {
    s.user(`prompt number ${n} of the long session`)
    s.reply(
      `answer number ${n}: ${n === 1 ? "the needle-first" : n === TURNS ? "the needle-last" : "nothing"} is here.${n % 7 === 0 ? "\n\n- a list\n- of things\n\nand `code`" : ""}`
    )
  }
  return s
}

/** What a page must never run, fetch or believe. */
export const payloads: ReadonlyArray<string> = [
  "<script>window.__xss=1</script>",
  "<img src=x onerror=window.__xss=1>",
  "<svg onload=window.__xss=1>",
  "<svg><script>window.__xss=1</script></svg>",
  "<iframe srcdoc='<script>parent.__xss=1</script>'></iframe>",
  "<body onload=window.__xss=1>",
  "<details open ontoggle=window.__xss=1>",
  "<input autofocus onfocus=window.__xss=1>",
  "<math href='javascript:window.__xss=1'>x</math>",
  "<a href='javascript:window.__xss=1'>x</a>",
  "[a](javascript:window.__xss=1)",
  "[b](JaVaScRiPt:window.__xss=1)",
  "[c](java\tscript:window.__xss=1)",
  "[d](&#106;avascript:window.__xss=1)",
  "[e](data:text/html,<script>window.__xss=1</script>)",
  "[f](vbscript:window.__xss=1)",
  "[g](file:///etc/passwd)",
  "[h](blob:http://x/1)",
  "![i](http://CANARY/md.png)",
  "![j](//CANARY/relative.png)",
  "![k](data:image/svg+xml,<svg onload=window.__xss=1>)",
  "![l][ref]\n\n[ref]: http://CANARY/ref.png",
  "<img src='http://CANARY/html.png'>",
  "<link rel=stylesheet href='http://CANARY/x.css'>",
  "<style>@import 'http://CANARY/y.css';*{background:url(http://CANARY/z)}</style>",
  "<base href='http://CANARY/'>",
  "<meta http-equiv=refresh content='0;url=http://CANARY/'>",
  "<form action='http://CANARY/'><button>x</button></form>",
  "<object data='http://CANARY/o'></object><embed src='http://CANARY/e'>",
  "<video src='http://CANARY/v' autoplay></video>",
  "<template shadowrootmode=open><script>window.__xss=1</script></template>",
  "```html\n<script>window.__xss=1</script>\n```",
  "```mermaid\ngraph TD; A[<img src=x onerror=window.__xss=1>]\n```",
  '```"><script>window.__xss=1</script>\nx\n```',
  "`</code><script>window.__xss=1</script>`",
  "</script><script>window.__xss=1</script>",
  "\u001b]0;title\u0007\u001b]52;c;ZXZpbA==\u0007\u001b]8;;http://CANARY/osc\u0007link\u001b]8;;\u0007",
  "\u202egnp.exe\u202c\u0000\u001b[2J",
  '" onmouseover="window.__xss=1" x="',
  "{{constructor.constructor('window.__xss=1')()}}",
  "<noscript><p title='</noscript><img src=x onerror=window.__xss=1>'>"
]

export const hostile = (canary: string): Script => {
  const evil = payloads.map((payload) => payload.replaceAll("CANARY", canary))
  const all = evil.join("\n\n")
  const s = new Script("bad00000-0000-7000-8000-00000000bad0", `/home/${evil[0]}/${evil[1]}`, START + 15 * DAY, {
    title: evil[2]
  })
  s.add("session_info", { name: `hostile ${evil[0]}${evil[37]}` })
  const first = s.user(`hostile\n${all}`)
  s.reply(all, { thinking: all, model: evil[0], provider: evil[1], errorMessage: evil[2] })
  s.tool(all, evil[1]!, { [evil[0]!]: evil[2], path: evil[2], command: all }, all)
  s.tool("edit", "edit", { path: `${evil[0]}.ts`, oldText: all, newText: `${all}\n${evil[0]}` }, all, true)
  s.add("message", { message: { role: "bashExecution", command: evil[0], output: all, exitCode: 1 } })
  s.add("label", { targetId: first, label: evil[1] })
  s.add("custom_message", { customType: evil[0], content: all, display: true })
  s.add("branch_summary", { fromId: first, summary: all })
  s.add("compaction", { summary: all, firstKeptEntryId: first, tokensBefore: 1 })
  s.add(evil[0]!, { payload: all })
  s.add("message", {
    message: {
      role: "user",
      content: [{ type: "image", mimeType: "image/svg+xml", data: Buffer.from(evil[2]!).toString("base64") }]
    }
  })
  s.user("a second branch", first)
  s.reply("hostile too: <script>window.__xss=1</script>")
  return s
}

/** Every way in which a file can be broken and still be read. */
export const corrupt = (): string => {
  const s = new Script("c0220000-0000-7000-8000-00000000c022", "/home/ada/gateway", START + 14 * DAY)
  s.add("session_info", { name: "a broken file" })
  s.turn("is anything left of this file?", "most of it")
  const twice = s.user("said twice", undefined)
  s.reply("and answered once")
  const [header, ...lines] = s.text.trimEnd().split("\n")
  const entry = (id: string, parentId: string, text: string) =>
    JSON.stringify({
      type: "message",
      id,
      parentId,
      timestamp: new Date(START).toISOString(),
      message: { role: "user", content: text }
    })
  return [
    header,
    ...lines,
    "this is not JSON",
    '["nor", "an", "object"]',
    entry(twice, s.leaf!, "the same id again with other words"),
    entry("aaaaaaaaaaaa", "nobody00", "whose parent is missing"),
    entry("bbbbbbbbbbbb", "cccccccccccc", "a cycle, first half"),
    entry("cccccccccccc", "bbbbbbbbbbbb", "a cycle, second half"),
    JSON.stringify({
      type: "hologram",
      id: "dddddddddddd",
      parentId: s.leaf,
      timestamp: new Date(START).toISOString(),
      shape: "cube"
    }),
    entry("eeeeeeeeeeee", "dddddddddddd", `five megabytes ${"x".repeat(5_000_000)}`),
    entry("ffffffffffff", "eeeeeeeeeeee", "the end of a broken file"),
    '{"type":"message","id":"torn'
  ].join("\n")
}

const TOPICS = ["parser", "cache", "login form", "migration", "flaky test", "bundle size", "docs", "type errors"]
const PROJECTS = ["/home/ada/gateway", "/home/ada/novel", "/home/ada/编译器"]

/** Forty small ones; two of them speak of 折叠, and only in their text. */
const small = (n: number): Script => {
  const id = `0${String(n).padStart(7, "0")}-0000-7000-8000-0000000000${String(n).padStart(2, "0")}`
  const parent = n === 12 ? { parentSession: `0${String(11).padStart(7, "0")}-0000-7000-8000-000000000011` } : {}
  const s = new Script(id, PROJECTS[n % 3]!, START + n * 6 * 3_600_000, parent)
  const topic = TOPICS[n % TOPICS.length]!
  if (n % 4 === 0) s.add("session_info", { name: `${topic}, take ${n}` })
  s.user(`Please look at the ${topic}: it misbehaves since last week (${n}).`)
  s.tool("Looking.", "read", { path: `src/${topic.replaceAll(" ", "-")}.ts` }, "export {}\n")
  const answer = s.reply(
    n === 7 || n === 23 ? "会话树的折叠状态在搜索后丢失了，已经修复。" : `The ${topic} is fixed; see the diff.`
  )
  if (n % 5 === 0) {
    s.user("Try it another way.", answer)
    s.reply("The other way is slower.")
    s.turn("Then keep the first.", "Kept.", answer)
  }
  return s
}

/** A path and the cost of a fork that two leaves share. */
export const forked = (): Script => {
  const s = new Script("f0400000-0000-7000-8000-00000000f040", "/home/ada/gateway", START + 16 * DAY)
  s.add("session_info", { name: "two answers" })
  s.turn("first shared prompt", "first shared answer")
  const shared = s.turn("second shared prompt", "second shared answer")
  s.turn("take the left way", "the left answer", shared)
  s.turn("further left", "the end of the left way")
  s.turn("take the right way", "the right answer", shared)
  return s
}

const pictured = (blob: string): Script => {
  const s = new Script("1ca6e000-0000-7000-8000-000000001ca6", "/home/ada/novel", START + 13 * DAY)
  s.add("session_info", { name: "pictures" })
  const image = (data: string) => ({ type: "image", mimeType: "image/png", data })
  s.add("message", {
    message: {
      role: "user",
      content: [
        { type: "text", text: "inline, blob, missing" },
        image(PIXEL),
        image(`blob:sha256:${blob}`),
        image(`blob:sha256:${"0".repeat(64)}`)
      ]
    }
  })
  s.reply("three pictures")
  return s
}

export interface Store {
  readonly paths: SessionPaths.SessionPaths
  readonly fileOf: (script: { readonly header: Script["header"] }) => string
}

export const write = (home: string, canary = "127.0.0.1:9"): Store => {
  const paths = SessionPaths.make({ home })
  const fileOf = ({ header }: { readonly header: Script["header"] }) => SessionPaths.pathFor(paths, header)
  const put = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const pixel = Buffer.from(PIXEL, "base64")
  const blob = createHash("sha256").update(pixel).digest("hex")
  put(join(paths.blobs, blob), pixel)
  const scripts = [
    showcase(),
    rewinds(),
    long(),
    hostile(canary),
    forked(),
    pictured(blob),
    ...Array.from({ length: 40 }, (_, n) => small(n))
  ]
  for (const script of scripts) put(fileOf(script), script.text)
  const broken = corrupt()
  put(fileOf({ header: JSON.parse(broken.slice(0, broken.indexOf("\n"))) }), broken)
  return { paths, fileOf }
}
