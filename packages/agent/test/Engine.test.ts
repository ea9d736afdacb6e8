import { assert, describe, it } from "@effect/vitest"
import {
  Chat,
  type ChatRequest,
  Entry,
  EntryId,
  isObject,
  RunningReplies,
  type Session,
  SessionStore,
  Sessions
} from "@grove/core"
import { Sendability } from "@grove/core/testing"
import { Deferred, Effect, Exit, type Layer, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../src/Engine.ts"
import * as ModelChoice from "../src/ModelChoice.ts"
import * as SubAgents from "../src/SubAgents.ts"
import { failed, succeeded } from "../src/Tool.ts"
import type { TurnEnd } from "../src/Turn.ts"
import {
  call,
  eventsOf,
  heard,
  layer,
  linesAt,
  messageAt,
  openNew,
  type Stage,
  say,
  start,
  textOf,
  toolOf
} from "./engine.ts"

type Services = Layer.Success<ReturnType<typeof layer>> | Scope.Scope

const test = <A, E>(name: string, stage: Stage, effect: () => Effect.Effect<A, E, Services>) =>
  it.effect(name, () => Effect.provide(effect(), layer(stage)))

describe("a turn", () => {
  test("a prompt is answered below it, and takes the person along", {}, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const end = yield* say(session, "is it?")
      assert.deepStrictEqual(linesAt(session, end.leaf), ["user: is it?", "assistant: yes"])
      assert.strictEqual(end.state, "complete")
      assert.strictEqual(end.stopReason, "stop")
      assert.strictEqual(yield* session.main.leaf, end.leaf)
      assert.isFalse(
        session.tree.entries.some(({ type }) => type === "custom"),
        "no marks were needed"
      )
    })
  )

  test("events tell everything in order, however late one listens", { script: [{ content: "one two" }] }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const turn = yield* start(session, { prompt: "count" })
      const { leaf } = yield* turn.end
      const events = yield* eventsOf(turn)
      assert.deepStrictEqual(
        events.map((event) => event._tag),
        ["Appended", "Started", "Delta", "Delta", "Appended", "End"]
      )
      const deltas = events.flatMap((event) => (event._tag === "Delta" ? [event] : []))
      assert.deepStrictEqual(
        deltas.map(({ entry, text }) => [entry, text]),
        [
          [leaf, "one"],
          [leaf, " two"]
        ]
      )
      assert.deepStrictEqual(yield* eventsOf(turn), events)
    })
  )

  test(
    "what the model calls is run and its results shown to it, until it calls nothing more",
    {
      script: [{ content: [call("look"), call("smell")] }, { content: "a rose" }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const tools = [toolOf("look"), toolOf("smell", () => Effect.succeed(failed("no nose")))]
        const end = yield* say(session, "what is it?", { tools })
        assert.deepStrictEqual(linesAt(session, end.leaf), [
          "user: what is it?",
          "assistant: ",
          "toolResult: look done",
          "toolResult: no nose",
          "assistant: a rose"
        ])
        assert.strictEqual(end.usage.requests, 2)
      })
  )

  test(
    "calls of tools that are not there, and of arguments that are none, are answered for",
    {
      script: [{ content: [call("dance"), { ...call("look"), invalidArguments: "{" }] }, { content: "sorry" }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const end = yield* say(session, "dance", { tools: [toolOf("look", () => Effect.die(new Error("ran")))] })
        const lines = linesAt(session, end.leaf)
        assert.include(lines, "toolResult: there is no tool dance; there are look")
        assert.include(lines, "toolResult: the arguments are no JSON object, so nothing was done")
        assert.strictEqual(end.state, "complete")
      })
  )

  test(
    "a tool that breaks is told to the model, and breaks nothing else",
    {
      script: [{ content: [call("look")] }, { content: "oh" }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const end = yield* say(session, "look", { tools: [toolOf("look", () => Effect.die(new Error("a lens")))] })
        assert.include(linesAt(session, end.leaf), "toolResult: the tool broke: a lens")
        assert.strictEqual(end.state, "complete")
      })
  )

  test(
    "what is added meanwhile is said before the next request",
    {
      script: [{ content: [call("wait")] }, { content: "both" }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const gate = yield* Deferred.make<void>()
        const tools = [toolOf("wait", () => Effect.as(Deferred.await(gate), succeeded("waited")))]
        const turn = yield* start(session, { prompt: "first", tools })
        yield* heard(turn, "ToolStart")
        assert.isTrue(yield* turn.steer("and second"))
        yield* Deferred.succeed(gate, undefined)
        const end = yield* turn.end
        assert.deepStrictEqual(linesAt(session, end.leaf).slice(-2), ["user: and second", "assistant: both"])
        assert.isFalse(yield* turn.steer("third"))
      })
  )
})

