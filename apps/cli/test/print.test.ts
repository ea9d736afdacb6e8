/** `grove -p`: the built command, offline and against servers on this machine that speak the formats of providers. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { assertRefused, type Json, onlyValue, program, type Ran } from "./support.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

const made: Array<string> = []
const servers: Array<Server> = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  for (const folder of mounted.splice(0)) execFileSync("umount", ["-l", folder])
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const mounted: Array<string> = []
/** Makes the folder a disk of one megabyte. */
const mount = (folder: string): void => {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" })
  mounted.push(folder)
}
const canMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), "grove-print-"))
  try {
    mount(probe)
    execFileSync("umount", ["-l", mounted.pop()!])
    return true
  } catch {
    console.warn("SKIPPED: no file system may be mounted here, so no disk is filled in earnest")
    return false
  } finally {
    rmSync(probe, { recursive: true })
  }
})()

interface Options {
  readonly input?: string
  readonly env?: { readonly [name: string]: string }
  /** Told of every line on standard output as it comes. */
  readonly onLine?: (line: string, child: ChildProcess) => void
}

const makeHome = () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "grove-print-")))
  made.push(folder)
  const [home, cwd] = [join(folder, "home"), join(folder, "work")]
  mkdirSync(cwd)
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    GROVE_HOME: home,
    LANG: "C.UTF-8",
    OLLAMA_HOST: "127.0.0.1:9"
  }
  const grove = (args: ReadonlyArray<string>, options: Options = {}): Promise<Ran> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [program, ...args], {
        cwd,
        env: { ...env, ...options.env },
        timeout: 30_000,
        killSignal: "SIGKILL"
      })
      let [stdout, stderr, seen] = ["", "", 0]
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text
        for (let end = stdout.indexOf("\n", seen); end >= 0; end = stdout.indexOf("\n", seen)) {
          options.onLine?.(stdout.slice(seen, end), child)
          seen = end + 1
        }
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text
      })
      child.on("error", reject)
      child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
      child.stdin.on("error", () => {})
      child.stdin.end(options.input ?? "")
    })
  const text = async (args: ReadonlyArray<string>, options?: Options) => {
    const { code, stdout, stderr } = await grove(args, options)
    assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, `grove ${args.join(" ")}`)
    return stdout
  }
  const json = async <A>(args: ReadonlyArray<string>): Promise<A> => onlyValue(await text([...args, "--json"]))
  const events = async (args: ReadonlyArray<string>, options?: Options): Promise<ReadonlyArray<Json>> =>
    (await text([...args, "--json"], options))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
  const files = () =>
    (existsSync(home) ? readdirSync(home, { recursive: true, encoding: "utf8" }) : []).filter((name) =>
      /\.jsonl/.test(name)
    )
  return { folder, home, cwd, grove, text, json, events, files }
}

const texts = (context: { readonly messages: ReadonlyArray<Json> }) =>
  context.messages.map(({ role, content }) => [
    role,
    (content as ReadonlyArray<Json>).map(({ type, text }) => text ?? `(${type})`).join("")
  ])

