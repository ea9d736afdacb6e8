/**
 * Lets in whoever has the link, once: its token is exchanged for a cookie and leaves the address bar at once, so that
 * neither history, nor a referrer, nor a script can give it away.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { Access } from "./LocalServer.ts"

const PARAMETER = "token"
const HOURS = 12

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
/** Takes as long for a near miss as for a wild guess. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

const secret = (): string => randomBytes(32).toString("hex")

export interface OneTimeLink {
  readonly access: Access
  /** The address with the token in it. */
  readonly linkTo: (address: string) => string
}

/** `howToGetALink` is told to those who come without one. */
export const make = (howToGetALink: string): OneTimeLink => {
  const token = secret()
  const key = secret()
  // Cookies are shared by all ports of a machine: a name of its own keeps two servers apart.
  const cookie = `grove-${randomBytes(4).toString("hex")}`
  let isUsed = false
  const cookiesIn = (header: string | undefined): ReadonlyArray<string> =>
    (header ?? "").split(";").flatMap((pair) => {
      const [name, value] = pair.trim().split("=", 2)
      return name === cookie && value !== undefined ? [value] : []
    })
  return {
    linkTo: (address) => {
      const link = new URL(address)
      link.searchParams.set(PARAMETER, token)
      return link.href
    },
    access: ({ url, headers }) => {
      const given = url.searchParams.get(PARAMETER)
      if (given !== null) {
        if (isUsed || !isSame(given, token)) {
          return { status: 401, body: `This link was used already, or is not from here. ${howToGetALink}\n` }
        }
        isUsed = true
        const clean = new URL(url)
        clean.searchParams.delete(PARAMETER)
        return {
          status: 303,
          headers: {
            location: `${clean.pathname}${clean.search}`,
            "set-cookie": `${cookie}=${key}; HttpOnly; SameSite=Lax; Path=/; Max-Age=${HOURS * 3600}`
          }
        }
      }
      if (cookiesIn(headers.cookie).some((value) => isSame(value, key))) return undefined
      return { status: 401, body: `A link with a token is needed. ${howToGetALink}\n` }
    }
  }
}
