/** Port: every prompt a person ever typed, searchable across sessions. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import * as SearchQuery from "./model/SearchQuery.ts"
import { fold } from "./model/SearchText.ts"

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

/** How well a prompt fits a query: as typed, word by word, inside of words, or only nearly. */
export type Fit = "phrase" | "words" | "inside" | "near"

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
  readonly fit: Fit
}

/** Where the person is; what was used there comes first. */
export interface Place {
  readonly cwd?: string
  readonly session?: string
}

export interface PromptQuery {
  /**
   * As `SearchQuery` understands it, with the filters `cwd:`, `session:`, `author:`, `after:` and `before:`; empty finds
   * every prompt. No text is ever query syntax of the medium.
   */
  readonly text: string
  /** Only prompts used at least once there, lately or not. */
  readonly cwd?: string
  readonly session?: string
  /** At most so many. */
  readonly limit: number
  readonly near?: Place
  /**
   * Finds every prompt that fits, however long that takes, and none that fits only nearly; for what must not be
   * overlooked, as when deleting. Otherwise a medium may stop at the newest ones that fit.
   */
  readonly exhaustive?: boolean
}

/** What became of many uses. */
export interface Added {
  readonly added: number
  /** Were there already. */
  readonly known: number
  /** Held nothing but blanks. */
  readonly blank: number
}

/** What is to be forgotten: what was used in a session or was one of its entries, or every prompt that holds a text. */
export type Forgotten =
  | { readonly is: "session"; readonly session: string; readonly entry?: string }
  | { readonly is: "text"; readonly text: string }

/** The person's prompts in numbers. Repeats count as one use. */
export interface PromptStats {
  readonly prompts: number
  readonly uses: number
  readonly firstUsed: number | null
  readonly lastUsed: number | null
  /** Days of UTC on which something was typed, oldest first. */
  readonly days: ReadonlyArray<{ readonly day: string; readonly uses: number }>
  /** Those used more than once, most used first. */
  readonly top: ReadonlyArray<{ readonly prompt: string; readonly uses: number }>
  /** By working directory, most used first. */
  readonly folders: ReadonlyArray<{ readonly cwd: string | null; readonly uses: number }>
}

/** How many prompts and folders the statistics name. */
export const STATS_NAMED = 20

