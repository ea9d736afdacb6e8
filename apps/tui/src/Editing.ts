/** Edits of the tree as the screens ask for them, and what they did in words. */
import { type AppendError, type EntryId, type Session, type Symbols, TreeEdits } from "@grove/core"
import { Effect } from "effect"
import type { Edit } from "./state/View.ts"
import * as Words from "./state/Words.ts"

type Edited = TreeEdits.Edited
type EditError = AppendError | Effect.Error<ReturnType<typeof TreeEdits.summarize>>

/** One edit after the other; what they did together. */
const each = <E, R>(ids: ReadonlyArray<EntryId>, one: (id: EntryId) => Effect.Effect<Edited, E, R>) =>
  Effect.map(Effect.forEach(ids, one), (edits): Edited | undefined => {
    const [first, last] = [edits[0], edits.at(-1)]
    if (first === undefined || last === undefined) return undefined
    return {
      ...last,
      edit: edits.findLast(({ edit }) => edit !== null)?.edit ?? null,
      applied: edits.flatMap(({ applied }) => applied),
      created: edits.flatMap(({ created }) => created),
      context: { before: first.context.before, after: last.context.after }
    }
  })

const doing = (session: Session, edit: Edit): Effect.Effect<Edited | undefined, EditError> => {
  switch (edit.op) {
    case "enable":
      return TreeEdits.enable(session, edit.ids)
    case "disable":
      return TreeEdits.disable(session, edit.ids)
    case "prune":
      return each(edit.ids, (id) => TreeEdits.prune(session, id))
    case "graft":
      return each(edit.sources, (source) => TreeEdits.graft(session, source, edit.target))
    case "merge":
      return TreeEdits.mergePicked(session, edit.branch, edit.picked)
    case "mergeSummary":
      return TreeEdits.mergeSummary(session, edit.branch)
    case "summarize":
      return TreeEdits.summarize(session, edit.first, edit.last)
    case "label":
      return each(edit.ids, (id) => TreeEdits.label(session, id, edit.label))
    case "rate":
      return each(edit.ids, (id) => TreeEdits.rate(session, id, edit.rating))
    case "undo":
      return TreeEdits.undo(session, edit.edit ?? undefined)
    case "redo":
      return TreeEdits.redo(session)
  }
}

const entries = (count: number): string => Words.count(count, "entry", "entries")

const deed = (edit: Edit, { applied, created }: Edited): string => {
  switch (edit.op) {
    case "enable":
      return `${applied.length} on again`
    case "disable":
      return `${applied.length} muted`
    case "prune":
      return `${Words.count(applied.length, "branch", "branches")} pruned, in the stash (S)`
    case "graft":
    case "merge":
      return `${entries(created.length)} copied`
    case "mergeSummary":
      return `${entries(applied.length)} merged as a summary`
    case "summarize":
      return `${entries(applied.length)} summarised`
    case "label":
      return edit.label === null ? "the label is gone" : "labelled"
    case "rate":
      return edit.rating === null ? "the rating is gone" : `rated ${edit.rating}/5`
    case "undo":
      return "undone"
    case "redo":
      return "done again"
  }
}

/** What an edit did, to the tree and to what the model is shown; and how to take it back. */
const told = (edit: Edit, edited: Edited | undefined, { becomes, dot }: Symbols.Symbols): string => {
  if (edited === undefined || edited.edit === null) return "nothing to do there"
  const { before, after } = edited.context
  const [from, to] = [Words.tokens(before.tokens), Words.tokens(after.tokens)]
  const size = before.tokens === after.tokens ? "" : `; ${from} ${becomes} ${to} tokens`
  const back = edit.op === "undo" ? `${dot}U redo` : edit.op === "label" ? "" : `${dot}u undo`
  return `${deed(edit, edited)}${size}${back}`
}

/** Makes an edit and says what it did. */
export const edit = Effect.fn("Editing.edit")(function* (session: Session, asked: Edit, symbols: Symbols.Symbols) {
  return told(asked, yield* doing(session, asked), symbols)
})
