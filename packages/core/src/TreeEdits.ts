/**
 * Use case: editing the tree. Each edit is one write with its mark last, says what it did to the context, and can be
 * undone. What cannot be done is refused with a reason, before anything is written.
 */
import { Context, Effect, Option, Result, Schema } from "effect"
import { Compactor } from "./Compactor.ts"
import * as ContextSize from "./model/ContextSize.ts"
import type * as Entry from "./model/Entry.ts"
import type { EntryId } from "./model/EntryId.ts"
import * as Graft from "./model/Graft.ts"
import type { Json } from "./model/open.ts"
import { NONE, type SessionTree } from "./model/SessionTree.ts"
import * as TreeEdit from "./model/TreeEdit.ts"
import * as Units from "./model/Units.ts"
import type { Batch, Draft, Session, Summary } from "./Sessions.ts"
import { SummaryFailed } from "./Summarizer.ts"

/** Why an edit was not made. */
export const RefusalCode = Schema.Literals(["unknown", "cycle", "pruned", "busy", "splits-unit", "not-an-edit"])
export type RefusalCode = typeof RefusalCode.Type

export class EditRefused extends Schema.TaggedError<EditRefused>()("EditRefused", {
  code: RefusalCode,
  /** What the refusal is about. */
  id: Schema.String,
  /** What is wrong, and what to do instead. */
  message: Schema.String
}) {}

/** There is nobody to write the summary that an edit needs. */
export class NoSummary extends Schema.TaggedError<NoSummary>()("NoSummary", {
  entries: Schema.Int
}) {}

/** Who is at work in a session: the entries under which a reply is being generated. Nobody, unless somebody tells. */
export const Generating = Context.Reference<{
  readonly under: (session: Session) => Effect.Effect<ReadonlySet<string>>
}>("@grove/core/Generating", { defaultValue: () => ({ under: () => Effect.succeed(new Set()) }) })

export interface Edited {
  /** The mark, or the label or name, that was written; `null` where there was nothing to do. */
  readonly edit: EntryId | null
  readonly op: string
  readonly asked: ReadonlyArray<EntryId>
  readonly applied: ReadonlyArray<EntryId>
  readonly created: ReadonlyArray<EntryId>
  /** Where the person stands now. */
  readonly leaf: EntryId | null
  readonly context: { readonly before: ContextSize.ContextSize; readonly after: ContextSize.ContextSize }
}

/** What one edit of several did. */
export type Applied = Pick<Edited, "edit" | "op" | "asked" | "applied" | "created">

/** What edits that were made together did. */
export interface EditedTogether {
  readonly edits: ReadonlyArray<Applied>
  readonly leaf: Edited["leaf"]
  readonly context: Edited["context"]
}

type Plan = Batch & Applied

/** An edit that waits for its turn. */
type Step = (draft: Draft) => Effect.Effect<Plan, EditRefused>

const refuse = (code: RefusalCode, id: string, message: string) => Effect.fail(new EditRefused({ code, id, message }))

// ---------------------------------------------------------------------------------------------------- planning

const rowNamed = (tree: SessionTree, id: string): Effect.Effect<number, EditRefused> => {
  const row = tree.rowOf(id)
  return row === NONE || tree.isMarkAt(row)
    ? refuse("unknown", id, `no entry ${id} in this session`)
    : Effect.succeed(row)
}

const liveRow = (tree: SessionTree, id: string): Effect.Effect<number, EditRefused> =>
  Effect.filterOrFail(
    rowNamed(tree, id),
    (row) => !tree.isPrunedAt(row),
    () =>
      new EditRefused({ code: "pruned", id, message: `${id} is cut off from the tree; undo that first, or graft it` })
  )

const idsAt = (tree: SessionTree, rows: ReadonlyArray<number>): ReadonlyArray<EntryId> =>
  rows.map((row) => tree.idAt(row)!)

const mark = (
  { timestamp }: Draft,
  id: EntryId,
  leaf: EntryId | null,
  kind: "state" | "edit" | "leaf" | "annotation",
  data: Json
): Entry.Entry => ({ type: "custom", id, parentId: leaf, timestamp, customType: `grove.${kind}`, data })

