/** Everything that is wrong with a session file, by line: what the reader met, what the tree met, what bodies hold. */
import * as Entry from "./Entry.ts"
import type { SessionFile } from "./Jsonl.ts"
import * as Mark from "./Mark.ts"
import type { Problem } from "./Problem.ts"
import type { SessionTree } from "./SessionTree.ts"

const bodyProblem = (entry: Entry.Entry): string | undefined => {
  if (!Entry.hasValidBody(entry)) return `the body of entry ${entry.id} is not what ${entry.type} promises`
  if (Mark.isMark(entry) && !Mark.hasValidData(entry)) {
    return `the data of entry ${entry.id} is not what ${String(entry.customType)} promises`
  }
  return undefined
}

export const problems = (file: SessionFile, tree: SessionTree): ReadonlyArray<Problem> => {
  const lineOf = new Map(file.rows.map(({ entry, line }) => [entry.id, line]))
  const found: Array<Problem> = [...file.problems]
  for (const { id, kind, message } of tree.problems()) found.push({ line: lineOf.get(id) ?? 0, kind, message })
  for (const { id, message } of tree.edits.problems)
    found.push({ line: lineOf.get(id) ?? 0, kind: "void-edit", message })
  for (const { entry, line } of file.rows) {
    const message = bodyProblem(entry)
    if (message !== undefined) found.push({ line, kind: "bad-body", message })
  }
  return found.sort((a, b) => a.line - b.line)
}
