/** Commands that print, fail, hang, flood and leave others behind. Real processes, so real time; nothing is waited out. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@grove/core"
import { Deferred, Effect, Fiber, Schema } from "effect"
import * as Bash from "../../src/tools/Bash.ts"
import * as Shell from "../../src/tools/Shell.ts"
import { temporary, textOf } from "../support.ts"

const run = (command: string, { cwd = temporary(), ...options }: Bash.Options & { cwd?: string } = {}) =>
  Effect.map(Bash.make({ folder: cwd, ...options }).run({ command }, { cwd }), (outcome) => ({
    ...outcome,
    cwd,
    text: textOf(outcome)
  }))

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // What has ended and was not yet reaped by its parent is a zombie.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

/** A command that says its own pid and those of what it started, then hangs. */
const HANG = "sleep 1000 & echo $! $$; trap '' TERM; sleep 1000; sleep 1000"

/** Resolves with the first line that is printed. */
const firstLine = () => {
  const line = Deferred.makeUnsafe<string>()
  let text = ""
  const onOutput = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString()
    if (text.includes("\n")) Deferred.doneUnsafe(line, Effect.succeed(text.split("\n")[0]!))
  }
  return { line: Deferred.await(line), onOutput }
}
const pidsIn = (line: string) => line.split(" ").map(Number)

describe("a command", () => {
  it.live("prints to both outputs, in the working directory, without a standard input", () =>
    Effect.gen(function* () {
      const { text, isError, cwd, details } = yield* run("pwd; echo oops >&2; cat")
      assert.deepStrictEqual([text.split("\n").toSorted(), isError], [["", cwd, "oops"], false])
      assert.deepStrictEqual(details, { exitCode: 0, truncated: false })
      assert.strictEqual((yield* run("true")).text, "(no output)")
    })
  )

  it.live("that fails is an error with its code, or its signal", () =>
    Effect.gen(function* () {
      const failed = yield* run("echo no; exit 3")
      assert.deepStrictEqual([failed.text, failed.isError], ["no\n[exit code 3]", true])
      const killed = yield* run("kill -9 $$")
      assert.deepStrictEqual([killed.text, killed.isError], ["(no output)\n[ended by SIGKILL]", true])
    })
  )

  it.live("that cannot be started is an error and no crash", () =>
    Effect.gen(function* () {
      assert.match((yield* run("true", { cwd: "/no/such/folder" })).text, /^the command could not be started in \/no/)
      assert.isTrue((yield* run("echo a\0b")).isError)
    })
  )

  it.live("has the environment it is given", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* run("echo $A", { environment: { A: "1" } })).text, "1\n")
    })
  )

  it("is described by its first line and shown whole", () => {
    assert.deepStrictEqual(Effect.runSync(Bash.bash.describe({ command: "a\nb" }, { cwd: "/" })), {
      line: "bash a …",
      preview: { kind: "command", text: "a\nb" },
      paths: []
    })
  })
})

describe("a command that hangs", () => {
  it.live("is ended when its time is up, with everything it started, and what it printed is kept", () =>
    Effect.gen(function* () {
      const { text, isError, details } = yield* run("sleep 1000 & echo $! $$; sleep 1000", { timeout: 0.2 })
      assert.match(text, /^\d+ \d+\n\[ended after 0\.2 s: the time was up\]$/)
      assert.deepInclude(details as object, { timedOut: true })
      assert.isTrue(isError)
      assert.deepStrictEqual(pidsIn(text.split("\n")[0]!).filter(isAlive), [])
    })
  )

  it.live("and does not want to end is ended all the same when it is interrupted", () =>
    Effect.gen(function* () {
      const { line, onOutput } = firstLine()
      const fiber = yield* Effect.forkChild(Shell.run({ command: HANG, cwd: temporary(), onOutput }))
      const pids = pidsIn(yield* line)
      assert.deepStrictEqual(pids.map(isAlive), [true, true])
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(pids.filter(isAlive), [])
    })
  )

  it.live("may clean up when it is told to end", () =>
    Effect.gen(function* () {
      const { line, onOutput } = firstLine()
      const cwd = temporary()
      const command = "trap 'echo bye > left; exit 0' TERM; echo up; while :; do sleep 0.01; done"
      const fiber = yield* Effect.forkChild(Shell.run({ command, cwd, onOutput }))
      yield* line
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(readFileSync(join(cwd, "left"), "utf8"), "bye\n")
    })
  )

  it.live("because of what it left running is not waited for, and that lives on", () =>
    Effect.gen(function* () {
      const { text, isError } = yield* run("sleep 1000 & echo $!")
      assert.match(text, /^\d+\n\[something it started still runs;.*\]$/)
      assert.isFalse(isError)
      const [pid] = pidsIn(text.split("\n")[0]!)
      assert.isTrue(isAlive(pid!))
      process.kill(pid!)
    })
  )

  it.live("because what it left running never stops printing is not waited for either", () =>
    Effect.gen(function* () {
      const { text, cwd } = yield* run("yes & echo $! > pid")
      process.kill(Number(readFileSync(join(cwd, "pid"), "utf8")))
      assert.match(text, /something it started still runs/)
    })
  )
})

