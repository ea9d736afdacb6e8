/** One entry as it is shown in the transcript. */
import { type Entry, isObject, type Json, Preview } from "@grove/core/model"
import { h, inert, marked, oneLine } from "./dom.ts"
import * as Markdown from "./Markdown.ts"
import { damaged, type Session } from "./Session.ts"

/** What is shown of a long text before somebody asks for more. */
const LONGEST = 20_000

export interface Shown {
  readonly session: Session
  readonly words: ReadonlyArray<string>
  /** Folds that the person opened or closed, by row and place. */
  readonly folds: Map<string, boolean>
  /** Whether tools and thoughts are open unless the person closed them. */
  readonly isOpen: () => boolean
  readonly goTo: (row: number) => void
  /** Whether an entry goes on with what the one before it on the path began. */
  readonly goesOn: (row: number) => boolean
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")
const pretty = (value: unknown): string => {
  try {
    return JSON.stringify(value, null, 2) ?? ""
  } catch {
    return "(nested too deeply to be shown)"
  }
}

const blocksOf = (content: unknown): ReadonlyArray<Json> => {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** Long texts are cut until somebody asks for the rest. */
const cut = (value: string, show: (value: string) => Node): Node => {
  if (value.length <= LONGEST) return show(value)
  const place = h("div", {}, show(value.slice(0, LONGEST)))
  const more = h("button", { class: "more", onclick: () => place.replaceChildren(show(value)) })
  more.textContent = `Show all ${value.length.toLocaleString("en-US")} characters`
  place.append(more)
  return place
}

const fold = (
  shown: Shown,
  key: string,
  head: ReadonlyArray<Node | string>,
  kind: string,
  body: () => Node
): HTMLElement => {
  const details = h("details", { class: `fold ${kind}` }, h("summary", {}, ...head))
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(h("div", { class: "inside" }, body()))
  }
  details.open = shown.folds.get(key) ?? shown.isOpen()
  fill()
  details.addEventListener("toggle", () => {
    shown.folds.set(key, details.open)
    fill()
  })
  return details
}

const IMAGES = /^image\/(?:png|jpeg|gif|webp)$/
const BASE64 = /^[A-Za-z0-9+/=\s]+$/

const image = ({ mimeType, data }: Json): Node => {
  const isShown = IMAGES.test(text(mimeType)) && BASE64.test(text(data))
  if (!isShown) return h("span", { class: "chip" }, `image (${text(mimeType) || "unknown"}) that is not in this page`)
  return h("img", { src: `data:${mimeType};base64,${data}`, alt: "image in the session", loading: "lazy" })
}

const firstArgument = (input: unknown): string => {
  const values = isObject(input) ? Object.values(input) : []
  return oneLine(text(values.find((value) => typeof value === "string")), 160)
}

const diffOf = (before: string, after: string): Node => {
  const line = (sign: string, kind: string) => (value: string) =>
    h("span", { class: kind }, `${sign} ${inert(value)}\n`)
  const removed = before === "" ? [] : before.split("\n").map(line("−", "removed"))
  const added = after === "" ? [] : after.split("\n").map(line("+", "added"))
  return h("pre", { tabindex: 0 }, h("code", {}, ...removed, ...added))
}

/** Arguments by name; edits as what they take out and put in. */
const argumentsOf = (input: unknown, words: ReadonlyArray<string>): Node => {
  if (!isObject(input)) return cut(pretty(input), (value) => Markdown.code(value, words))
  const { oldText, newText, old_string, new_string, ...others } = input
  const before = oldText ?? old_string
  const after = newText ?? new_string
  const isEdit = typeof before === "string" && typeof after === "string"
  const rows = Object.entries(isEdit ? others : input).map(([name, value]) => {
    const shown = typeof value === "string" ? value : pretty(value)
    return h(
      "div",
      { class: "argument" },
      h("span", { class: "name" }, inert(name)),
      cut(shown, (part) => Markdown.code(part, words))
    )
  })
  return h("div", {}, ...rows, isEdit ? diffOf(before, after) : undefined)
}

const countLines = (value: string): string => {
  if (value === "") return "no output"
  const lines = value.trimEnd().split("\n").length
  return `${lines.toLocaleString("en-US")} ${lines === 1 ? "line" : "lines"}`
}

const blockNode = (shown: Shown, block: Json, key: string): Node => {
  const { words } = shown
  switch (block.type) {
    case "text":
      return cut(text(block.text), (value) => h("div", { class: "prose" }, Markdown.render(value, words)))
    case "thinking":
      return fold(shown, key, ["thinking"], "thought", () =>
        cut(text(block.thinking), (value) => h("div", { class: "prose" }, Markdown.render(value, words)))
      )
    case "toolCall": {
      const name = oneLine(text(block.name) || "tool", 60)
      const head = [
        h("span", { class: "tool" }, `⚙ ${name}`),
        " ",
        h("span", { class: "dim" }, firstArgument(block.arguments))
      ]
      return fold(shown, key, head, "call", () => argumentsOf(block.arguments, words))
    }
    case "image":
      return image(block)
    default:
      return fold(shown, key, [oneLine(`block ${text(block.type)}`, 80)], "call", () =>
        Markdown.code(pretty(block), words)
      )
  }
}

const resultNode = (shown: Shown, message: Json, key: string): Node => {
  const said = Preview.textOf(message.content)
  const failed = message.isError === true
  const head = [
    h(
      "span",
      { class: failed ? "tool failed" : "tool" },
      `${failed ? "✕" : "↳"} ${oneLine(text(message.toolName) || "result", 60)}`
    ),
    " ",
    h("span", { class: "dim" }, failed ? oneLine(said, 160) : countLines(said))
  ]
  const images = blocksOf(message.content).filter(({ type }) => type === "image")
  return fold(shown, key, head, "call", () =>
    h(
      "div",
      {},
      cut(said, (value) => Markdown.code(value, shown.words)),
      ...images.map(image)
    )
  )
}

const executionNode = (shown: Shown, message: Json, key: string): Node => {
  const command = text(message.command) || text(message.code)
  const failed = message.cancelled === true || (typeof message.exitCode === "number" && message.exitCode !== 0)
  const head = [
    h("span", { class: failed ? "tool failed" : "tool" }, `$ ${oneLine(command, 160)}`),
    " ",
    h("span", { class: "dim" }, failed ? `exit ${message.exitCode ?? "?"}` : countLines(text(message.output)))
  ]
  return fold(shown, key, head, "call", () => cut(text(message.output), (value) => Markdown.code(value, shown.words)))
}

const spoken = (shown: Shown, content: unknown, row: number): ReadonlyArray<Node> =>
  blocksOf(content).map((block, i) => blockNode(shown, block, `${row}:${i}`))

const bodyOf = (shown: Shown, entry: Entry.Entry, row: number): ReadonlyArray<Node> => {
  const message = isObject(entry.message) ? entry.message : {}
  const raw = () => [
    fold(shown, `${row}:raw`, [oneLine(`(${entry.type})`, 80)], "call", () => Markdown.code(pretty(entry), shown.words))
  ]
  switch (entry.type) {
    case "message":
      switch (message.role) {
        case "toolResult":
          return [resultNode(shown, message, `${row}:0`)]
        case "bashExecution":
        case "pythonExecution":
          return [executionNode(shown, message, `${row}:0`)]
        case "user":
        case "assistant":
        case "system":
        case "developer":
        case "custom":
        case "hookMessage": {
          const failure = text(message.errorMessage)
          const said = typeof message.uiContent === "string" ? message.uiContent : message.content
          const notice = failure === "" ? [] : [h("p", { class: "failure" }, marked(inert(failure), shown.words))]
          return [...spoken(shown, said, row), ...notice]
        }
        default:
          return raw()
      }
    case "custom_message":
      if (entry.display !== false) return spoken(shown, entry.content, row)
      return [
        fold(shown, `${row}:hidden`, ["a note for the model"], "thought", () =>
          h("div", {}, ...spoken(shown, entry.content, row))
        )
      ]
    case "compaction":
    case "branch_summary": {
      const head = entry.type === "compaction" ? compactedHead(entry) : "summary of another branch"
      return [
        fold(shown, `${row}:0`, [head], "summary", () =>
          cut(text(entry.summary), (value) => h("div", { class: "prose" }, Markdown.render(value, shown.words)))
        )
      ]
    }
    case "model_change":
    case "thinking_level_change":
    case "mode_change":
    case "session_info":
    case "label":
      return [h("p", { class: "setting" }, oneLine(`${names[entry.type]}: ${Preview.textOfEntry(entry)}`, 200))]
    case damaged:
      return [h("p", { class: "failure" }, "This line of the session is damaged and cannot be shown.")]
    default:
      return raw()
  }
}

const compactedHead = (entry: Entry.Entry): string => {
  const tokens = typeof entry.tokensBefore === "number" ? ` ${Math.round(entry.tokensBefore / 1000)}k tokens` : ""
  return `⊙ compacted${tokens}`
}

const names: { readonly [type: string]: string } = {
  model_change: "model",
  thinking_level_change: "thinking",
  mode_change: "mode",
  session_info: "named",
  label: "label"
}

const speakers: { readonly [role: string]: string } = {
  user: "You",
  assistant: "Assistant",
  toolResult: "",
  bashExecution: "You ran",
  pythonExecution: "You ran",
  custom: "Note",
  hookMessage: "Note",
  system: "System",
  developer: "System"
}

export const kindOf = (session: Session, row: number): string => {
  const role = session.role(row)
  if (role === "user" || role === "assistant") return role
  if (role === "toolResult") return "result"
  const type = session.type(row)
  return type === "compaction" || type === "branch_summary" ? "break" : "other"
}

export const speakerOf = (session: Session, row: number): string => {
  const role = session.role(row)
  if (role !== null) return speakers[role] ?? oneLine(role, 30)
  const type = session.type(row)
  return type === "custom_message" ? "Note" : ""
}

const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
export const timeOf = (at: number): string => (at === 0 ? "" : time.format(at))

const switcher = ({ session, goTo }: Shown, row: number): Node | undefined => {
  const siblings = session.siblings(row)
  if (siblings.length < 2) return undefined
  const at = siblings.indexOf(row)
  const step = (by: number, sign: string, label: string) => {
    const target = siblings[at + by]
    return h(
      "button",
      { "aria-label": label, disabled: target === undefined, onclick: () => target !== undefined && goTo(target) },
      sign
    )
  }
  return h(
    "span",
    { class: "switcher" },
    step(-1, "‹", "previous branch"),
    `${at + 1} of ${siblings.length}`,
    step(1, "›", "next branch")
  )
}

export const render = (shown: Shown, row: number): HTMLElement => {
  const { session } = shown
  const entry = session.entry(row)
  const id = session.index.ids[row]!
  const message = isObject(entry.message) ? entry.message : {}
  const kind = kindOf(session, row)
  const label = session.labels.get(row)
  const rating = session.ratings.get(row)
  const speaker = speakerOf(session, row)
  const isPlain = label === undefined && rating === undefined && session.siblings(row).length < 2
  const isQuiet = speaker === "" || kind === "result" || (isPlain && shown.goesOn(row))
  const facts = [
    typeof message.model === "string" && !isQuiet ? h("span", { class: "dim" }, oneLine(message.model, 60)) : undefined,
    label === undefined ? undefined : h("span", { class: "label" }, oneLine(label, 60)),
    rating === undefined ? undefined : h("span", { class: "rating" }, "★".repeat(rating)),
    session.muted.has(row) ? h("span", { class: "label" }, "muted") : undefined,
    message.stopReason === "error" || message.stopReason === "aborted"
      ? h("span", { class: "label bad" }, message.stopReason === "error" ? "failed" : "stopped")
      : undefined,
    switcher(shown, row)
  ]
  const anchor = h("a", { class: "anchor", href: `#${encodeURIComponent(id)}`, title: "Link to this entry" }, "#")
  const meta = h(
    "span",
    { class: "meta" },
    isQuiet ? undefined : h("time", {}, timeOf(session.index.times[row]!)),
    anchor
  )
  const head = h("header", {}, isQuiet ? undefined : h("b", {}, speaker), ...facts, meta)
  const classes = ["entry", kind, session.muted.has(row) ? "muted" : "", isQuiet ? "quiet" : ""].join(" ").trim()
  return h(
    "article",
    { class: classes, "data-row": row, tabindex: -1 },
    head,
    h("div", { class: "body" }, ...bodyOf(shown, entry, row))
  )
}
