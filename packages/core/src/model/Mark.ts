/** Grove's own lines: `custom` entries named `grove.*`, which every version 3 reader keeps and leaves out of the context. */
import { Schema } from "effect"
import type { Entry } from "./Entry.ts"
import { EntryId } from "./EntryId.ts"
import { isObject, type Json, open } from "./open.ts"

const PREFIX = "grove."

/**
 * The person moved here; the mark's `parentId` is the target. One that closes a write in the background names what that
 * write appended, and is no move.
 */
export const Leaf = open({
  targetId: Schema.NullOr(EntryId),
  background: Schema.optionalKey(Schema.Array(EntryId))
})
/** Entries switched off are left out of every context; `asked` is what the person named, `targetIds` what that meant. */
export const State = open({
  targetIds: Schema.Array(EntryId),
  asked: Schema.optionalKey(Schema.Array(EntryId)),
  enabled: Schema.Boolean,
  /** The entry that stands for them, written together with this mark. */
  summary: Schema.optionalKey(EntryId)
})
/** The subtrees of `roots`, children of the target when it was written, become fragments. */
export const Prune = open({ op: Schema.tag("prune"), targetId: EntryId, roots: Schema.Array(EntryId) })
/** `copies` were written under the target together with this mark; `sources` are their originals, in the same order. */
export const Graft = open({
  op: Schema.tag("graft"),
  sources: Schema.Array(EntryId),
  targetId: EntryId,
  copies: Schema.Array(EntryId)
})
/** The mark named by `targetId` has no effect. */
export const Undo = open({ op: Schema.tag("undo"), targetId: EntryId })
export const edits = { prune: Prune, graft: Graft, undo: Undo } as const
export type EditOp = keyof typeof edits
/** An edit whose `op` we do not know changes nothing. */
export const Edit = open({ op: Schema.String })
/** A record of what was chosen for a session, never an order: approvals in a file take effect only where the person agreed. */
export const Config = open({
  approvalMode: Schema.optionalKey(Schema.String),
  approvalTools: Schema.optionalKey(Schema.Array(Schema.String)),
  summary: Schema.optionalKey(Schema.NullOr(Schema.String)),
  pastedTextMap: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  pastedImageMap: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})
export const Annotation = open({
  targetId: EntryId,
  rating: Schema.optionalKey(Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })))),
  note: Schema.optionalKey(Schema.NullOr(Schema.String))
})

export const data = {
  "grove.leaf": Leaf,
  "grove.state": State,
  "grove.edit": Edit,
  "grove.config": Config,
  "grove.annotation": Annotation
} as const
export type MarkType = keyof typeof data

export const isMark = (entry: Json): boolean =>
  entry.type === "custom" && typeof entry.customType === "string" && entry.customType.startsWith(PREFIX)

const is = <const T extends MarkType>(type: T) => {
  const valid = Schema.is(data[type] as Schema.Schema<unknown>)
  return (entry: Json): (typeof data)[T]["Type"] | undefined =>
    entry.type === "custom" && entry.customType === type && isObject(entry.data) && valid(entry.data)
      ? (entry.data as (typeof data)[T]["Type"])
      : undefined
}

/** The data of a mark of that kind, `undefined` for everything else and for damaged marks. */
export const leaf = is("grove.leaf")
export const state = is("grove.state")
const isOp = {
  prune: Schema.is(Prune as Schema.Schema<unknown>),
  graft: Schema.is(Graft as Schema.Schema<unknown>),
  undo: Schema.is(Undo as Schema.Schema<unknown>)
}
const anyEdit = is("grove.edit")
const isKnownOp = (op: string): op is EditOp => Object.hasOwn(edits, op)
const editOf =
  <const Op extends EditOp>(op: Op) =>
  (entry: Json): (typeof edits)[Op]["Type"] | undefined => {
    const data = anyEdit(entry)
    return data?.op === op && isOp[op](data) ? (data as (typeof edits)[Op]["Type"]) : undefined
  }
export const prune = editOf("prune")
export const graft = editOf("graft")
export const undo = editOf("undo")
export const edit = (entry: Json): typeof Edit.Type | undefined => {
  const data = anyEdit(entry)
  return data !== undefined && isKnownOp(data.op) && !isOp[data.op](data) ? undefined : data
}
export const config = is("grove.config")
export const annotation = is("grove.annotation")

const readers: Record<string, (entry: Json) => unknown> = {
  "grove.leaf": leaf,
  "grove.state": state,
  "grove.edit": edit,
  "grove.config": config,
  "grove.annotation": annotation
}

/** Whether the mark's data is what its name promises. Marks we do not know promise nothing. */
export const hasValidData = (entry: Entry): boolean => {
  const read = Object.hasOwn(readers, String(entry.customType)) ? readers[String(entry.customType)] : undefined
  return read === undefined || read(entry) !== undefined
}
