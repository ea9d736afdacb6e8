/** A request to a provider and the events that come back: where HTTP, its failures and its keys stop. */
import { Chat, ChatModelError, isObject, type Json, JsonText, type ReplyPart } from "@grove/core"
import { Effect, Redacted, Stream } from "effect"
import { Sse } from "effect/encoding"
import * as Content from "./Content.ts"

export interface Exchange {
  /** `provider/model`, for errors. */
  readonly model: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Json
  /** Never shown: taken out of whatever the provider says. Its label says where it was found. */
  readonly key?: Redacted.Redacted
}

/** Reads one reply off its events. A `Reason` ends it. */
export interface Reader {
  readonly read: (data: string) => ReadonlyArray<ReplyPart | Chat.Reason>
  /** The connection was closed in order: what there is still to say. */
  readonly end: () => ReadonlyArray<ReplyPart>
}

// ------------------------------------------------------------------------------------------------ failures

const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu

/** What a provider says, as one short line. */
const lineOf = (text: string): string => {
  const line = text.replace(CONTROL, " ").trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}

/** Every provider has its own words for it. */
const OVERFLOW =
  /prompt is too long|too long for|input is too long|context.?(?:length|window|size)|maximum.{0,20}tokens|too many tokens|exceeds?.{0,40}context|request_too_large/i

const causeCode = (cause: unknown): string => {
  const inner = isObject(cause) ? cause.cause : undefined
  const code = isObject(inner) && typeof inner.code === "string" ? inner.code : ""
  const told: { readonly [code: string]: string } = {
    ECONNREFUSED: "nothing answers there",
    ENOTFOUND: "no such host",
    EAI_AGAIN: "the name could not be looked up",
    ECONNRESET: "the connection was reset",
    UND_ERR_SOCKET: "the connection was closed",
    UND_ERR_HEADERS_TIMEOUT: "no answer in time",
    UND_ERR_BODY_TIMEOUT: "no more came in time",
    UND_ERR_CONNECT_TIMEOUT: "no connection in time"
  }
  return told[code] ?? (code === "" ? "the connection failed" : code)
}

/** Seconds, or a date; milliseconds from now, `null` without either. */
export const retryAfterOf = (headers: Headers): number | null => {
  const millis = Number(headers.get("retry-after-ms") ?? Number.NaN)
  if (Number.isFinite(millis)) return Math.max(millis, 0)
  const after = headers.get("retry-after")
  if (after === null) return null
  const seconds = Number(after)
  if (Number.isFinite(seconds)) return Math.max(seconds * 1000, 0)
  const date = Date.parse(after)
  return Number.isNaN(date) ? null : Math.max(date - Date.parse(headers.get("date") ?? after), 0)
}

/** What an error is about, by the provider's own code and words, and by the status it came with. */
export const reasonOf = (
  status: number,
  code: string,
  detail: string,
  retryAfterMillis: number | null = null
): Chat.Reason => {
  if (status === 413 || /context_length|request_too_large/.test(code)) return new Chat.ContextOverflow({ detail })
  if ((status === 400 || status === 422 || status === 500) && OVERFLOW.test(detail)) {
    return new Chat.ContextOverflow({ detail })
  }
  if (status === 401 || status === 403) return new Chat.WrongKey({ detail })
  if (status === 404) return new Chat.UnknownModel({ known: [] })
  // To ask again does not fill an empty purse.
  if (code === "insufficient_quota" || code === "billing_error") return new Chat.RequestRefused({ detail })
  if (status === 429) return new Chat.RateLimited({ retryAfterMillis, detail })
  if (status === 408 || status === 409 || status >= 500) return new Chat.Overloaded({ retryAfterMillis, detail })
  return new Chat.RequestRefused({ detail })
}

