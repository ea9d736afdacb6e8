/** What the list tells of a session beyond its summary. Each file is read once for as long as it does not change. */
import { TreeUsage, Usage } from "@grove/core/model"
import type { LocalServer } from "@grove/local-http"
import { Effect } from "effect"
import type * as Wire from "../wire/Wire.ts"
import { json } from "./Api.ts"
import * as FileState from "./FileState.ts"
import type { LibraryError, Listed, Open, Reads } from "./Library.ts"

const detailsOf = ({ listed, opened }: Open, price: Usage.Pricer | undefined): Wire.Details => {
  const { tree } = opened.snapshot
  const models = new Set<string>()
  let sum = Usage.zero
  for (const [{ message }, usage] of TreeUsage.requests(tree, price)) {
    sum = Usage.add(sum, usage)
    const { provider, model } = (message ?? {}) as { readonly provider?: unknown; readonly model?: unknown }
    if (typeof provider === "string" && typeof model === "string") models.add(`${provider}/${model}`)
  }
  return {
    key: listed.key,
    turns: tree.pathRows(tree.rowOf(tree.leaf)).filter((row) => tree.roleAt(row) === "user").length,
    costMicros: sum.costMicros,
    models: [...models],
    labels: [...new Set(tree.facts.labels.values())]
  }
}

export interface Details {
  readonly of: (listed: Listed) => Effect.Effect<Wire.Details, LibraryError>
}

export const make = (library: Reads): Details => {
  const kept = new Map<string, { readonly state: string; readonly details: Wire.Details }>()
  return {
    of: Effect.fnUntraced(function* (listed: Listed) {
      const state = FileState.of(listed.file)
      const known = kept.get(listed.file)
      if (known?.state === state && known.details.key === listed.key) return known.details
      const details = detailsOf(yield* library.open(listed), library.price)
      kept.set(listed.file, { state, details })
      return details
    })
  }
}

const MOST_KEYS = 100

/** `key`, many times: those sessions, without what cannot be read. */
export const details = Effect.fnUntraced(function* (
  library: Reads,
  { of }: Details,
  url: URL
): Effect.fn.Return<LocalServer.Reply> {
  const found: Array<Wire.Details> = []
  for (const key of url.searchParams.getAll("key").slice(0, MOST_KEYS)) {
    found.push(...(yield* Effect.orElseSucceed(Effect.map(Effect.flatMap(library.find(key), of), Array.of), () => [])))
    // Others who ask do not wait for all of them.
    yield* Effect.yieldNow
  }
  return json(found satisfies ReadonlyArray<Wire.Details>)
})
