/** One item of the transcript, whatever it is: nothing is dropped, and what is not understood is shown as it is. */
"use client"
import { Entry, type Facts, isObject, type Json, Preview } from "@grove/core/model"
import { type ReactNode, useState } from "react"
import { useWords } from "../shared/Settings.tsx"
import { safe } from "../shared/Titles.ts"
import type { Body } from "../wire/Wire.ts"
import { clock, dateTime, money, number, short, type Words } from "../words/index.ts"
import { Code } from "./Code.tsx"
import { Markdown } from "./Markdown.tsx"
import { Picture } from "./Picture.tsx"
import { Output, ToolCall } from "./ToolCall.tsx"

export interface EntryProps {
  readonly body: Body
  /** Results of its calls, by entry; those that are not here yet are `undefined`. */
  readonly results: ReadonlyArray<readonly [id: string, body: Body | undefined]>
  readonly label: string | undefined
  readonly rating: Facts.Annotation | undefined
  readonly isDisabled: boolean
  readonly isPruned: boolean
  readonly onWhole: (id: string) => void
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")

const Plain = ({ children }: { readonly children: string }) => (
  <div className="plain" dir="auto">
    {Preview.inert(children.replaceAll("\r\n", "\n").replaceAll("\t", "    "))}
  </div>
)

const Raw = ({
  title,
  entry,
  isOpenAtFirst = false
}: {
  readonly title: string
  readonly entry: object
  readonly isOpenAtFirst?: boolean
}) => {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <div className="raw">
      <button type="button" className="tool-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="fold" aria-hidden="true">
          {isOpen ? "▾" : "▸"}
        </span>
        <span className="tool-gist">{title}</span>
      </button>
      {isOpen ? <Code text={JSON.stringify(entry, null, 2)} language="json" /> : null}
    </div>
  )
}

const Thinking = ({ said }: { readonly said: string }) => {
  const words = useWords()
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="thinking">
      <button type="button" className="tool-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="fold" aria-hidden="true">
          {isOpen ? "▾" : "▸"}
        </span>
        <span className="tool-name">{words.session.thinking}</span>
        <span className="tool-gist" dir="auto">
          {isOpen ? "" : safe(said, 200)}
        </span>
      </button>
      {isOpen ? <Markdown text={said} /> : null}
    </div>
  )
}

/** The result of a call by its id; where ids say nothing, by order. */
const resultOf = (call: Json, at: number, results: EntryProps["results"]) =>
  results.find(([, body]) => isObject(body?.entry.message) && body.entry.message.toolCallId === call.id) ??
  (typeof call.id === "string" ? undefined : results[at])

const Blocks = ({ content, props }: { readonly content: unknown; readonly props: EntryProps }): ReactNode => {
  const { id } = props.body.entry
  const isAnswer = Entry.role(props.body.entry) === "assistant"
  if (typeof content === "string") return isAnswer ? <Markdown text={content} /> : <Plain>{content}</Plain>
  if (!Array.isArray(content)) return null
  let calls = 0
  return content.map((block: unknown, at) => {
    const key = `${id}-${at}`
    if (!isObject(block)) return <Raw key={key} title={String(typeof block)} entry={{ block }} />
    switch (block.type) {
      case "text":
        return isAnswer ? <Markdown key={key} text={text(block.text)} /> : <Plain key={key}>{text(block.text)}</Plain>
      case "thinking":
        return text(block.thinking).trim() === "" ? null : <Thinking key={key} said={text(block.thinking)} />
      case "image":
        return <Picture key={key} entry={id} data={block.data} />
      case "toolCall": {
        const found = resultOf(block, calls++, props.results)
        const isWaiting = found === undefined && props.results.some(([, body]) => body === undefined)
        return (
          <ToolCall
            key={key}
            call={block}
            result={found?.[1]}
            resultId={isWaiting ? "" : found?.[0]}
            isOpenAtFirst={false}
          />
        )
      }
      default:
        return <Raw key={key} title={safe(text(block.type) || "?")} entry={block} />
    }
  })
}

