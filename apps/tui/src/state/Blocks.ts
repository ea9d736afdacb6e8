/** The conversation on the screen: what each entry of the path looks like. Bodies are read only for what is drawn. */
import {
  Entry,
  type EntryId,
  isObject,
  type Json,
  NONE,
  Preview,
  type SessionTree,
  type Symbols
} from "@grove/core/model"
import * as Markdown from "./Markdown.ts"
import * as Row from "./Row.ts"
import * as ToolRows from "./ToolRows.ts"
import type { SessionState, TurnState, World } from "./View.ts"
import * as Words from "./Words.ts"

/** A piece of the conversation that is scrolled, found and unfolded as one. */
export interface Block {
  readonly key: string
  /** The row of its entry in the tree; `NONE` for the reply that is being made. */
  readonly row: number
  /** Rows of the results of its calls. */
  readonly results: ReadonlyArray<number>
  /** Entries that are switched off, folded to one line. */
  readonly muted: number
}

export const LIVE = "live"

const made = new WeakMap<SessionState, ReadonlyArray<Block>>()

const isSilent = (tree: SessionTree, row: number): boolean =>
  tree.isMarkAt(row) || tree.typeAt(row) === "custom" || tree.typeAt(row) === "session_init"

/** The blocks of the path, oldest first. Reads no bodies; made once for each state of the session. */
export const of = (session: SessionState): ReadonlyArray<Block> => {
  const known = made.get(session)
  if (known !== undefined) return known
  const { tree, leaf } = session
  const disabled = tree.edits.disabled
  const blocks: Array<Block & { results: Array<number>; muted: number }> = []
  for (const row of tree.pathRows(tree.rowOf(leaf))) {
    if (isSilent(tree, row)) continue
    const id = tree.idAt(row)!
    const last = blocks.at(-1)
    if (disabled.has(id)) {
      if (last !== undefined && last.muted > 0) last.muted++
      else blocks.push({ key: `muted:${id}`, row, results: [], muted: 1 })
    } else if (
      tree.roleAt(row) === "toolResult" &&
      last !== undefined &&
      last.muted === 0 &&
      tree.roleAt(last.row) === "assistant"
    ) {
      last.results.push(row)
    } else blocks.push({ key: id, row, results: [], muted: 0 })
  }
  made.set(session, blocks)
  return blocks
}

/** The blocks as they are to be drawn: with the reply that is being made, if it is made here. */
export const shown = ({ session, turn }: Pick<World, "session" | "turn">): ReadonlyArray<Block> => {
  const blocks = of(session)
  const isHere = turn !== null && turn.entry !== null && !session.tree.has(turn.entry) && turn.parentId === session.leaf
  return isHere ? [...blocks, { key: LIVE, row: NONE, results: [], muted: 0 }] : blocks
}

/** Which of how many children of its parent an entry is, from 1; `undefined` where it is the only one. */
export const siblingsOf = (
  tree: SessionTree,
  row: number
): { readonly rows: ReadonlyArray<number>; readonly index: number } | undefined => {
  if (row === NONE) return undefined
  const rows = tree.childRows(tree.shownParentRow(row))
  return rows.length > 1 ? { rows, index: rows.indexOf(row) } : undefined
}

/** Where one would stand after stepping to a sibling: at the end of its newest branch. */
export const endBelow = (tree: SessionTree, row: number): EntryId => {
  let at = row
  for (let children = tree.childRows(at); children.length > 0; children = tree.childRows(at)) at = children.at(-1)!
  return tree.idAt(at)!
}

// --------------------------------------------------------------------------------------------------------- drawing

export interface Options {
  readonly columns: number
  readonly symbols: Symbols.Symbols
  readonly isOpen: (key: string) => boolean
  readonly isSelected: boolean
  /** Whether forks are marked. */
  readonly marksForks: boolean
}

const SPEAKER = 6

const spoken = (name: string, style: Row.Style, rows: ReadonlyArray<Row.Row>): ReadonlyArray<Row.Row> =>
  Row.indent(rows, [Row.span(` ${name}`.padEnd(SPEAKER), style)], Row.row(" ".repeat(SPEAKER)))

