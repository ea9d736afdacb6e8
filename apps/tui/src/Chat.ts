/** Runs the chat: keys in, frames out, intents done. The only part of it that touches a terminal or a file. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Approval, Engine } from "@grove/agent"
import {
  type ApprovalMode,
  type ChatModel,
  type Compactor,
  type EntryId,
  PromptHistory,
  type RunningReplies,
  type Session,
  type SessionStore,
  type SessionStoreError,
  type SessionSummary,
  Sessions,
  Symbols,
  type Usage
} from "@grove/core"
import { Clock, Deferred, Effect, FiberSet } from "effect"
import * as Conversation from "./Conversation.ts"
import { explain } from "./Errors.ts"
import * as Files from "./Files.ts"
import * as Lookups from "./Lookups.ts"
import * as Screen from "./screen/Screen.ts"
import type * as Theme from "./screen/Theme.ts"
import * as App from "./state/App.ts"
import type * as Commands from "./state/Commands.ts"
import * as Editor from "./state/Editor.ts"
import * as HistoryView from "./state/HistoryView.ts"
import * as SessionsView from "./state/SessionsView.ts"
import * as TreePane from "./state/TreePane.ts"
import { type DoubleEscape, type Event, type Intent, isInput, type SessionHit } from "./state/View.ts"

/** What the chat begins with. */
export type Beginning =
  | { readonly _tag: "New" }
  | { readonly _tag: "Open"; readonly path: string }
  /** The list of sessions is shown first. */
  | { readonly _tag: "Pick" }

export interface Options {
  readonly home: string
  readonly cwd: string
  readonly begin: Beginning
  /** Where a new session is to be, if the person said so. */
  readonly path: string | undefined
  /** Sent at once. */
  readonly prompt: string | undefined
  readonly model: string | undefined
  readonly approval: ApprovalMode | undefined
  readonly linear: boolean
  /** What requests cost today. */
  readonly price: Usage.Pricer
  /** Where long outputs of commands are kept. */
  readonly outputs: { readonly folder?: string | undefined }
  readonly doubleEscape: DoubleEscape
  readonly theme: Theme.Theme
  readonly colors: Theme.Colors
  readonly unicode: boolean
  /** What the person writes longer texts with. */
  readonly editor: string | undefined
  readonly onOpened: (path: string) => Effect.Effect<void>
  /** Moves a session to the trash. */
  readonly discard: (path: string) => Effect.Effect<void, { readonly message: string }>
  /** Writes a session to a file; answers what the person is to know of it. */
  readonly exportTo: (path: string, words: string) => Effect.Effect<string, { readonly message: string }>
  /** Looks for sessions by what was said in them. */
  readonly search: (query: string) => Effect.Effect<ReadonlyArray<SessionHit>, { readonly message: string }>
  /** Sessions of other programs, for a list of all. */
  readonly foreign: Effect.Effect<ReadonlyArray<SessionSummary.SessionSummary>, { readonly message: string }>
  /** Where a session can be gone on with: where it is, or where another program's was imported to. */
  readonly adopt: (path: string) => Effect.Effect<string, { readonly message: string }>
  /** Opens the web viewer; answers its address. */
  readonly view: (path: string, entry: string | null) => Effect.Effect<string, { readonly message: string }>
}

/** What the chat stands on. */
export type Services =
  | Approval.Approvals
  | ChatModel
  | Compactor
  | Engine
  | PromptHistory
  | RunningReplies
  | Sessions
  | SessionStore

const FRAME_MILLIS = 16
const TICK_MILLIS = 100

const screens: Commands.Screens = {
  tree: TreePane.open,
  sessions: SessionsView.open,
  history: HistoryView.open
}

/** By the terminal itself (OSC 52), which also reaches a clipboard on the other side of ssh. */
const copy = (text: string): void => {
  process.stdout.write(`\x1b]52;c;${Buffer.from(text, "utf8").toString("base64")}\x07`)
}