/** `error` as providers send it: an object with a message and a type or code, or a text. */
export const errorIn = (value: unknown): { readonly code: string; readonly message: string } | undefined => {
  const error = isObject(value) ? value.error : undefined
  if (typeof error === "string") return { code: "", message: lineOf(error) }
  if (!isObject(error)) return undefined
  const code = [error.code, error.type].find((each) => typeof each === "string" && each !== "")
  const known = Content.wordOf(code)
  return { code: known, message: lineOf(Content.wordOf(error.message) || known) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// ------------------------------------------------------------------------------------------------ the exchange

/** The parts in what a body spells, however its bytes are torn: characters, lines and events are put together again. */
export const heard = (
  body: Pick<ReadableStreamDefaultReader<Uint8Array>, "read">,
  reader: Reader,
  clean: (text: string) => string,
  fail: (reason: Chat.Reason) => ChatModelError
): Stream.Stream<ReplyPart, ChatModelError> => {
  const decoder = new TextDecoder()
  let found: Array<ReplyPart | Chat.Reason> = []
  const parser = Sse.makeParser((event) => {
    if (event._tag !== "Retry") found.push(...reader.read(clean(event.data)))
  })
  const chunk = Effect.tryPromise({
    try: () => body.read(),
    catch: (cause) => fail(new Chat.CutStream({ detail: causeCode(cause) }))
  })
  return Stream.unfold(false, (ended) =>
    ended
      ? Effect.undefined
      : Effect.map(chunk, ({ done, value }) => {
          found = []
          const error = parser.feed(done ? decoder.decode() : decoder.decode(value, { stream: true }))
          if (error !== undefined) found.push(new Chat.BadReply({ detail: error.message }))
          if (done) found.push(...reader.end())
          return [found, done] as const
        })
  ).pipe(
    Stream.flattenIterable,
    Stream.mapEffect((item) => (item instanceof Error ? Effect.fail(fail(item)) : Effect.succeed(item))),
    Stream.takeUntil((part) => part._tag === "Stop")
  )
}

/** A key of fewer characters is a placeholder, as local servers are given one; it would be found within words. */
const SHORTEST_SECRET = 8

/** Takes a key out of whatever is said. */
export const withoutKey = (key: Redacted.Redacted | undefined): ((text: string) => string) => {
  const secret = key === undefined ? "" : Redacted.value(key)
  return secret.length < SHORTEST_SECRET ? (text) => text : (text) => text.replaceAll(secret, "[key]")
}

const KEYLESS = "if this server wants a key, name its variable as keyVariable of the provider in config.json"

/** Where a key that is not accepted is to be mended. */
const withRemedy = (reason: Chat.Reason, key: Redacted.Redacted | undefined): Chat.Reason => {
  if (reason._tag !== "WrongKey") return reason
  const remedy = key === undefined ? KEYLESS : `put another into ${key.label ?? "the place of this one"}`
  return new Chat.WrongKey({ detail: reason.detail, remedy })
}

/** The parts that `reader` makes of what comes back. What came before a failure is handed out before it. */
export const parts = (exchange: Exchange, makeReader: () => Reader): Stream.Stream<ReplyPart, ChatModelError> => {
  const { model, url, headers, body, key } = exchange
  const fail = (reason: Chat.Reason) => new ChatModelError({ model, reason: withRemedy(reason, key) })
  const clean = withoutKey(key)
  const tellRefusal = (response: Response) =>
    Effect.gen(function* () {
      const text = yield* Effect.promise(() => response.text().catch(() => ""))
      const said = errorIn(parsed(clean(text)))
      const detail = said?.message || `status ${response.status}`
      return yield* fail(reasonOf(response.status, said?.code ?? "", detail, retryAfterOf(response.headers)))
    })

  const open = Effect.gen(function* () {
    // Aborted with the scope of the stream: an interruption closes the connection, whatever it is doing.
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    const response = yield* Effect.tryPromise({
      try: () =>
        fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", accept: "text/event-stream", ...headers },
          body: JsonText.stringify(body),
          // A redirect would carry the key to whoever it names.
          redirect: "manual",
          signal: controller.signal
        }),
      catch: (cause) => fail(new Chat.Unreachable({ address: new URL(url).host, detail: causeCode(cause) }))
    })
    if (response.status >= 300 && response.status < 400) {
      return yield* fail(new Chat.BadReply({ detail: "the address redirects elsewhere" }))
    }
    if (!response.ok) return yield* tellRefusal(response)
    const type = response.headers.get("content-type") ?? ""
    if (response.body === null || /html|application\/json/.test(type)) {
      return yield* fail(new Chat.BadReply({ detail: `${type.split(";", 1)[0] || "nothing"} instead of a stream` }))
    }
    return heard(response.body.getReader(), makeReader(), clean, fail)
  })

  return Stream.unwrap(open)
}

/** The JSON of an event, or why it is none. */
export const jsonOf = (data: string): Json | Chat.BadReply => {
  const value = parsed(data)
  return isObject(value) ? value : new Chat.BadReply({ detail: "an event of the stream is not JSON" })
}
