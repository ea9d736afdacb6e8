/** What an edit changed, line by line. */
"use client"
import { Preview } from "@grove/core/model"
import { diffLines } from "diff"
import { memo, useMemo } from "react"

export interface Edit {
  readonly before: string
  readonly after: string
}

interface Line {
  readonly sign: "+" | "−" | " "
  readonly text: string
}

/** Texts that differ in more than this are shown as two texts. */
const MOST_CHANGES = 1000
const MOST_LINES = 400

const linesOf = ({ before, after }: Edit): ReadonlyArray<Line> => {
  const changes = diffLines(before, after, { maxEditLength: MOST_CHANGES }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after }
  ]
  return changes.flatMap(({ added, removed, value }) =>
    value
      .replace(/\n$/, "")
      .split("\n")
      .map((text) => ({ sign: added ? ("+" as const) : removed ? ("−" as const) : (" " as const), text }))
  )
}

const NAMES = { "+": "added", "−": "removed", " ": "same" } as const

export const DiffCounts = ({ edits }: { readonly edits: ReadonlyArray<Edit> }) => {
  const lines = useMemo(() => edits.flatMap(linesOf), [edits])
  const count = (sign: Line["sign"]) => lines.filter((line) => line.sign === sign).length
  return (
    <span className="diff-counts">
      <span className="plus">+{count("+")}</span> <span className="minus">−{count("−")}</span>
    </span>
  )
}

export const Diff = memo(({ edits }: { readonly edits: ReadonlyArray<Edit> }) => {
  const lines = useMemo(() => edits.map(linesOf), [edits])
  return lines.map((edit, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: edits have no name but their place
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <pre key={at} className="diff" tabIndex={0}>
      {edit.slice(0, MOST_LINES).map(({ sign, text }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: nor have lines
        <span key={place} className={`diff-line ${NAMES[sign]}`}>
          <span className="diff-sign">{sign}</span>
          {Preview.inert(text.replaceAll("\t", "    "))}
          {"\n"}
        </span>
      ))}
      {edit.length > MOST_LINES ? <span className="diff-line muted">…</span> : null}
    </pre>
  ))
})
Diff.displayName = "Diff"