/** Commits, and says what that did to the context. */
const measured = <P extends Batch, E>(session: Session, plan: (draft: Draft) => Effect.Effect<P, E>) =>
  session
    .commit((draft) =>
      Effect.map(plan(draft), (planned) => ({ ...planned, before: ContextSize.at(draft.tree, draft.leaf) }))
    )
    .pipe(
      Effect.map((done) => ({
        ...done,
        context: { before: done.before, after: ContextSize.at(session.tree, done.leaf) }
      }))
    )

const run = <E, R>(session: Session, prepared: Effect.Effect<Step, E, R>) =>
  Effect.flatMap(prepared, (step) =>
    Effect.map(
      measured(session, step),
      ({ edit, op, asked, applied, created, leaf, context }): Edited => ({
        ...{ edit, op, asked, applied, created, leaf, context }
      })
    )
  )

/** For those that need nothing to be done before their turn. */
const step = (plan: Step): Effect.Effect<Step> => Effect.succeed(plan)

/** An edit that is made alone. */
const edit = <Arguments extends ReadonlyArray<unknown>, E, R>(
  name: string,
  plan: (session: Session, ...given: Arguments) => Effect.Effect<Step, E, R>
) => Effect.fn(`TreeEdits.${name}`)((session: Session, ...given: Arguments) => run(session, plan(session, ...given)))

const nothing = (op: string, leaf: EntryId | null, asked: ReadonlyArray<EntryId>): Plan => ({
  entries: [],
  leaf,
  edit: null,
  op,
  asked,
  applied: [],
  created: []
})

/** Whether an entry is at one of the rows or below. */
const isBelow = (tree: SessionTree, id: string | null, rows: ReadonlySet<number>): boolean => {
  let row = tree.rowOf(id)
  while (row !== NONE && !rows.has(row)) row = tree.parentRow(row)
  return row !== NONE
}

// ------------------------------------------------------------------------------------------------------ states

const planState = (enabled: boolean) => {
  const op = enabled ? "enable" : "disable"
  return Effect.fnUntraced(function* (session: Session, asked: ReadonlyArray<string>) {
    const generating = yield* Generating
    const busy = yield* generating.under(session)
    return yield* step((draft) =>
      Effect.gen(function* () {
        const { tree, leaf } = draft
        const rows = yield* Effect.forEach(asked, (id) => rowNamed(tree, id))
        const units = Units.make(tree)
        const targets = units.whole(rows)
        const open = targets.find((row) => busy.has(tree.idAt(row)!) && units.callOf(row) !== NONE)
        if (open !== undefined) {
          return yield* refuse("busy", tree.idAt(open)!, `${tree.idAt(open)} is still being answered; wait for it`)
        }
        const { disabled } = tree.edits
        const named = idsAt(tree, [...new Set(rows)])
        const targetIds = idsAt(tree, targets)
        if (targetIds.every((id) => disabled.has(id) !== enabled)) return nothing(op, leaf, named)
        const [id] = yield* draft.ids(1)
        const entries = [mark(draft, id!, leaf, "state", { targetIds, asked: named, enabled })]
        return { entries, leaf, edit: id!, op, asked: named, applied: targetIds, created: [] }
      })
    )
  })
}

/** Shows entries to the model again, with the units they belong to. */
export const enable = edit("enable", planState(true))
/** Leaves entries out of every context, with the units they belong to. They stay in the tree. */
export const disable = edit("disable", planState(false))

// ------------------------------------------------------------------------------------------------------- prune

const splitsUnit = (tree: SessionTree, row: number, ends: ReadonlyArray<number>) => {
  const id = tree.idAt(row)!
  const instead = `name ${idsAt(tree, ends).join(" or ")} instead`
  return refuse("splits-unit", id, `${id} is in the middle of a tool call and its results; ${instead}`)
}

/** The row itself; where it is in the middle of a unit, the last result. */
const afterUnit = (tree: SessionTree, row: number): Effect.Effect<number, EditRefused> => {
  const ends = Units.make(tree).ends(row)
  return ends.length <= 1 ? Effect.succeed(ends[0] ?? row) : splitsUnit(tree, row, ends)
}