describe("on an empty home", () => {
  it("a prompt is answered offline and leaves a session that can be read", async () => {
    const home = makeHome()
    assert.match(await home.text(["-p", "hello"]), /^I was shown 1 message \(about \d+ tokens\)\. You said: hello\n$/)
    const context = await home.json<{ messages: ReadonlyArray<Json>; model: Json }>(["context", "@last"])
    assert.deepStrictEqual(context.model, { provider: "grove", modelId: "sprout" })
    assert.deepStrictEqual(texts(context)[0], ["user", "hello"])
    assert.strictEqual(texts(context).length, 2)
    assert.isTrue((await home.json<Json>(["check", join(home.home, home.files()[0]!)])).ok)
  })

  it("a prompt is read from standard input, or both are joined by a blank line", async () => {
    const home = makeHome()
    assert.match(await home.text([], { input: "hi\n" }), /You said: hi\n$/)
    assert.match(await home.text(["-p", "look:"], { input: "at this\n\n" }), /You said: look:\n\nat this\n$/)
    assert.match(await home.text(["look at this"], { input: "" }), /You said: look at this\n$/)
  })

  it("nothing to answer is told, and nothing is made", async () => {
    const home = makeHome()
    assertRefused(await home.grove(["-p"]), 2, /nothing to answer: .*grove -p/)
    assertRefused(await home.grove([], { input: " \n" }), 2, /grove -p/)
    assert.deepStrictEqual(home.files(), [])
  })

  it("events are told one a line, and agree with what was stored", async () => {
    const home = makeHome()
    const events = await home.events(["-p", "hello"])
    const [session, prompt] = events
    assert.deepStrictEqual(session, { type: "session", id: session!.id, path: join(home.home, home.files()[0]!) })
    const end = events.at(-1)!
    const entries = events.filter(({ type }) => type === "entry").map(({ entry }) => entry as Json)
    const stored = readFileSync(String(session!.path), "utf8")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual(entries, stored)
    assert.deepStrictEqual((prompt!.entry as Json).parentId, null)
    const said = events.filter(({ type }) => type === "delta")
    assert.isTrue(said.every(({ entry, kind }) => entry === end.leaf && kind === "text"))
    assert.strictEqual(
      said.map(({ text }) => text).join(""),
      ((stored[1].message as Json).content as ReadonlyArray<Json>)[0]!.text
    )
    assert.strictEqual(end.type, "end")
    assert.strictEqual(end.stopReason, "stop")
    assert.deepInclude(end.usage as Json, { requests: 1, costMicros: 0 })
  })

  it("nothing is recorded anywhere where that is asked for", async () => {
    const home = makeHome()
    assert.match(await home.text(["-p", "--no-session", "secret"]), /You said: secret\n$/)
    assert.isFalse(existsSync(home.home))
  })
})

describe("which session", () => {
  it("-c goes on with the last one, --session and -r with one that is named, --fork with a copy", async () => {
    const home = makeHome()
    await home.text(["-p", "one"])
    assert.match(await home.text(["-p", "-c", "two"]), /shown 3 messages/)
    const { id } = await home.json<{ readonly id: string }>(["show", "@last"])
    assert.match(await home.text(["-p", "--session", id, "three"]), /shown 5 messages/)
    assert.match(await home.text(["-p", "-r", id.slice(-8), "four"]), /shown 7 messages/)
    assert.match(await home.text(["-p", "--fork", id, "five"]), /shown 9 messages/)
    assert.strictEqual((await home.json<ReadonlyArray<Json>>(["ls"])).length, 2)
  })

  it("-c without a session begins one; a new path makes one there", async () => {
    const home = makeHome()
    assert.match(await home.text(["-p", "-c", "one"]), /shown 1 message /)
    const path = join(home.cwd, "new.jsonl")
    await home.text(["-p", "--session", path, "two"])
    assert.isTrue(existsSync(path))
    assert.match(await home.text(["-p", "--session", path, "three"]), /shown 3 messages/)
  })

  it("--at says it under another entry, or as a new root, and the session stands there then", async () => {
    const home = makeHome()
    await home.text(["-p", "one"])
    const { entries } = await home.json<{ entries: ReadonlyArray<{ readonly id: string }> }>(["tree", "@last"])
    await home.text(["-p", "-c", "two"])
    assert.match(await home.text(["-p", "-c", "--at", entries[1]!.id, "other"]), /shown 3 messages/)
    assert.match(await home.text(["-p", "-c", "--at", "none", "anew"]), /shown 1 message /)
    assert.strictEqual((await home.json<ReadonlyArray<Json>>(["branches", "@last"])).length, 3)
    assert.match(await home.text(["-p", "-c", "on"]), /shown 3 messages/)
  })

  it("flags that exclude each other, and sessions and entries that are not there, are refused", async () => {
    const home = makeHome()
    await home.text(["-p", "one"])
    assertRefused(await home.grove(["-p", "-c", "--no-session", "x"]), 2, /exclude each other/)
    assertRefused(await home.grove(["-p", "--resume", "--model", "grove/sprout", "x"]), 2, /needs a session/)
    assertRefused(await home.grove(["-p", "--session", "nowhere", "x"]), 1, /no session nowhere/)
    assertRefused(await home.grove(["-p", "-c", "--at", "ffff", "x"]), 1, /no entry ffff/)
    assertRefused(await home.grove(["-p", "--samples", "0", "x"]), 2, /--samples/)
    assertRefused(await home.grove(["hello"]), 2, /unknown command/)
  })
})

