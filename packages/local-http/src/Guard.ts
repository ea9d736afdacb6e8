/**
 * Who may be answered, decided before anything is routed. A page on the internet can send a browser's requests to this
 * machine under its own name (rebinding), or from its own origin; both show in headers that a page cannot choose.
 */
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"

/** A refusal, in words for whoever sees it. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"]

export const isLoopback = (host: string): boolean => LOOPBACK.includes(host.replace(/^\[|\]$/g, "").toLowerCase())

/** A name as it stands in front of a port. */
const spelled = (name: string): string => (isIP(name) === 6 ? `[${name}]` : name.toLowerCase())

const HTTP = 80

/** Everything a `Host` header may say, exactly. */
export const hostsFor = (names: ReadonlyArray<string>, port: number): ReadonlySet<string> =>
  new Set([...LOOPBACK, ...names].map(spelled).flatMap((name) => [`${name}:${port}`, ...(port === HTTP ? [name] : [])]))

/** Every value that was sent, also where a client sent a header twice and Node would show only one. */
const valuesOf = ({ rawHeaders }: IncomingMessage, name: string): ReadonlyArray<string> =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name)

export interface Rules {
  readonly hosts: ReadonlySet<string>
  readonly methods: ReadonlyArray<string>
  /** Paths that only pages of this server may read. Others may be linked to from anywhere. */
  readonly isData: (path: string) => boolean
}

const OWN_SITES = new Set(["same-origin", "none"])

/** `undefined` for a request that may be answered. */
export const refuse = (request: IncomingMessage, { hosts, methods, isData }: Rules): Refusal | undefined => {
  const [host, ...others] = valuesOf(request, "host")
  if (host === undefined || others.length > 0 || !hosts.has(host.toLowerCase())) {
    return {
      status: 403,
      message: "This server does not answer to that name. Open the link it printed, or start it with --host <name>."
    }
  }
  const target = request.url ?? ""
  if (!target.startsWith("/")) return { status: 400, message: "The address is not one of this server." }
  if (!methods.includes(request.method ?? "")) {
    return { status: 405, message: `Only ${methods.join(", ")} ${methods.length === 1 ? "is" : "are"} allowed here.` }
  }
  const sites = valuesOf(request, "sec-fetch-site")
  if (isData(target.split(/[?#]/, 1)[0]!) && sites.some((site) => !OWN_SITES.has(site.toLowerCase()))) {
    return { status: 403, message: "Only pages of this server may read this." }
  }
  return undefined
}