describe("models", () => {
  test("the one asked for is written down where it differs from the session's", {}, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      yield* session.main.append({ type: "model_change", provider: "grove", modelId: "other" })
      const end = yield* say(session, "hi", { model: Chat.scripted.ref })
      const change = session.tree.entries.find(({ model }) => model === Chat.scripted.ref)
      assert.deepInclude(change, { type: "model_change", provider: "test", modelId: "scripted" })
      yield* say(session, "again")
      assert.strictEqual(session.tree.entries.filter(({ type }) => type === "model_change").length, 2)
      assert.strictEqual(end.state, "complete")
    })
  )

  test("one that nobody has is refused before anything is written", {}, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const error = yield* Effect.flip(start(session, { prompt: "hi", model: "test/none" }))
      assert.strictEqual(error._tag, "ChatModelError")
      assert.strictEqual(session.tree.size, 0)
    })
  )
})

describe("what goes wrong", () => {
  const fail = new Chat.CutStream({ detail: "the wire" })
  test("a failure keeps what was said, as a reply that says so", { script: [{ content: "so far", fail }] }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const end = yield* say(session, "go")
      assert.deepInclude(messageAt(session, end.leaf), {
        stopReason: "error",
        errorMessage: "test/scripted: the reply was cut off: the wire"
      })
      assert.deepStrictEqual(linesAt(session, end.leaf), ["user: go", "assistant: so far"])
      assert.strictEqual(end.state, "error")
      assert.strictEqual(end.error?._tag, "ChatModelError")
    })
  )

  test("cancelled while it speaks, a reply keeps what was said", { script: [{ content: "so far", hang: true }] }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const turn = yield* start(session, { prompt: "go" })
      yield* Stream.runDrain(
        Stream.take(
          Stream.filter(turn.events, ({ _tag }) => _tag === "Delta"),
          2
        )
      )
      yield* turn.cancel
      const end = yield* turn.end
      assert.strictEqual(end.state, "aborted")
      assert.deepStrictEqual(linesAt(session, end.leaf), ["user: go", "assistant: so far"])
      assert.strictEqual(messageAt(session, end.leaf).stopReason, "aborted")
      assert.strictEqual(yield* turn.state, "aborted")
      assert.deepStrictEqual((yield* eventsOf(turn)).at(-1), { _tag: "End", end })
    })
  )

  test(
    "cancelled while tools run, they are interrupted and every call has a result",
    {
      script: [{ content: [call("run"), call("write", {}, "w")] }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        let isKilled = false
        const run = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (isKilled = true)))
        const tools = [toolOf("run", run, "command"), toolOf("write", undefined, "write")]
        const turn = yield* start(session, { prompt: "go", tools, approval: "yolo" })
        yield* heard(turn, "ToolStart")
        yield* turn.cancel
        const end = yield* turn.end
        assert.isTrue(isKilled)
        assert.deepStrictEqual(linesAt(session, end.leaf).slice(2), ["toolResult: cancelled", "toolResult: cancelled"])
        assert.deepStrictEqual(yield* Engine.use((it) => it.openCalls(session)), [])
      })
  )

  test("closing the scope is cancelling", { script: [{ content: "so far", hang: true }] }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const scope = yield* Scope.make()
      const turn = yield* Scope.provide(start(session, { prompt: "go" }), scope)
      yield* heard(turn, "Delta")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* turn.end).state, "aborted")
    })
  )

  test(
    "a person who is asked may be left waiting: cancelling ends the question",
    {
      script: [{ content: [call("run")] }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const turn = yield* start(session, {
          prompt: "go",
          tools: [toolOf("run", undefined, "command")],
          approve: () => Effect.never
        })
        yield* heard(turn, "ApprovalRequested")
        yield* turn.cancel
        assert.strictEqual((yield* turn.end).state, "aborted")
      })
  )

  test(
    "a context too long is made shorter once, and asked again",
    {
      script: (request: ChatRequest) =>
        request.system?.includes("summar") === true
          ? { content: "a summary" }
          : textOf(request.messages[0]!).includes("compacted")
            ? { content: "short enough" }
            : request.messages.length > 4
              ? { fail: new Chat.ContextOverflow({ detail: "too long" }) }
              : { content: "long ".repeat(2_000) }
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        yield* say(session, "one")
        yield* say(session, "two")
        const end = yield* say(session, "three")
        assert.strictEqual(end.state, "complete")
        const lines = linesAt(session, end.leaf)
        assert.deepStrictEqual(lines.slice(-3), ["user: three", "compaction", "assistant: short enough"])
      })
  )

  test(
    "where it stays too long, the failure stands as a reply below the prompt",
    {
      script: [{ fail: new Chat.ContextOverflow({ detail: "too long" }) }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const end = yield* say(session, "one")
        assert.strictEqual(end.state, "error")
        assert.deepStrictEqual(linesAt(session, end.leaf), ["user: one", "assistant: "])
        assert.include(messageAt(session, end.leaf).errorMessage, "too long")
      })
  )
})

