/** The session on the screen and the replies being made in it: what intents about them do, told to the screen by events. */
import { Approval, Engine, promptOf, Tools, type Turn, type TurnEnd, type TurnEvent, Workplace } from "@grove/agent"
import {
  type ApprovalMode,
  ChatModel,
  Compactor,
  type Consent,
  ContextSize,
  type Entry,
  type EntryId,
  Facts,
  isObject,
  type Json,
  type Session,
  Sessions,
  SessionTree,
  SummaryFailed,
  type Symbols,
  Tokens,
  TreeUsage,
  type Usage
} from "@grove/core"
import { Clock, Deferred, Effect, Exit, Scope, Semaphore, Stream } from "effect"
import * as Editing from "./Editing.ts"
import { explain } from "./Errors.ts"
import { Ledger } from "./Ledger.ts"
import type { ApprovalAsked, Edit, Event, Prompt, SessionState, TurnState } from "./state/View.ts"

export interface Options {
  readonly cwd: string
  readonly model: string | undefined
  readonly approval: ApprovalMode | undefined
  /** One line of conversation: edits and branches are ignored, and the newest entry is gone on from. */
  readonly linear: boolean
  /** What requests cost today. */
  readonly price: Usage.Pricer
  /** Where long outputs of commands are kept. */
  readonly outputs?: { readonly folder?: string | undefined }
  /** Where a new session is to be, if the person said so. */
  readonly path: string | undefined
  /** Told of every session that is opened, for the breadcrumb of the terminal. */
  readonly onOpened: (path: string) => Effect.Effect<void>
  /** Told of every prompt that was sent, for the history. */
  readonly onPrompt: (prompt: string, session: Session | null, entry: string | null) => Effect.Effect<void>
}

/** Before anything was said there is no session yet, and nothing is written. */
export const unborn = (cwd: string, isOpening = false): SessionState => ({
  ref: { id: "", path: "" },
  cwd,
  name: null,
  tree: SessionTree.from([]),
  leaf: null,
  readOnly: false,
  usage: TreeUsage.sums(SessionTree.from([]), null),
  tokens: 0,
  errors: new Set(),
  isOpening
})

const contentOf = ({ text, images }: Prompt) =>
  images.length === 0
    ? text
    : [...(text === "" ? [] : [{ type: "text" as const, text }]), ...(images as ReadonlyArray<never>)]

const estimate = (entries: ReadonlyArray<Entry.Entry>): number =>
  entries.reduce((sum, { message }) => sum + (isObject(message) ? Tokens.estimate(message) : 0), 0)

type Told = (event: Event) => void

/** What a session's file records and nobody chose here counts for nothing, and can be chosen. */
const offerOf = (allowed: Consent, { mode, tools }: Consent): string => {
  if (mode !== allowed.mode)
    return `elsewhere this session ran with approval ${mode}; /approve ${mode} allows that here`
  const asking = tools.filter((tool) => !allowed.tools.includes(tool)).join(", ")
  return `elsewhere ${asking} ran unasked in this session; answer a when it asks to allow that here`
}

const DROPPED = "dropped; you stand before that reply, and the tree still has it"

/** A reply in the making, as its events tell it. */
const grown = (turn: TurnState, event: TurnEvent): TurnState => {
  switch (event._tag) {
    case "Compacting":
      return { ...turn, status: "making the context shorter" }
    case "Compacted":
    case "CompactionFailed":
      return { ...turn, status: null }
    case "Started":
      return { ...turn, entry: event.entry, parentId: event.parentId, content: [], running: new Set(), status: null }
    case "Delta": {
      const field = event.kind
      const last = turn.content.at(-1)
      const before = last?.type === field ? String(last[field]) : undefined
      const block: Json = { type: field, [field]: (before ?? "") + event.text }
      return {
        ...turn,
        status: null,
        content: [...(before === undefined ? turn.content : turn.content.slice(0, -1)), block]
      }
    }
    case "Retry":
      return { ...turn, status: `trying again in ${Math.ceil(event.delayMillis / 1000)} s: ${event.because}` }
    case "ToolStart":
      return { ...turn, running: new Set([...turn.running, event.callId]) }
    case "ToolEnd":
      return { ...turn, running: new Set([...turn.running].filter((id) => id !== event.callId)) }
    default:
      return turn
  }
}