const planPrune = Effect.fnUntraced(function* (
  session: Session,
  at: string,
  options: { readonly force?: boolean } = {}
) {
  const generating = yield* Generating
  const busy = yield* generating.under(session)
  return yield* step((draft) =>
    Effect.gen(function* () {
      const { tree, leaf } = draft
      const asked = yield* liveRow(tree, at)
      const target = yield* afterUnit(tree, asked)
      const targetId = tree.idAt(target)!
      const roots = tree.childRows(target)
      const named = idsAt(tree, [asked])
      if (roots.length === 0) return nothing("prune", leaf, named)
      const cut = new Set(roots)
      const working = [...busy].find((id) => isBelow(tree, id, cut))
      if (working !== undefined && options.force !== true) {
        return yield* refuse("busy", working, `a reply to ${working} is being generated there; wait, or use --force`)
      }
      const isCut = isBelow(tree, leaf, cut)
      const after = isCut ? targetId : leaf
      const [id] = yield* draft.ids(1)
      const rootIds = idsAt(tree, roots)
      return {
        entries: [mark(draft, id!, after, "edit", { op: "prune", targetId, roots: rootIds })],
        leaf: after,
        edit: id!,
        op: "prune",
        asked: named,
        applied: rootIds,
        created: []
      }
    })
  )
})

/** Cuts off all that follows an entry. It becomes fragments in the stash; a person who stands there is taken to the entry. */
export const prune = edit("prune", planPrune)

// ------------------------------------------------------------------------------------------------------- graft

const fitTarget = Effect.fnUntraced(function* (tree: SessionTree, id: string) {
  const row = yield* liveRow(tree, id)
  const ends = Units.make(tree).ends(row)
  return ends.length === 0 ? row : yield* splitsUnit(tree, row, ends)
})

/** Copies under the target with their mark; `follows` takes a person who stands on the target along. */
const graftRows = Effect.fnUntraced(function* (
  draft: Draft,
  op: string,
  asked: ReadonlyArray<EntryId>,
  rows: ReadonlyArray<number>,
  target: number,
  shape: Graft.Shape,
  session: Session
) {
  const { tree, leaf, timestamp } = draft
  const targetId = tree.idAt(target)!
  const sources = Graft.sources(tree, rows)
  if (sources.length === 0) return nothing(op, leaf, asked)
  const [id, ...ids] = yield* draft.ids(sources.length + 1)
  const copies = Graft.copies(tree, sources, shape, {
    session: session.header?.id ?? session.ref.id,
    targetId,
    timestamp,
    ids
  })
  const after = op === "merge" && leaf === targetId ? ids.at(-1)! : leaf
  const applied = idsAt(tree, sources)
  const data = { op: "graft", sources: applied, targetId, copies: ids }
  return {
    entries: [...copies, mark(draft, id!, after, "edit", data)],
    leaf: after,
    edit: id!,
    op,
    asked,
    applied,
    created: ids
  }
})

const planGraft = Effect.fnUntraced(function* (session: Session, source: string, target: string) {
  return yield* step((draft) =>
    Effect.gen(function* () {
      const { tree } = draft
      const root = yield* rowNamed(tree, source)
      const onto = yield* fitTarget(tree, target)
      const units = Units.make(tree)
      const call = tree.roleAt(root) === "assistant" ? NONE : units.callOf(units.ends(root)[0] ?? root)
      if (call !== NONE) {
        const instead = `graft ${tree.idAt(call)} instead`
        return yield* refuse("splits-unit", source, `${source} follows a tool call and has results of it; ${instead}`)
      }
      const rows = Graft.subtree(tree, root)
      if (rows.includes(onto)) {
        return yield* refuse(
          "cycle",
          target,
          `${target} is part of what would be grafted onto it; choose a place outside`
        )
      }
      return yield* graftRows(draft, "graft", idsAt(tree, [root]), rows, onto, "subtree", session)
    })
  )
})

/** Copies an entry and all that follows it, from the stash or from the tree, to another place. Nobody moves. */
export const graft = edit("graft", planGraft)

