/** The exported pages: looked up in a table that is made once, so that no address ever becomes a path. */
import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import type { LocalServer } from "@grove/local-http"

const TYPES: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".ico": "image/x-icon",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8"
}

/** Names that hold a hash of what is in them. */
const IMMUTABLE = /^\/_next\/static\//

/** Which page an address shows; what it shows there, the page reads from its own address. */
const PAGES: ReadonlyArray<readonly [address: RegExp, page: string]> = [
  [/^\/$/, "/index.html"],
  [/^\/s\/[^/]+$/, "/session.html"],
  [/^\/s\/[^/]+\/compare$/, "/compare.html"],
  [/^\/s\/[^/]+\/graph$/, "/graph.html"],
  [/^\/(search|history|usage)$/, "/$1.html"]
]

export interface Site {
  /** `undefined` for what is neither a page nor part of one. */
  readonly reply: (path: string, nonce: string) => LocalServer.Reply | undefined
  readonly notFound: (nonce: string) => LocalServer.Reply
}

/** Whether an address is that of one session's page, and of which. */
export const sessionIn = (path: string): string | undefined => /^\/s\/([^/]+)/.exec(path)?.[1]

const pageFor = (path: string): string | undefined => {
  const found = PAGES.find(([address]) => address.test(path))
  return found === undefined ? undefined : path.replace(found[0], found[1])
}

/** Next writes scripts into its pages; they run because they carry this answer's nonce. */
const withNonce = (html: string, nonce: string): string =>
  html.replace(/<(script|style)(?=[\s>])/g, `<$1 nonce="${nonce}"`)

export const load = (folder: string): Site => {
  const files = new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile())
      .map((item) => {
        const path = join(item.parentPath, item.name)
        return [path.slice(folder.replace(/[/\\]$/, "").length).replaceAll("\\", "/"), path] as const
      })
  )
  const read = new Map<string, Buffer>()
  const bytesOf = (name: string, path: string): Buffer => {
    const known = read.get(name) ?? readFileSync(path)
    read.set(name, known)
    return known
  }
  const file = (name: string, nonce: string, status = 200): LocalServer.Reply | undefined => {
    const path = files.get(name)
    if (path === undefined) return undefined
    const type = TYPES[extname(name)] ?? "application/octet-stream"
    const bytes = bytesOf(name, path)
    if (extname(name) === ".html") {
      return { status, headers: { "content-type": type }, body: withNonce(bytes.toString("utf8"), nonce) }
    }
    const cache = IMMUTABLE.test(name) ? "public, max-age=31536000, immutable" : "no-cache"
    return { status, headers: { "content-type": type, "cache-control": cache }, body: bytes }
  }
  return {
    reply: (path, nonce) => {
      const page = pageFor(path)
      if (page !== undefined) return file(page, nonce)
      return extname(path) === ".html" ? undefined : file(path, nonce)
    },
    notFound: (nonce) => file("/404.html", nonce, 404) ?? { status: 404, body: "There is no such page.\n" }
  }
}
