/** The whole chat as one value: what is known, the conversation, and the views on top. An event in; a value and intents out. */
import * as Approval from "./Approval.ts"
import * as ChatFrame from "./ChatFrame.ts"
import * as ChatScreen from "./ChatScreen.ts"
import * as ChatState from "./ChatState.ts"
import type * as Commands from "./Commands.ts"
import * as OpenCallsView from "./OpenCallsView.ts"
import * as Row from "./Row.ts"
import { type Event, type Frame, type Intent, isInput, type Next, type View, type World } from "./View.ts"

export interface App {
  readonly world: World
  readonly chat: ChatState.ChatState
  /** The last one is on top. */
  readonly views: ReadonlyArray<View>
  /** When a letter was last typed into the chat; 0 once it was sent. */
  readonly typedAt: number
}

export interface Step {
  readonly app: App
  readonly intents: ReadonlyArray<Intent>
}

/** Below this nothing can be read. */
export const LEAST = { columns: 40, rows: 10 } as const

export const make = (world: World): App => ({ world, chat: ChatState.initial, views: [], typedAt: 0 })

const known = (world: World, event: Event): World => {
  switch (event._tag) {
    case "Resize":
      return { ...world, columns: Math.max(1, event.columns), rows: Math.max(1, event.rows) }
    case "Tick":
      return { ...world, now: event.now }
    case "Opened":
      return { ...world, session: event.session, turn: null, queue: [], background: 0 }
    case "Changed":
      return { ...world, session: event.session }
    case "ModelChosen":
      return { ...world, model: event.model }
    case "TurnChanged":
      return { ...world, turn: event.turn }
    case "BackgroundChanged":
      return { ...world, background: event.count }
    case "QueueChanged":
      return { ...world, queue: event.queue }
    case "ApprovalChanged":
      return { ...world, approval: event.approval }
    case "LinearChanged":
      return { ...world, linear: event.linear }
    default:
      return world
  }
}

/** What the engine asks the person. */
const questions = (event: Event, { session }: World): ReadonlyArray<View> => {
  if (event._tag === "ApprovalAsked") return [Approval.make(event.asked)]
  return event._tag === "CallsOpen" ? [OpenCallsView.make(event.calls, event.prompt, session.leaf)] : []
}

/** Between two letters of somebody who is typing there is less time than this. */
const TYPING_MILLIS = 600

const typedAt = (before: number, event: Event, now: number): number => {
  if (event._tag === "Paste") return now
  if (event._tag !== "Key") return before
  return event.name === "enter" ? 0 : event.text === undefined ? before : now
}

/** Whom an input is for: the view on top, or the chat. */
const isForChat = ({ views, world, typedAt }: App): boolean => {
  const top = views.at(-1)
  return top === undefined || (top.interrupts === true && world.now - typedAt < TYPING_MILLIS)
}

/** What happens next, and in what order, when one event leads to others. */
export const update = (before: App, event: Event, screens: Commands.Screens): Step => {
  const intents: Array<Intent> = []
  const waiting: Array<Event> = [event]
  let app = before
  const follow = (next: Omit<Next, "view">): ReadonlyArray<View> => {
    intents.push(...(next.intents ?? []))
    waiting.push(...(next.events ?? []))
    return next.open === undefined ? [] : [next.open]
  }
  for (let turn = 0; turn < waiting.length; turn++) {
    const now = waiting[turn]!
    const world = known(app.world, now)
    if (isInput(now) && !isForChat(app)) {
      const top = app.views.at(-1)!.on(now, world)
      const opened = follow(top)
      app = { ...app, world, views: [...app.views.slice(0, -1), ...(top.view === null ? [] : [top.view]), ...opened] }
      continue
    }
    const views = isInput(now)
      ? app.views
      : app.views.flatMap((view) => {
          const next = view.on(now, world)
          return [...(next.view === null ? [] : [next.view]), ...follow(next)]
        })
    const { chat, ...rest } = ChatScreen.on(app.chat, now, world, screens)
    const opened = follow(rest)
    app = {
      world,
      chat,
      typedAt: typedAt(app.typedAt, now, world.now),
      views: [...views, ...opened, ...questions(now, world)]
    }
  }
  return { app, intents }
}

const tooSmall = ({ columns, rows }: World): Frame => {
  const words = Row.wrap(
    Row.row(`Grove needs ${LEAST.columns} columns and ${LEAST.rows} lines; this is ${columns} by ${rows}.`),
    columns
  )
  const filler = Array.from({ length: Math.max(0, rows - words.length) }, () => Row.empty)
  return { rows: [...words, ...filler].slice(0, rows), caret: null }
}

const ELLIPSIS = "…"
/** What was cut off is shown in one column, also where there is no sign for it. */
const withoutEllipsis = (row: Row.Row): Row.Row =>
  row.map(({ text, style }) => ({ text: text.replaceAll(ELLIPSIS, "."), style }))

/** The screen as it is to be painted: exactly as many rows as it has lines, none wider than it is. */
export const draw = ({ world, chat, views }: App): Frame => {
  if (world.columns < LEAST.columns || world.rows < LEAST.rows) return tooSmall(world)
  const at = (index: number, rows: number): Frame => {
    const around = { ...world, rows }
    return index < 0 ? ChatFrame.draw(chat, around) : views[index]!.draw(around, (fewer) => at(index - 1, fewer))
  }
  const { rows, caret } = at(views.length - 1, world.rows)
  const fitting = rows.map((row) => Row.cut(row, world.columns))
  return { rows: world.symbols.more === ELLIPSIS ? fitting : fitting.map(withoutEllipsis), caret }
}

/** Whether something on the screen moves by itself. */
export const isBusy = ({ world }: App): boolean => world.turn !== null
