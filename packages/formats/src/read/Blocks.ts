/** Blocks of messages, as sessions hold them. */
import { isObject, type Json } from "@grove/core"

export const text = (value: string): Json => ({ type: "text", text: value })

/** An image given as a data URL; `undefined` for one that lies elsewhere. */
export const imageFromUrl = (url: unknown): Json | undefined => {
  const found = typeof url === "string" ? /^data:([\w.+/-]+)(?:;[^,]*)?;base64,(.*)$/s.exec(url) : null
  return found === null ? undefined : { type: "image", data: found[2], mimeType: found[1] }
}

/** Arguments of a call, given as an object or as its JSON; anything else is kept under a name of its own. */
export const argumentsFrom = (value: unknown): Json => {
  if (isObject(value)) return value
  if (typeof value !== "string") return value === undefined || value === null ? {} : { input: value }
  try {
    const parsed: unknown = JSON.parse(value)
    return isObject(parsed) ? parsed : { input: value }
  } catch {
    return value === "" ? {} : { input: value }
  }
}

/** A list as a message has it: one text alone is a string. */
export const content = (blocks: ReadonlyArray<Json>): string | ReadonlyArray<Json> => {
  const [only] = blocks
  if (only === undefined) return ""
  return blocks.length === 1 && only.type === "text" && typeof only.text === "string" ? only.text : blocks
}

const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0)

/** What a reply used. Without a price; `reasoning` is part of `output`, the other buckets do not overlap. */
export const usage = (used: {
  readonly input: unknown
  readonly output: unknown
  readonly cacheRead?: unknown
  readonly cacheWrite?: unknown
  readonly cacheWrite1h?: unknown
  readonly reasoning?: unknown
  readonly cost?: unknown
}): Json => {
  const [input, output] = [count(used.input), count(used.output)]
  const [cacheRead, cacheWrite] = [count(used.cacheRead), count(used.cacheWrite)]
  const [longer, reasoning] = [count(used.cacheWrite1h), count(used.reasoning)]
  return {
    ...{ input, output, cacheRead, cacheWrite },
    ...(longer > 0 ? { cacheWrite1h: longer } : {}),
    ...(reasoning > 0 ? { reasoning } : {}),
    totalTokens: input + output + cacheRead + cacheWrite,
    cost: { total: typeof used.cost === "number" && Number.isFinite(used.cost) ? used.cost : null }
  }
}

/** The texts of a list of blocks, or the text itself. */
export const textOf = (value: unknown): string => {
  if (typeof value === "string") return value
  if (!Array.isArray(value)) return ""
  return value.flatMap((block) => (isObject(block) && typeof block.text === "string" ? [block.text] : [])).join("\n")
}
