/**
 * `grove/sprout`: a model that needs no network and no key. It says what it was shown, does as a prompt that begins with
 * `!sprout ` tells it, and writes the summary that a compaction asks for. The same request has the same answer.
 */
import {
  Chat,
  ChatModel,
  ChatModelError,
  type ChatRequest,
  isObject,
  type Json,
  type Message,
  Reply,
  type ReplyPart,
  Tokens
} from "@grove/core"
import { Effect, Layer, Stream } from "effect"
import * as Content from "./Content.ts"

export const info: Chat.ModelInfo = {
  ref: "grove/sprout",
  provider: "grove",
  model: "sprout",
  name: "Sprout, offline",
  /** Small, so that a compaction is soon felt. */
  window: 32_768,
  maxOutput: 4_096,
  tools: true,
  images: true,
  thinking: true,
  prices: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }
}

/** What it does, one after the other. */
type Step =
  | { readonly _tag: "Part"; readonly part: ReplyPart }
  | { readonly _tag: "Rest"; readonly millis: number }
  | { readonly _tag: "Fail"; readonly reason: Chat.Reason }

type Block = Message.AssistantMessage["content"][number]

// ------------------------------------------------------------------------------------------------ what it was shown

const lastUser = (messages: ReadonlyArray<Json>): string => {
  const message = messages.findLast(({ role }) => role === "user")
  return message === undefined ? "" : Content.textOf(message.content)
}

const clipped = (text: string, length: number): string =>
  text.length <= length
    ? text
    : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")} … (${text.length} characters)`

/** Prompts that nobody has answered are sent as one, each a block of its own: only the last one is an order. */
const lastBlock = (messages: ReadonlyArray<Json>): string => {
  const message = messages.findLast(({ role }) => role === "user")
  const block = Content.blocksOf(message?.content).findLast(({ type }) => type === "text")
  return block === undefined ? "" : Content.textOfBlock(block)
}

/** A context that was compacted begins with what its summary is introduced by. */
const isCompacted = (messages: ReadonlyArray<Json>): boolean =>
  messages[0]?.role === "compactionSummary" ||
  Content.textOf(messages[0]?.content).startsWith("The conversation history before this point was compacted")

const shown = ({ messages }: ChatRequest, tokens: number): string => {
  const results: Array<Json> = []
  for (let at = messages.length - 1; messages[at]?.role === "toolResult"; at--) results.unshift(messages[at]!)
  const seen = `I was shown ${messages.length} ${messages.length === 1 ? "message" : "messages"} (about ${tokens} tokens).`
  if (results.length === 0) return `${seen} You said: ${clipped(lastUser(messages), 2_000)}`
  const told = results.map(({ toolName, isError, content }) => {
    const text = clipped(Content.textOf(content), 2_000)
    return `${Content.wordOf(toolName)} ${isError === true ? "failed" : "answered"}: ${text}`
  })
  return [seen, ...told].join("\n")
}

// ------------------------------------------------------------------------------------------------ what it is told to do

const HELP =
  "I understand: !sprout say <text> · think <text> · tool <name> <json> · slow <ms> · fail · overflow. Several, each on a line of its own, make one reply."

interface Orders {
  readonly blocks: ReadonlyArray<Block>
  /** How long it rests before each word of a block; the last one is the pace of whatever else it says. */
  readonly rests: ReadonlyArray<number>
  readonly fails: boolean
  readonly overflows: boolean
}

/** Orders stand one to a line, and a text goes on until the next. */
const ordersIn = (prompt: string, turn: number): Orders | undefined => {
  if (!prompt.startsWith("!sprout")) return undefined
  const blocks: Array<Block> = []
  const rests = [0]
  let fails = false
  let overflows = false
  for (const order of prompt.split(/^!sprout[ \t]*/m).slice(1)) {
    const [, verb = "", rest = ""] = /^(\S*)\s*([\s\S]*?)\s*$/.exec(order) ?? []
    switch (verb) {
      case "say":
        blocks.push({ type: "text", text: rest })
        break
      case "think":
        blocks.push({ type: "thinking", thinking: rest })
        break
      case "tool": {
        const [, name = "", json = ""] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? []
        // As many calls as blocks went before it: no id is given twice on a path.
        blocks.push(Reply.callOf(`sprout_${turn}_${blocks.length}`, name, json))
        break
      }
      case "slow":
        rests[blocks.length] = Math.min(Math.max(Number.parseInt(rest, 10) || 0, 0), 600_000)
        break
      case "fail":
        fails = true
        break
      case "overflow":
        overflows = true
        break
      default:
        blocks.push({ type: "text", text: HELP })
    }
    rests[blocks.length] ??= rests[blocks.length - 1]!
  }
  return { blocks, rests, fails, overflows }
}

// ------------------------------------------------------------------------------------------------ summaries

const CONVERSATION = /<conversation>([\s\S]*)<\/conversation>/
const PREVIOUS = /<previous-summary>([\s\S]*)<\/previous-summary>/

const firstLine = (text: string): string => clipped(text.trim().split("\n", 1)[0] ?? "", 200)

/** What one speaker says in a conversation that was written out, by the words that introduce it. */
const spokenBy = (conversation: string, speaker: string): ReadonlyArray<string> =>
  conversation
    .split(/^(?=\[[A-Z][^\]\n]*\]: )/m)
    .filter((part) => part.startsWith(`[${speaker}]: `))
    .map((part) => firstLine(part.slice(speaker.length + 4)))

const section = (title: string, lines: ReadonlyArray<string>): string =>
  `## ${title}\n${lines.length === 0 ? "(none)" : lines.join("\n")}`

