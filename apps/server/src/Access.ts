/** Who is let in: those who bear the token, come from no other site, and do not come too often. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { closeSync, fchmodSync, lstatSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import type { LocalServer } from "@grove/local-http"

export interface Limits {
  /** Requests that may come at once, and how many a second may follow. */
  readonly burst: number
  readonly perSecond: number
  /** Wrong tokens that may be tried at once, and how many a minute may follow. */
  readonly guesses: number
}

export const limits: Limits = { burst: 600, perSecond: 200, guesses: 30 }

// ----------------------------------------------------------------------------------------------------------- token

const TOKEN = /^[0-9a-f]{64}$/

const readToken = (path: string): string | undefined => {
  try {
    const { mode } = lstatSync(path)
    const token = readFileSync(path, "utf8").trim()
    // One that others could read is no secret any more; nor is a link ours.
    return (mode & 0o170077) === 0o100000 && TOKEN.test(token) ? token : undefined
  } catch {
    return undefined
  }
}

/** The token of a home: the one that is there, so that clients find their way back after a restart, else a new one. */
export const tokenAt = (path: string): string => {
  const known = readToken(path)
  if (known !== undefined) return known
  const token = randomBytes(32).toString("hex")
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${randomBytes(4).toString("hex")}`
  const file = openSync(fresh, "wx", 0o600)
  try {
    fchmodSync(file, 0o600)
    writeSync(file, `${token}\n`)
  } finally {
    closeSync(file)
  }
  renameSync(fresh, path)
  return token
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Takes as long for a near miss as for a wild guess. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

const PROTOCOL = "bearer."

/** By the header that is made for it; or, where browsers allow no header, among the protocols of a socket. */
const tokenIn = (headers: LocalServer.Request["headers"]): string => {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1]
  if (bearer !== undefined || headers.upgrade === undefined) return bearer ?? ""
  const protocols = (headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim())
  return protocols.find((each) => each.startsWith(PROTOCOL))?.slice(PROTOCOL.length) ?? ""
}

// ----------------------------------------------------------------------------------------------------------- rates

/** A bucket that fills at its own pace, and from which everyone takes one. */
export const bucket = (size: number, perSecond: number, now: () => number) => {
  let level = size
  let at = now()
  return (): boolean => {
    const time = now()
    level = Math.min(size, level + ((time - at) / 1000) * perSecond)
    at = time
    if (level < 1) return false
    level--
    return true
  }
}

// ---------------------------------------------------------------------------------------------------------- access

export const CODES: { readonly [status: number]: string } = {
  400: "bad-request",
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  405: "method-not-allowed",
  413: "too-large",
  415: "unsupported-media-type",
  426: "upgrade-required",
  429: "too-many",
  503: "unavailable"
}

/** Every error has this shape. */
export const refuse = (
  status: number,
  message: string,
  headers: LocalServer.Reply["headers"] = {}
): LocalServer.Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ code: CODES[status] ?? "failed", message })
})

export interface Options {
  readonly token: string
  readonly limits: Limits
  /** Paths that hold nothing of anybody. */
  readonly isPublic: (path: string) => boolean
  readonly now?: () => number
}

export const make = ({
  token,
  limits: { burst, perSecond, guesses },
  isPublic,
  now = Date.now
}: Options): LocalServer.Access => {
  const mayAsk = bucket(burst, perSecond, now)
  const mayGuess = bucket(guesses, guesses / 60, now)
  return ({ url, headers }) => {
    const { origin } = headers
    // Browsers name the page that asks, and no page can make them name another.
    if (origin !== undefined && origin !== url.origin) return refuse(403, "only pages of this server may ask")
    if (isPublic(url.pathname)) return mayAsk() ? undefined : refuse(429, "too many requests", { "retry-after": "1" })
    if (!isSame(tokenIn(headers), token)) {
      if (!mayGuess()) return refuse(429, "too many wrong tokens", { "retry-after": "60" })
      return refuse(401, "a token is needed: Authorization: Bearer <token>, as grove serve printed it", {
        "www-authenticate": 'Bearer realm="grove"'
      })
    }
    return mayAsk() ? undefined : refuse(429, "too many requests", { "retry-after": "1" })
  }
}
