/** The chat end to end: the built command in a terminal of tmux, driven by keys and read off the screen. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"

const grove = new URL("../bin/grove.js", import.meta.url).pathname
const hasTmux = spawnSync("tmux", ["-V"]).status === 0
if (!hasTmux) process.stderr.write("\n  tmux is missing: the tests of the chat in a terminal are SKIPPED\n\n")

const PATIENCE = 20_000
const rest = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** One server of tmux with its own home and folder; a pane is a terminal with a shell in it. */
class Terminals {
  readonly root = mkdtempSync(join(tmpdir(), "grove-chat-"))
  readonly home = join(this.root, "home")
  readonly folder = join(this.root, "work")
  readonly #socket = join(this.root, "tmux")
  #panes = 0

  constructor() {
    mkdirSync(this.home)
    mkdirSync(this.folder)
  }

  tmux(...words: ReadonlyArray<string>): string {
    return execFileSync("tmux", ["-S", this.#socket, "-f", "/dev/null", ...words], { encoding: "utf8" })
  }

  open(columns = 80, rows = 24, variables: { readonly [name: string]: string } = {}): Pane {
    const name = `p${this.#panes++}`
    const environment = {
      GROVE_HOME: this.home,
      LANG: "C.UTF-8",
      TERM: "screen-256color",
      PS1: "$ ",
      HISTFILE: "",
      ...variables
    }
    const words = Object.entries(environment).map(([key, value]) => `${key}=${value}`)
    const keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_HOST", "NO_COLOR"].flatMap((key) => ["-u", key])
    this.tmux(
      "new-session",
      "-d",
      "-s",
      name,
      "-x",
      String(columns),
      "-y",
      String(rows),
      "-c",
      this.folder,
      "env",
      ...keys,
      ...words,
      "bash",
      "--norc",
      "--noprofile"
    )
    this.tmux("set", "-g", "escape-time", "0")
    return new Pane(this, name)
  }

  sessions(): ReadonlyArray<string> {
    const folder = join(this.home, "sessions")
    const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".jsonl"))
    return found.sort().map((name) => join(folder, name))
  }

