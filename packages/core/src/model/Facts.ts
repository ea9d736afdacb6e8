/** What holds for a whole session whatever the branch: labels, its name, what is switched off, its config, ratings. */
import type { Entry } from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import type { Header, TitleSlot } from "./Header.ts"
import * as Mark from "./Mark.ts"
import { stringOr } from "./open.ts"
import * as TreeEdit from "./TreeEdit.ts"

export interface SessionConfig {
  readonly approvalMode: string
  readonly approvalTools: ReadonlyArray<string>
  readonly summary: string | null
  readonly pastedTextMap: { readonly [key: string]: unknown }
  readonly pastedImageMap: { readonly [key: string]: unknown }
}

export interface Annotation {
  readonly rating: number | null
  readonly note: string | null
}

export interface Facts {
  readonly labels: ReadonlyMap<EntryId, string>
  /** From the last `session_info`; `null` if there is none or it cleared the name. */
  readonly name: string | null
  readonly disabled: ReadonlySet<EntryId>
  readonly config: SessionConfig
  readonly annotations: ReadonlyMap<EntryId, Annotation>
}

export const defaultConfig: SessionConfig = {
  approvalMode: "default",
  approvalTools: [],
  summary: null,
  pastedTextMap: {},
  pastedImageMap: {}
}

/** Whether an entry can change a fact at all, so that most lines need not be looked at. */
export const concerns = (type: string, isMark: boolean): boolean =>
  type === "label" || type === "session_info" || isMark

/** Later lines win, in file order. Damaged or undone lines, and labels of entries that are not there, change nothing. */
export const fold = (
  entries: Iterable<Entry>,
  isEntry: (id: EntryId) => boolean,
  { all, disabled }: TreeEdit.Edits = TreeEdit.none
): Facts => {
  const labels = new Map<EntryId, string>()
  const undone = new Set(all.filter(({ live }) => !live).map(({ id }) => id))
  const annotations = new Map<EntryId, Annotation>()
  let name: string | null = null
  let config = defaultConfig
  for (const entry of entries) {
    if (!concerns(entry.type, Mark.isMark(entry))) continue
    if (entry.type === "label") {
      const target = stringOr(entry.targetId, null) as EntryId | null
      if (target === null || !isEntry(target)) continue
      const label = stringOr(entry.label, "")
      labels.delete(target)
      if (label !== "") labels.set(target, label)
    } else if (entry.type === "session_info") {
      name = stringOr(entry.name, "").trim() || null
    } else {
      const configured = Mark.config(entry)
      if (configured !== undefined) config = { ...config, ...configured }
      const annotated = Mark.annotation(entry)
      if (annotated !== undefined && !undone.has(entry.id)) {
        const before = annotations.get(annotated.targetId)
        annotations.set(annotated.targetId, {
          rating: annotated.rating === undefined ? (before?.rating ?? null) : annotated.rating,
          note: annotated.note === undefined ? (before?.note ?? null) : annotated.note
        })
      }
    }
  }
  return { labels, name, disabled, config, annotations }
}

/** The name shown for a session: last `session_info`, else config summary, else title slot, else header title. */
export const nameOf = (facts: Facts, title: TitleSlot | null, header: Header | null): string | null =>
  facts.name || facts.config.summary || stringOr(title?.title, "") || stringOr(header?.title, "") || null
