/** What Pi, oh-my-pi and xcsh say about the fixtures, in the terms of Grove's answers. */
import { createHash } from "node:crypto"
import { expectation, type Json, namesIn } from "./support.ts"

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

// ------------------------------------------------------------------------------------------------------- Pi

export interface PiContext {
  readonly leaf: string | null
  readonly messages: ReadonlyArray<Json>
  readonly thinkingLevel: string
  readonly model: Json | null
}
export interface PiNode {
  readonly id: string
  readonly label?: string
  readonly children: ReadonlyArray<PiNode>
}
export interface PiAnswer {
  readonly header: Json
  readonly defaultLeafId: string | null
  readonly sessionName: string | null
  readonly entryCount: number
  readonly labels: Json
  readonly tree: ReadonlyArray<PiNode>
  readonly rootCount: number
  readonly contexts: ReadonlyArray<PiContext>
}
type ByVersion<A> = { readonly file: string; readonly "pi-0.73.1": A; readonly "pi-1.5.0": A | "identical" }

/** What 1.5.0 answers; it counts where the two versions differ. */
export const piAnswer = <A>(path: string): A & { readonly file: string } => {
  const { file, "pi-0.73.1": old, "pi-1.5.0": current } = expectation<ByVersion<A>>(`pi/${path}`)
  return { ...(current === "identical" ? old : current), file }
}

export const PI_OMITTED = "default (argument omitted)"
export const PI_UNKNOWN = "ffffffff-not-there"

/** Sessions whose contexts are written out whole. */
export const piSessions = namesIn("pi", /^expected-.*\.json$/)
  .map((name) => piAnswer<PiAnswer>(name))
  .filter(({ file, contexts }) => file !== undefined && contexts?.[0]?.messages !== undefined)

// ------------------------------------------------------------------------------------- oh-my-pi and xcsh

export interface OmpContext {
  readonly messages: unknown
  readonly thinkingLevel: string
  readonly models: Json
  readonly mode: string
  readonly modeData?: unknown
  readonly injectedTtsrRules: ReadonlyArray<string>
}
export type Nested = string | null | readonly [string, ReadonlyArray<Nested>]
interface OmpAnswer {
  readonly open: { readonly ok: boolean; readonly leafId: string | null; readonly labels: Json }
  readonly contexts: { readonly [leaf: string]: OmpContext }
  readonly tree: ReadonlyArray<Nested> | "(large)"
}
interface OmpCase {
  readonly case: string
  readonly file: string
  readonly leaves: ReadonlyArray<string>
  readonly results: { readonly [program: string]: OmpAnswer }
}

const cases = namesIn("omp", /^expected-.*\.json$/).map((name) => expectation<OmpCase>(`omp/${name}`))
const omp = ({ results }: OmpCase): OmpAnswer => results["omp-18.3.4"]!
const xcsh = ({ results }: OmpCase): OmpAnswer => results["xcsh-19.54.0"]!

/** Files that xcsh overwrites or never returns from, so oh-my-pi is followed. */
const FOLLOWS_OMP = new Set(["title-slot", "self-cycle", "cycle-two"])
/** Files for which Grove has rules of its own; the tests of the model say which. */
const OWN_RULES = new Set(["cycle-two", "entry-missing-fields"])

export interface OmpSession {
  readonly name: string
  readonly file: string
  readonly isVersion1: boolean
  readonly leaf: string | null
  readonly labels: Json
  readonly tree: ReadonlyArray<Nested> | "(large)"
  /** Leaves whose context is compared: where the session stands, and some more. */
  readonly leaves: ReadonlyArray<string>
  readonly contextAt: (leaf: string) => OmpContext
}

const SPECIAL = ["@default", "@null", "no-such-entry"]
export const OMP_DEFAULT = "@default"

/** The default leaf and two of the others; the tests of the model take all of them. */
const sampled = ({ leaves }: OmpCase): ReadonlyArray<string> => {
  const others = leaves.filter((leaf) => !SPECIAL.includes(leaf))
  const some = [others[Math.floor(others.length / 3)], others[Math.floor((others.length * 2) / 3)]]
  return [...new Set([OMP_DEFAULT, ...some.filter((leaf) => leaf !== undefined)])]
}

export const ompSessions: ReadonlyArray<OmpSession> = cases
  .filter((it) => omp(it).open.ok)
  .map((it) => ({
    name: it.case,
    file: it.file,
    isVersion1: it.case.startsWith("v1-"),
    leaf: omp(it).open.leafId,
    labels: omp(it).open.labels,
    tree: (FOLLOWS_OMP.has(it.case) ? omp : xcsh)(it).tree,
    leaves: OWN_RULES.has(it.case) ? [] : sampled(it),
    contextAt: (leaf) => ({
      ...omp(it).contexts[leaf]!,
      messages: (FOLLOWS_OMP.has(it.case) ? omp : xcsh)(it).contexts[leaf]!.messages
    })
  }))

export const ompRefused = cases.filter((it) => !omp(it).open.ok).map(({ file }) => file)

/** Long texts and lists are replaced by their size, hash and ends, as the fixtures have them. */
export const abbreviated = (value: unknown): unknown => {
  if (typeof value === "string" && value.length > 1500) {
    return { $length: value.length, $sha256: sha256(value), $head: value.slice(0, 40), $tail: value.slice(-60) }
  }
  if (Array.isArray(value) && value.length > 600) {
    return {
      $count: value.length,
      $sha256: sha256(JSON.stringify(value)),
      $first: abbreviated(value[0]),
      $last: abbreviated(value.at(-1))
    }
  }
  if (Array.isArray(value)) return value.map(abbreviated)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, abbreviated(member)]))
}

/** Keys sorted, no spaces: the form whose hash the fixtures name. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join()}}`
}