describe("a command that floods", () => {
  it.live("with a gigabyte takes neither memory nor more of the disk than it may", () =>
    Effect.gen(function* () {
      const before = process.memoryUsage().rss
      const limits = { lines: 10, bytes: 1_000, fileBytes: 1_000_000 }
      const { text, isError, cwd } = yield* run("yes | head -c 1000000000; echo end", { limits })
      assert.isFalse(isError)
      assert.match(
        text,
        /^\[of 1000000004 bytes only the end is shown; the beginning is in \/.*\.log\]\n(?:y\n){9}end\n$/
      )
      const [file] = readdirSync(cwd)
      assert.strictEqual(statSync(join(cwd, file!)).size, 1_000_000)
      assert.isBelow(process.memoryUsage().rss - before, 200_000_000)
    })
  )

  it.live("with more than is shown has it all in a file", () =>
    Effect.gen(function* () {
      const { text, details } = yield* run("seq 1 5000")
      assert.match(text, /^\[of 23893 bytes only the end is shown; all of it is in .*\]\n3001\n3002\n/)
      const { fullOutputPath, truncated } = details as { fullOutputPath: string; truncated: boolean }
      assert.isTrue(truncated)
      assert.strictEqual(readFileSync(fullOutputPath, "utf8").length, 23_893)
    })
  )

  it.live("with binary is shown as text that nothing obeys", () =>
    Effect.gen(function* () {
      const { text, isError } = yield* run("printf '\\033[2Jred\\007\\000\\377ok\\n'; head -c 5000 /dev/urandom")
      assert.isFalse(isError)
      assert.isTrue(text.startsWith("red\ufffd\ufffd\ufffdok\n"))
      assert.notMatch(text, /(?![\n\t])\p{Cc}/u)
    })
  )
})

describe("what a person runs with !", () => {
  it.each([
    ["!ls -l", "ls -l", false],
    ["!!ls", "ls", true],
    ["  ! ls\n", "ls", false],
    ["!!sprout x", "sprout x", true],
    ["!sprouts", "sprouts", false]
  ] as const)("%j is a command", (prompt, command, excludeFromContext) =>
    assert.deepStrictEqual(Bash.commandIn(prompt), { command, excludeFromContext })
  )

  it.each(["", "ls", "!", "!!", " ! ", "!sprout say hi", "!sprout", "a !b"])("%j is none", (prompt) =>
    assert.isUndefined(Bash.commandIn(prompt))
  )

  const isMessage = Schema.is(Message.BashExecutionMessage)

  it.live("is a message with what was printed and the code", () =>
    Effect.gen(function* () {
      const message = yield* Bash.execute({ command: "echo a; exit 2", excludeFromContext: true }, { cwd: temporary() })
      assert.isTrue(isMessage(message))
      const { timestamp, ...rest } = message
      assert.isAbove(timestamp, 0)
      assert.deepStrictEqual(rest, {
        role: "bashExecution",
        command: "echo a; exit 2",
        output: "a\n",
        exitCode: 2,
        cancelled: false,
        truncated: false,
        excludeFromContext: true
      })
    })
  )

  it.live("and stops keeps what was printed until then", () =>
    Effect.gen(function* () {
      const { line, onOutput } = firstLine()
      const message = yield* Bash.execute(
        { command: "echo begun; sleep 1000", excludeFromContext: false },
        { cwd: temporary() },
        { onOutput, stop: line }
      )
      assert.deepInclude(message, { output: "begun\n", exitCode: null, cancelled: true })
      assert.isFalse("excludeFromContext" in message)
    })
  )

  it.live("and cannot be started is a message too", () =>
    Effect.gen(function* () {
      const message = yield* Bash.execute({ command: "ls", excludeFromContext: false }, { cwd: "/no/such" })
      assert.isTrue(isMessage(message))
      assert.match(message.output, /could not be started in \/no\/such/)
      assert.isFalse(existsSync("/no/such"))
    })
  )
})
