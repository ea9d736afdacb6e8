/** Step: replies that failed or were stopped are not repeated to a model, nor are the results of their calls. */
import { isReply, isResult, note, type Said, type Step } from "./Draft.ts"
import { pair } from "./Pairing.ts"

const FAILED = new Set<unknown>(["error", "aborted"])

const hasFailed = (said: Said | undefined): boolean =>
  said !== undefined && isReply(said) && FAILED.has(said.message.stopReason)

export const failedReplies: Step = {
  name: "failed-replies",
  apply: ({ systemPrompt, said }) => {
    const answers = pair(said)
    const isOut = (each: Said, row: number) => hasFailed(each) || hasFailed(said[answers.get(row)?.reply ?? -1])
    const out = said.filter(isOut)
    return {
      systemPrompt,
      said: said.filter((each, row) => !isOut(each, row)),
      changes: out.map((each) =>
        note(
          "left-out",
          each,
          isResult(each) ? "a result of a reply that failed" : "a reply that failed or was stopped"
        )
      )
    }
  }
}