describe("approval", () => {
  const script: Chat.Script = [{ content: [call("run")] }, { content: "ok" }]
  const ran = (session: Session, end: TurnEnd) => linesAt(session, end.leaf)[2]
  const tools = [toolOf("run", undefined, "command")]

  test("what needs a person is not run where nobody is asked", { script }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      assert.strictEqual(ran(session, yield* say(session, "go", { tools })), "toolResult: not approved")
    })
  )

  test("it is run where the person says yes", { script }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const end = yield* say(session, "go", { tools, approve: () => Effect.succeed(true) })
      assert.strictEqual(ran(session, end), "toolResult: run done")
    })
  )

  test("it is run unasked where everything may", { script }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const end = yield* say(session, "go", { tools, approval: "yolo", approve: () => Effect.die("asked") })
      assert.strictEqual(ran(session, end), "toolResult: run done")
    })
  )

  test("a mode that only the file records does not count", { script }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      yield* session.main.append({ type: "custom", customType: "grove.config", data: { approvalMode: "yolo" } })
      assert.strictEqual(ran(session, yield* say(session, "go", { tools })), "toolResult: not approved")
    })
  )
})

describe("a prompt with placeholders", () => {
  test("says what the session knows of them, and the rest as it is", { script: [{ content: "yes" }] }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const image = { type: "image", data: "aGk=", mimeType: "image/png" }
      const data = { pastedTextMap: { "#1": "one\ntwo" }, pastedImageMap: { "#1": image } }
      yield* session.main.append({ type: "custom", customType: "grove.config", data })
      const prompt = "see [pasted text #1 +2 lines], [pasted text #9 +3 lines] and [pasted image #1]"
      yield* (yield* start(session, { prompt })).end
      const said = session.tree.entries.find((entry) => Entry.role(entry) === "user")!.message
      assert(isObject(said))
      assert.deepStrictEqual(said.content, [
        { type: "text", text: "see one\ntwo, [pasted text #9 +3 lines] and [pasted image #1]" },
        image
      ])
    })
  )
})

