/** What sessions cost and hold, asked for as they come into view: the list never waits for it. */
"use client"
import { useEffect, useState } from "react"
import { ask } from "../shared/Api.ts"
import { useRested } from "../shared/Rested.ts"
import type { Details } from "../wire/Wire.ts"

/** So few that the first of them are soon there. */
const AT_ONCE = 25

/** `null` for what could not be read. */
export type Known = ReadonlyMap<string, Details | null>

export const useDetails = (wanted: ReadonlyArray<string>): Known => {
  const [known, setKnown] = useState<Known>(new Map())
  const next = wanted.filter((key) => !known.has(key)).slice(0, AT_ONCE)
  const query = useRested(new URLSearchParams(next.map((key) => ["key", key])).toString())
  useEffect(() => {
    if (query === "") return
    const controller = new AbortController()
    ask<ReadonlyArray<Details>>(`/api/details?${query}`, controller.signal).then(
      (found) => {
        const asked = new URLSearchParams(query).getAll("key")
        setKnown(
          (before) =>
            new Map([
              ...before,
              ...asked.map((key) => [key, null] as const),
              ...found.map((each) => [each.key, each] as const)
            ])
        )
      },
      // Rows go without; what comes into view next is asked for again.
      () => {}
    )
    return () => controller.abort()
  }, [query])
  return known
}