describe("several answers", () => {
  it("three samples of one prompt are three siblings, and the person stays at the prompt", async () => {
    const home = makeHome()
    const events = await home.events(["-p", "--samples", "3", "choose"])
    assert.strictEqual(events.filter(({ type }) => type === "end").length, 3)
    const said = events.flatMap(({ type, entry }) => (type === "entry" ? [(entry as Json).message as Json] : []))
    assert.deepStrictEqual(
      said.map(({ role }) => role),
      ["user", "assistant", "assistant", "assistant"]
    )
    const tree = await home.json<{ leaf: string; entries: ReadonlyArray<Json> }>(["tree", "@last"])
    const prompt = tree.entries.find(({ role }) => role === "user")!
    assert.strictEqual(tree.leaf, prompt.id)
    assert.strictEqual((prompt.children as ReadonlyArray<string>).length, 3)
    const out = await home.text(["-p", "--samples", "2", "again"])
    assert.match(out, /^I was shown .* again\n\nI was shown .* again\n$/)
  })
})

describe("tools", () => {
  const calling = (name: string, given: Json) => `!sprout tool ${name} ${JSON.stringify(given)}`

  it("what needs approval gets the result that it was not approved", async () => {
    const home = makeHome()
    const ran = await home.grove(["-p", calling("bash", { command: "touch made" })])
    assert.match(ran.stdout, /bash failed: not approved\n$/)
    assert.match(ran.stderr, /^grove: not approved: .*touch made.*\n$/)
    assert.isFalse(existsSync(join(home.cwd, "made")))
  })

  it("what may run runs, and is told", async () => {
    const home = makeHome()
    writeFileSync(join(home.cwd, "note.txt"), "seven elms")
    const events = await home.events(["-p", calling("read", { path: "note.txt" })])
    const tools = events.filter(({ type }) => type === "tool")
    assert.deepStrictEqual(
      tools.map(({ name, state, isError }) => [name, state, isError]),
      [
        ["read", "start", undefined],
        ["read", "end", false]
      ]
    )
    assert.match(
      await home.text(["-p", "--approval", "yolo", calling("bash", { command: "echo hi" })]),
      /answered: hi\n$/
    )
  })

  it("a sub-agent answers in a session of its own, which lists leave out", async () => {
    const home = makeHome()
    assert.match(await home.text(["-p", calling("task", { prompt: "count" })]), /task answered: .*You said: count\n$/)
    assert.strictEqual((await home.json<ReadonlyArray<Json>>(["ls"])).length, 1)
    const all = await home.json<ReadonlyArray<Json>>(["ls", "--all"])
    assert.strictEqual(all.filter(({ parentSession }) => parentSession !== null).length, 1)
  })

  it("two sub-agents run side by side", async () => {
    const home = makeHome()
    const task = (words: string) => calling("task", { prompt: `!sprout slow 50\n!sprout say ${words}` })
    await home.text(["-p", `${task("a b c d e f")}\n${task("g h i j k l")}`])
    const all = await home.json<ReadonlyArray<Json>>(["ls", "--all"])
    const children = all.filter(({ parentSession }) => parentSession !== null)
    const times = children.map(({ path }) =>
      readFileSync(String(path), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
        .filter(({ type }) => type === "message")
        .map(({ timestamp }) => timestamp)
    )
    assert.strictEqual(times.length, 2)
    const [[asked], [askedToo]] = times as [Array<string>, Array<string>]
    // Both had been asked before either had answered.
    for (const [, answered] of times) assert.isTrue(asked! < answered && askedToo! < answered)
  })

  it("what the project says to agents is said to the model", async () => {
    const home = makeHome()
    const bare = await home.text(["-p", "hello"])
    writeFileSync(join(home.cwd, "AGENTS.md"), "Trees first. ".repeat(100))
    const told = await home.text(["-p", "hello"])
    const tokens = (text: string) => Number(/about (\d+) tokens/.exec(text)![1])
    assert.isAbove(tokens(told), tokens(bare) + 300)
  })
})

describe("what goes wrong", () => {
  it("a reply that is cut off is kept, told in one line, and the session goes on", async () => {
    const home = makeHome()
    const ran = await home.grove(["-p", "!sprout say half of it\n!sprout fail"])
    assert.strictEqual(ran.code, 1)
    assert.strictEqual(ran.stdout, "half of it\n")
    assert.match(ran.stderr, /^grove: grove\/sprout: the reply was cut off: .*\n$/)
    assert.match(await home.text(["-p", "-c", "go on"]), /You said: /)
    const json = await home.grove(["-p", "--json", "!sprout fail"])
    assert.strictEqual(json.code, 1)
    const last = JSON.parse(json.stdout.trimEnd().split("\n").at(-1)!)
    assert.deepStrictEqual(Object.keys(last), ["type", "message"])
    assert.strictEqual(last.type, "error")
  })

  it("a model that nobody has, and a key that nobody has, are told; the prompt is in the history", async () => {
    const home = makeHome()
    assertRefused(await home.grove(["-p", "--model", "foo/bar", "first words"]), 1, /foo\/bar: no such model/)
    assert.deepStrictEqual(home.files(), [])
    assertRefused(
      await home.grove(["-p", "--model", "anthropic/claude-sonnet-4-5", "second words"]),
      1,
      /no key.*ANTHROPIC_API_KEY/
    )
    const history = await home.json<ReadonlyArray<{ readonly prompt: string }>>(["history"])
    assert.deepStrictEqual(history.map(({ prompt }) => prompt).sort(), ["first words", "second words"])
    assert.match(await home.text(["-p", "-c", "--model", "grove/sprout", "third"]), /You said: second words\n+third\n$/)
  })

  it.each([
    ["anthropic/claude-haiku-4-5", "ANTHROPIC", { type: "error", error: { type: "authentication_error" } }],
    ["openai/gpt-5", "OPENAI", { error: { type: "invalid_request_error", code: "invalid_api_key" } }]
  ])("a key that %s does not accept is told and never shown; the prompt is kept", async (model, name, refusal) => {
    const home = makeHome()
    const key = "sk-wrong-0123456789"
    const refused = JSON.stringify({ ...refusal, error: { ...refusal.error, message: `bad key ${key}` } })
    const url = await serve(() => refused, [401, "application/json"])
    const env = { [`${name}_API_KEY`]: key, [`${name}_BASE_URL`]: url }
    const ran = await home.grove(["-p", "my words", "--model", model], { env })
    const told = new RegExp(
      `^grove: \\S+: the key was not accepted: bad key \\[key\\]; put another into ${name}_API_KEY\n$`
    )
    assertRefused(ran, 1, told)
    const [file] = home.files()
    const stored = readFileSync(join(home.home, file!), "utf8")
    assert.include(stored, "my words")
    assert.notInclude(stored, key)
    assert.isTrue((await home.json<Json>(["check", join(home.home, file!)])).ok)
    assert.match(await home.text(["-p", "-c", "--model", "grove/sprout", "go on"]), /You said: my words\n+go on\n$/)
  })

  it.skipIf(!canMount)("a full disk is told, the session stays whole, and goes on when there is room", async () => {
    const home = makeHome()
    mount(home.folder)
    mkdirSync(home.cwd)
    await home.text(["-p", "first"])
    const path = join(home.home, home.files()[0]!)
    const before = readFileSync(path, "utf8")
    const ballast = join(home.folder, "ballast")
    assert.throws(() => writeFileSync(ballast, Buffer.alloc(2 << 20)), /ENOSPC/)
    const long = "tree ".repeat(2_000)
    for (const args of [["-p"], ["-p", "-c"], ["-p", "-c", "--json"], ["-p", "--samples", "2"]]) {
      const { code, stderr } = await home.grove(args, { input: long })
      assert.strictEqual(code, 1, args.join(" "))
      assert.match(stderr, /^grove: [^\n]+the disk is full; free some space and try again\n$/m)
      assert.notMatch(stderr, /unexpected|UnknownError|undefined/)
    }
    assert.isTrue(readFileSync(path, "utf8").startsWith(before))
    rmSync(ballast)
    assert.match(await home.text(["-p", "--session", path, "go on"]), /go on\n$/)
    // Half a line may have fitted on the disk; it is set apart and in nobody's way.
    const said = texts(await home.json(["context", path])).map(([, text]) => text)
    assert.deepStrictEqual([said[0], said.at(-2), said.length], ["first", "go on", 4])
  })

  it("a prompt longer than the window is told, kept, and does not stand in the way", async () => {
    const home = makeHome()
    const ran = await home.grove(["-p"], { input: "tree ".repeat(100_000) })
    assert.strictEqual(ran.code, 1)
    assert.match(ran.stderr, /too long for the model/)
    assert.isTrue((await home.json<Json>(["check", join(home.home, home.files()[0]!)])).ok)
    assert.match(await home.text(["-p", "-c", "--at", "none", "short"]), /You said: short\n$/)
  })

  it("settings that are none are told with their place", async () => {
    const home = makeHome()
    mkdirSync(home.home)
    writeFileSync(join(home.home, "config.json"), "{")
    assertRefused(await home.grove(["-p", "x"]), 1, /config\.json could not be read/)
    writeFileSync(join(home.home, "config.json"), '{"compaction":{"enabled":"no"}}')
    assertRefused(await home.grove(["-p", "x"]), 1, /config\.json is not as it should be/)
    writeFileSync(join(home.home, "config.json"), '{"model":"foo/bar","other":1}')
    assertRefused(await home.grove(["-p", "x"]), 1, /foo\/bar/)
  })
})

describe("broken off", () => {
  const slow = "!sprout slow 100\n!sprout say a b c d e f g h i j k l m n o p q r s t u v w x y z"
  const isDelta = (line: string) => JSON.parse(line).type === "delta"

  it("Ctrl-C ends a reply, keeps its text, and the exit code says so", async () => {
    const home = makeHome()
    const ran = await home.grove(["-p", "--json", slow], {
      onLine: (line, child) => void (isDelta(line) && child.kill("SIGINT"))
    })
    assert.strictEqual(ran.code, 130)
    const end = JSON.parse(ran.stdout.trimEnd().split("\n").at(-1)!)
    assert.deepInclude(end, { type: "end", stopReason: "aborted" })
    const { entries } = await home.json<{ entries: ReadonlyArray<Json> }>(["tree", "@last"])
    assert.match(String(entries.at(-1)!.preview), /\ba\b/)
  })

  it("Ctrl-C ends the wait for a prompt on standard input", async () => {
    const child = spawn(process.execPath, [program, "-p"], {
      env: { PATH: process.env.PATH ?? "", GROVE_HOME: join(tmpdir(), "grove-never-made") },
      stdio: ["pipe", "ignore", "ignore"]
    })
    const closed = new Promise((resolve) => child.on("close", resolve))
    // More than a pipe holds: once all is taken, the program is reading.
    await new Promise((taken) => child.stdin.write("x".repeat(1 << 20), taken))
    child.kill("SIGINT")
    assert.strictEqual(await closed, 130)
  })

  it("while a reply is generated, what it answers is not pruned by another process unless forced", async () => {
    const home = makeHome()
    await home.text(["-p", "hello"])
    const { leaf } = await home.json<{ leaf: string }>(["tree", "@last"])
    let refused: Promise<Ran> | undefined
    await home.grove(["-p", "-c", "--json", slow], {
      onLine: (line, child) => {
        if (!isDelta(line) || refused !== undefined) return
        refused = home.grove(["edit", "@last", "prune", leaf])
        void refused.finally(() => child.kill("SIGINT"))
      }
    })
    assertRefused((await refused)!, 1, /refused \(busy\)/)
  })

  it("SIGTERM ends a tool, and its call has a result", async () => {
    const home = makeHome()
    const ran = await home.grove(["-p", "--json", "--approval", "yolo", '!sprout tool bash {"command":"sleep 60"}'], {
      onLine: (line, child) => void (JSON.parse(line).state === "start" && child.kill("SIGTERM"))
    })
    assert.strictEqual(ran.code, 143)
    const context = await home.json<{ messages: ReadonlyArray<Json> }>(["context", "@last"])
    assert.deepStrictEqual(texts(context).at(-1), ["toolResult", "cancelled"])
  })

  it("killed in the middle of a reply, its text is there the next time", async () => {
    const home = makeHome()
    let path = ""
    const ran = await home.grove(["-p", "--json", slow], {
      onLine: (line, child) => {
        const event = JSON.parse(line)
        if (event.type === "session") path = event.path
        if (event.text === " n") child.kill("SIGKILL")
      }
    })
    assert.strictEqual(ran.signal, "SIGKILL")
    assert.isTrue(existsSync(`${path}.draft`))
    await home.text(["-p", "--session", path, "and then"])
    const { entries } = await home.json<{ entries: ReadonlyArray<Json> }>(["tree", path])
    assert.deepStrictEqual(
      entries.map(({ role }) => role),
      ["user", "assistant", "user", "assistant"]
    )
    const { message } = JSON.parse(readFileSync(path, "utf8").split("\n")[2]!)
    assert.match(message.content[0].text, /^a b c d e/)
    assert.deepInclude(message, { stopReason: "error", errorMessage: "interrupted" })
    assert.deepStrictEqual(readdirSync(join(home.home, "running")), [])
  })

  it("killed in the middle of a tool, its call is marked as failed and not run again", async () => {
    const home = makeHome()
    const command = `echo ran >> ${join(home.cwd, "ran")}; sleep 3`
    await home.grove(["-p", "--json", "--approval", "yolo", `!sprout tool bash ${JSON.stringify({ command })}`], {
      onLine: (line, child) => {
        if (JSON.parse(line).state !== "start") return
        const wait = setInterval(() => {
          if (!existsSync(join(home.cwd, "ran"))) return
          clearInterval(wait)
          child.kill("SIGKILL")
        }, 5)
      }
    })
    const resumed = await home.grove(["-p", "-c", "--approval", "yolo", "what happened?"])
    assert.strictEqual(resumed.code, 0)
    assert.strictEqual(
      resumed.stderr,
      "grove: 1 tool call (bash) broke off without a result: marked as failed, not run again\n"
    )
    assert.strictEqual(readFileSync(join(home.cwd, "ran"), "utf8"), "ran\n")
    const context = await home.json<{ messages: ReadonlyArray<Json> }>(["context", "@last"])
    assert.match(String(texts(context)[2]![1]), /interrupted .*not run again/)
  })
})

describe("a long output", () => {
  const printing = `!sprout tool bash ${JSON.stringify({ command: "seq 100000" })}`

  it("can be read in full while the session is there, and leaves nothing behind where nothing is recorded", async () => {
    const home = makeHome()
    const temporary = join(home.folder, "tmp")
    mkdirSync(temporary)
    const env = { TMPDIR: temporary }
    const flags = ["--approval", "yolo", printing]
    assert.match(await home.text(["-p", "--no-session", ...flags], { env }), /all of it is in \S+\.log\]\n98001\n/)
    assert.deepStrictEqual(readdirSync(temporary), [])
    await home.text(["-p", ...flags], { env })
    const [log] = readdirSync(temporary)
    assert.match(readFileSync(join(temporary, log!), "utf8"), /^1\n2\n.*\n100000\n$/s)
  })
})