describe("side by side", () => {
  test(
    "samples are siblings below one prompt, and the person stays there",
    {
      script: [{ content: "a" }, { content: "b" }, { content: "c" }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const turns = yield* Engine.use((it) => it.samples(session, 3, { cwd: "/work", prompt: "choose" }))
        const ends = yield* Effect.forEach(turns, ({ end }) => end)
        const prompt = session.tree.entries[0]!.id
        assert.strictEqual(yield* session.main.leaf, prompt)
        assert.deepStrictEqual(
          ends.map(({ leaf }) => session.tree.get(leaf!)!.parentId),
          [prompt, prompt, prompt]
        )
        assert.deepStrictEqual(ends.map(({ leaf }) => linesAt(session, leaf)[1]).sort(), [
          "assistant: a",
          "assistant: b",
          "assistant: c"
        ])
        assert.deepStrictEqual(
          ends.map(({ leaf }) => session.tree.get(leaf!)!.group),
          [0, 1, 2].map((index) => ({ id: prompt, cause: "samples", index, of: 3 }))
        )
        const told = yield* Effect.forEach(turns, ({ events }) => Stream.runCollect(events))
        const appended = told.map((events) =>
          events.flatMap((event) => (event._tag === "Appended" ? [Entry.role(event.entry)] : []))
        )
        assert.deepStrictEqual(appended, [["user", "assistant"], ["assistant"], ["assistant"]])
      })
  )

  test(
    "one of several is cancelled, the others go on",
    {
      script: (request) => ({ content: textOf(request.messages.at(-1)!), hang: true })
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const root = yield* session.main.append({ type: "message", message: { role: "user", content: "x" } })
        const first = yield* start(session, { prompt: "a", at: root.id })
        const second = yield* start(session, { prompt: "b", at: null })
        yield* heard(first, "Delta")
        yield* heard(second, "Delta")
        assert.strictEqual((yield* Engine.use((it) => it.running(session))).length, 2)
        yield* first.cancel
        assert.deepStrictEqual([yield* first.state, yield* second.state], ["aborted", "generating"])
        assert.strictEqual(yield* session.main.leaf, root.id)
        yield* second.cancel
        assert.deepStrictEqual(yield* Engine.use((it) => it.running(session)), [])
      })
  )

  test("a person who went elsewhere meanwhile stays there", { script: [{ content: "so", hang: true }] }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const root = yield* session.main.append({ type: "message", message: { role: "user", content: "x" } })
      const turn = yield* start(session, { prompt: "a" })
      yield* heard(turn, "Delta")
      yield* session.main.branch(root.id)
      yield* turn.cancel
      const end = yield* turn.end
      assert.strictEqual(yield* session.main.leaf, root.id)
      assert.deepStrictEqual(linesAt(session, end.leaf), ["user: x", "user: a", "assistant: so"])
      const { tree } = yield* SessionStore.use((store) => store.read(session.ref))
      assert.strictEqual(tree.leaf, root.id)
    })
  )

  test(
    "two agents work side by side, each in a session of its own, and answer as results",
    {
      script: (request) => {
        const said = textOf(request.messages.at(-1)!)
        if (said === "share it") {
          return { content: [call("task", { prompt: "left" }, "1"), call("task", { prompt: "right" }, "2")] }
        }
        return { content: request.messages.at(-1)!.role === "toolResult" ? "done" : `did ${said}` }
      }
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const task = yield* SubAgents.tool(session, { cwd: "/work" })
        const end = yield* say(session, "share it", { tools: [task] })
        assert.deepStrictEqual(linesAt(session, end.leaf).slice(2).sort(), [
          "assistant: done",
          "toolResult: did left",
          "toolResult: did right"
        ])
        const listed = yield* Sessions.use((sessions) => sessions.list({ subAgents: true }))
        const children = listed.filter(({ parentSession }) => parentSession === session.ref.path)
        assert.strictEqual(children.length, 2)
        assert.strictEqual((yield* Sessions.use((sessions) => sessions.list())).length, 1)
      })
  )

  test(
    "agents run at once: one that waits for the other does not wait for ever",
    {
      script: (request) => {
        const last = request.messages.at(-1)!
        if (textOf(last) === "share it") return { content: [call("meet", {}, "1"), call("meet", {}, "2")] }
        return { content: "met" }
      }
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        let here = 0
        const both = yield* Deferred.make<void>()
        const meet = toolOf(
          "meet",
          () =>
            Effect.gen(function* () {
              if (++here === 2) yield* Deferred.succeed(both, undefined)
              yield* Deferred.await(both)
              return succeeded("met")
            }),
          "agent"
        )
        assert.strictEqual((yield* say(session, "share it", { tools: [meet] })).state, "complete")
      })
  )
})

