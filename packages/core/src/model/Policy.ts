/** The context policy: named steps that make of a context what every provider accepts, and say what they changed. */
import type { EntryId } from "./EntryId.ts"
import type { Json } from "./open.ts"
import type { Change, Draft, Message, Note, Outcome, Request, Said, Step } from "./policy/Draft.ts"
import { emptyBlocks } from "./policy/EmptyBlocks.ts"
import { failedReplies } from "./policy/FailedReplies.ts"
import { images } from "./policy/Images.ts"
import { orphans } from "./policy/Orphans.ts"
import { roles } from "./policy/Roles.ts"
import { signatures } from "./policy/Signatures.ts"
import { knowledge, systemPrompt } from "./policy/SystemPrompt.ts"
import { toolIds } from "./policy/ToolIds.ts"
import { toolsAsText } from "./policy/ToolsAsText.ts"
import { turns } from "./policy/Turns.ts"

export type * from "./policy/Draft.ts"
export { added, isPrompt, isReply, isResult, note, text, withContent } from "./policy/Draft.ts"

/** A context that any provider accepts, once it ends in a prompt or a result. */
export interface Sendable {
  /** Empty if there is none. */
  readonly systemPrompt: string
  readonly messages: ReadonlyArray<Message>
  /** The entry each message came from, in the same order; `null` for what was added. */
  readonly sources: ReadonlyArray<EntryId | null>
  readonly changes: ReadonlyArray<Change>
}

/** A context as `ContextBuilder` builds it, or any list of messages. */
export interface Given {
  readonly messages: ReadonlyArray<Json>
  readonly sources?: ReadonlyArray<EntryId | null>
  readonly edited?: ReadonlyArray<boolean>
}

/** The order matters: each step relies on those before it. */
export const steps: ReadonlyArray<Step> = [
  roles,
  failedReplies,
  orphans,
  toolIds,
  signatures,
  images,
  emptyBlocks,
  turns,
  toolsAsText,
  systemPrompt,
  knowledge
]

export const draftOf = ({ messages, sources = [], edited = [] }: Given): Draft => ({
  systemPrompt: "",
  said: messages.map(
    (message, row): Said => ({
      message: message as unknown as Message,
      entry: sources[row] ?? null,
      edited: edited[row] === true
    })
  )
})

export const changesOf = (step: string, notes: ReadonlyArray<Note> = []): ReadonlyArray<Change> =>
  notes.map((note) => ({ step, ...note }))

export const sendableOf = ({ systemPrompt, said }: Draft, changes: ReadonlyArray<Change>): Sendable => ({
  systemPrompt,
  messages: said.map(({ message }) => message),
  sources: said.map(({ entry }) => entry),
  changes
})

/** Pure, total and linear; what comes out of it comes out of it again unchanged. */
export const apply = (context: Given, request: Request, list: ReadonlyArray<Step> = steps): Sendable => {
  let draft = draftOf(context)
  const changes: Array<Change> = []
  for (const step of list) {
    const { systemPrompt, said, changes: notes }: Outcome = step.apply(draft, request)
    draft = { systemPrompt, said }
    for (const change of changesOf(step.name, notes)) changes.push(change)
  }
  return sendableOf(draft, changes)
}

interface Named {
  readonly name: string
}

/** A name that no step has is a mistake of the program, not of its data. */
const rowOf = (list: ReadonlyArray<Named>, name: string): number => {
  const row = list.findIndex((step) => step.name === name)
  if (row === -1) throw new Error(`no step is named ${name}; there are ${list.map(({ name }) => name).join(", ")}`)
  return row
}

export const before = <S extends Named>(list: ReadonlyArray<S>, name: string, ...added: ReadonlyArray<S>) =>
  list.toSpliced(rowOf(list, name), 0, ...added)

export const after = <S extends Named>(list: ReadonlyArray<S>, name: string, ...added: ReadonlyArray<S>) =>
  list.toSpliced(rowOf(list, name) + 1, 0, ...added)

export const replace = <S extends Named>(list: ReadonlyArray<S>, name: string, step: S) =>
  list.with(rowOf(list, name), step)

export const without = <S extends Named>(list: ReadonlyArray<S>, name: string) => list.toSpliced(rowOf(list, name), 1)
