/** Two branches side by side: what they share, what each went on with, and how their turns differ. */
import { diffArrays, diffLines } from "diff"
import type * as Entry from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import { isObject, type Json, stringOr } from "./open.ts"
import { textOfEntry, toolCallsOf } from "./Preview.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as Tokens from "./Tokens.ts"
import * as TreeUsage from "./TreeUsage.ts"
import * as Usage from "./Usage.ts"

/** Beyond so many changes two texts are simply two texts: finding the smallest difference would take too long. */
const MOST_CHANGES = 2000

export interface Part {
  readonly kind: "same" | "removed" | "added"
  readonly text: string
}

export interface Side {
  readonly leaf: EntryId
  /** What is not on the other path. */
  readonly entries: ReadonlyArray<EntryId>
  /** Estimated. */
  readonly tokens: number
  readonly costMicros: number | null
  /** Files that tools were called with. */
  readonly files: ReadonlyArray<string>
}

/** Two turns that stand for each other, by the entries they begin with. A turn is a prompt and all that answers it. */
export interface TurnPair {
  readonly a: EntryId | null
  readonly b: EntryId | null
  /** From the turn of `a` to that of `b`, in whole lines. */
  readonly diff: ReadonlyArray<Part>
}

export interface Comparison {
  readonly common: ReadonlyArray<EntryId>
  readonly a: Side
  readonly b: Side
  readonly turns: ReadonlyArray<TurnPair>
}

const FILE_ARGUMENTS = ["path", "file_path", "filePath", "file", "notebook_path"]

const filesIn = (entry: Entry.Entry): ReadonlyArray<string> => {
  if (!isObject(entry.message)) return []
  return toolCallsOf(entry.message.content).flatMap((call) => {
    const given: Json = isObject(call.arguments) ? call.arguments : {}
    return FILE_ARGUMENTS.flatMap((name) => stringOr(given[name], [])).filter((path) => path !== "")
  })
}

const messageOf = (entry: Entry.Entry): Json => {
  if (entry.type === "message") return isObject(entry.message) ? entry.message : {}
  if (entry.type === "custom_message") return { role: "custom", content: entry.content }
  return entry.type === "branch_summary" ? { role: "branchSummary", summary: entry.summary } : {}
}

const sideOf = (leaf: EntryId, entries: ReadonlyArray<Entry.Entry>, price?: Usage.Pricer): Side => ({
  leaf,
  entries: entries.map(({ id }) => id),
  tokens: entries.reduce((sum, entry) => sum + Tokens.estimate(messageOf(entry)), 0),
  costMicros: entries.reduce((sum, entry) => Usage.add(sum, TreeUsage.ofEntry(entry, price) ?? Usage.zero), Usage.zero)
    .costMicros,
  files: [...new Set(entries.flatMap(filesIn))].sort()
})

const SPEAKS = new Set(["message", "custom_message", "branch_summary", "compaction"])

interface Turn {
  readonly id: EntryId
  readonly prompt: string
  readonly lines: Array<string>
}

/** What was said by tools is told by their calls; the words of people and models are compared. */
const wordsOf = (entry: Entry.Entry): string => {
  const { role } = messageOf(entry)
  return role === "toolResult" ? "" : textOfEntry(entry)
}

const turnsOf = (entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  for (const entry of entries) {
    if (!SPEAKS.has(entry.type)) continue
    const isPrompt = messageOf(entry).role === "user"
    const words = wordsOf(entry)
    if (isPrompt || turns.length === 0) turns.push({ id: entry.id, prompt: isPrompt ? words : "", lines: [] })
    if (words !== "") turns.at(-1)!.lines.push(words)
  }
  return turns
}

const textOf = (turn: Turn | undefined): string =>
  turn === undefined || turn.lines.length === 0 ? "" : `${turn.lines.join("\n")}\n`

const replaced = (a: string, b: string): ReadonlyArray<Part> => {
  const parts: ReadonlyArray<Part> = [
    { kind: "removed", text: a },
    { kind: "added", text: b }
  ]
  return parts.filter(({ text }) => text !== "")
}

const diff = (a: string, b: string): ReadonlyArray<Part> => {
  const changes = diffLines(a, b, { maxEditLength: MOST_CHANGES })
  if (changes === undefined) return replaced(a, b)
  return changes.map(({ added, removed, value }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value
  }))
}

/** Turns with the same prompt belong together; between those, the first to the first, the second to the second. */
const align = (a: ReadonlyArray<Turn>, b: ReadonlyArray<Turn>): ReadonlyArray<TurnPair> => {
  const prompts = (turns: ReadonlyArray<Turn>) => turns.map(({ prompt }) => prompt)
  const changes = diffArrays(prompts(a), prompts(b), { maxEditLength: MOST_CHANGES }) ?? [
    { removed: true, added: false, value: prompts(a) },
    { removed: false, added: true, value: prompts(b) }
  ]
  const pairs: Array<readonly [Turn | undefined, Turn | undefined]> = []
  let [inA, inB] = [0, 0]
  let [aloneA, aloneB]: [Array<Turn>, Array<Turn>] = [[], []]
  const pairUp = () => {
    for (let at = 0; at < Math.max(aloneA.length, aloneB.length); at++) pairs.push([aloneA[at], aloneB[at]])
    aloneA = []
    aloneB = []
  }
  for (const { removed, added, value } of changes) {
    if (!removed && !added) pairUp()
    for (const _ of value) {
      if (removed) aloneA.push(a[inA++]!)
      else if (added) aloneB.push(b[inB++]!)
      else pairs.push([a[inA++], b[inB++]])
    }
  }
  pairUp()
  return pairs.map(([one, other]) => ({
    a: one?.id ?? null,
    b: other?.id ?? null,
    diff: diff(textOf(one), textOf(other))
  }))
}

/** Costs are those of `price` where it knows one, else as they were stored. */
export const compare = (tree: SessionTree, a: EntryId, b: EntryId, price?: Usage.Pricer): Comparison => {
  const shown = (id: EntryId) => tree.pathRows(tree.rowOf(id)).filter((row) => !tree.isMarkAt(row))
  const [pathA, pathB] = [shown(a), shown(b)]
  let shared = 0
  while (shared < pathA.length && pathA[shared] === pathB[shared]) shared++
  const ownA = tree.entriesAt(pathA.slice(shared))
  const ownB = tree.entriesAt(pathB.slice(shared))
  return {
    common: pathA.slice(0, shared).map((row) => tree.idAt(row)!),
    a: sideOf(a, ownA, price),
    b: sideOf(b, ownB, price),
    turns: align(turnsOf(ownA), turnsOf(ownB))
  }
}
