/** How the words of two turns differ: line by line, and word by word where one line became another. */
"use client"
import { type Comparison, Preview } from "@grove/core/model"
import { diffWordsWithSpace } from "diff"
import { memo } from "react"

const MOST_CHANGES = 400

type Part = Comparison.Part

/** What has less than this in common was written anew, and is easier read whole. */
const ALIKE = 0.4

const wordsOf = (removed: string, added: string): ReadonlyArray<Part> => {
  const changes = diffWordsWithSpace(removed, added, { maxEditLength: MOST_CHANGES }) ?? []
  const same = changes.reduce((sum, change) => sum + (change.added || change.removed ? 0 : change.value.length), 0)
  if (same < ALIKE * Math.max(removed.length, added.length)) {
    return [
      { kind: "removed", text: removed },
      { kind: "added", text: added }
    ]
  }
  return changes.map((change) => ({
    kind: change.added ? "added" : change.removed ? "removed" : "same",
    text: change.value
  }))
}

const fine = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.flatMap((part, at) => {
    const next = parts[at + 1]
    if (part.kind === "removed" && next?.kind === "added") return wordsOf(part.text, next.text)
    return part.kind === "added" && parts[at - 1]?.kind === "removed" ? [] : [part]
  })

export const TextDiff = memo(({ parts }: { readonly parts: ReadonlyArray<Part> }) => (
  <div className="text-diff" dir="auto">
    {fine(parts).map(({ kind, text }, at) => {
      const shown = Preview.inert(text)
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no name but their place
      if (kind === "same") return <span key={at}>{shown}</span>
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no name but their place
      return kind === "removed" ? <del key={at}>{shown}</del> : <ins key={at}>{shown}</ins>
    })}
  </div>
))
TextDiff.displayName = "TextDiff"