const editedOutside = (editor: string, text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "grove-"))
  const file = join(folder, "prompt.md")
  try {
    writeFileSync(file, text, { mode: 0o600 })
    spawnSync(editor, [JSON.stringify(file)], { stdio: "inherit", shell: true })
    return readFileSync(file, "utf8").replace(/\n$/, "")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Until the person leaves, or a signal comes; answers the exit code. */
export const run: (options: Options) => Effect.Effect<number, SessionStoreError, Services> = Effect.fn("Chat.run")(
  function* (options: Options) {
    const sessions = yield* Sessions
    const history = yield* PromptHistory
    const over = yield* Deferred.make<number>()
    const fork = yield* FiberSet.makeRuntime()

    const began = yield* Clock.currentTimeMillis
    let app = App.make({
      columns: 80,
      rows: 24,
      now: began,
      symbols: options.unicode ? Symbols.unicode : Symbols.ascii,
      home: options.home,
      price: options.price,
      session: Conversation.unborn(options.cwd, options.begin._tag === "Open"),
      model: null,
      approval: options.approval ?? "default",
      linear: options.linear,
      doubleEscape: options.doubleEscape,
      turn: null,
      background: 0,
      queue: []
    })
    let screen: Screen.Screen | undefined
    let frame: NodeJS.Timeout | undefined
    let urgent: NodeJS.Immediate | undefined
    let painted = 0

    const paint = () => {
      frame = undefined
      painted = Date.now()
      screen?.paint(App.draw(app))
    }
    const paintSoon = () => {
      frame ??= setTimeout(paint, Math.max(0, FRAME_MILLIS - (Date.now() - painted)))
    }
    /** What a person does is seen at once; what comes by itself is seen at most every frame. */
    const paintNow = () => {
      clearTimeout(frame)
      frame = undefined
      clearImmediate(urgent)
      urgent = setImmediate(paint)
    }
    const leave = (code: number) => fork(Deferred.succeed(over, code))

    /** Runs while something on the screen moves by itself; a chat that is left alone sleeps. */
    let ticking: NodeJS.Timeout | undefined
    const tick = () => tell({ _tag: "Tick", now: Date.now() })

    const tell = (event: Event): void => {
      const step = App.update({ ...app, world: { ...app.world, now: Date.now() } }, event, screens)
      app = step.app
      if (App.isBusy(app)) ticking ??= setInterval(tick, TICK_MILLIS)
      else {
        clearInterval(ticking)
        ticking = undefined
      }
      for (const intent of step.intents) {
        fork(Effect.catchCause(perform(intent), (cause) => Effect.sync(() => leaveBroken(cause))))
      }
      if (isInput(event)) paintNow()
      else paintSoon()
    }
    const say = (kind: "info" | "error", text: string) => tell({ _tag: "Told", notice: { kind, text } })

    const remembered = (prompt: string, session: Session | null, entry: string | null) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        history.add({ prompt, at, cwd: options.cwd, session: session?.ref.id ?? null, entry, author: "user" })
      ).pipe(
        Effect.catch((error) =>
          Effect.sync(() => say("error", `this prompt is not in the history: ${explain(error.cause)}`))
        )
      )

    const conversation = yield* Conversation.make(
      {
        cwd: options.cwd,
        model: options.model,
        approval: options.approval,
        linear: options.linear,
        price: options.price,
        outputs: options.outputs,
        path: options.path,
        onOpened: options.onOpened,
        onPrompt: remembered
      },
      tell
    )

    const lookups = yield* Lookups.make(options, conversation.current, tell)

    const openSession = Effect.fnUntraced(function* (path: string, at: string | undefined, tree: boolean) {
      yield* conversation.open(yield* options.adopt(path))
      if (at !== undefined) yield* conversation.move(at as EntryId, undefined)
      if (tree) tell({ _tag: "TreeAsked" })
    })

    const outside = Effect.fnUntraced(function* (text: string) {
      const { editor } = options
      if (editor === undefined) return say("error", "set EDITOR or VISUAL to the program you write with")
      screen?.pause()
      const written = yield* Effect.result(
        Effect.try({ try: () => editedOutside(editor, text), catch: (cause) => cause })
      )
      screen?.resume()
      if (written._tag === "Failure") return say("error", `${editor} could not be run: ${explain(written.failure)}`)
      tell({ _tag: "Filled", prompt: { text: written.success, images: [] } })
    })

    const suspend = Effect.sync(() => {
      screen?.pause()
      process.once("SIGCONT", () => {
        screen?.resume()
        const size = screen?.size()
        if (size !== undefined) tell({ _tag: "Resize", ...size })
      })
      // The whole group, so that the shell that started it, npm for one, stops with it.
      process.kill(0, "SIGTSTP")
    })

    const withPath = <E>(use: (path: string) => Effect.Effect<void, E>, other?: string) =>
      Effect.suspend(() => {
        const path = other ?? conversation.current()?.ref.path
        return path === undefined
          ? Effect.sync(() => say("error", "say something first; then there is a session"))
          : use(path)
      })

    const doing = (intent: Intent): Effect.Effect<unknown, unknown> => {
      switch (intent._tag) {
        case "Send":
          return conversation.send(intent.prompt)
        case "Cancel":
          return conversation.cancel
        case "Unqueue":
          return conversation.unqueue
        case "Move":
          return conversation.move(intent.to, intent.summary)
        case "Fork":
          return conversation.fork(intent.at, intent.prompt, intent.name)
        case "Compact":
          return conversation.compact(intent.instructions)
        case "Name":
          return conversation.name(intent.name)
        case "Label":
          return conversation.label(intent.target, intent.label)
        case "ListModels":
          return conversation.listModels
        case "ChooseModel":
          return conversation.chooseModel(intent.ref)
        case "ChooseApproval":
          return conversation.chooseApproval(intent.mode)
        case "Approve":
          return conversation.approve(intent.callId, intent.answer)
        case "Settle":
          return conversation.settle(intent.how, intent.prompt)
        case "Sample":
          return conversation.sample(intent.count)
        case "Export":
          return withPath((path) => Effect.map(options.exportTo(path, intent.words), (said) => say("info", said)))
        case "Copy":
          return Effect.sync(() => {
            copy(intent.text)
            say("info", "copied")
          })
        case "EditOutside":
          return outside(intent.text)
        case "OpenViewer":
          return withPath(
            (path) => Effect.map(options.view(path, intent.entry), (url) => say("info", `open at ${url}`)),
            intent.path
          )
        case "ListFiles":
          return Effect.map(
            Effect.promise(() => Files.list(options.cwd)),
            (paths) => tell({ _tag: "Files", paths })
          )
        case "ListSessions":
          return lookups.sessions(intent.all)
        case "DetailSessions":
          return lookups.details(intent.sessions)
        case "SearchSessions":
          return lookups.sessionsSaying(intent.query)
        case "OpenSession":
          return openSession(intent.path, intent.at, intent.tree === true)
        case "FindForks":
          return lookups.forks
        case "NewSession":
          return conversation.fresh
        case "RenameSession":
          return Effect.scoped(Effect.flatMap(sessions.open(intent.path), (session) => session.name(intent.name)))
        case "DeleteSession":
          return conversation.current()?.ref.path === intent.path
            ? Effect.sync(() => say("error", "this session is open; leave it first"))
            : options.discard(intent.path)
        case "SearchPrompts":
          return lookups.prompts(intent.query, intent.scope)
        case "DeletePrompt":
          return history.remove([intent.id])
        case "ToggleLinear":
          return conversation.toggleLinear
        case "Edit":
          return conversation.edit(intent.edit, app.world.symbols)
        case "Continue":
          return Effect.sync(() => setImmediate(() => tell({ _tag: "Continued" })))
        case "Redraw":
          return Effect.sync(() => {
            screen?.forget()
            paintSoon()
          })
        case "Suspend":
          return suspend
        case "Quit":
          return Effect.asVoid(Deferred.succeed(over, 0))
      }
    }
    /** Expected trouble is told on the screen; the chat goes on. */
    const perform = (intent: Intent): Effect.Effect<void> =>
      Effect.catch(Effect.asVoid(doing(intent)), (error) => Effect.sync(() => say("error", explain(error))))

    let broken: unknown
    const leaveBroken = (cause: unknown) => {
      broken = cause
      leave(1)
    }

    // ------------------------------------------------------------------------------------------------- the terminal

    const signals = { SIGTERM: 143, SIGHUP: 129, SIGINT: 130 } as const
    const handlers = Object.entries(signals).map(([name, code]) => [name, () => leave(code)] as const)
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        screen = Screen.open({
          input: process.stdin,
          output: process.stdout,
          theme: options.theme,
          colors: options.colors,
          unicode: options.unicode,
          onInput: tell,
          onResize: (columns, rows) => tell({ _tag: "Resize", columns, rows })
        })
        for (const [name, handler] of handlers) process.on(name, handler)
        process.on("uncaughtException", leaveBroken)
        process.on("unhandledRejection", leaveBroken)
        const size = screen.size()
        app = App.update(app, { _tag: "Resize", ...size }, screens).app
        paint()
      }),
      () =>
        Effect.sync(() => {
          clearTimeout(frame)
          clearImmediate(urgent)
          screen?.close()
          for (const [name, handler] of handlers) process.off(name, handler)
          process.off("uncaughtException", leaveBroken)
          process.off("unhandledRejection", leaveBroken)
        })
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(ticking)))

    // ---------------------------------------------------------------------------------------------------- beginning

    const begin: Effect.Effect<void, SessionStoreError> = Effect.gen(function* () {
      if (options.begin._tag === "Open")
        yield* Effect.catchTag(conversation.open(options.begin.path), "SessionStoreError", Effect.fail)
      else yield* conversation.showModel
      yield* conversation.showApproval
      if (options.begin._tag === "Pick") {
        const { open, intents = [] } = SessionsView.open(app.world)
        if (open !== undefined) app = { ...app, views: [open] }
        for (const intent of intents) yield* perform(intent)
      }
      fork(lookups.recalled)
      if (options.prompt !== undefined) yield* conversation.send({ text: options.prompt, images: [] })
    })
    yield* begin
    const code = yield* Deferred.await(over)
    // Whatever made the person leave, what they had typed is found again with Up.
    const unsent = [...app.world.queue.map(({ text }) => text), Editor.textOf(app.chat.editor)]
    for (const text of unsent) if (text.trim() !== "") yield* remembered(text, conversation.current(), null)
    yield* conversation.close
    if (broken !== undefined) return yield* Effect.die(broken)
    return code
  },
  Effect.scoped
)