const markOf = (tree: SessionTree, block: Block, { marksForks, symbols }: Options): Row.Row => {
  const id = block.row === NONE ? null : tree.idAt(block.row)
  const label = id === null ? undefined : tree.facts.labels.get(id)
  const rating = id === null ? null : (tree.facts.annotations.get(id)?.rating ?? null)
  const siblings = marksForks ? siblingsOf(tree, block.row) : undefined
  const spans: Array<Row.Span> = []
  if (label !== undefined) spans.push(Row.span(` [${Preview.line(label, 24)}]`, "accent"))
  if (rating !== null) spans.push(Row.span(` ${rating}/5`, "accent"))
  if (siblings !== undefined) {
    spans.push(Row.span(` ${symbols.previous}${siblings.index + 1}/${siblings.rows.length}${symbols.next}`, "accent"))
  }
  return spans
}

/** The first row with what stands at its right edge. */
const marked = (rows: ReadonlyArray<Row.Row>, mark: Row.Row, columns: number): ReadonlyArray<Row.Row> => {
  if (mark.length === 0 || rows.length === 0) return rows
  return [Row.spread(rows[0]!, mark, columns - 1), ...rows.slice(1)]
}

const bar = (words: string, { columns, symbols }: Options): Row.Row => {
  const text = ` ${symbols.summary} ${words} `
  return [
    Row.span(text, "dim"),
    Row.span(symbols.rule.repeat(Math.max(0, columns - Row.width(Row.row(text)) - 1)), "dim")
  ]
}

const userRows = (content: unknown, { columns }: Options): ReadonlyArray<Row.Row> => {
  const text = Preview.textOf(content)
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const images = blocks.filter(({ type }) => type === "image").map(ToolRows.image)
  const rows = text === "" && images.length > 0 ? [] : Markdown.verbatim(text, "strong", columns - SPEAKER - 1)
  return spoken("you", "you", [...rows, ...images])
}

const thinkingRows = (text: string, key: string, { columns, symbols, isOpen }: Options): ReadonlyArray<Row.Row> => {
  const open = isOpen(key)
  const lines = text.trim().split("\n")
  const head = Row.cut(
    [
      Row.span(`   ${open ? symbols.unfolded : symbols.folded} `, "dim"),
      Row.span("thinking  ", "dim"),
      Row.span(open ? "" : Preview.line(lines.at(-1) ?? "", columns), "dim")
    ],
    columns - 1
  )
  if (!open) return [head]
  const rows = lines.flatMap((line) => Row.wrap(Row.row(line, "dim"), columns - SPEAKER - 1))
  return [head, ...Row.indent(rows, Row.row("     "), Row.row("     "))]
}

const messageOf = (tree: SessionTree, row: number): Json => {
  const { message } = tree.entryAt(row)
  return isObject(message) ? message : {}
}

interface Reply {
  readonly key: string
  readonly content: ReadonlyArray<Json>
  readonly stopReason: unknown
  readonly errorMessage: unknown
  readonly results: ReadonlyMap<string, { readonly message: Json; readonly time: number }>
  readonly running: ReadonlySet<string>
  readonly time: number
  readonly isLive: boolean
}

