/** The command as a whole: what it says of itself, how it refuses, and that it trusts nothing it is given. */
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { commands } from "../src/commands.ts"
import {
  assertInert,
  assertRefused,
  entry,
  fileOf,
  header,
  inTurn,
  program,
  reply,
  run,
  sandbox,
  user
} from "./support.ts"

const box = sandbox()
/** Every command that reads a session, half of them asked by scripts. */
const readingOf = (path: string): ReadonlyArray<ReadonlyArray<string>> => [
  ["show", path],
  ["tree", path, "--json"],
  ["branches", path],
  ["context", path, "--json"]
]

const sound = box.write("sound.jsonl", fileOf(header(), user("aaaa0001", null, "hello")))

describe("help", () => {
  it.each(["--help", "-h", "help"])("%s lists every command with what it does", async (word) => {
    const text = await box.text([word])
    for (const { command } of commands) assert.match(text, new RegExp(`^  grove ${command.name} +\\S`, "m"))
    assert.include(text, "GROVE_HOME")
  })

  it.each(commands.map(({ command }) => command))("of $name tells every argument, flag and choice", async (command) => {
    const [asked, helped] = await inTurn(
      [
        [command.name, "--help"],
        ["help", command.name]
      ],
      (args) => box.text(args)
    )
    assert.strictEqual(asked, helped)
    assert.include(asked!, command.about)
    for (const { name, about } of command.arguments) {
      assert.include(asked!, `<${name}>`)
      assert.include(asked!, about)
    }
    for (const [name, { about, choices = [] }] of Object.entries(command.flags)) {
      assert.include(asked!, `--${name}`)
      assert.include(asked!, about)
      for (const choice of choices) assert.include(asked!, choice)
    }
    for (const shared of ["--json", "--session-dir <dir>", "-h, --help"]) assert.include(asked!, shared)
  })

  it("covers what scripts rely on", () => {
    const flags = Object.fromEntries(commands.map(({ command }) => [command.name, Object.keys(command.flags)]))
    assert.includeDeepMembers(flags.ls!, ["all"])
    assert.includeDeepMembers(flags.show!, ["leaf"])
    assert.includeDeepMembers(flags.tree!, ["filter"])
    assert.includeDeepMembers(flags.context!, ["leaf"])
    assert.includeDeepMembers(flags.migrate!, ["dry-run"])
    assert.includeDeepMembers(Object.keys(flags), ["branches", "check"])
  })

  it.each(["--version", "-V"])("%s is the version of the package", async (flag) => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
    assert.strictEqual(await box.text([flag]), `${version}\n`)
  })
})

describe("wrong usage is one line and exit 2", () => {
  it.each([
    ["a mistyped command", ["shwo"], /unknown command "shwo"; did you mean show\?/],
    ["a word that is near no command", ["xyzzy"], /unknown command "xyzzy"; grove --help lists them/],
    ["help for no command", ["help", "nope"], /unknown command "nope"/],
    ["a flag before any command", ["--nope"], /unknown flag --nope; see grove --help/],
    ["an unknown flag", ["ls", "--nope"], /unknown flag --nope; see grove ls --help/],
    ["a mistyped flag", ["tree", "x", "--fliter", "all"], /unknown flag --fliter; did you mean --filter\?/],
    [
      "a value that is none of the choices",
      ["tree", sound, "--filter", "some"],
      /turns, user, labeled, errors, all, not "some"/
    ],
    ["a flag without its value", ["tree", sound, "--filter"], /--filter needs a value/],
    ["a flag for a value", ["context", sound, "--leaf", "--json"], /--leaf needs a value/],
    ["a value for a flag that takes none", ["show", sound, "--json=1"], /--json takes no value/],
    ["a command without its session", ["show"], /show needs <s>; usage: grove show <s>/],
    ["a command without its files", ["check"], /check needs <file>; usage: grove check <file>/],
    ["an argument too many", ["show", sound, sound], /show does not take/],
    ["an argument for a command that takes none", ["ls", "extra"], /ls does not take "extra"/],
    ["a command that a terminal would obey", ["\x1b[31mls\u202e"], /unknown command/],
    ["a command of four thousand characters", ["x".repeat(4096)], /unknown command/],
    ["a flag of four thousand characters", ["ls", `--${"x".repeat(4096)}`], /unknown flag/]
  ] as const)("%s", async (_, args, says) => {
    assertRefused(await box.grove(args), 2, says)
  })
})

