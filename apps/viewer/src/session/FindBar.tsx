/** Finding words in the session, on whatever branch they are. */
"use client"
import { type RefObject, useEffect, useState } from "react"
import * as Icons from "../shared/Icons.tsx"
import { useWords } from "../shared/Settings.tsx"
import type { SessionModel } from "./SessionModel.ts"

const REST = 120
const NONE: ReadonlyArray<string> = []

/** Entries that hold the words, in file order. */
export const useHits = (model: SessionModel | null, words: string): ReadonlyArray<string> => {
  const [found, setFound] = useState<ReadonlyArray<string>>(NONE)
  useEffect(() => {
    if (model === null || words.trim() === "") return setFound(NONE)
    const controller = new AbortController()
    const timer = setTimeout(() => {
      model.find(words, controller.signal).then(
        ({ ids }) => setFound(ids),
        () => {}
      )
    }, REST)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [model, words])
  return found
}

export const FindBar = ({
  field,
  value,
  at,
  of,
  onChange,
  onStep,
  onClose
}: {
  readonly field: RefObject<HTMLInputElement | null>
  readonly value: string
  readonly at: number
  readonly of: number
  readonly onChange: (value: string) => void
  readonly onStep: (step: 1 | -1) => void
  readonly onClose: () => void
}) => {
  const words = useWords()
  return (
    <search className="find">
      <label className="field">
        <Icons.Search />
        <span className="visually-hidden">{words.session.find}</span>
        <input
          ref={field}
          type="search"
          placeholder={words.session.find}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.nativeEvent.isComposing) onStep(event.shiftKey ? -1 : 1)
            if (event.key === "Escape") onClose()
          }}
        />
        {value === "" ? (
          <span className="kbd hide-narrow">/</span>
        ) : (
          <span className="find-count" role="status">
            {words.session.hits(at, of)}
          </span>
        )}
      </label>
      {value === "" ? null : (
        <>
          <button
            type="button"
            className="button quiet"
            title={words.session.previousHit}
            aria-label={words.session.previousHit}
            disabled={of === 0}
            onClick={() => onStep(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            className="button quiet"
            title={words.session.nextHit}
            aria-label={words.session.nextHit}
            disabled={of === 0}
            onClick={() => onStep(1)}
          >
            ↓
          </button>
        </>
      )}
    </search>
  )
}