const replyRows = (reply: Reply, options: Options): ReadonlyArray<Row.Row> => {
  const { columns, symbols, isOpen } = options
  const rows: Array<Row.Row> = []
  for (const [i, block] of reply.content.entries()) {
    const key = `${reply.key}:${i}`
    switch (block.type) {
      case "text": {
        const text = typeof block.text === "string" ? block.text : ""
        if (text.trim() === "") break
        const drawn = Markdown.render(text.trim(), { columns: columns - SPEAKER - 1, symbols })
        for (const row of spoken("ai", "ai", drawn)) rows.push(row)
        break
      }
      case "thinking":
        for (const row of thinkingRows(typeof block.thinking === "string" ? block.thinking : "", key, options))
          rows.push(row)
        break
      case "redactedThinking":
        rows.push(Row.row("     thinking, not shown by the provider", "dim"))
        break
      case "image":
        rows.push([Row.span("     "), ...ToolRows.image(block)])
        break
      case "toolCall": {
        const id = typeof block.id === "string" ? block.id : ""
        const result = reply.results.get(id)
        const call: ToolRows.Call = {
          name: typeof block.name === "string" ? block.name : "tool",
          arguments: isObject(block.arguments) ? block.arguments : {},
          result: result?.message,
          isRunning: result === undefined && (reply.running.has(id) || reply.isLive),
          millis: result === undefined || reply.time === 0 ? undefined : Math.max(0, result.time - reply.time)
        }
        const open = isOpen(key)
        rows.push([Row.span("   "), ...ToolRows.head(call, open, columns - 4, symbols)])
        if (open) {
          for (const row of ToolRows.body(call, columns - 7, symbols)) rows.push([Row.span("     "), ...row])
        }
        break
      }
      default:
        rows.push(Row.row(`     (${Preview.line(String(block.type), 40)})`, "dim"))
    }
  }
  if (reply.stopReason === "aborted")
    rows.push(...spoken("ai", "ai", [Row.row(`${symbols.error} cancelled`, "warning")]))
  if (reply.stopReason === "error") {
    const why = typeof reply.errorMessage === "string" ? reply.errorMessage : "failed"
    rows.push(...spoken("ai", "ai", Row.wrap(Row.row(`${symbols.error} ${why}`, "error"), columns - SPEAKER - 1)))
  }
  if (reply.stopReason === "length") {
    rows.push(...spoken("ai", "ai", [Row.row(`${symbols.error} cut off: no room left to answer`, "warning")]))
  }
  if (rows.length === 0)
    rows.push(...spoken("ai", "ai", [Row.row(reply.isLive ? symbols.more : "(nothing said)", "dim")]))
  return rows
}

const savedReply = (tree: SessionTree, block: Block, turn: TurnState | null): Reply => {
  const message = messageOf(tree, block.row)
  const results = new Map(
    block.results.map((row) => {
      const result = messageOf(tree, row)
      return [String(result.toolCallId), { message: result, time: tree.timeAt(row) }] as const
    })
  )
  return {
    key: block.key,
    content: Array.isArray(message.content) ? message.content.filter(isObject) : [],
    stopReason: message.stopReason,
    errorMessage: message.errorMessage,
    results,
    running: turn?.running ?? new Set(),
    time: tree.timeAt(block.row),
    isLive: false
  }
}

const executionRows = (message: Json, key: string, { columns, symbols, isOpen }: Options): ReadonlyArray<Row.Row> => {
  const command = String(message.command ?? message.code ?? "")
  const output = typeof message.output === "string" ? message.output : ""
  const isCancelled = message.cancelled === true
  const failed = isCancelled || (typeof message.exitCode === "number" && message.exitCode !== 0)
  const call: ToolRows.Call = {
    name: message.excludeFromContext === true ? "!!" : "!",
    arguments: { command },
    result: { content: isCancelled && output === "" ? "cancelled" : output, isError: failed },
    isRunning: false,
    millis: undefined
  }
  const open = isOpen(key)
  const head = [Row.span("   "), ...ToolRows.head(call, open, columns - 4, symbols)]
  return open
    ? [head, ...Row.indent(ToolRows.body(call, columns - 7, symbols), Row.row("     "), Row.row("     "))]
    : [head]
}

const folded = (words: string, text: string, key: string, options: Options): ReadonlyArray<Row.Row> => {
  const { columns, symbols, isOpen } = options
  const head = bar(words, options)
  if (!isOpen(key)) return [head]
  const rows = Markdown.render(text, { columns: columns - SPEAKER - 1, symbols })
  return [head, ...Row.indent(rows, Row.row(" ".repeat(SPEAKER)), Row.row(" ".repeat(SPEAKER)))]
}