export const make = Effect.fnUntraced(function* (options: Options, tell: Told) {
  const engine = yield* Engine
  const sessions = yield* Sessions
  const models = yield* ChatModel
  const compactor = yield* Compactor
  const approvals = yield* Approval.Approvals
  const outer = yield* Effect.scope

  let session: Session | null = null
  let scope: Scope.Closeable | null = null
  let shown = unborn(options.cwd)
  let chosenModel = options.model
  let approval = options.approval
  let linear = options.linear
  let turn: { readonly cancel: Effect.Effect<unknown>; state: TurnState } | null = null
  let isStarting = false
  let background = 0
  let queue: ReadonlyArray<Prompt> = []
  /** One session is opened or closed at a time, and whoever leaves waits for it: a draft is never left half made. */
  const door = yield* Semaphore.make(1)
  const waiting = new Map<string, (answer: "once" | "always" | "no") => void>()

  const say = (kind: "info" | "error", text: string) => tell({ _tag: "Told", notice: { kind, text } })
  const requeue = (prompts: ReadonlyArray<Prompt>) => {
    queue = prompts
    tell({ _tag: "QueueChanged", queue })
  }

  // --------------------------------------------------------------------------------------------------- sessions

  const ledgers = new WeakMap<Session, Ledger>()
  const ledgerOf = (opened: Session): Ledger => {
    const known = ledgers.get(opened) ?? new Ledger(opened.tree, options.price)
    ledgers.set(opened, known)
    if (!known.isWhole) known.read()
    return known
  }
  /** Reads what a long session comes to after it is on the screen, a slice at a time. */
  const readUp = Effect.fnUntraced(function* (opened: Session) {
    if (ledgerOf(opened).isWhole) return
    while (opened === session && !ledgerOf(opened).isWhole) yield* Effect.sleep(0)
    yield* changed(opened, false)
  })

  /** With `added`, those before and an estimate of what was added: exact is what counts them all. */
  const tokensAt = (tree: SessionTree, leaf: EntryId | null, added: ReadonlyArray<Entry.Entry> | undefined): number =>
    added === undefined || shown.tokens === null ? ContextSize.at(tree, leaf).tokens : shown.tokens + estimate(added)

  const stateOf = Effect.fnUntraced(function* (opened: Session, added?: ReadonlyArray<Entry.Entry>) {
    const { ref, header } = opened
    const ledger = ledgerOf(opened)
    const tree = linear ? opened.tree.linear() : opened.tree
    const leaf = linear ? tree.leaf : yield* opened.main.leaf
    const state: SessionState = {
      ref,
      cwd: header?.cwd ?? options.cwd,
      name: Facts.nameOf(tree.facts, null, header),
      tree,
      leaf,
      readOnly: false,
      usage: ledger.costsAt(leaf),
      tokens: ledger.isWhole ? tokensAt(tree, leaf, added) : null,
      errors: ledger.errors
    }
    return state
  })

  const changed = Effect.fnUntraced(function* (opened: Session, foreign: boolean, added?: ReadonlyArray<Entry.Entry>) {
    if (opened !== session) return
    shown = yield* stateOf(opened, added)
    tell({ _tag: "Changed", session: shown, foreign })
  })

  const showModel = Effect.gen(function* () {
    const info = yield* engine.model(session, chosenModel === undefined ? {} : { model: chosenModel })
    tell({ _tag: "ModelChosen", model: info })
  }).pipe(Effect.catch((error) => Effect.sync(() => say("error", explain(error)))))

  const showApproval = Effect.gen(function* () {
    if (session === null || approval !== undefined) {
      return tell({ _tag: "ApprovalChanged", approval: approval ?? "default" })
    }
    const { allowed, offered } = yield* approvals.settings(session.ref, session.tree.facts.config)
    tell({ _tag: "ApprovalChanged", approval: allowed.mode })
    if (offered !== null) say("info", offerOf(allowed, offered))
  })

  const close = Effect.gen(function* () {
    if (scope === null || session === null) return
    const leaving = scope
    const unsent = queue
    session = null
    scope = null
    // Closing the scope ends its replies; nobody is left to tell that they ended.
    yield* Scope.close(leaving, Exit.void)
    turn = null
    background = 0
    requeue([])
    for (const prompt of unsent) tell({ _tag: "Returned", prompt })
  })

  /** Whether the person has to say first what becomes of calls that broke off; they are asked. */
  const askedAboutOpenCalls = Effect.fnUntraced(function* (prompt: Prompt | null) {
    if (session === null) return false
    const calls = yield* linear ? engine.openCalls(session, shown.leaf) : engine.openCalls(session)
    if (calls.length > 0) tell({ _tag: "CallsOpen", calls, prompt })
    return calls.length > 0
  })

  /** Opens another session in place of the one on the screen; where it cannot be opened, that one stays. */
  const open = Effect.fnUntraced(function* (path: string, isFresh = false) {
    const next = yield* Scope.fork(outer)
    const opened = yield* sessions.open(path).pipe(
      Effect.provideService(Scope.Scope, next),
      Effect.tapError(() => Scope.close(next, Exit.void))
    )
    // Before the session is closed and after its replies have ended: a draft that got none is not kept.
    if (isFresh) yield* Scope.addFinalizer(next, Effect.ignore(opened.discardDraft))
    yield* close
    session = opened
    scope = next
    yield* opened.events.pipe(
      Stream.runForEach((event) => {
        if (event._tag === "ChangesLost") return Effect.sync(() => say("error", explain(event.error)))
        const isForeign = event._tag === "ForeignEntries"
        if (isForeign && opened === session) say("info", "another program wrote to this session; /tree shows what")
        return changed(
          opened,
          isForeign,
          event._tag === "Appended" && event.moved !== undefined ? event.entries : undefined
        )
      }),
      Effect.forkIn(next)
    )
    if (!isFresh) yield* engine.recover(opened)
    shown = yield* stateOf(opened)
    tell(isFresh ? { _tag: "Changed", session: shown, foreign: false } : { _tag: "Opened", session: shown })
    yield* Effect.forkIn(readUp(opened), next)
    yield* options.onOpened(opened.ref.path)
    yield* showModel
    yield* showApproval
    yield* askedAboutOpenCalls(null)
    return opened
  })

  /** The session to write to; made at the first prompt. */
  const ensured = Effect.gen(function* () {
    if (session !== null) return session
    const { path } = options
    const place = path === undefined ? { draft: true } : { path }
    const ref = yield* sessions.create({ cwd: options.cwd, ...place })
    return yield* open(ref.path, true)
  }).pipe(Effect.uninterruptible, door.withPermit)

  // ------------------------------------------------------------------------------------------------------ turns

  const approve = (asked: ApprovalAsked): Effect.Effect<boolean> =>
    Effect.callback<"once" | "always" | "no">((resume) => {
      waiting.set(asked.callId, (answer) => resume(Effect.succeed(answer)))
      tell({ _tag: "ApprovalAsked", asked })
      return Effect.sync(() => {
        waiting.delete(asked.callId)
        tell({ _tag: "ApprovalWithdrawn", callId: asked.callId })
      })
    }).pipe(
      Effect.tap((answer) => (answer === "always" ? remember(asked.tool.definition.name) : Effect.void)),
      Effect.map((answer) => answer !== "no")
    )

  const consent = Effect.fnUntraced(function* (mode: ApprovalMode, tools: ReadonlyArray<string>) {
    if (session === null) return
    yield* approvals.choose(session.ref, { mode, tools })
    const data = { approvalMode: mode, approvalTools: tools }
    yield* session.main.append({ type: "custom", customType: "grove.config", data })
  })

  const remember = (tool: string) =>
    Effect.gen(function* () {
      if (session === null) return
      const { allowed } = yield* approvals.settings(session.ref, session.tree.facts.config)
      yield* consent(allowed.mode, [...new Set([...allowed.tools, tool])])
    }).pipe(Effect.catch((error) => Effect.sync(() => say("error", explain(error)))))

  const replyOptions = (opened: Session) =>
    Workplace.options(
      opened,
      {
        cwd: options.cwd,
        approve,
        ...(chosenModel === undefined ? {} : { model: chosenModel }),
        ...(approval === undefined ? {} : { approval }),
        ...(linear ? { linear } : {})
      },
      options.outputs
    ).pipe(
      Effect.provideService(Engine, engine),
      Effect.provideService(Sessions, sessions),
      Effect.provideService(Approval.Approvals, approvals)
    )

  const begun = (status: string | null): Effect.Effect<TurnState> =>
    Effect.map(Clock.currentTimeMillis, (started) => ({
      started,
      entry: null,
      parentId: null,
      content: [],
      running: new Set(),
      status
    }))

  /** What was queued and is not sent now. */
  const giveBack = Effect.sync(() => {
    const left = queue
    requeue([])
    for (const prompt of left) tell({ _tag: "Returned", prompt })
  })

  const ended = Effect.fnUntraced(function* (end: TurnEnd, prompt: Prompt | null) {
    turn = null
    tell({ _tag: "TurnChanged", turn: null })
    if (end.error !== null) say("error", explain(end.error))
    if (end.prompt === null && prompt !== null) tell({ _tag: "Returned", prompt })
    if (session !== null) yield* changed(session, false)
    yield* showModel
    yield* end.state === "complete" ? sendNext : giveBack
  })

  const follow = Effect.fnUntraced(function* (started: Turn, prompt: Prompt | null) {
    const mine = { cancel: started.cancel, state: yield* begun(null) }
    turn = mine
    tell({ _tag: "TurnChanged", turn: mine.state })
    yield* Stream.runForEach(started.events, (event) => {
      if (event._tag === "End") return ended(event.end, prompt)
      return Effect.sync(() => {
        if (event._tag === "CompactionFailed") say("error", event.message)
        mine.state = grown(mine.state, event)
        if (turn === mine) tell({ _tag: "TurnChanged", turn: mine.state })
      })
    })
  })

  const goToShown = (opened: Session) =>
    linear && shown.leaf !== null ? Effect.ignore(opened.main.branch(shown.leaf)) : Effect.void

  /** Without a prompt, what is there already is answered. */
  const begin = Effect.fnUntraced(function* (prompt: Prompt | null, openCalls: "run" | "fail") {
    isStarting = true
    const opened = yield* ensured
    yield* goToShown(opened)
    const said = prompt === null ? {} : { prompt: contentOf(prompt) }
    const note = (entry: string | null) =>
      prompt === null ? Effect.void : options.onPrompt(prompt.text, opened, entry)
    const started = yield* Effect.provideService(
      engine.start(opened, { ...(yield* replyOptions(opened)), ...said, openCalls }),
      Scope.Scope,
      scope!
    ).pipe(Effect.tapError(() => note(null)))
    // Whoever leaves now still finds the prompt in the history.
    if (prompt !== null) yield* Effect.forkIn(Effect.uninterruptible(Effect.flatMap(promptOf(started), note)), scope!)
    isStarting = false
    yield* Effect.forkIn(follow(started, prompt), scope!)
  })

  const commandIn = ({ text, images }: Prompt) => (images.length === 0 ? Tools.commandIn(text) : undefined)

  /** What cannot be sent goes back to the editor: nothing typed is lost. */
  const kept = <E, R>(prompt: Prompt | null, effect: Effect.Effect<void, E, R>) =>
    Effect.catch(effect, (error) =>
      Effect.sync(() => {
        isStarting = false
        say("error", explain(error))
        if (prompt !== null) tell({ _tag: "Returned", prompt })
      })
    )

  const start = (prompt: Prompt | null, openCalls: "run" | "fail" = "fail"): Effect.Effect<void> => {
    const command = prompt === null ? undefined : commandIn(prompt)
    return kept(prompt, command === undefined ? begin(prompt, openCalls) : execute(prompt!, command))
  }

  /** What the person runs is kept, whatever came of it, also when they leave before it has ended. */
  const execute = Effect.fnUntraced(function* (prompt: Prompt, command: Tools.PersonalCommand) {
    isStarting = true
    const opened = yield* ensured
    yield* goToShown(opened)
    yield* options.onPrompt(prompt.text, opened, null)
    const stop = yield* Deferred.make<void>()
    const cancel = Deferred.succeed(stop, undefined)
    const mine = { cancel, state: yield* begun(`running ${command.command}`) }
    turn = mine
    isStarting = false
    tell({ _tag: "TurnChanged", turn: mine.state })
    const over = Effect.sync(() => {
      if (turn !== mine) return
      turn = null
      tell({ _tag: "TurnChanged", turn: null })
    })
    const ran = Effect.gen(function* () {
      const { cwd, outputs } = options
      const message = yield* Tools.execute(command, { cwd }, { ...outputs, stop: Deferred.await(stop) })
      yield* Effect.ensuring(opened.main.append({ type: "message", message }), over)
      yield* changed(opened, false)
      if (opened === session) yield* message.cancelled ? giveBack : sendNext
    })
    yield* Effect.forkIn(Effect.uninterruptible(kept(prompt, ran)), scope!)
    yield* Scope.addFinalizer(scope!, cancel)
  })

  const sendNext: Effect.Effect<void> = Effect.suspend(() => {
    const [next, ...rest] = queue
    if (next === undefined) return Effect.void
    requeue(rest)
    return start(next)
  })

  const send = Effect.fnUntraced(function* (prompt: Prompt) {
    if (turn !== null || isStarting) return requeue([...queue, prompt])
    if (!(yield* askedAboutOpenCalls(prompt))) yield* start(prompt)
  })

  const settle = Effect.fnUntraced(function* (how: "run" | "fail" | "drop", prompt: Prompt | null) {
    if (session === null) return
    if (how === "run" && prompt !== null && commandIn(prompt) !== undefined) {
      requeue([prompt])
      return yield* start(null, "run")
    }
    if (how === "run") return yield* start(prompt, "run")
    yield* goToShown(session)
    yield* engine.settle(session, how)
    yield* changed(session, false)
    if (prompt !== null) return yield* start(prompt)
    say("info", how === "fail" ? "marked as failed; the model hears of it with your next prompt" : DROPPED)
  })

  const inBackground = (started: Turn) =>
    Effect.gen(function* () {
      background++
      tell({ _tag: "BackgroundChanged", count: background })
      const end = yield* started.end
      background--
      tell({ _tag: "BackgroundChanged", count: background })
      if (end.error !== null) say("error", explain(end.error))
      if (session !== null) yield* changed(session, false)
    })

  /** Who writes a summary in a session, and how much they take. */
  const summarizedBy = (of: Session) =>
    Effect.map(engine.model(of, chosenModel === undefined ? {} : { model: chosenModel }), (info) => ({
      window: info.window ?? undefined,
      maxOutput: info.maxOutput ?? undefined,
      settings: { model: info.ref }
    }))

  return {
    open: (path: string) => door.withPermit(open(path)),
    send,
    settle: (how: "run" | "fail" | "drop", prompt: Prompt | null) =>
      Effect.tapError(settle(how, prompt), () =>
        Effect.sync(() => prompt !== null && tell({ _tag: "Returned", prompt }))
      ),
    close: door.withPermit(close),
    showModel,
    showApproval,
    current: () => session,
    state: () => shown,
    fresh: Effect.gen(function* () {
      yield* door.withPermit(close)
      shown = unborn(options.cwd)
      requeue([])
      tell({ _tag: "Opened", session: shown })
      yield* showModel
    }),
    cancel: Effect.suspend(() => (turn === null ? Effect.void : turn.cancel)),
    unqueue: Effect.sync(() => {
      const last = queue.at(-1)
      if (last === undefined) return
      requeue(queue.slice(0, -1))
      tell({ _tag: "Returned", prompt: last })
    }),
    move: Effect.fnUntraced(function* (to: EntryId | null, summary: { readonly instructions?: string } | undefined) {
      if (session === null) return
      if (summary === undefined) {
        yield* to === null ? session.main.resetLeaf : session.main.branch(to)
      } else {
        say("info", "summarising the branch that is left")
        const by = yield* summarizedBy(session)
        yield* compactor.summarizeBranch(session, session.main, to, { ...by, instructions: summary.instructions })
        say("info", "the branch that was left is summarised here")
      }
      yield* changed(session, false)
      yield* showModel
    }),
    edit: Effect.fnUntraced(function* (edit: Edit, symbols: Symbols.Symbols) {
      if (session === null) return say("error", "say something first; then there is something to edit")
      const edited = session
      if (edit.op === "summarize" || edit.op === "mergeSummary") say("info", "summarising")
      /** Summaries are written by whoever answers here. */
      const summarizeRows: typeof compactor.summarizeRows = (of, rows) =>
        summarizedBy(of).pipe(
          Effect.mapError((error) => new SummaryFailed({ detail: explain(error) })),
          Effect.flatMap((by) => compactor.summarizeRows(of, rows, by))
        )
      const words = yield* Effect.provideService(
        Editing.edit(edited, edit, symbols),
        Compactor,
        Compactor.of({ ...compactor, summarizeRows })
      )
      yield* changed(edited, false)
      say("info", words)
    }),
    fork: Effect.fnUntraced(function* (at: EntryId | null, prompt: Prompt | null, name: string | undefined) {
      if (session === null) return
      const source = session.ref.path
      const ref =
        at === null
          ? yield* sessions.create({ cwd: options.cwd, parentSession: source })
          : yield* sessions.fork(source, { at, cwd: options.cwd })
      const forked = yield* door.withPermit(open(ref.path))
      if (name !== undefined && name !== "") yield* forked.name(name)
      if (prompt !== null) tell({ _tag: "Filled", prompt })
      say("info", `forked; the session it came from stays as it is`)
    }),
    compact: Effect.fnUntraced(function* (instructions: string) {
      if (session === null) return say("info", "nothing to compact yet")
      say("info", "summarising the older part")
      const outcome = yield* engine.compact(session, {
        ...(chosenModel === undefined ? {} : { model: chosenModel }),
        ...(instructions === "" ? {} : { instructions })
      })
      yield* changed(session, false)
      say("info", outcome.compacted ? "compacted" : "nothing to compact yet")
    }),
    name: Effect.fnUntraced(function* (name: string) {
      if (session === null) return say("error", "say something first; then there is a session to name")
      yield* session.name(name)
      say("info", name === "" ? "the name is gone" : "named")
    }),
    label: Effect.fnUntraced(function* (target: EntryId, label: string | null) {
      if (session === null) return
      yield* session.label(target, label)
      say("info", label === null ? "the label is gone" : "labelled")
    }),
    listModels: Effect.map(models.list, (listings) => tell({ _tag: "Models", listings })),
    chooseModel: Effect.fnUntraced(function* (ref: string) {
      const info = yield* models.find(ref)
      chosenModel = info.ref
      tell({ _tag: "ModelChosen", model: info })
      say("info", `${info.ref} answers from now on`)
    }),
    chooseApproval: Effect.fnUntraced(function* (mode: ApprovalMode) {
      approval = mode
      tell({ _tag: "ApprovalChanged", approval: mode })
      if (session !== null) {
        const { allowed } = yield* approvals.settings(session.ref, session.tree.facts.config)
        yield* consent(mode, allowed.tools)
      }
      say("info", `approval: ${mode}`)
    }),
    toggleLinear: Effect.gen(function* () {
      linear = !linear
      tell({ _tag: "LinearChanged", linear })
      if (session !== null) yield* changed(session, false)
      say("info", linear ? "linear: the newest entry, without branches and edits" : "branches and edits are shown")
    }),
    approve: (callId: string, answer: "once" | "always" | "no") => Effect.sync(() => waiting.get(callId)?.(answer)),
    sample: Effect.fnUntraced(function* (count: number) {
      if (session === null || scope === null) return say("error", "say something first; then it can be answered again")
      const { tree } = session
      const rows = tree.pathRows(tree.rowOf(yield* session.main.leaf))
      const row = rows.findLast((each) => tree.roleAt(each) === "user")
      if (row === undefined) return say("error", "say something first; then it can be answered again")
      const at = tree.idAt(row)
      const started = yield* Effect.provideService(
        engine.samples(session, count, { ...(yield* replyOptions(session)), at }),
        Scope.Scope,
        scope
      )
      for (const each of started) yield* Effect.forkIn(inBackground(each), scope)
    })
  }
})

export type Conversation = Effect.Success<ReturnType<typeof make>>