const bullets = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => `- ${line}`)

/** The summary that `prompt` asks for, drawn from the conversation in it; `undefined` if it asks for none. */
const summaryFor = (prompt: string): string | undefined => {
  const conversation = CONVERSATION.exec(prompt)?.[1]
  if (conversation === undefined) return undefined
  const asked = spokenBy(conversation, "User")
  const said = spokenBy(conversation, "Assistant")
  const did = spokenBy(conversation, "Assistant tool calls")
  if (prompt.includes("Original Request")) {
    return [
      section("Original Request", asked.slice(0, 1)),
      section("Early Progress", bullets([...said, ...did])),
      section("Context for Suffix", bullets(said.slice(-1)))
    ].join("\n\n")
  }
  const before = PREVIOUS.exec(prompt)?.[1]?.trim()
  const goal = /^## Goal\n(.+)$/m.exec(before ?? "")?.[1] ?? asked[0]
  const doneBefore = before?.match(/^- \[x\] .+$/gm) ?? []
  const done = asked.slice(before === undefined ? 1 : 0).map((text) => `- [x] ${text}`)
  return [
    section("Goal", goal === undefined ? [] : [goal]),
    section("Constraints & Preferences", []),
    `## Progress\n### Done\n${[...doneBefore, ...done].join("\n") || "(none)"}\n### In Progress\n(none)\n### Blocked\n(none)`,
    section("Key Decisions", bullets(said.slice(-3))),
    section("Next Steps", bullets(asked.slice(-1).map((text) => `go on from: ${text}`))),
    section("Critical Context", bullets(did.slice(-5)))
  ].join("\n\n")
}

// ------------------------------------------------------------------------------------------------ answering

const steps = (blocks: ReadonlyArray<Block>, rests: ReadonlyArray<number>, tokens: number, maxTokens: number) => {
  const parts = Reply.partsOf(blocks)
  const output = Tokens.estimate({ role: "assistant", content: blocks })
  const isTooLong = output > maxTokens
  const kept: Array<ReplyPart> = []
  let length = 0
  for (const part of parts) {
    if ("delta" in part) length += part.delta.length
    if (isTooLong && length > maxTokens * 4) break
    kept.push(part)
  }
  const usage = {
    ...Reply.noUsage,
    input: tokens,
    output: Math.min(output, maxTokens),
    totalTokens: tokens + Math.min(output, maxTokens)
  }
  const reason = isTooLong ? "length" : blocks.some(({ type }) => type === "toolCall") ? "toolUse" : "stop"
  const restBefore = (part: ReplyPart): number => ("index" in part ? (rests[part.index] ?? 0) : 0)
  return {
    said: kept.flatMap(
      (part): ReadonlyArray<Step> => [
        { _tag: "Rest", millis: restBefore(part) },
        { _tag: "Part", part }
      ]
    ),
    ended: [
      { _tag: "Part", part: { _tag: "Usage", usage } },
      { _tag: "Part", part: { _tag: "Stop", reason } }
    ] satisfies ReadonlyArray<Step>
  }
}

/** Everything it will do in answer to a request. */
export const answer = (request: ChatRequest, window: number = info.window!): ReadonlyArray<Step> => {
  const { messages, system = "", maxTokens = info.maxOutput! } = request
  const tokens = Tokens.estimateAll(messages) + Tokens.estimate({ role: "system", content: system })
  const last = messages.at(-1)
  const prompt = lastUser(messages)
  const isPrompted = isObject(last) && last.role === "user"
  const orders = isPrompted ? ordersIn(lastBlock(messages), messages.length) : undefined
  if (tokens > window || (orders?.overflows === true && !isCompacted(messages))) {
    const detail = `${tokens} tokens where ${Math.min(window, tokens - 1)} fit`
    return [{ _tag: "Fail", reason: new Chat.ContextOverflow({ detail }) }]
  }
  const blocks = orders?.blocks ?? []
  const text = (isPrompted ? summaryFor(prompt) : undefined) ?? shown(request, tokens)
  const { said, ended } = steps(
    blocks.length > 0 ? blocks : orders?.fails === true ? [] : [{ type: "text", text }],
    orders?.rests ?? [],
    tokens,
    maxTokens
  )
  if (orders?.fails !== true) return [...said, ...ended]
  return [...said, { _tag: "Fail", reason: new Chat.CutStream({ detail: "sprout was told to fail" }) }]
}

const perform = (step: Step): Effect.Effect<ReadonlyArray<ReplyPart>, ChatModelError> => {
  switch (step._tag) {
    case "Part":
      return Effect.succeed([step.part])
    case "Rest":
      return Effect.as(Effect.sleep(step.millis), [])
    case "Fail":
      return Effect.fail(new ChatModelError({ model: info.ref, reason: step.reason }))
  }
}

export const make = () => {
  const find = (ref: string) =>
    ref === info.ref
      ? Effect.succeed(info)
      : Effect.fail(new ChatModelError({ model: ref, reason: new Chat.UnknownModel({ known: [info.ref] }) }))
  return ChatModel.of({
    stream: (request) => {
      const parts = Stream.suspend(() => Stream.fromIterable(answer(request))).pipe(
        Stream.mapEffect(perform),
        Stream.flattenIterable
      )
      const { provider, model } = info
      return Stream.unwrap(
        Effect.as(find(request.model), Chat.assemble({ provider, model, api: "grove-sprout" }, parts))
      )
    },
    find,
    list: Effect.succeed([{ provider: info.provider, name: "Grove", problem: null, models: [info] }])
  })
}

export const layer = Layer.sync(ChatModel, make)