/** Where a merge goes: the entry that was named, else where the person stands. */
const ontoOf = (
  tree: SessionTree,
  leaf: EntryId | null,
  onto: string | undefined
): Effect.Effect<number, EditRefused> => {
  const id = onto ?? leaf
  return id === null
    ? refuse("unknown", "none", "the session stands nowhere; name a place with --onto")
    : fitTarget(tree, id)
}

const planMergePicked = Effect.fnUntraced(function* (
  session: Session,
  branch: string,
  picked: ReadonlyArray<string>,
  options: { readonly onto?: string | undefined } = {}
) {
  return yield* step((draft) =>
    Effect.gen(function* () {
      const { tree } = draft
      const path = tree.pathRows(yield* afterUnit(tree, yield* rowNamed(tree, branch)))
      const onPath = new Set(path)
      const target = yield* ontoOf(tree, draft.leaf, options.onto)
      const rows = yield* Effect.forEach(picked, (id) =>
        Effect.filterOrFail(
          rowNamed(tree, id),
          (row) => onPath.has(row),
          () => new EditRefused({ code: "unknown", id, message: `${id} is not on the branch that ends at ${branch}` })
        )
      )
      const chosen = new Set(Units.make(tree).whole(rows))
      if (chosen.has(target)) {
        const id = tree.idAt(target)!
        return yield* refuse("cycle", id, `${id} is among what would be merged onto it; choose another place`)
      }
      const wanted = path.filter((row) => chosen.has(row))
      return yield* graftRows(draft, "merge", idsAt(tree, rows), wanted, target, "chain", session)
    })
  )
})

/** Copies chosen units of a branch, one after the other. A person who stands at the place goes along. */
export const mergePicked = edit("mergePicked", planMergePicked)

// --------------------------------------------------------------------------------------------------- summaries

/** The text that was given, else what a model writes, if there is one. */
const summaryOf = Effect.fnUntraced(function* (
  session: Session,
  rows: ReadonlyArray<number>,
  text: string | undefined
) {
  if (text !== undefined) return { summary: text }
  const compactor = yield* Effect.serviceOption(Compactor)
  if (Option.isNone(compactor)) return yield* new NoSummary({ entries: rows.length })
  const told = yield* compactor.value.summarizeRows(session, rows)
  return told ?? (yield* new SummaryFailed({ detail: "nothing was said there" }))
})

const branchSummary = (
  { timestamp }: Draft,
  id: EntryId,
  parentId: EntryId | null,
  { details: files, ...told }: Summary,
  fromId: string,
  details: Json
): Entry.Entry =>
  ({
    type: "branch_summary",
    id,
    parentId,
    timestamp,
    fromId,
    ...told,
    details: { ...(files as Json | undefined), ...details }
  }) as Entry.Entry

/** What a branch has said since it left the path to a place. */
const ownRows = (tree: SessionTree, branch: number, target: number): ReadonlyArray<number> => {
  const shared = new Set(tree.pathRows(target))
  return tree.pathRows(branch).filter((row) => !shared.has(row) && !tree.isMarkAt(row))
}

const planMergeSummary = Effect.fnUntraced(function* (
  session: Session,
  branch: string,
  options: { readonly onto?: string | undefined; readonly text?: string | undefined } = {}
) {
  const planOn = (tree: SessionTree, leaf: EntryId | null) =>
    Effect.gen(function* () {
      const from = yield* rowNamed(tree, branch)
      const target = yield* ontoOf(tree, leaf, options.onto)
      const rows = ownRows(tree, from, target)
      if (rows.length === 0) {
        return yield* refuse(
          "cycle",
          branch,
          `${branch} is on the path to ${tree.idAt(target)} already; nothing to merge`
        )
      }
      return { from, target, rows }
    })
  const { rows } = yield* planOn(session.tree, yield* session.main.leaf)
  const summary = yield* summaryOf(session, rows, options.text)
  return yield* step((draft) =>
    Effect.gen(function* () {
      const { tree, leaf } = draft
      const { from, target } = yield* planOn(tree, leaf)
      const targetId = tree.idAt(target)!
      const [created, id] = yield* draft.ids(2)
      const mergedFrom = tree.idAt(from)!
      const after = leaf === targetId ? created! : leaf
      return {
        entries: [
          branchSummary(draft, created!, targetId, summary, targetId, { mergedFrom }),
          mark(draft, id!, after, "edit", { op: "graft", sources: [], targetId, copies: [created!] })
        ],
        leaf: after,
        edit: id!,
        op: "merge",
        asked: [mergedFrom],
        applied: idsAt(tree, rows),
        created: [created!]
      }
    })
  )
})