/** Results that answer none of the calls: shown by themselves. */
const Strays = ({ props }: { readonly props: EntryProps }): ReactNode => {
  const { message } = props.body.entry
  const calls = isObject(message) ? Preview.toolCallsOf(message.content) : []
  return props.results
    .filter(([, body], at) => {
      if (body === undefined || !isObject(body.entry.message)) return false
      const { toolCallId } = body.entry.message
      return !calls.some((call, place) => call.id === toolCallId || (typeof call.id !== "string" && place === at))
    })
    .map(([id, body]) => (
      <ToolCall
        key={id}
        call={{ name: isObject(body!.entry.message) ? body!.entry.message.toolName : undefined }}
        result={body}
        resultId={id}
        isOpenAtFirst={false}
      />
    ))
}

const Head = ({
  name,
  kind,
  props,
  extra
}: {
  readonly name: string
  readonly kind: string
  readonly props: EntryProps
  readonly extra?: ReactNode
}) => {
  const words = useWords()
  const { body, label, rating, isDisabled, isPruned } = props
  const time = Entry.time(body.entry.timestamp)
  return (
    <div className="entry-head">
      <span className={`speaker ${kind}`}>{name}</span>
      {extra}
      {label === undefined ? null : <span className="chip label">{safe(label, 60)}</span>}
      {rating?.rating == null ? null : <span className="chip label">★ {rating.rating}</span>}
      {rating?.note == null ? null : <span className="chip">{safe(rating.note, 80)}</span>}
      {isDisabled ? <span className="chip">≈ {words.session.disabled}</span> : null}
      {isPruned ? <span className="chip">{words.session.pruned}</span> : null}
      <span className="spring" />
      {body.usage === undefined || body.usage.costMicros === 0 ? null : (
        <span className="muted fact">{money(words, body.usage.costMicros)}</span>
      )}
      {time === 0 ? null : (
        <time className="muted fact" dateTime={body.entry.timestamp} title={dateTime(words, time)}>
          {clock(words, time)}
        </time>
      )}
    </div>
  )
}

const Whole = ({ props }: { readonly props: EntryProps }) => {
  const words = useWords()
  const longest = Math.max(0, ...Object.values(props.body.cut))
  return longest === 0 ? null : (
    <button type="button" className="more" onClick={() => props.onWhole(props.body.entry.id)}>
      {words.session.showAll(longest)}
    </button>
  )
}

const failureOf = (message: Json, words: Words): string | undefined => {
  if (message.stopReason === "aborted") return words.session.aborted
  return message.stopReason === "error" ? words.session.failed : undefined
}

const MessageView = ({ message, props }: { readonly message: Json; readonly props: EntryProps }) => {
  const words = useWords()
  switch (message.role) {
    case "user":
      return (
        <article className="entry user">
          <Head name={words.session.you} kind="you" props={props} />
          <Blocks content={message.content} props={props} />
          <Whole props={props} />
        </article>
      )
    case "assistant": {
      const failure = failureOf(message, words)
      const model = safe(text(message.model), 60)
      return (
        <article className="entry assistant">
          <Head
            name={words.session.assistant}
            kind="ai"
            props={props}
            extra={
              <>
                {model === "" ? null : <span className="muted model">{model}</span>}
                {failure === undefined ? null : <span className="chip error">✕ {failure}</span>}
              </>
            }
          />
          <Blocks content={message.content} props={props} />
          <Strays props={props} />
          {text(message.errorMessage) === "" ? null : (
            <p className="failure">{Preview.inert(text(message.errorMessage))}</p>
          )}
          <Whole props={props} />
        </article>
      )
    }
    case "toolResult":
      return (
        <article className="entry assistant">
          <Head name={words.session.tool} kind="ai" props={props} />
          <ToolCall
            call={{ name: message.toolName }}
            result={props.body}
            resultId={props.body.entry.id}
            isOpenAtFirst={false}
          />
          <Whole props={props} />
        </article>
      )
    case "bashExecution":
    case "pythonExecution": {
      const code = message.exitCode
      return (
        <article className="entry run">
          <Head
            name={words.session.ran}
            kind="you"
            props={props}
            extra={
              typeof code === "number" && code !== 0 ? (
                <span className="chip error">✕ {words.session.exit(String(code))}</span>
              ) : null
            }
          />
          <Code
            text={text(message.command) || text(message.code)}
            language={message.role === "bashExecution" ? "bash" : "python"}
          />
          {text(message.output) === "" ? null : <Output text={text(message.output)} />}
          <Whole props={props} />
        </article>
      )
    }
    case "system":
    case "developer":
    case "custom":
      return (
        <article className="entry note">
          <Head
            name={message.role === "custom" ? words.session.note : words.session.system}
            kind="other"
            props={props}
          />
          <Blocks content={message.content} props={props} />
          <Whole props={props} />
        </article>
      )
    default:
      return (
        <article className="entry note">
          <Head name={safe(text(message.role) || "?", 40)} kind="other" props={props} />
          <Raw
            title={words.session.unknown(safe(text(message.role) || "message", 40))}
            entry={props.body.entry}
            isOpenAtFirst
          />
        </article>
      )
  }
}

