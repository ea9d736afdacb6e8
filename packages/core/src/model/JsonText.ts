/** Values as JSON text, however deeply they are nested. */

/** What is left to write: text as it is, or a value. */
type Pending = string | { readonly value: unknown }

const membersOf = (value: object): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(value).filter(([, member]) => member !== undefined)

/** JSON of a value nested more deeply than the stack allows: the same text, by a loop. */
const stringifyDeep = (root: unknown): string => {
  const parts: Array<string> = []
  const pending: Array<Pending> = [{ value: root }]
  const later = (open: string, items: ReadonlyArray<readonly [string, unknown]>, close: string) => {
    pending.push(close)
    for (let i = items.length - 1; i >= 0; i--) {
      const [before, value] = items[i]!
      pending.push({ value }, i > 0 ? `,${before}` : before)
    }
    pending.push(open)
  }
  while (pending.length > 0) {
    const next = pending.pop()!
    if (typeof next === "string") parts.push(next)
    else if (Array.isArray(next.value))
      later(
        "[",
        next.value.map((item) => ["", item] as const),
        "]"
      )
    else if (typeof next.value === "object" && next.value !== null) {
      later(
        "{",
        membersOf(next.value).map(([key, member]) => [`${JSON.stringify(key)}:`, member] as const),
        "}"
      )
    } else parts.push(JSON.stringify(next.value) ?? "null")
  }
  return parts.join("")
}

/** `JSON.stringify` for values that came from JSON; it never runs out of stack. */
export const stringify = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    if (cause instanceof RangeError) return stringifyDeep(value)
    throw cause
  }
}