describe("after a crash", () => {
  const left = (session: string, parentId: string | null) => ({
    session,
    entry: EntryId.make("aaaaaaaaaaaa"),
    parentId: parentId === null ? null : EntryId.make(parentId),
    model: "grove/sprout",
    started: "2026-01-01T00:00:00.000Z",
    text: "I was about to"
  })

  test(
    "a reply that nobody generates any more becomes a message with its text",
    {
      left: [left("session-1", "000000000001")]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        yield* session.main.append({ type: "message", message: { role: "user", content: "well?" } })
        const made = yield* Engine.use((it) => it.recover(session))
        assert.deepStrictEqual(
          made.map(({ id }) => id),
          ["aaaaaaaaaaaa"]
        )
        assert.deepInclude(messageAt(session, "aaaaaaaaaaaa"), {
          provider: "grove",
          model: "sprout",
          stopReason: "error",
          errorMessage: "interrupted"
        })
        assert.strictEqual(yield* session.main.leaf, "aaaaaaaaaaaa")
        assert.deepStrictEqual(yield* Engine.use((it) => it.recover(session)), [])
      })
  )

  test(
    "a reply is noted while it is generated, at most once a second, and forgotten when it is written",
    {
      script: [{ content: "one two", hang: true }]
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        const noted = RunningReplies.use((replies) => replies.list(session.ref.id))
        const turn = yield* start(session, { prompt: "count" })
        yield* heard(turn, "Delta")
        assert.deepStrictEqual(
          (yield* noted).map(({ text }) => text),
          [""]
        )
        yield* TestClock.adjust("1 second")
        const [reply] = yield* noted
        assert.deepInclude(reply, { text: "one two", parentId: session.tree.entries[0]!.id, model: "test/scripted" })
        yield* turn.cancel
        assert.deepStrictEqual(yield* noted, [])
        assert.strictEqual((yield* turn.end).leaf, reply!.entry)
      })
  )

  const crashed = Effect.gen(function* () {
    const session = yield* openNew
    yield* session.main.append({ type: "message", message: { role: "user", content: "go" } })
    const message = {
      role: "assistant",
      content: [call("run")],
      provider: "test",
      model: "scripted",
      stopReason: "toolUse"
    }
    yield* session.main.append({ type: "message", message })
    return session
  })
  const script: Chat.Script = [{ content: "on we go" }]

  test("calls without results are found", { script }, () =>
    Effect.gen(function* () {
      const session = yield* crashed
      const open = yield* Engine.use((it) => it.openCalls(session))
      assert.deepStrictEqual(
        open.map(({ callId, name }) => [callId, name]),
        [["run", "run"]]
      )
    })
  )

  test("calls of a reply that broke off are not open, since it is never sent", { script }, () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const message = { role: "assistant", content: [call("run")], provider: "p", model: "m", stopReason: "aborted" }
      yield* session.main.append({ type: "message", message })
      assert.deepStrictEqual(yield* Engine.use((it) => it.openCalls(session)), [])
    })
  )

  test("unless the person says so they are not run again, but told to have failed", { script }, () =>
    Effect.gen(function* () {
      const session = yield* crashed
      const tools = [toolOf("run", () => Effect.die(new Error("ran")))]
      const end = yield* say(session, "next", { tools })
      assert.deepStrictEqual(linesAt(session, end.leaf).slice(2), [
        "toolResult: interrupted before it finished; it was not run again",
        "user: next",
        "assistant: on we go"
      ])
    })
  )

  test("they are run again where the person says so, and the turn goes on", { script }, () =>
    Effect.gen(function* () {
      const session = yield* crashed
      const turn = yield* start(session, { openCalls: "run", tools: [toolOf("run")] })
      const end = yield* turn.end
      assert.deepStrictEqual(linesAt(session, end.leaf).slice(2), ["toolResult: run done", "assistant: on we go"])
    })
  )

  test("dropping them goes back to before the reply that made them", { script }, () =>
    Effect.gen(function* () {
      const session = yield* crashed
      yield* Engine.use((it) => it.settle(session, "drop"))
      assert.deepStrictEqual(linesAt(session, yield* session.main.leaf), ["user: go"])
    })
  )
})

