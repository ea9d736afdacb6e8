/** Port: every prompt a person ever typed, searchable across sessions. */
import { Context, Effect, Layer, Schema } from "effect"

/** One use of a prompt. */
export interface PromptUse {
  readonly prompt: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly cwd: string | null
  readonly session: string | null
  readonly entry: string | null
  /** Who wrote it; only `user` is found by default. */
  readonly author: string
}

/** A prompt with what is known of its uses by the person. `cwd`, `session` and `entry` are those of the last one. */
export interface PromptHit {
  readonly id: number
  readonly prompt: string
  readonly uses: number
  readonly firstUsed: number
  readonly lastUsed: number
  readonly cwd: string | null
  readonly session: string | null
  readonly entry: string | null
}

export interface PromptQuery {
  /** Words that must all occur, in any case and also inside longer ones; empty finds every prompt. No text is ever query syntax of the medium. */
  readonly text: string
  /** Only prompts used at least once there, lately or not. */
  readonly cwd?: string
  readonly session?: string
  /** At most so many. */
  readonly limit: number
}

export class PromptHistoryError extends Schema.TaggedError<PromptHistoryError>()("PromptHistoryError", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {}

/** Copies of a prompt that differ only in line ends, trailing blanks or Unicode composition are one prompt. */
export const normalise = (prompt: string): string =>
  prompt
    .split(/\r\n?|\n/)
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()
    .normalize("NFC")

interface Kept {
  readonly id: number
  readonly prompt: string
  readonly uses: Array<PromptUse & { readonly isRepeat: boolean }>
}

const hit = ({ id, prompt, uses }: Kept): PromptHit => {
  const first = uses.reduce((a, b) => (b.at < a.at ? b : a))
  const last = uses.reduce((a, b) => (b.at >= a.at ? b : a))
  const { cwd, session, entry } = last
  const counted = uses.filter(({ isRepeat }) => !isRepeat).length
  return { id, prompt, uses: counted, firstUsed: first.at, lastUsed: last.at, cwd, session, entry }
}

const makeMemory = () => {
  const byText = new Map<string, Kept>()
  let last: { readonly text: string; readonly author: string } | undefined
  let nextId = 1
  return PromptHistory.of({
    add: (use) =>
      Effect.sync(() => {
        const text = normalise(use.prompt)
        if (text === "") return
        const kept = byText.get(text) ?? { id: nextId++, prompt: text, uses: [] }
        kept.uses.push({ ...use, isRepeat: last?.text === text && last.author === use.author })
        byText.set(text, kept)
        last = { text, author: use.author }
      }),
    search: ({ text, cwd, session, limit }) =>
      Effect.sync(() => {
        const words = normalise(text).toLowerCase().split(/\s+/u).filter(Boolean)
        const isThere = (use: PromptUse) =>
          (cwd === undefined || use.cwd === cwd) && (session === undefined || use.session === session)
        return [...byText.values()]
          .filter(({ prompt }) => words.every((word) => prompt.toLowerCase().includes(word)))
          .map((kept) => ({ ...kept, uses: kept.uses.filter(({ author }) => author === "user") }))
          .filter(({ uses }) => uses.some(isThere))
          .map(hit)
          .sort((a, b) => b.lastUsed - a.lastUsed || b.id - a.id)
          .slice(0, Math.max(0, limit))
      }),
    remove: (ids) =>
      Effect.sync(() => {
        const gone = [...byText].filter(([, { id }]) => ids.includes(id))
        for (const [text] of gone) {
          byText.delete(text)
          if (text === last?.text) last = undefined
        }
        return gone.length
      })
  })
}

export class PromptHistory extends Context.Service<
  PromptHistory,
  {
    /**
     * Never blocks a turn: succeeds when the use is sure to be kept, not when it is indexed. Every use is kept with its
     * place; a repeat of the very last prompt by the same author counts as one with it. Blanks alone are no prompt.
     */
    readonly add: (use: PromptUse) => Effect.Effect<void, PromptHistoryError>
    /** Newest use first within equal rank. Knows everything that was added before. */
    readonly search: (query: PromptQuery) => Effect.Effect<ReadonlyArray<PromptHit>, PromptHistoryError>
    /** Really deletes, every use: afterwards no byte of the prompts is left on the medium. Answers how many there were. */
    readonly remove: (ids: ReadonlyArray<number>) => Effect.Effect<number, PromptHistoryError>
  }
>()("@grove/core/PromptHistory") {
  static readonly layerMemory = Layer.sync(PromptHistory, makeMemory)
}
