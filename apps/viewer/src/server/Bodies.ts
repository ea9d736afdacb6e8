/** Entries as pages are given them: long texts cut, images left to be fetched, nothing too deep to be written as JSON. */
import type { Entry } from "@grove/core/model"
import type { Body } from "../wire/Wire.ts"

/** A text of more characters is cut; "show all" asks for the rest. */
export const LONGEST_TEXT = 20_000
/** What one answer holds at most, apart from its first entry. */
export const MOST_CHARACTERS = 4_000_000
const DEEPEST = 200

const escape = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1")

const isImage = (value: object): boolean => (value as { readonly type?: unknown }).type === "image"

/** At the end of a whole character. */
const cutAt = (text: string, length: number): string => {
  const unit = text.charCodeAt(length - 1)
  return text.slice(0, unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length)
}

type Node = { [key: string]: unknown }

/** What an image is replaced by: where to fetch it. */
export const imageAt = (pointer: string): string => `image:${pointer}`

/**
 * A copy with all that is long cut. A loop over its own stack: files may nest deeper than calls can. What lies deeper
 * than anybody reads is left out, and said to be.
 */
export const bodyOf = (entry: Entry.Entry, longest = LONGEST_TEXT): Body => {
  const cut: { [pointer: string]: number } = {}
  let isTooDeep = false
  const root: Node = {}
  const pending: Array<{ readonly from: object; readonly to: Node; readonly pointer: string; readonly depth: number }> =
    [{ from: entry, to: root, pointer: "", depth: 0 }]
  // `__proto__` in a file is a field like any other.
  const put = (to: Node, key: string, value: unknown) =>
    Object.defineProperty(to, key, { value, enumerable: true, configurable: true, writable: true })
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { from, to, pointer, depth } = next
    for (const [key, value] of Object.entries(from)) {
      const at = `${pointer}/${escape(key)}`
      if (typeof value === "string" && key === "data" && isImage(from)) put(to, key, imageAt(at))
      else if (typeof value === "string" && value.length > longest) {
        put(to, key, cutAt(value, longest))
        cut[at] = value.length
      } else if (typeof value !== "object" || value === null) put(to, key, value)
      else if (depth >= DEEPEST) {
        isTooDeep = true
        put(to, key, "…")
      } else {
        const copy = (Array.isArray(value) ? [] : {}) as Node
        put(to, key, copy)
        pending.push({ from: value, to: copy, pointer: at, depth: depth + 1 })
      }
    }
  }
  return { entry: root as Entry.Entry, cut, ...(isTooDeep ? { isTooDeep: true as const } : {}) }
}

/** The value a pointer names, if it names one. */
export const valueAt = (entry: Entry.Entry, pointer: string): { readonly value: unknown; readonly above: unknown } => {
  let value: unknown = entry
  let above: unknown
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    above = value
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return { value: undefined, above }
    value = (value as Node)[key]
  }
  return { value, above }
}
