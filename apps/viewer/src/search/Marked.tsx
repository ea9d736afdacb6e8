/** A text with marks on the words that were found in it, whatever else it holds. */
import { Preview } from "@grove/core/model"
import type { SearchHit } from "../wire/Wire.ts"

export const Marked = ({ snippet, marks }: Pick<SearchHit, "snippet" | "marks">) => {
  const ends = [...marks.map(([, end]) => end), snippet.length]
  return (
    <>
      {Preview.inert(snippet.slice(0, marks[0]?.[0] ?? snippet.length))}
      {marks.map(([start, end], at) => (
        <span key={start}>
          <mark>{Preview.inert(snippet.slice(start, end))}</mark>
          {Preview.inert(snippet.slice(end, marks[at + 1]?.[0] ?? ends.at(-1)))}
        </span>
      ))}
    </>
  )
}