  close(): void {
    spawnSync("tmux", ["-S", this.#socket, "kill-server"])
    // The chat that was in the pane may still be putting its things in order.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

class Pane {
  readonly terminals: Terminals
  readonly name: string

  constructor(terminals: Terminals, name: string) {
    this.terminals = terminals
    this.name = name
  }

  screen(): string {
    return this.terminals.tmux("capture-pane", "-p", "-t", this.name)
  }

  async until(wanted: string | RegExp): Promise<string> {
    const isThere = (screen: string) => (typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen))
    for (const begun = Date.now(); ; await rest(25)) {
      const screen = this.screen()
      if (isThere(screen)) return screen
      if (Date.now() - begun > PATIENCE) assert.fail(`never saw ${String(wanted)} on the screen:\n${screen}`)
    }
  }

  type(text: string): void {
    this.terminals.tmux("send-keys", "-t", this.name, "-l", text)
  }

  press(...keys: ReadonlyArray<string>): void {
    for (const key of keys) this.terminals.tmux("send-keys", "-t", this.name, key)
  }

  /** The chat that runs in it, not its shell. */
  /** Whether it shows the other screen, has a caret, and reports the mouse. */
  modes(): string {
    const modes = "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"
    return this.terminals.tmux("display-message", "-p", "-t", this.name, modes).trim()
  }

  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    const shell = this.terminals.tmux("display-message", "-p", "-t", this.name, "#{pane_pid}").trim()
    const [child] = execFileSync("pgrep", ["-P", shell], { encoding: "utf8" }).trim().split("\n")
    process.kill(Number(child), signal)
  }

  async run(words: string, seen: string | RegExp): Promise<string> {
    this.type(`${process.execPath} ${grove} ${words}; echo left with $?`)
    this.press("Enter")
    return await this.until(seen)
  }

  async say(text: string, seen: string | RegExp): Promise<string> {
    this.type(text)
    this.press("Enter")
    return await this.until(seen)
  }
}

/** The modes of a terminal that belongs to its shell. */
const GIVEN_BACK = "0 1 0"

const open: Array<Terminals> = []
const terminals = (): Terminals => {
  const made = new Terminals()
  open.push(made)
  return made
}
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

describe.skipIf(!hasTmux)("the chat in a terminal", () => {
  it("from an empty home: chat, branch, tree, back, fork, quit, and -c is at the same place", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something to begin.")
    await pane.say("hello 世界", "You said: hello 世界")
    await pane.say("second", "You said: second")
    pane.press("Escape", "Escape")
    await pane.until("BRANCH HERE")
    pane.press("Enter")
    await pane.until(/> second$/m)
    const branched = await pane.say(" thoughts", "You said: second thoughts")
    assert.match(branched, /you {2}second thoughts +‹2\/2›/)
    assert.include(branched, "branch (2 of 2 at turn 2)")

    pane.type("/tree")
    pane.press("Enter")
    const tree = await pane.until("TREE")
    assert.match(tree, /● you {2}hello 世界/)
    assert.match(tree, /├▸ you {2}second .*2 entries · 1 leaf/)
    assert.match(tree, /◆ ai .*← here/)
    pane.press("Up", "Up", "Right", "Down", "Enter")
    await pane.until("branch (1 of 2 at turn 2)")

    pane.type("/fork")
    pane.press("Enter")
    await pane.until("FORK into a new session")
    pane.press("Enter")
    await pane.until("forked")
    await pane.say("in the fork", "You said: in the fork")
    assert.strictEqual(all.sessions().length, 2)
    pane.press("C-d")
    await pane.until("left with 0")

    const again = await pane.run("-c", "You said: in the fork")
    assert.include(again, "you  second")
    pane.press("C-d")
  })

  it("the tree mutes, prunes, brings back, labels, finds and compares, and says what that did", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    await pane.say("first", "You said: first")
    await pane.say("second", "You said: second")
    pane.press("C-t", "Up")
    await pane.until(/^›● you {2}second/m)
    pane.press("Enter")
    await pane.until(/> second$/m)
    await pane.say(" thoughts", "You said: second thoughts")
    pane.press("C-t", "Home", "d")
    await pane.until(/1 muted; \d+ → \d+ tokens · u undo/)
    await pane.until(/^›● you {2}≈ first/m)
    pane.press("u")
    await pane.until(/undone; \d+ → \d+ tokens/)
    pane.press("x")
    await pane.until("1 branch pruned, in the stash (S)")
    pane.press("S")
    await pane.until("STASH")
    pane.press("Enter")
    await pane.until(/TREE .* 6 entries · 2 branches/)
    pane.press("/")
    pane.type("second")
    await pane.until(/^›├▸ you {2}second /m)
    pane.press("Enter", "l")
    pane.type("plan-a")
    pane.press("Enter")
    await pane.until("[plan-a]")
    pane.press("Space", "End", "c")
    const compared = await pane.until("COMPARE")
    assert.include(compared, "2 entries in common")
    assert.match(compared, /^ B second thoughts$/m)
    pane.press("Escape", "Escape", "Escape", "Escape")
    await pane.until(/you {2}second thoughts/)
  })

  it("Chinese typed and pasted stands where it should, caret included", async () => {
    const all = terminals()
    const pane = all.open(60, 20)
    await pane.run("", "Say something")
    pane.type("会话树保留每个分支")
    await pane.until("> 会话树保留每个分支")
    const caret = all.tmux("display-message", "-p", "-t", pane.name, "#{cursor_x} #{cursor_flag}").trim()
    assert.strictEqual(caret, "21 1")
    pane.press("BSpace", "Left", "Left")
    pane.type("x")
    await pane.until("> 会话树保留每x个分")
    all.tmux("set-buffer", "一\n二")
    all.tmux("paste-buffer", "-p", "-t", pane.name)
    await pane.until(/每x一\n {3}二个分/)
  })

  it("a terminal may change its size at any time", async () => {
    const all = terminals()
    const pane = all.open(80, 24)
    await pane.run("", "Say something")
    await pane.say(`!sprout say ${"words ".repeat(40)}`, /ai {3}words/)
    for (const [columns, rows] of [
      [50, 15],
      [120, 40],
      [30, 8],
      [80, 24]
    ] as const) {
      all.tmux("resize-window", "-t", pane.name, "-x", String(columns), "-y", String(rows))
      if (columns < 40) await pane.until("Grove needs 40 columns")
      else await pane.until(new RegExp(`^─{${columns}}$`, "m"))
    }
  })

  it("nothing that a session holds is obeyed by the terminal", async () => {
    const all = terminals()
    const evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u202e"
    const lines = [
      { type: "session", version: 3, id: "evil-1", timestamp: "2026-01-01T00:00:00.000Z", cwd: all.folder },
      {
        type: "message",
        id: "u1",
        parentId: null,
        timestamp: "2026-01-01T00:00:00.000Z",
        message: { role: "user", content: evil }
      },
      { type: "label", id: "l1", parentId: "u1", timestamp: "2026-01-01T00:00:00.000Z", targetId: "u1", label: evil },
      { type: "session_info", id: "n1", parentId: "l1", timestamp: "2026-01-01T00:00:00.000Z", name: evil }
    ]
    const file = join(all.folder, "evil.jsonl")
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
    const pane = all.open()
    const title = all.tmux("display-message", "-p", "-t", pane.name, "#{pane_title}")
    await pane.run(`--session ${file}`, "you  ␛]0;owned␇␛[2J␛[31mred")
    pane.press("C-t")
    await pane.until("TREE")
    assert.include(pane.screen(), "␛]0;owned")
    assert.strictEqual(all.tmux("display-message", "-p", "-t", pane.name, "#{pane_title}"), title)
  })

  it("a chat that was killed in the middle of a reply goes on where it was", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    await pane.say("first", "You said: first")
    pane.type("!sprout slow 300")
    pane.press("M-Enter")
    await pane.say(`!sprout say ${"long ".repeat(200)}`, /ai {3}long long long/)
    pane.kill()
    await pane.until("left with 137")
    const next = all.open()
    const resumed = await next.run("-c", "interrupted")
    assert.include(resumed, "ai   ✕ interrupted")
    next.press("C-t")
    assert.match(await next.until("TREE"), /◆ ai .*✕/)
  })