/** Puts what another branch came to into a summary here. A person who stands at the place goes along. */
export const mergeSummary = edit("mergeSummary", planMergeSummary)

const planSummarize = Effect.fnUntraced(function* (
  session: Session,
  first: string,
  last: string,
  options: { readonly text?: string | undefined } = {}
) {
  const planOn = (tree: SessionTree, leaf: EntryId | null) =>
    Effect.gen(function* () {
      const from = yield* liveRow(tree, first)
      const to = yield* liveRow(tree, last)
      if (leaf !== null) yield* fitTarget(tree, leaf)
      const path = tree.pathRows(tree.rowOf(leaf))
      const [start, end] = [path.indexOf(from), path.indexOf(to)]
      const off = start === -1 ? first : last
      if (start === -1 || end === -1)
        return yield* refuse("unknown", off, `${off} is not on the path to ${leaf ?? "none"}`)
      if (end < start)
        return yield* refuse("unknown", last, `${last} comes before ${first}; name the earlier one first`)
      // A compaction that was switched off would show again all that it stands for.
      const rows = path.slice(start, end + 1).filter((row) => !tree.isMarkAt(row) && tree.typeAt(row) !== "compaction")
      if (rows.length === 0) return yield* refuse("unknown", first, `nothing from ${first} to ${last} can be muted`)
      return { asked: [from, to], rows: Units.make(tree).whole(rows) }
    })
  const { rows } = yield* planOn(session.tree, yield* session.main.leaf)
  const summary = yield* summaryOf(session, rows, options.text)
  return yield* step((draft) =>
    Effect.gen(function* () {
      const { tree, leaf } = draft
      const { asked, rows } = yield* planOn(tree, leaf)
      const [created, id] = yield* draft.ids(2)
      const targetIds = idsAt(tree, rows)
      const named = idsAt(tree, asked)
      const state = { targetIds, asked: named, enabled: false, summary: created! }
      return {
        entries: [
          branchSummary(draft, created!, leaf, summary, leaf ?? "root", { summarizedFrom: targetIds }),
          mark(draft, id!, created!, "state", state)
        ],
        leaf: created!,
        edit: id!,
        op: "summarize",
        asked: named,
        applied: targetIds,
        created: [created!]
      }
    })
  )
})

/** Puts a range of the path into a summary at its end, and leaves out what that stands for. One edit, one undo. */
export const summarize = edit("summarize", planSummarize)

// ------------------------------------------------------------------------------------------------ leaf and facts

const planLeaf = (_: Session, target: string | null) => {
  return step((draft) =>
    Effect.gen(function* () {
      const { tree, leaf } = draft
      const targetId = target === null ? null : tree.idAt(yield* liveRow(tree, target))
      const asked = targetId === null ? [] : [targetId]
      if (targetId === leaf) return nothing("leaf", leaf, asked)
      const [id] = yield* draft.ids(1)
      const entries = [mark(draft, id!, targetId, "leaf", { targetId })]
      return { entries, leaf: targetId, edit: id!, op: "leaf", asked, applied: asked, created: [] }
    })
  )
}

/** Takes the person to an entry, or to none, and writes that down at once. */
export const leaf = edit("leaf", planLeaf)

/** A line that names something and, like all but marks, is where the person stands then. */
const appended = (draft: Draft, op: string, asked: ReadonlyArray<EntryId>, type: string, fields: Json) =>
  Effect.map(draft.ids(1), ([id]) => ({
    entries: [{ type, id: id!, parentId: draft.leaf, timestamp: draft.timestamp, ...fields } as Entry.Entry],
    leaf: id!,
    edit: id!,
    op,
    asked,
    applied: asked,
    created: [id!]
  }))

