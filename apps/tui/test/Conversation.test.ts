/** What intents about a session do, over memory and with a model that plays a part. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Approval, ChatSummarizer, Engine } from "@grove/agent"
import {
  Chat,
  ChatModel,
  Compactor,
  Consents,
  ContextPolicy,
  EntryIds,
  RunningReplies,
  SessionStore,
  Sessions
} from "@grove/core"
import { Deferred, Effect, Fiber, Layer } from "effect"
import * as Conversation from "../src/Conversation.ts"
import type { Event } from "../src/state/View.ts"

const layer = (script: Chat.Script) =>
  Engine.layer({ model: Chat.scripted.ref }).pipe(
    Layer.provideMerge(Layer.mergeAll(Sessions.layer, Compactor.layer, Approval.Approvals.layer())),
    Layer.provideMerge(
      Layer.mergeAll(
        SessionStore.layerMemory,
        EntryIds.layerSequential,
        ContextPolicy.layer,
        Consents.layerMemory,
        RunningReplies.layerMemory,
        ChatSummarizer.layer()
      )
    ),
    Layer.provideMerge(ChatModel.layerScripted(script))
  )

const folder = (files: { readonly [name: string]: string } = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const made = mkdtempSync(join(tmpdir(), "grove-tui-"))
      mkdirSync(join(made, ".git"))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text)
      return made
    }),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )

/** A conversation, what it told, and a way to wait for something to be told. */
const conversation = Effect.fnUntraced(function* (cwd: string, change: Partial<Conversation.Options> = {}) {
  const events: Array<Event> = []
  const waiting = new Set<() => void>()
  const made = yield* Conversation.make(
    {
      cwd,
      model: undefined,
      approval: undefined,
      linear: false,
      price: () => undefined,
      path: undefined,
      onOpened: () => Effect.void,
      onPrompt: () => Effect.void,
      ...change
    },
    (event) => {
      events.push(event)
      for (const check of waiting) check()
    }
  )
  const until = (isThere: (event: Event) => boolean) =>
    Effect.callback<void>((resume) => {
      const check = () => events.some(isThere) && resume(Effect.void)
      waiting.add(check)
      check()
      return Effect.sync(() => waiting.delete(check))
    })
  return { ...made, events, until }
})

const isOver = (event: Event) => event._tag === "TurnChanged" && event.turn === null

it.live("the model is told where it works, with which tools, and what the project says", () => {
  const asked: Array<Chat.ChatRequest> = []
  const script: Chat.Script = (request) => {
    asked.push(request)
    return { content: "yes" }
  }
  return Effect.gen(function* () {
    const cwd = yield* folder({ "AGENTS.md": "Tabs, never spaces." })
    const { send, until } = yield* conversation(cwd)
    yield* send({ text: "hello", images: [] })
    yield* until(isOver)
    assert.include(asked[0]?.system, `Working directory: ${cwd}`)
    assert.include(asked[0]?.system, "Tabs, never spaces.")
    assert.includeMembers(
      (asked[0]?.tools ?? []).map(({ name }) => name),
      ["read", "write", "edit", "bash", "task"]
    )
  }).pipe(Effect.scoped, Effect.provide(layer(script)))
})

it.live("whoever leaves while a session is being made leaves no empty draft behind", () =>
  Effect.gen(function* () {
    const cwd = yield* folder()
    const store = yield* SessionStore
    const isMade = yield* Deferred.make<void>()
    const mayOpen = yield* Deferred.make<void>()
    const slow = SessionStore.of({
      ...store,
      open: (ref) =>
        Deferred.succeed(isMade, undefined).pipe(
          Effect.andThen(Deferred.await(mayOpen)),
          Effect.andThen(store.open(ref))
        )
    })
    const drafts = Effect.map(store.list(), (list) => list.length)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { send, close } = yield* conversation(cwd)
        const sending = yield* Effect.forkChild(send({ text: "hello", images: [] }))
        yield* Deferred.await(isMade)
        assert.strictEqual(yield* drafts, 1)
        const leaving = yield* Effect.forkChild(Effect.andThen(close, Fiber.interrupt(sending)))
        yield* Effect.yieldNow
        yield* Deferred.succeed(mayOpen, undefined)
        yield* Fiber.join(leaving)
      }).pipe(Effect.provide(Layer.fresh(Layer.provide(Sessions.layer, Layer.succeed(SessionStore, slow)))))
    )
    assert.strictEqual(yield* drafts, 0)
  }).pipe(Effect.scoped, Effect.provide(layer([{ content: "yes", hang: true }])))
)

it.live.each([
  [{ approvalMode: "yolo" }, "elsewhere this session ran with approval yolo; /approve yolo allows that here"],
  [
    { approvalTools: ["bash", "write"] },
    "elsewhere bash, write ran unasked in this session; answer a when it asks to allow that here"
  ]
] as const)("what a session's file allows is offered, and counts for nothing until it is chosen", ([data, offer]) =>
  Effect.gen(function* () {
    const cwd = yield* folder()
    const { path } = yield* Sessions.use((sessions) => sessions.create({ cwd }))
    const { open, events, chooseApproval, current } = yield* conversation(cwd)
    yield* Effect.scoped(
      Effect.flatMap(
        Sessions.use((sessions) => sessions.open(path)),
        (session) => session.main.append({ type: "custom", customType: "grove.config", data })
      )
    )
    yield* open(path)
    const told = events.flatMap((event) => (event._tag === "Told" ? [event.notice.text] : []))
    assert.deepStrictEqual(told, [offer])
    assert.deepInclude(events, { _tag: "ApprovalChanged", approval: "default" })
    yield* chooseApproval("yolo")
    const config = current()!.tree.facts.config
    const consents = yield* Approval.Approvals
    assert.strictEqual((yield* consents.settings(current()!.ref, config)).allowed.mode, "yolo")
  }).pipe(Effect.scoped, Effect.provide(layer([])))
)