describe("a long conversation", () => {
  it("is made shorter where the history cannot be used, which concerns nobody then", async () => {
    const home = makeHome()
    await home.text(["-p", "--session", join(home.cwd, "a.jsonl"), "hello"])
    rmSync(join(home.home, "history.db"), { force: true })
    mkdirSync(join(home.home, "history.db"))
    assert.match(await home.text(["compact", join(home.cwd, "a.jsonl")]), /^Nothing to do/)
  })

  it("is compacted at the threshold by itself and goes on; by hand there may be nothing to do", async () => {
    const home = makeHome()
    const long = `!sprout say ${"tree ".repeat(3_000)}`
    for (const _ of "12345678") await home.text(["-p", "-c", long])
    const { entries } = await home.json<{ entries: ReadonlyArray<Json> }>(["tree", "@last"])
    assert.isTrue(entries.some(({ type }) => type === "compaction"))
    assert.match(await home.text(["-p", "-c", "still there?"]), /You said: .*still there\?/s)
    const outcome = await home.json<Json>(["compact", "@last"])
    assert.isTrue(outcome.compacted === true || typeof outcome.reason === "string")
    const again = await home.json<Json>(["compact", "@last"])
    assert.deepInclude(again, { compacted: false, id: null, summary: null })
  })
})