const planLabel = (_: Session, target: string, text: string | null) => {
  return step((draft) =>
    Effect.gen(function* () {
      const targetId = draft.tree.idAt(yield* rowNamed(draft.tree, target))!
      const fields = text === null || text === "" ? { targetId } : { targetId, label: text }
      return yield* appended(draft, "label", [targetId], "label", fields)
    })
  )
}

/** Names an entry, a fragment too; `null` takes the label away. */
export const label = edit("label", planLabel)

const planName = (_: Session, text: string) => {
  const oneLine = text.replace(/\s+/gu, " ").trim()
  return step((draft) => appended(draft, "name", [], "session_info", { name: oneLine }))
}

/** Names the session; `""` takes the name away. */
export const name = edit("name", planName)

const planRate = (_: Session, target: string, rating: number | null, note?: string) => {
  return step((draft) =>
    Effect.gen(function* () {
      const { tree, leaf } = draft
      const targetId = tree.idAt(yield* rowNamed(tree, target))!
      const [id] = yield* draft.ids(1)
      const data = { targetId, rating, ...(note !== undefined && { note }) }
      const entries = [mark(draft, id!, leaf, "annotation", data)]
      return { entries, leaf, edit: id!, op: "rate", asked: [targetId], applied: [targetId], created: [] }
    })
  )
}

/** Rates an entry from 1 to 5, or takes the rating away; a note left out stays as it was. */
export const rate = edit("rate", planRate)

// -------------------------------------------------------------------------------------------------------- undo

const undoing = Effect.fnUntraced(function* (draft: Draft, op: "undo" | "redo", edit: TreeEdit.Edit) {
  const { tree, leaf } = draft
  const after = TreeEdit.leafWithout(tree, edit, leaf)
  const [id] = yield* draft.ids(1)
  const entries = [mark(draft, id!, after, "edit", { op: "undo", targetId: edit.id })]
  return { entries, leaf: after, edit: id!, op, asked: [edit.id], applied: [edit.id], created: [] }
})

const planUndo = (_: Session, edit?: string) => {
  return step((draft) =>
    Effect.gen(function* () {
      const { tree } = draft
      if (edit !== undefined && !tree.has(edit))
        return yield* refuse("unknown", edit, `no edit ${edit} in this session`)
      const found = edit === undefined ? TreeEdit.lastUndoable(tree) : tree.edits.all.find(({ id }) => id === edit)
      if (found === undefined) {
        const why = edit === undefined ? "there is no edit to undo" : `${edit} is not an edit that can be undone`
        return yield* refuse("not-an-edit", edit ?? "", why)
      }
      if (!found.live)
        return yield* refuse("not-an-edit", found.id, `edit ${found.id} is undone already; redo it instead`)
      return yield* undoing(draft, "undo", found)
    })
  )
}

/** Takes an edit back, by default the last one that counts. */
export const undo = edit("undo", planUndo)

const planRedo = (_: Session) => {
  return step((draft) =>
    Effect.gen(function* () {
      const found = TreeEdit.lastUndone(draft.tree.edits)
      if (found === undefined) return yield* refuse("not-an-edit", "", "there is nothing to redo")
      return yield* undoing(draft, "redo", found)
    })
  )
}

/** Makes what was undone last again, unless something else was done since. */
export const redo = edit("redo", planRedo)

// ------------------------------------------------------------------------------------------------------ together

/** An edit as data. */
export type Operation =
  | { readonly op: "enable" | "disable"; readonly ids: ReadonlyArray<string> }
  | { readonly op: "prune"; readonly id: string; readonly force?: boolean | undefined }
  | { readonly op: "graft"; readonly source: string; readonly target: string }
  /** Of chosen units; without them, of a summary. */
  | {
      readonly op: "merge"
      readonly branch: string
      readonly onto?: string | undefined
      readonly pick?: ReadonlyArray<string> | undefined
      readonly text?: string | undefined
    }
  | { readonly op: "summarize"; readonly first: string; readonly last: string; readonly text?: string | undefined }
  | { readonly op: "leaf"; readonly target: string | null }
  | { readonly op: "label"; readonly id: string; readonly label: string | null }
  | { readonly op: "name"; readonly name: string }
  | {
      readonly op: "rate"
      readonly id: string
      readonly rating: number | null
      readonly note?: string | undefined
    }
  | { readonly op: "undo"; readonly edit?: string | undefined }
  | { readonly op: "redo" }