const entryRows = (
  tree: SessionTree,
  block: Block,
  options: Options,
  turn: TurnState | null
): ReadonlyArray<Row.Row> => {
  const entry = tree.entryAt(block.row)
  const { columns } = options
  const note = (words: string) => [Row.cut(Row.row(`   ${words}`, "dim"), columns - 1)]
  switch (entry.type) {
    case "message": {
      const message = messageOf(tree, block.row)
      switch (message.role) {
        case "user":
          return userRows(message.content, options)
        case "assistant":
          return replyRows(savedReply(tree, block, turn), options)
        case "bashExecution":
        case "pythonExecution":
          return executionRows(message, `${block.key}:0`, options)
        default: {
          const name = Preview.line(String(message.role ?? "note"), SPEAKER - 2)
          return spoken(name, "dim", Markdown.verbatim(Preview.textOfEntry(entry), "dim", columns - SPEAKER - 1))
        }
      }
    }
    case "compaction": {
      const before = typeof entry.tokensBefore === "number" ? ` ${Words.tokens(entry.tokensBefore)} tokens` : ""
      return folded(`compacted${before}`, Preview.textOfEntry(entry), block.key, options)
    }
    case "branch_summary":
      return folded("summary of a branch that was left", Preview.textOfEntry(entry), block.key, options)
    case "custom_message":
      if (entry.display === false) return []
      return spoken("note", "dim", Markdown.verbatim(Preview.textOfEntry(entry), "dim", columns - SPEAKER - 1))
    case "model_change":
      return note(`model: ${Preview.ofEntry(entry, columns)}`)
    case "thinking_level_change":
      return note(`thinking: ${Preview.ofEntry(entry, columns)}`)
    case "mode_change":
      return note(`mode: ${Preview.ofEntry(entry, columns)}`)
    case "session_info":
      return note(`named: ${Preview.ofEntry(entry, columns)}`)
    case "label":
    case "usage":
    case "context_edit":
    case "ttsr_injection":
      return []
    default:
      return note(`(${Preview.line(entry.type, 40)})`)
  }
}

const liveReply = (turn: TurnState): Reply => ({
  key: LIVE,
  content: turn.content,
  stopReason: undefined,
  errorMessage: undefined,
  results: new Map(),
  running: turn.running,
  time: 0,
  isLive: true
})

/** The rows of a block. */
export const draw = (
  block: Block,
  { session, turn }: Pick<World, "session" | "turn">,
  options: Options
): ReadonlyArray<Row.Row> => {
  const { tree } = session
  if (block.muted > 0) return [Row.row(`   ${options.symbols.hidden} ${block.muted} muted`, "dim")]
  const rows =
    block.row === NONE
      ? turn === null
        ? []
        : replyRows(liveReply(turn), options)
      : entryRows(tree, block, options, turn)
  const withMark = marked(rows, markOf(tree, block, options), options.columns)
  const selected = options.isSelected && withMark.length > 0 ? selectedRows(withMark, options.symbols) : withMark
  const isPrompt = block.row !== NONE && tree.roleAt(block.row) === "user"
  return isPrompt && selected.length > 0 ? [Row.empty, ...selected] : selected
}

/** A selected block has a sign in its first column. */
const selectedRows = (rows: ReadonlyArray<Row.Row>, symbols: Symbols.Symbols): ReadonlyArray<Row.Row> => {
  const [first, ...rest] = rows
  const [head, ...tail] = first ?? []
  if (head === undefined || !head.text.startsWith(" ")) return rows
  return [[Row.span(symbols.select, "accent"), { text: head.text.slice(1), style: head.style }, ...tail], ...rest]
}

/** What can be unfolded in a block, by key. */
export const foldsOf = (block: Block, { session }: Pick<World, "session">): ReadonlyArray<string> => {
  if (block.row === NONE) return []
  const entry = session.tree.entryAt(block.row)
  if (entry.type === "compaction" || entry.type === "branch_summary") return [block.key]
  if (Entry.role(entry) === "bashExecution" || Entry.role(entry) === "pythonExecution") return [`${block.key}:0`]
  const { content } = messageOf(session.tree, block.row)
  if (!Array.isArray(content)) return []
  return content.flatMap((each, i) =>
    isObject(each) && (each.type === "toolCall" || each.type === "thinking") ? [`${block.key}:${i}`] : []
  )
}

/** The words of a block, for searching. */
export const textOf = (block: Block, session: SessionState): string => {
  if (block.row === NONE || block.muted > 0) return ""
  const { tree } = session
  const texts = [block.row, ...block.results].map((row) => Preview.textOfEntry(tree.entryAt(row)))
  const { content } = messageOf(tree, block.row)
  const calls = Array.isArray(content)
    ? Preview.toolCallsOf(content).map((call) => JSON.stringify(call.arguments ?? {}))
    : []
  return [...texts, ...calls].join("\n")
}
