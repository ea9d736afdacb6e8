/** The viewer as a server: pages, and the data they ask for. It has no code that writes a session. */
import { fileURLToPath } from "node:url"
import { LocalServer, OneTimeLink } from "@grove/local-http"
import { Effect, type Stream } from "effect"
import * as Wire from "../wire/Wire.ts"
import * as Api from "./Api.ts"
import * as Details from "./Details.ts"
import { Library, type LibraryError, type Listed } from "./Library.ts"
import * as Prompts from "./Prompts.ts"
import * as Search from "./Search.ts"
import * as Site from "./Site.ts"
import * as Spending from "./Spending.ts"
import { Texts } from "./Texts.ts"

export interface Options {
  readonly host?: string | undefined
  readonly port?: number | undefined
  /** The link works once and lets in nobody else: needed wherever others could reach the server. */
  readonly token?: boolean | undefined
  /** Writes sessions in other forms, if somebody can. */
  readonly exporter?: Exporter | undefined
  /** The prompts that were typed, if somebody keeps them. */
  readonly prompts?: Prompts.PromptReads | undefined
  /** In which sessions somebody is at work, if that is noted anywhere. */
  readonly works?: Api.Works | undefined
  /** Where the exported pages are; those built with this package unless given. */
  readonly site?: string | undefined
}

export interface ExportRequest {
  readonly listed: Listed
  readonly format: Wire.ExportFormat
  readonly leaf: string | null
  /** Secrets are taken out unless the person said otherwise. */
  readonly redact: boolean
}

/** A session as a download. It reads like everything here; `null` where it cannot. */
export type Exporter = (
  request: ExportRequest
) => Effect.Effect<{ readonly type: string; readonly body: string | Uint8Array | Stream.Stream<Uint8Array> } | null>

export interface Viewer {
  /** What to open: the address of a page, with a token where one is needed. */
  readonly linkTo: (page: string) => string
  readonly server: LocalServer.LocalServer
}

const BUILT = fileURLToPath(new URL("../site", import.meta.url))

const isData = (path: string): boolean => path.startsWith("/api/") || /\/export\.[a-z]+$/.test(path)

const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Serves until the scope ends. */
export const serve = Effect.fn("Viewer.serve")(function* (options: Options) {
  const { host, port, token = false, site = BUILT, exporter, prompts = Prompts.none } = options
  const { works = Effect.succeed(new Map()) } = options
  const library = yield* Library
  const texts = yield* Texts
  const formats = exporter === undefined ? [] : Wire.exportFormats
  const pages = Site.load(site)
  const link = token ? OneTimeLink.make("Stop the viewer and start it again: it prints a new link.") : undefined

  const page = Effect.fnUntraced(function* (path: string, nonce: string) {
    const reply = pages.reply(path, nonce)
    if (reply === undefined) return pages.notFound(nonce)
    const part = Site.sessionIn(path)
    const key = part === undefined ? undefined : decoded(part)
    if (part === undefined || (key !== undefined && (yield* Effect.isSuccess(library.find(key))))) return reply
    return { ...reply, status: 404 }
  })

  const exported = Effect.fnUntraced(
    function* (part: string, name: string, url: URL) {
      const format = Wire.exportFormats.find((each) => each === name)
      const key = decoded(part)
      if (exporter === undefined || format === undefined || key === undefined) return Api.unknown
      const listed = yield* library.find(key)
      const redact = url.searchParams.get("redact") !== "0"
      const made = yield* exporter({ listed, format, leaf: url.searchParams.get("leaf"), redact })
      if (made === null) return Api.unknown
      const headers = {
        "content-type": made.type,
        "content-disposition": `attachment; filename="${listed.key.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 100)}.${format}"`
      }
      return { status: 200, headers, body: made.body }
    },
    Effect.catch((error) => Effect.succeed(Api.failed(error)))
  )

  const spends = Spending.make(library)
  const details = Details.make(library)
  /** What pages about many sessions ask for: `/api/<name>` */
  const across: { readonly [name: string]: (url: URL) => Effect.Effect<LocalServer.Reply, LibraryError> } = {
    sessions: (url) => Api.sessions(library, works, url),
    details: (url) => Details.details(library, details, url),
    text: (url) => Api.text(texts, url),
    search: (url) => Search.search(library, texts, url),
    prompts: (url) => Prompts.prompts(library, prompts, url),
    usage: (url) => Spending.usage(library, spends, url)
  }

  const handler = (request: LocalServer.Request): Effect.Effect<LocalServer.Reply> => {
    const path = request.url.pathname
    if (path === "/healthz") return Effect.succeed(Api.json({ ok: true }))
    const [, api, kind, part, what, ...rest] = path.split("/")
    const download = /^\/s\/([^/]+)\/export\.([a-z]+)$/.exec(path)
    if (download !== null) return exported(download[1]!, download[2]!, request.url)
    if (api !== "api") return page(path, request.nonce)
    if (kind !== undefined && part === undefined && Object.hasOwn(across, kind)) {
      return Effect.catch(across[kind]!(request.url), (error) => Effect.succeed(Api.failed(error)))
    }
    const key = kind === "s" && part !== undefined && rest.length === 0 ? decoded(part) : undefined
    return key === undefined ? Effect.succeed(Api.unknown) : Api.ofSession(library, formats, key, what, request)
  }

  const server = yield* LocalServer.serve({ handler, host, port, isData, access: link?.access })
  const addressOf = (page: string) => new URL(page, server.address).href
  return { server, linkTo: (page: string) => link?.linkTo(addressOf(page)) ?? addressOf(page) } satisfies Viewer
})