/** Some of the edits that were to be made together could not be, so none was. */
export class EditsRefused extends Schema.TaggedError<EditsRefused>()("EditsRefused", {
  refused: Schema.Array(
    Schema.Struct({ index: Schema.Int, code: RefusalCode, id: Schema.String, message: Schema.String })
  )
}) {}

type Refused = EditsRefused["refused"][number]

const planOf = (session: Session, given: Operation): Effect.Effect<Step, EditRefused | NoSummary | SummaryFailed> => {
  switch (given.op) {
    case "enable":
    case "disable":
      return planState(given.op === "enable")(session, given.ids)
    case "prune":
      return planPrune(session, given.id, { force: given.force === true })
    case "graft":
      return planGraft(session, given.source, given.target)
    case "merge":
      return given.pick === undefined
        ? planMergeSummary(session, given.branch, given)
        : planMergePicked(session, given.branch, given.pick, given)
    case "summarize":
      return planSummarize(session, given.first, given.last, given)
    case "leaf":
      return planLeaf(session, given.target)
    case "label":
      return planLabel(session, given.id, given.label)
    case "name":
      return planName(session, given.name)
    case "rate":
      return planRate(session, given.id, given.rating, given.note)
    case "undo":
      return planUndo(session, given.edit)
    case "redo":
      return planRedo(session)
  }
}

/** Names that neither the session has nor what was planned before. */
const unused = (draft: Draft, tree: SessionTree) =>
  Effect.fnUntraced(function* (count: number) {
    for (;;) {
      const ids = yield* draft.ids(count)
      if (!ids.some((id) => tree.has(id))) return ids
    }
  })

/** Each edit is planned on what those before it leave, on a copy; the refused ones leave nothing. */
const planTogether = (prepared: ReadonlyArray<Result.Result<Step, Refused>>) =>
  Effect.fnUntraced(function* (draft: Draft) {
    const tree = draft.tree.copy()
    const ids = unused(draft, tree)
    const plans: Array<Plan> = []
    const refused: Array<Refused> = []
    let { leaf } = draft
    for (const [index, each] of prepared.entries()) {
      const planned: Result.Result<Plan, Refused> = Result.isFailure(each)
        ? Result.fail(each.failure)
        : yield* Effect.result(Effect.mapError(each.success({ ...draft, tree, leaf, ids }), refusedAt(index)))
      if (Result.isFailure(planned)) {
        refused.push(planned.failure)
        continue
      }
      for (const entry of planned.success.entries) tree.put(entry)
      plans.push(planned.success)
      leaf = planned.success.leaf
    }
    if (refused.length > 0) return yield* new EditsRefused({ refused })
    return { entries: plans.flatMap(({ entries }) => entries), leaf, plans }
  })

const refusedAt =
  (index: number) =>
  ({ code, id, message }: EditRefused): Refused => ({ index, code, id, message })

/** Makes several edits in one write, one after the other: all of them, or none. */
export const together = Effect.fn("TreeEdits.together")(function* (
  session: Session,
  operations: ReadonlyArray<Operation>
) {
  const prepared = yield* Effect.forEach(operations, (operation, index) =>
    planOf(session, operation).pipe(
      Effect.map(Result.succeed),
      Effect.catchTag("EditRefused", (error) => Effect.succeed(Result.fail(refusedAt(index)(error))))
    )
  )
  const { plans, leaf, context } = yield* measured(session, planTogether(prepared))
  const edits = plans.map(({ edit, op, asked, applied, created }): Applied => ({ edit, op, asked, applied, created }))
  return { edits, leaf, context } satisfies EditedTogether
})
