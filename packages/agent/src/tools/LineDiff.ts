/** What a change does to a text, line by line, for people to look at. */
import { createTwoFilesPatch, OMIT_HEADERS } from "diff"

/** Beyond so many changed lines nobody reads, and finding the shortest diff takes too long. */
const MOST_CHANGES = 2_000
const LONGEST = 100_000

/** A unified diff without file names; `undefined` where the texts have too little in common, or it would be too long. */
export const unified = (before: string, after: string): string | undefined => {
  const patch = createTwoFilesPatch("", "", before, after, undefined, undefined, {
    context: 3,
    maxEditLength: MOST_CHANGES,
    headerOptions: OMIT_HEADERS
  })
  return patch === undefined || patch.length > LONGEST ? undefined : patch
}

/** As `details` of a tool result hold it. */
export const details = (before: string, after: string): { readonly diff?: string } => {
  const diff = unified(before, after)
  return diff === undefined ? {} : { diff }
}