// --------------------------------------------------------------------------------- servers that speak real formats

const serve = (
  answer: (body: Json) => string,
  [status, type]: readonly [number, string] = [200, "text/event-stream"]
): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => {
        body += text
      })
      request.on("end", () => {
        response.writeHead(status, { "content-type": type })
        response.end(answer(body === "" ? {} : JSON.parse(body)))
      })
    })
    servers.push(server)
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })

const sse = (events: ReadonlyArray<Json>, named: boolean) =>
  events.map((event) => `${named ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`).join("")

const anthropic = (content: ReadonlyArray<readonly [Json, Json]>, stop: string) =>
  sse(
    [
      { type: "message_start", message: { usage: { input_tokens: 10, output_tokens: 1 } } },
      ...content.flatMap(([block, delta], index) => [
        { type: "content_block_start", index, content_block: block },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index }
      ]),
      { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 5 } },
      { type: "message_stop" }
    ],
    true
  )

const openAi = (delta: Json, finish: string) =>
  `${sse(
    [
      { choices: [{ index: 0, delta: { role: "assistant", ...delta } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } }
    ],
    false
  )}data: [DONE]\n\n`

describe("against servers", () => {
  const isAnswered = ({ messages }: Json) => JSON.stringify(messages).includes("seven elms")

  it("Anthropic's format, with a tool", async () => {
    const home = makeHome()
    writeFileSync(join(home.cwd, "note.txt"), "seven elms")
    const url = await serve((body) =>
      isAnswered(body)
        ? anthropic(
            [
              [
                { type: "text", text: "" },
                { type: "text_delta", text: "There are seven." }
              ]
            ],
            "end_turn"
          )
        : anthropic(
            [
              [
                { type: "tool_use", id: "toolu_1", name: "read", input: {} },
                { type: "input_json_delta", partial_json: '{"path":"note.txt"}' }
              ]
            ],
            "tool_use"
          )
    )
    const env = { ANTHROPIC_API_KEY: "sk-test-0123456789", ANTHROPIC_BASE_URL: url }
    const args = ["-p", "--model", "anthropic/claude-sonnet-4-5", "how many?"]
    assert.strictEqual(await home.text(args, { env }), "There are seven.\n")
    const shown = await home.json<{ counts: Json }>(["show", "@last"])
    assert.deepInclude(shown.counts, { messages: 4 })
  })

  it("OpenAI's format, with a tool", async () => {
    const home = makeHome()
    writeFileSync(join(home.cwd, "note.txt"), "seven elms")
    const call = {
      index: 0,
      id: "call_1",
      type: "function",
      function: { name: "read", arguments: '{"path":"note.txt"}' }
    }
    const url = await serve((body) =>
      isAnswered(body) ? openAi({ content: "There are seven." }, "stop") : openAi({ tool_calls: [call] }, "tool_calls")
    )
    const env = { OPENAI_API_KEY: "sk-test-0123456789", OPENAI_BASE_URL: url }
    assert.strictEqual(await home.text(["-p", "--model", "openai/gpt-5", "how many?"], { env }), "There are seven.\n")
  })

  it("a reply that is not what it should be is told in one line, and the prompt is kept", async () => {
    const home = makeHome()
    const url = await serve(() => "<html>busy</html>")
    const env = { OPENAI_API_KEY: "sk-test-0123456789", OPENAI_BASE_URL: url }
    const ran = await home.grove(["-p", "--model", "openai/gpt-5", "how many?"], { env })
    assert.strictEqual(ran.code, 1)
    assert.match(ran.stderr, /grove: openai\/gpt-5: [^\n]+\n$/)
    const context = await home.json<{ messages: ReadonlyArray<Json> }>(["context", "@last"])
    assert.deepStrictEqual(texts(context)[0], ["user", "how many?"])
  })
})

// ---------------------------------------------------------------------------------------------------- other readers

const { installed } = await import(new URL("tooling/bench/others.mjs", `file://${root}`).href)
const pi: { readonly module: string } | { readonly problem: string } = installed("pi")
if ("problem" in pi) {
  if (process.env.CI === "true") throw new Error(pi.problem)
  process.stderr.write(`SKIPPED: what Pi reads of a prompt: ${pi.problem}\n`)
}

describe.skipIf("problem" in pi)("Pi", () => {
  it("reads what a prompt leaves", async () => {
    const home = makeHome()
    await home.text(["-p", "hello"])
    await home.text(["-p", "-c", '!sprout tool read {"path":"none"}'])
    const { SessionManager } = await import((pi as { readonly module: string }).module)
    const opened = SessionManager.open(join(home.home, home.files()[0]!))
    const { messages, model } = opened.buildSessionContext()
    assert.deepStrictEqual(
      messages.map(({ role }: Json) => role),
      ["user", "assistant", "user", "assistant", "toolResult", "assistant"]
    )
    assert.deepStrictEqual(model, { provider: "grove", modelId: "sprout" })
  })
})
