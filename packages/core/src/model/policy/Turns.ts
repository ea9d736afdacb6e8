/** Step: prompts and replies take turns where a provider needs it, and the first word is a prompt. */
import type { Capabilities } from "../Capabilities.ts"
import {
  type Assistant,
  added,
  isPrompt,
  isReply,
  isResult,
  type Note,
  note,
  type Said,
  type Step,
  text,
  type User
} from "./Draft.ts"
import { isBy } from "./Signatures.ts"

const OPENING: User = { role: "user", content: [text("[The conversation begins with a reply.]")] }
const RECEIVED: Assistant = { role: "assistant", content: [text("[The results were received.]")] }

/** Neighbours of one role, together. Results stand for themselves. */
const runsOf = (said: ReadonlyArray<Said>): ReadonlyArray<ReadonlyArray<Said>> => {
  const runs: Array<Array<Said>> = []
  for (const each of said) {
    const run = runs.at(-1)
    if (run !== undefined && !isResult(each) && run[0]!.message.role === each.message.role) run.push(each)
    else runs.push([each])
  }
  return runs
}

/** One message of all that a run says. A reply is by whoever can still take back what was signed. */
const joined = (run: ReadonlyArray<Said>, model: Capabilities): Said => {
  const signer = run.find((each) => isReply(each) && isBy(model, each)) ?? run[0]!
  return {
    message: { ...signer.message, content: run.flatMap(({ message }) => message.content) } as Said["message"],
    entry: run.find(({ entry }) => entry !== null)?.entry ?? null,
    edited: run.at(-1)!.edited
  }
}

export const takeTurns = (said: ReadonlyArray<Said>, model: Capabilities) => {
  const changes: Array<Note> = []
  const taken: Array<Said> = []
  for (const run of model.takesTurns ? runsOf(said) : said.map((each) => [each])) {
    const each = run.length === 1 ? run[0]! : joined(run, model)
    if (run.length > 1) {
      const what = isReply(each) ? "replies in a row, as one" : "prompts in a row, as one"
      changes.push(note("joined", each, what))
    }
    const before = taken.at(-1)
    if (model.takesTurns && before === undefined && isReply(each)) {
      taken.push(added(OPENING))
      changes.push(note("added", each, "a prompt, because the first word must not be a reply"))
    }
    if (!model.promptAfterResult && before !== undefined && isResult(before) && isPrompt(each)) {
      taken.push(added(RECEIVED, each.edited))
      changes.push(note("added", each, "a reply between a result and a prompt"))
    }
    taken.push(each)
  }
  return { said: taken, changes }
}

export const turns: Step = {
  name: "turns",
  apply: ({ systemPrompt, said }, { model }) => ({ systemPrompt, ...takeTurns(said, model) })
}
