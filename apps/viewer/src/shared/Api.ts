/** Asking the server. */
"use client"
import { useCallback, useEffect, useState } from "react"
import type { Failure } from "../wire/Wire.ts"

export class Refused extends Error {
  readonly status: number
  readonly failure: Failure | null
  constructor(status: number, failure: Failure | null) {
    super(failure?.message ?? `The server answered ${status}.`)
    this.status = status
    this.failure = failure
  }
}

export const ask = async <A>(path: string, signal?: AbortSignal): Promise<A> => {
  const response = await fetch(path, signal === undefined ? {} : { signal })
  if (response.ok) return (await response.json()) as A
  const failure = (await response.json().catch(() => null)) as Failure | null
  throw new Refused(response.status, failure)
}

export type Answer<A> =
  | { readonly is: "loading" }
  | { readonly is: "failed"; readonly error: Error }
  | { readonly is: "here"; readonly value: A }

/** What a path answers; asked anew when the path changes or `again` is called. `null` asks nothing. */
export const useAnswer = <A>(path: string | null): { readonly answer: Answer<A>; readonly again: () => void } => {
  const [answer, setAnswer] = useState<Answer<A>>({ is: "loading" })
  const [round, setRound] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks again
  useEffect(() => {
    if (path === null) return
    const controller = new AbortController()
    ask<A>(path, controller.signal).then(
      (value) => setAnswer({ is: "here", value }),
      (error) => {
        if (!controller.signal.aborted) setAnswer({ is: "failed", error: error as Error })
      }
    )
    return () => controller.abort()
  }, [path, round])
  return { answer, again: useCallback(() => setRound((before) => before + 1), []) }
}