  it("a chat that was killed in the middle of a tool call asks what becomes of it, and goes on as told", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("--approval yolo", "Say something")
    const command = "test -e again || sleep 30; echo came back"
    await pane.say(`!sprout tool bash ${JSON.stringify({ command })}`, /bash .*running/)
    pane.kill()
    await pane.until("left with 137")

    writeFileSync(join(all.folder, "again"), "")
    const next = all.open()
    const asked = await next.run("-c", "1 tool call broke off without a result")
    assert.include(asked, `bash  ${command}`)
    const isPutOff = /^(?![\s\S]*broke off)[\s\S]*^ > ?/m
    next.press("Escape")
    await next.until(isPutOff)
    await next.say("and then", "1 tool call broke off without a result")
    next.press("Escape")
    await next.until(isPutOff)
    await next.until("> and then")
    next.press("Enter")
    await next.until("1 tool call broke off without a result")
    next.press("r")
    await next.until("May this run?")
    next.press("y")
    const answered = await next.until("You said: and then")
    assert.match(answered, /bash .*came back/)
    next.press("C-d")
    await next.until("left with 0")
    assert.notInclude(readFileSync(all.sessions()[0]!, "utf8"), "interrupted")
  })

  for (const [key, told, said] of [
    ["f", "marked as failed", ["user", "assistant", "toolResult", "user", "assistant"]],
    ["d", "dropped; you stand before that reply", ["user", "user", "assistant"]]
  ] as const) {
    it(`${key} answers what becomes of a call that broke off: ${told}`, async () => {
      const all = terminals()
      const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "touch ran" } }
      const timestamp = "2026-01-01T00:00:00.000Z"
      const messages = [
        { role: "user", content: "touch it" },
        { role: "assistant", content: [call], provider: "grove", model: "sprout", stopReason: "toolUse" }
      ]
      const lines = [
        { type: "session", version: 3, id: "broken-1", timestamp, cwd: all.folder },
        ...messages.map((message, i) => ({
          type: "message",
          id: `e${i}`,
          parentId: i === 0 ? null : `e${i - 1}`,
          timestamp,
          message
        }))
      ]
      const file = join(all.folder, "broken.jsonl")
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
      const pane = all.open()
      await pane.run(`--session ${file}`, "1 tool call broke off")
      pane.press(key)
      await pane.until(told)
      await pane.say("go on", /You said: (touch it\s+)?go on/)
      pane.press("C-d")
      await pane.until("left with 0")
      const printed = execFileSync(process.execPath, [grove, "context", file, "--json"], { encoding: "utf8" })
      const { messages: context } = JSON.parse(printed) as { messages: ReadonlyArray<{ role: string }> }
      assert.deepStrictEqual<unknown>(
        context.map(({ role }) => role),
        said
      )
      assert.notInclude(readdirSync(all.folder), "ran")
    })
  }

  it("a person runs commands, of which the model sees those after a single !", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    await pane.say("!echo one; echo two", /! {5}echo one; echo two +two/)
    await pane.say("!!echo hidden", /!! {4}echo hidden +hidden/)
    await pane.say("!sleep 30", "running sleep 30")
    pane.press("Escape")
    await pane.until(/! {5}sleep 30 +✕ cancelled/)
    const answer = await pane.say("what did I run?", /You said: Ran echo one; echo\s+two/)
    assert.match(answer, /one\s+two\s/)
    assert.notInclude(answer, "Ran echo hidden")
    await pane.say("!sleep 31", "running sleep 31")
    pane.press("C-d")
    await pane.until("left with 0")
    assert.match(readFileSync(all.sessions()[0]!, "utf8"), /"command":"sleep 31".*"cancelled":true/)
  })

  it("the model is told what the project's AGENTS.md says, and can give tasks away", async () => {
    const all = terminals()
    writeFileSync(join(all.folder, "AGENTS.md"), "Answer in rhyme.")
    const pane = all.open()
    await pane.run("", "Say something")
    await pane.say('!sprout tool task {"prompt":"count to three"}', /You said: count\s+to three/)
    pane.press("C-d")
    await pane.until("left with 0")
    const child = all.sessions().find((path) => readFileSync(path, "utf8").includes('"session_init"'))
    assert.match(readFileSync(child!, "utf8"), /"systemPrompt":"[^"]*Answer in rhyme\./)
  })

  it("another session can be begun while a reply runs, and the reply is kept where it was", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    pane.type("!sprout slow 200")
    pane.press("M-Enter")
    await pane.say(`!sprout say ${"long ".repeat(100)}`, /ai {3}long long/)
    await pane.say("/new", "Say something")
    await pane.say("elsewhere", "You said: elsewhere")
    const [first] = all.sessions()
    assert.match(readFileSync(first!, "utf8"), /long long.*"stopReason":"aborted"/)
    pane.press("C-d")
    await pane.until("left with 0")
  })

  it("two terminals on one session see what the other says", async () => {
    const all = terminals()
    const one = all.open()
    await one.run("", "Say something")
    await one.say("from the first", "You said: from the first")
    const [file] = all.sessions()
    const two = all.open()
    await two.run(`--session ${file}`, "You said: from the first")
    await two.say("from the second", "You said: from the second")
    one.press("C-t")
    await one.until(/you {2}from the second/)
  })

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const)("the terminal is given back on %s", async (signal, code) => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    pane.kill(signal)
    await pane.until(`left with ${code}`)
    assert.strictEqual(pane.modes(), GIVEN_BACK)
  })

  it.each([
    ["an error that nobody caught", "setTimeout(() => { throw new Error('boom') })"],
    ["a promise that nobody caught", "Promise.reject(new Error('boom'))"],
    ["an error while a key is taken", "process.stdin.emit('data', { get length() { throw new Error('boom') } })"]
  ])("the terminal is given back after %s, and what went wrong is said in one line", async (_, crash) => {
    const all = terminals()
    const bomb = join(all.root, "bomb.mjs")
    writeFileSync(bomb, `process.on("SIGUSR2", () => { ${crash} })`)
    const pane = all.open(80, 24, { NODE_OPTIONS: `--import file://${bomb}` })
    await pane.run("", "Say something")
    await pane.say("kept", "You said: kept")
    pane.type("half a thought")
    await pane.until("> half a thought")
    pane.kill("SIGUSR2")
    const left = await pane.until("left with 1")
    assert.match(left, /^grove: unexpected failure: .+$/m)
    assert.notMatch(left, / {4}at /)
    assert.strictEqual(pane.modes(), GIVEN_BACK)
    pane.type("echo echoed")
    await pane.until("$ echo echoed")
    pane.press("C-u")
    await pane.run("history", /\d +half a thought +×1/)
  })

  it("Ctrl+Z goes to the shell and fg comes back, and neither writes on the other's screen", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    await pane.say("before", "You said: before")
    pane.press("C-z")
    await pane.until(/Stopped/)
    assert.strictEqual(pane.modes(), GIVEN_BACK)
    const shell = pane.screen().split("\n")[0]!
    assert.match(shell, /grove\.js/)
    pane.type("fg")
    pane.press("Enter")
    await pane.until("You said: before")
    await pane.say("after", "You said: after")
    pane.press("C-d")
    const left = await pane.until(/^\$ fg\n.*grove\.js\n\$$/m)
    assert.strictEqual(left.split("\n")[0], shell)
    assert.notInclude(left, "You said")
  })

  it("a session is exported into the folder of the chat, and what was redacted is told", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    await pane.say("my key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789", "You said: my key")
    await pane.say("/export md talk.md", /written to talk\.md; redacted 2 secrets/)
    const written = readFileSync(join(all.folder, "talk.md"), "utf8")
    assert.include(written, "You said: my key is")
    assert.notInclude(written, "sk-ant-api03-abcdefghijkl")
    await pane.say("/export md talk.md", /talk\.md is there already/)
    await pane.say("/export pdf", "no format pdf; there are md, html")
  })

  it("the web viewer opens on the session, and ends with the chat", async () => {
    const all = terminals()
    const pane = all.open(140, 24)
    await pane.run("", "Say something")
    await pane.say("/view", "say something first")
    await pane.say("hello", "You said: hello")
    const shown = await pane.say("/view", /open at http:\S+/)
    const link = /open at (http:\S+)/.exec(shown)![1]!
    assert.match(link, /\/s\/[0-9a-f-]{36}/)
    assert.strictEqual((await fetch(new URL("/healthz", link))).status, 200)
    pane.press("C-d")
    await pane.until("left with 0")
    const isThere = () =>
      fetch(new URL("/healthz", link)).then(
        () => true,
        () => false
      )
    for (const begun = Date.now(); await isThere(); await rest(25)) {
      assert.isBelow(Date.now() - begun, PATIENCE, "the viewer is still there")
    }
  })

  it("sessions are found by what was said in them, and opened at their tree", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("", "Say something")
    await pane.say("the moon is full", "You said: the moon is full")
    await pane.say("/name night", "named")
    await pane.say("/new", "Say something to begin")
    await pane.say("elsewhere", "You said: elsewhere")
    await pane.say("/resume", /night .* 1t +1⑂ +\$0.00 +now/)
    pane.type("full (about")
    await pane.until('"full (about" ×1')
    pane.press("C-t")
    await pane.until(/TREE night.*● you {2}the moon is full/s)
  })

  it("a prompt that was never answered leaves no session, only the history", async () => {
    const all = terminals()
    const pane = all.open()
    await pane.run("--model nobody/nothing", "no such model")
    await pane.say("keep me", /grove · \w{8}.*> keep me.*no such model/s)
    pane.press("C-c", "C-d")
    await pane.until("left with 0")
    assert.deepStrictEqual(
      all.sessions().filter((path) => readFileSync(path, "utf8") !== ""),
      []
    )
  })
})