describe("what cannot be read is one line and exit 1, with --json too", () => {
  const everywhere = async (path: string, says: RegExp, options = {}) => {
    const calls = [
      ...readingOf(path),
      ["check", path],
      ["check", path, "--json"],
      ["migrate", path, "--dry-run", "--json"]
    ]
    const all = await inTurn(calls, (args) => box.grove(args, { timeout: 10_000, ...options }))
    for (const ran of all) assertRefused(ran, 1, says)
  }
  /** `check` reports on these instead. */
  const noSession = async (path: string, line: number) => {
    const calls = readingOf(path)
    const says = new RegExp(`is not a session: no session header before line ${line}; the file was not changed`)
    for (const ran of await inTurn(calls, (args) => box.grove(args))) assertRefused(ran, 1, says)
    const { code, stdout } = await box.grove(["check", path])
    assert.strictEqual(code, 1)
    assert.include(stdout, ": no-header: ")
    assertInert(stdout)
  }

  it("a file that is not there", () =>
    everywhere(join(box.folder, "nowhere.jsonl"), /no such session file: \S+nowhere\.jsonl/))
  it("a directory", () => everywhere(box.folder, /cannot use \S+: it is a directory, not a session file/))
  it("a path through a file", () => everywhere(join(sound, "below.jsonl"), /part of the path is not a directory/))
  it("a device, which would never end", () =>
    everywhere("/dev/zero", /cannot use \/dev\/zero: it is not a regular file/))
  it("a path of four thousand characters", () => everywhere(`/${"x".repeat(4096)}`, /the name is too long/))

  it("a pipe, which would never begin", async () => {
    const pipe = join(box.folder, "pipe.jsonl")
    box.prepare(() => execFileSync("mkfifo", [pipe]))
    await everywhere(pipe, /it is not a regular file/)
  })

  it("a link to nothing, and one to itself", async () => {
    const [dangling, loop] = ["dangling.jsonl", "loop.jsonl"].map((name) => join(box.folder, name))
    box.prepare(() => {
      symlinkSync("nothing", dangling!)
      symlinkSync(loop!, loop!)
    })
    await everywhere(dangling!, /no such session file/)
    await everywhere(loop!, /too many symbolic links/)
  })

  describe("a file that nobody may read", () => {
    // Whoever runs as root may read everything, so the command is run as nobody; that needs a checkout nobody can reach.
    const nobody = process.getuid?.() === 0 ? 65534 : undefined
    const identity = nobody === undefined ? {} : { uid: nobody, gid: nobody }
    const canRun = spawnSync(process.execPath, [program, "--version"], { ...identity, env: box.env }).status === 0
    if (!canRun) console.warn("SKIPPED: started by root where nobody else may read, so unreadable files are not tested")

    it.skipIf(!canRun)("is told as such, and is passed over in a list", async () => {
      const home = join(box.folder, "guarded")
      const hidden = box.write("guarded/sessions/--a--/hidden.jsonl", fileOf(header({ id: "hidden-0001" })))
      box.write("guarded/sessions/--a--/open.jsonl", fileOf(header({ id: "open-0001" })))
      box.write("guarded/sessions/--b--/closed.jsonl", fileOf(header({ id: "closed-0001" })))
      box.prepare(() => {
        chmodSync(box.folder, 0o755)
        chmodSync(hidden, 0)
      })
      const options = { ...(nobody === undefined ? {} : { uid: nobody }), env: { GROVE_HOME: home } }
      await everywhere(hidden, /cannot use \S+hidden\.jsonl: permission denied/, options)
      const ids = async (args: ReadonlyArray<string>) =>
        (await box.json<ReadonlyArray<{ readonly id: string }>>(args, options)).map(({ id }) => id).sort()
      assert.deepStrictEqual(await ids(["ls"]), ["closed-0001", "open-0001"])
      assert.deepStrictEqual((await box.json<{ readonly id: string }>(["show", "open-0001"], options)).id, "open-0001")
      const folder = join(home, "sessions/--b--")
      // The state of the sandbox can only be taken while its owner may look.
      chmodSync(folder, 0)
      try {
        assert.deepStrictEqual(await ids(["ls", "--all"]), ["open-0001"])
      } finally {
        chmodSync(folder, 0o755)
      }
    })
  })

  it("bytes that are no text", async () => {
    await noSession(
      box.write(
        "binary",
        Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256)
      ),
      1
    )
    await noSession(box.write("image.jsonl", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1")), 1)
  })

  it("lines of JSON that are no session", async () => {
    await noSession(box.write("other.jsonl", fileOf({ a: 1 }, { b: 2 })), 1)
    await noSession(box.write("scalars.jsonl", "1\n2\n"), 1)
    await noSession(box.write("document.json", '{\n  "type": "session"\n}\n'), 1)
  })

  it("a session without its header", async () => {
    await noSession(box.write("headless.jsonl", fileOf(user("aaaa0001", null, "hello"), header())), 1)
    await noSession(box.write("late.jsonl", fileOf("", "junk", user("aaaa0001", null, "hello"))), 3)
  })

  it("a name that a terminal would obey, which is shown and not obeyed", async () => {
    for (const name of ["\x1b]0;owned\x07", "a\nb\rc", "\u202egpj.lnosj", "\x9b31m", "\ud83d"]) {
      for (const args of [
        ["show", name],
        ["check", `${name}.jsonl`],
        ["context", sound, "--leaf", name]
      ]) {
        assertRefused(await box.grove(args), 1, /./)
      }
    }
  })

  it("nothing at all", async () => {
    assertRefused(await box.grove(["show", ""]), 1, /no session/)
    assertRefused(await box.grove(["context", sound, "--leaf", ""]), 1, /no entry/)
  })

  it("a folder that is gone while one stands in it", async () => {
    const command = `gone=$(mktemp -d) && cd "$gone" && rmdir "$gone" && exec "$0" "$1" ls`
    const ran = await run("sh", ["-c", command, process.execPath, program], { env: { ...box.env } })
    assertRefused(ran, 1, /the folder this was started in is gone/)
  })
})

describe("what a session holds is shown, never obeyed", () => {
  const evil =
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x9b31m\x9d0;x\x9c\r\b\x7f\u202elive\u2066x\u2069\u200b\ufeff\u2028\u0085\0\t\v\f\x1bPq\x1b\\ end"
  /** As much of it as can be an argument. */
  const typable = evil.replaceAll("\0", "")
  const id = (n: number) => `${n}${typable}${n}`
  const content = [
    { type: "text", text: evil },
    { type: "thinking", thinking: evil },
    { type: "toolCall", id: evil, name: evil, arguments: { path: evil } },
    { type: evil }
  ]
  const hostile = fileOf(
    { type: "title", title: evil },
    header({ id: evil, cwd: evil, title: evil, parentSession: evil }),
    user(id(1), null, evil),
    reply(id(2), id(1), "", { content, provider: evil, model: evil, stopReason: "error", errorMessage: evil }),
    entry(id(3), id(2), { type: "label", targetId: id(2), label: evil }),
    entry(id(4), id(3), { type: "session_info", name: evil }),
    entry(id(5), id(4), { type: "thinking_level_change", thinkingLevel: evil }),
    entry(id(6), id(5), { type: "mode_change", mode: evil }),
    entry(id(7), id(6), { type: "model_change", provider: evil, modelId: evil }),
    entry(id(8), id(7), { type: "custom", customType: evil, data: evil }),
    entry(id(9), id(8), { type: "custom_message", customType: evil, content: evil, display: true }),
    entry(id(10), id(9), { type: "branch_summary", fromId: evil, summary: evil }),
    entry(id(11), id(10), { type: evil, timestamp: evil }),
    entry(id(12), id(11), { message: { role: evil, content: evil } }),
    entry(id(13), id(12), { message: { role: "bashExecution", command: evil, output: evil, exitCode: 1 } }),
    entry(id(14), id(13), {
      message: { role: "toolResult", toolCallId: evil, toolName: evil, content: evil, isError: true }
    }),
    entry(id(15), id(14), { type: "ttsr_injection", injectedRules: [evil] }),
    entry(id(16), evil, { type: "label" }),
    user(id(1), id(1), `${evil} again`),
    user(id(17), id(1), evil),
    entry(id(18), id(2), { type: "compaction", summary: evil, firstKeptEntryId: id(1), tokensBefore: 1 }),
    "junk"
  )
  const name = "\x1b]0;x\x07\u202e\n.jsonl"

  it.each([
    "show",
    "tree",
    "tree --unfold",
    "tree --filter all --unfold",
    "tree --filter labeled",
    "tree --filter errors",
    "branches",
    "context",
    "check",
    "migrate --dry-run"
  ])("by grove %s", async (words) => {
    const file = box.write(`hostile/sessions/--a--/${name}`, hostile)
    for (const env of [{}, { LANG: "C", COLUMNS: "40" }]) {
      const { code, stdout, stderr } = await box.grove([...words.split(" "), file], { env })
      assert.deepStrictEqual([code, stderr], [words === "check" ? 1 : 0, ""])
      assertInert(stdout)
      assert.match(stdout, /\S/)
    }
  })

  it("by ls, one line a session", async () => {
    box.write(`hostile/sessions/--a--/${name}`, hostile)
    const text = await box.text(["ls"], { env: { GROVE_HOME: join(box.folder, "hostile") } })
    assertInert(text)
    assert.strictEqual(text.split("\n").length, 2)
  })

  it("by doctor, which names the first file that is no session", async () => {
    box.write(`sick/sessions/--a--/${name}`, "junk")
    const { stdout } = await box.grove(["doctor"], { env: { GROVE_HOME: join(box.folder, "sick") } })
    assertInert(stdout)
    assert.include(stdout, "grove check")
  })

  it("by a folder of a hostile name that is empty", async () => {
    assertInert(await box.text(["ls"], { env: { GROVE_HOME: `/nowhere/${typable}` } }))
  })

  it("at every leaf that a context is asked for", async () => {
    const file = box.write(`hostile/sessions/--a--/${name}`, hostile)
    for (const n of [2, 9, 14]) assertInert(await box.text(["context", file, "--leaf", id(n)]))
    assertInert(await box.text(["context", file, "--leaf", "none"]))
  })

  it("and --json hands it on as it is", async () => {
    const file = box.write(`hostile/sessions/--a--/${name}`, hostile)
    const { messages } = await box.json<{ readonly messages: ReadonlyArray<{ readonly content?: unknown }> }>([
      "context",
      file
    ])
    assert.include(JSON.stringify(messages), JSON.stringify(evil).slice(1, -1))
  })
})

it("a command on a small file is there at once", async () => {
  const times: Array<number> = []
  for (let i = 0; i < 5; i++) {
    const start = performance.now()
    await box.json(["context", sound])
    times.push(performance.now() - start)
  }
  const median = times.toSorted((a, b) => a - b)[2]!
  console.info(`grove context on a small file: median of 5 runs ${median.toFixed(0)} ms`)
  assert.isBelow(median, 1500, "it hangs rather than starts")
})