describe("compaction", () => {
  test(
    "a long conversation is made shorter before the next prompt, and goes on",
    {
      settings: { compaction: { keepRecentTokens: 100 } },
      script: (request) => {
        if (request.system?.includes("summar") === true) return { content: "a summary" }
        const usage = { input: 99_000, output: 100, cacheRead: 0, cacheWrite: 0 }
        return { content: "long ".repeat(200), usage }
      }
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        yield* say(session, "one")
        const end = yield* say(session, "two")
        assert.deepStrictEqual(
          linesAt(session, end.leaf).map((line) => line.slice(0, 12)),
          ["user: one", "assistant: l", "compaction", "user: two", "assistant: l"]
        )
      })
  )

  test(
    "where no summary comes the turn goes on without",
    {
      settings: { compaction: { keepRecentTokens: 100 } },
      script: (request) =>
        request.system?.includes("summar") === true
          ? { fail: new Chat.Overloaded({ detail: "busy", retryAfterMillis: null }) }
          : { content: "long ".repeat(200), usage: { input: 99_000, output: 100, cacheRead: 0, cacheWrite: 0 } }
    },
    () =>
      Effect.gen(function* () {
        const session = yield* openNew
        yield* say(session, "one")
        const turn = yield* start(session, { prompt: "two" })
        const end = yield* turn.end
        assert.strictEqual(end.state, "complete")
        assert.include(
          (yield* eventsOf(turn)).map(({ _tag }) => _tag),
          "CompactionFailed"
        )
        assert.isFalse(session.tree.entries.some(({ type }) => type === "compaction"))
      })
  )
})

describe("requests", () => {
  const Doing = Schema.Literals(["answer", "call", "fail", "cancel", "crash", "go back", "empty", "surrogate"])

  it.effect.prop(
    "whatever happened before, every request is one that every provider accepts",
    [Schema.Array(Doing)],
    ([doings]) => {
      const faults: Array<string> = []
      let doing: (typeof doings)[number] = "answer"
      let calls = 0
      const answer = (request: ChatRequest): Chat.ScriptedAnswer => {
        const model = ModelChoice.capabilities(Chat.scripted, true)
        faults.push(...Sendability.faults(request.messages, { ...model, takesTurns: true }))
        if (request.messages.at(-1)!.role === "assistant") faults.push("ends with a reply")
        switch (doing) {
          case "call":
          case "crash":
            doing = "answer"
            return { content: [call("look", {}, `call-${calls++ % 3}`), call("look", {}, `call-${calls++ % 3}`)] }
          case "fail":
            return { content: "half", fail: new Chat.CutStream({ detail: "cut" }) }
          case "cancel":
            return { content: [{ type: "text", text: "half" }, call("look")], hang: true }
          case "empty":
            return { content: "" }
          default:
            return { content: "whole" }
        }
      }
      return Effect.gen(function* () {
        const session = yield* openNew
        for (const next of doings) {
          doing = next
          const tools = [toolOf("look", next === "crash" ? () => Effect.never : undefined)]
          const turn = yield* start(session, { prompt: next === "surrogate" ? "\ud800" : next, tools })
          if (next === "cancel") yield* heard(turn, "Delta")
          if (next === "crash") yield* heard(turn, "ToolStart")
          if (next === "cancel" || next === "crash") yield* turn.cancel
          yield* turn.end
          if (next === "go back") yield* session.main.branch(session.tree.entries[0]!.id)
          if (next === "crash") {
            const { entries } = session.tree
            const caller = entries.findLast(({ message }) => isObject(message) && message.stopReason === "toolUse")
            yield* session.main.branch(caller!.id)
          }
        }
        assert.deepStrictEqual(faults, [])
      }).pipe(Effect.scoped, Effect.provide(layer({ script: answer })))
    }
  )
})
