/** Who a session is from: the home directory becomes `~`, the user name a placeholder. */
import type { OnFound } from "./Secrets.ts"

export interface Person {
  readonly home: string
  readonly user: string
}

/** Names that many machines have; they say nothing about a person, and much of a text would go with them. */
const ANYBODY = new Set(
  "root admin administrator user users home guest nobody ubuntu debian centos fedora ec2-user azureuser vagrant docker node npm git www www-data runner ci build builder jenkins test tester dev developer app default public system server".split(
    " "
  )
)
const SHORTEST_NAME = 3
export const NOBODY = "[user]"

const asLatin1 = (text: string): string => Buffer.from(text).toString("latin1")
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")

/** A home that is all of the file system, or none, is nobody's. */
const isHome = (home: string): boolean => home.length > 1 && !/^[A-Za-z]:[\\/]?$/.test(home)

/** The parts of a path stand apart by slashes, by backslashes, or by either with escapes before them. */
const pathPattern = (path: string): string =>
  path
    .replace(/[\\/]+$/, "")
    .split(/[\\/]/)
    .map(escaped)
    .join("\\\\{0,4}[\\\\/]")

/** Takes a person out of texts; the same string comes back where they are not in it. */
export const make = ({ home, user }: Person) => {
  const name = user.trim()
  const isNamed = name.length >= SHORTEST_NAME && !ANYBODY.has(name.toLowerCase())
  const homes = isHome(home)
    ? new RegExp(`(?<![\\p{L}\\p{N}_.~-])${pathPattern(home)}(?![\\p{L}\\p{N}_-])`, "gu")
    : undefined
  const names = isNamed
    ? new RegExp(`(?<!(?<!\\\\|%[0-9A-Fa-f])[\\p{L}\\p{N}_])${escaped(name)}(?![\\p{L}\\p{N}_])`, "gu")
    : undefined
  /** What any spelling of either holds: the last part of the home, and the name. */
  const lastPart = home.split(/[\\/]/).findLast((part) => part !== "") ?? ""
  const mayBeIn = (text: string): boolean =>
    (homes !== undefined && text.includes(lastPart)) || (isNamed && text.includes(name))

  const withoutPerson = (text: string, onFound: OnFound): string => {
    if (!mayBeIn(text)) return text
    let clean = text
    if (homes !== undefined) {
      clean = clean.replace(homes, () => {
        onFound("home")
        return "~"
      })
    }
    if (names !== undefined) {
      clean = clean.replace(names, () => {
        onFound("user")
        return NOBODY
      })
    }
    return clean
  }
  const needles = [...new Set([...(homes === undefined ? [] : [lastPart]), ...(isNamed ? [name] : [])])].map(asLatin1)
  return {
    withoutPerson,
    /** Of a line of JSON whose bytes were read as characters of one byte each. */
    mayBeInLine: (line: string): boolean => needles.some((needle) => line.includes(needle))
  }
}