const Summary = ({
  title,
  said,
  props
}: {
  readonly title: string
  readonly said: string
  readonly props: EntryProps
}) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <article className="entry summary">
      <button type="button" className="summary-bar" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">⊙</span> {title}
        <span className="fold" aria-hidden="true">
          {isOpen ? "▾" : "▸"}
        </span>
      </button>
      {isOpen ? <Markdown text={said} /> : null}
      <Whole props={props} />
    </article>
  )
}

const Meta = ({ children }: { readonly children: ReactNode }) => <div className="entry meta">{children}</div>

const summaryTitle = (details: unknown, words: Words): string => {
  if (isObject(details) && details.mergedFrom !== undefined) return words.session.merged
  return isObject(details) && details.summarizedFrom !== undefined
    ? words.session.summarised
    : words.session.branchSummary
}

export const EntryView = (props: EntryProps) => {
  const words = useWords()
  const { entry } = props.body
  const say = words.session
  // What promises to be something and is not is shown as it is written.
  if (!Entry.hasValidBody(entry) && !isObject(entry.message)) {
    return <Raw title={say.malformed(safe(entry.type, 40))} entry={entry} isOpenAtFirst />
  }
  switch (entry.type) {
    case "message":
      return <MessageView message={entry.message as Json} props={props} />
    case "custom_message":
      return (
        <article className="entry note">
          <Head name={safe(text(entry.customType) || say.note, 40)} kind="other" props={props} />
          <Blocks content={entry.content} props={props} />
        </article>
      )
    case "compaction":
      return (
        <Summary
          title={
            typeof entry.tokensBefore === "number" ? say.compactedFrom(short(words, entry.tokensBefore)) : say.compacted
          }
          said={text(entry.summary)}
          props={props}
        />
      )
    case "branch_summary":
      return <Summary title={summaryTitle(entry.details, words)} said={text(entry.summary)} props={props} />
    case "model_change":
      return <Meta>{say.model(safe(Preview.textOfEntry(entry), 80))}</Meta>
    case "thinking_level_change":
      return <Meta>{say.thinkingLevel(safe(Preview.textOfEntry(entry), 40))}</Meta>
    case "mode_change":
      return <Meta>{say.mode(safe(Preview.textOfEntry(entry), 40))}</Meta>
    case "label":
      return <Meta>{say.labelled(safe(text(entry.label), 80))}</Meta>
    case "session_info":
      return <Meta>{say.named(safe(text(entry.name), 80))}</Meta>
    case "ttsr_injection":
      return <Meta>{say.rules(Array.isArray(entry.injectedRules) ? entry.injectedRules.length : 0)}</Meta>
    case "usage":
      return (
        <Meta>
          {safe(text(entry.kind), 40)} · {number(words, props.body.usage?.input ?? 0)} →{" "}
          {number(words, props.body.usage?.output ?? 0)} · {money(words, props.body.usage?.costMicros ?? null)}
        </Meta>
      )
    case "session_init":
      return <Raw title={`${say.started}: ${safe(text(entry.task), 160)}`} entry={entry} />
    case "context_edit":
      return <Raw title={say.edited} entry={entry} />
    case "custom":
      return <Raw title={say.extension(safe(text(entry.customType), 60))} entry={entry} />
    default:
      return <Raw title={say.unknown(safe(entry.type, 60))} entry={entry} isOpenAtFirst />
  }
}