export class PromptHistoryError extends Schema.TaggedError<PromptHistoryError>()("PromptHistoryError", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {}

/** Halves of characters, which no encoding can keep. */
const LONE_SURROGATES = /\p{Cs}/gu

/** Copies of a prompt that differ only in line ends, trailing blanks or Unicode composition are one prompt. */
export const normalise = (prompt: string): string =>
  prompt
    .split(/\r\n?|\n/)
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()
    .normalize("NFC")
    .replace(LONE_SURROGATES, "\ufffd")

/** Which filters a query on prompts understands. */
export const FILTERS = ["cwd", "session", "author", "after", "before"] as const

export const parse = (text: string, now: number): SearchQuery.SearchQuery =>
  SearchQuery.parse(normalise(text), { filters: FILTERS, now })

/** By whom prompts are meant to be found unless somebody else is asked for. */
export const PERSON = "user"

const FITS: ReadonlyArray<Fit> = ["phrase", "words", "inside"]

/** How well a prompt fits, `undefined` if it does not. */
export const fitOf = (query: SearchQuery.SearchQuery, prompt: string): Fit | undefined => {
  const fit = SearchQuery.fitOf(query, prompt)
  return fit === undefined ? undefined : FITS[fit]
}

const HOUR = 3_600_000
const RECENCY = [
  [HOUR, 30],
  [24 * HOUR, 20],
  [168 * HOUR, 10],
  [720 * HOUR, 5]
] as const

const isRelated = (a: string, b: string): boolean => a.startsWith(`${b}/`) || b.startsWith(`${a}/`)

/** Points for use, recency and place. Whole numbers, so that equals are equal and the newest of them comes first. */
const pointsOf = ({ uses, lastUsed, cwd, session }: PromptHit, now: number, near: Place): number => {
  const often = Math.min(30, Math.floor(5 * Math.log2(Math.max(1, uses))))
  const lately = RECENCY.find(([age]) => now - lastUsed < age)?.[1] ?? 0
  const here = cwd === null || near.cwd === undefined ? 0 : cwd === near.cwd ? 40 : isRelated(cwd, near.cwd) ? 20 : 0
  return often + lately + here + (session !== null && session === near.session ? 10 : 0)
}

const ORDER: ReadonlyArray<Fit> = [...FITS, "near"]

export interface RankOptions {
  readonly now: number
  readonly near?: Place | undefined
  readonly limit: number
  /** Where nothing was asked for, nothing fits better than what is newer. */
  readonly byTime?: boolean
}

/** Best first: by fit, then by points, then the newest. */
export const ranked = (
  hits: ReadonlyArray<PromptHit>,
  { now, near = {}, limit, byTime = false }: RankOptions
): ReadonlyArray<PromptHit> =>
  hits
    .map((hit) => ({ hit, fit: ORDER.indexOf(hit.fit), points: byTime ? 0 : pointsOf(hit, now, near) }))
    .sort((a, b) => a.fit - b.fit || b.points - a.points || b.hit.lastUsed - a.hit.lastUsed || b.hit.id - a.hit.id)
    .slice(0, Math.max(0, limit))
    .map(({ hit }) => hit)

interface Kept {
  readonly id: number
  readonly prompt: string
  readonly uses: Array<PromptUse & { readonly isRepeat: boolean }>
}

const hitOf = ({ id, prompt, uses }: Kept, fit: Fit): PromptHit => {
  const first = uses.reduce((a, b) => (b.at < a.at ? b : a))
  const last = uses.reduce((a, b) => (b.at >= a.at ? b : a))
  const { cwd, session, entry } = last
  const counted = uses.filter(({ isRepeat }) => !isRepeat).length
  return { id, prompt, uses: counted, firstUsed: first.at, lastUsed: last.at, cwd, session, entry, fit }
}

/** One use told twice: by the same author, at the same time or as the same entry, which a fork shares. */
const isSameUse = (a: PromptUse, b: PromptUse): boolean =>
  a.author === b.author && (a.at === b.at || (a.entry !== null && a.entry === b.entry))

const tally = <A>(keys: Iterable<A>): ReadonlyArray<readonly [A, number]> => {
  const counts = new Map<A, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

const makeMemory = () => {
  const byText = new Map<string, Kept>()
  let last: { readonly text: string; readonly author: string } | undefined
  let nextId = 1

  const addOne = (use: PromptUse, skipKnown: boolean): keyof Added => {
    const text = normalise(use.prompt)
    if (text === "") return "blank"
    const kept = byText.get(text) ?? { id: nextId++, prompt: text, uses: [] }
    if (skipKnown && kept.uses.some((known) => isSameUse(known, use))) return "known"
    kept.uses.push({ ...use, isRepeat: last?.text === text && last.author === use.author })
    byText.set(text, kept)
    last = { text, author: use.author }
    return "added"
  }

  const found = ({ text, cwd, session }: PromptQuery, now: number): ReadonlyArray<PromptHit> => {
    const query = parse(text, now)
    const { filters } = query
    const isThere = (use: PromptUse) =>
      (cwd === undefined || use.cwd === cwd) &&
      (session === undefined || use.session === session) &&
      (filters.cwd === undefined || fold(use.cwd ?? "").includes(fold(filters.cwd))) &&
      (filters.session === undefined || (use.session ?? "").includes(filters.session)) &&
      (filters.after === undefined || use.at >= filters.after) &&
      (filters.before === undefined || use.at < filters.before)
    const author = filters.author ?? PERSON
    return [...byText.values()].flatMap((kept) => {
      const uses = kept.uses.filter((use) => use.author === author)
      const fit = uses.some(isThere) ? fitOf(query, kept.prompt) : undefined
      return fit === undefined ? [] : [hitOf({ ...kept, uses }, fit)]
    })
  }

  return PromptHistory.of({
    add: (use) => Effect.sync(() => void addOne(use, false)),
    addAll: (uses, { skipKnown = false, dryRun = false } = {}) =>
      Effect.sync(() => {
        const copied = ([text, kept]: [string, Kept]): [string, Kept] => [text, { ...kept, uses: [...kept.uses] }]
        const before = dryRun ? [...byText].map(copied) : []
        const [lastBefore, nextIdBefore] = [last, nextId]
        const counts = { added: 0, known: 0, blank: 0 }
        for (const use of uses) counts[addOne(use, skipKnown)]++
        if (!dryRun) return counts
        byText.clear()
        for (const [text, kept] of before) byText.set(text, kept)
        last = lastBefore
        nextId = nextIdBefore
        return counts
      }),
    search: (query) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        ranked(found(query, now), { now, near: query.near, limit: query.limit, byTime: query.text.trim() === "" })
      ),
    count: (query) =>
      Effect.map(Clock.currentTimeMillis, (now) => found({ ...query, limit: Number.POSITIVE_INFINITY }, now).length),
    remove: (ids) =>
      Effect.sync(() => {
        const gone = [...byText].filter(([, { id }]) => ids.includes(id))
        for (const [text] of gone) {
          byText.delete(text)
          if (text === last?.text) last = undefined
        }
        return gone.length
      }),
    forget: (what, { dryRun = false } = {}) =>
      Effect.sync(() => {
        const goes = (prompt: string, use: PromptUse) =>
          what.is === "text"
            ? prompt.includes(what.text)
            : use.session === what.session && (what.entry === undefined || use.entry === what.entry)
        const concerned = [...byText].filter(([text, { uses }]) => uses.some((use) => goes(text, use)))
        for (const [text, kept] of dryRun ? [] : concerned) {
          const uses = kept.uses.filter((use) => !goes(text, use))
          const [first, ...others] = uses
          if (first === undefined) byText.delete(text)
          // The first use that is left is no repeat of one that is gone.
          else byText.set(text, { ...kept, uses: [{ ...first, isRepeat: false }, ...others] })
          if (last?.text === text) last = undefined
        }
        return concerned.length
      }),
    stats: Effect.sync(() => {
      const hits = [...byText.values()].flatMap((kept) => {
        const uses = kept.uses.filter(({ author }) => author === PERSON)
        return uses.length === 0 ? [] : [hitOf({ ...kept, uses }, "words")]
      })
      const counted = [...byText.values()].flatMap(({ uses }) =>
        uses.filter(({ author, isRepeat }) => author === PERSON && !isRepeat)
      )
      const days = tally(counted.map(({ at }) => new Date(at).toISOString().slice(0, 10)))
      return {
        prompts: hits.length,
        uses: counted.length,
        firstUsed: hits.length === 0 ? null : Math.min(...hits.map(({ firstUsed }) => firstUsed)),
        lastUsed: hits.length === 0 ? null : Math.max(...hits.map(({ lastUsed }) => lastUsed)),
        days: days.map(([day, uses]) => ({ day, uses })).sort((a, b) => (a.day < b.day ? -1 : 1)),
        top: hits
          .filter(({ uses }) => uses > 1)
          .sort((a, b) => b.uses - a.uses || b.lastUsed - a.lastUsed)
          .slice(0, STATS_NAMED)
          .map(({ prompt, uses }) => ({ prompt, uses })),
        folders: tally(counted.map(({ cwd }) => cwd))
          .slice(0, STATS_NAMED)
          .map(([cwd, uses]) => ({ cwd, uses }))
      }
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
    /**
     * Many at once and in their order, all or none. With `skipKnown`, a use of the same prompt by the same author at the
     * same time or as the same entry is taken to be the same use, so that what is imported twice is there once; with
     * `dryRun` it only tells what would become of them.
     */
    readonly addAll: (
      uses: ReadonlyArray<PromptUse>,
      options?: { readonly skipKnown?: boolean; readonly dryRun?: boolean }
    ) => Effect.Effect<Added, PromptHistoryError>
    /**
     * Best first, the newest first among equals. Knows everything that was added before. Only where nothing fits may
     * there be prompts that fit nearly, and they say so.
     */
    readonly search: (query: PromptQuery) => Effect.Effect<ReadonlyArray<PromptHit>, PromptHistoryError>
    /** How many prompts fit, to tell what a wider scope would show. A medium may stop counting at a thousand. */
    readonly count: (query: Omit<PromptQuery, "limit">) => Effect.Effect<number, PromptHistoryError>
    /** Really deletes, every use: afterwards no byte of the prompts is left on the medium. Answers how many there were. */
    readonly remove: (ids: ReadonlyArray<number>) => Effect.Effect<number, PromptHistoryError>
    /**
     * Really deletes, whoever wrote it: the uses in a session, and prompts that have no other, or all prompts that hold
     * a text. Answers how many prompts that concerns; with `dryRun` that is all it does.
     */
    readonly forget: (
      what: Forgotten,
      options?: { readonly dryRun?: boolean }
    ) => Effect.Effect<number, PromptHistoryError>
    readonly stats: Effect.Effect<PromptStats, PromptHistoryError>
  }
>()("@grove/core/PromptHistory") {
  static readonly layerMemory = Layer.sync(PromptHistory, makeMemory)
}
