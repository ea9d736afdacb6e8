/** Grove cuts and summarises where Pi 1.5 does, on Pi's own files, and begins where Neovate begins. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { BranchSummary, Compaction, ContextBuilder, Transcript } from "../../src/model/index.ts"
import { bytesOf, idsOf, type Json, jsonOf, load, sha256 } from "../support.ts"

type Answers<A> = {
  readonly [file: string]: {
    readonly "pi-0.73.1": ReadonlyArray<A>
    readonly "pi-1.5.0": ReadonlyArray<A> | "identical"
  }
}
const casesOf = <A>(path: string) =>
  Object.entries(jsonOf<Answers<A>>(path)).map(([file, answers]) => ({
    file,
    answers: answers["pi-1.5.0"] === "identical" ? answers["pi-0.73.1"] : answers["pi-1.5.0"]
  }))

const rolesOf = (messages: ReadonlyArray<Json>): string => {
  const runs: Array<{ readonly role: unknown; times: number }> = []
  for (const { role } of messages) {
    const run = runs.at(-1)
    if (run !== undefined && run.role === role) run.times++
    else runs.push({ role, times: 1 })
  }
  return runs.map(({ role, times }) => (times === 1 ? role : `${role}*${times}`)).join(" ")
}

/** Pi hands the summariser what it would send to a model; Grove names the kind of message instead. */
const inPiWords = (message: Json): Json => {
  switch (message.role) {
    case "bashExecution":
      return { ...message, role: "user", content: bashInPiWords(message) }
    case "branchSummary":
      return {
        role: "user",
        content: `The following is a summary of a branch that this conversation came back from:\n\n<summary>\n${message.summary}</summary>`
      }
    case "compactionSummary":
      return {
        role: "user",
        content: `The conversation history before this point was compacted into the following summary:\n\n<summary>\n${message.summary}\n</summary>`
      }
    default:
      return message
  }
}
const bashInPiWords = ({ command, output, exitCode, cancelled, truncated, fullOutputPath }: Json): string => {
  const ran = `Ran \`${command}\`\n${output === "" ? "(no output)" : `\`\`\`\n${output}\n\`\`\``}`
  const code = typeof exitCode === "number" && exitCode !== 0 ? `\n\nCommand exited with code ${exitCode}` : ""
  const cut = truncated === true ? `\n\n[Output truncated. Full output: ${fullOutputPath}]` : ""
  return `${ran}${cancelled === true ? "\n\n(command cancelled)" : code}${cut}`
}
const transcriptInPiWords = (messages: ReadonlyArray<Json>): string => Transcript.of(messages.map(inPiWords))

/** Where Grove answers otherwise on purpose, by file and what was asked: what it answers instead. */
const WHOLE_TURNS = (messagesToSummarize: string): Json => ({
  isSplitTurn: false,
  messagesToSummarize,
  turnPrefixMessages: "",
  serializedPrefixSha256: sha256('""')
})
const differences: ReadonlyArray<{
  readonly why: string
  readonly answers: { readonly [asked: string]: Json }
}> = [
  {
    why: "a cut before a prompt goes through no turn, whatever silent entries lie before the prompt",
    answers: Object.fromEntries(
      [0, 1].flatMap((keep) => [
        [`branches, keep ${keep}`, WHOLE_TURNS("user assistant branchSummary user assistant")],
        [
          `compaction, keep ${keep}`,
          WHOLE_TURNS("assistant user assistant toolResult assistant user assistant toolResult assistant")
        ]
      ])
    )
  },
  {
    why: "files accumulate across branch summaries too, not only across compactions",
    answers: {
      "branches, keep 0": { fileLists: { readFiles: ["a.md"], modifiedFiles: [] } },
      "branches, keep 1": { fileLists: { readFiles: ["a.md"], modifiedFiles: [] } },
      "random-13, keep 0": {
        fileLists: { readFiles: ["plan beta ship"], modifiedFiles: ["f2.ts", "f5.ts", "f6.ts"] }
      },
      "random-13, keep 1": {
        fileLists: { readFiles: ["plan beta ship"], modifiedFiles: ["f2.ts", "f5.ts", "f6.ts"] }
      },
      "random-13, keep 100": {
        fileLists: { readFiles: ["f2.ts", "plan beta ship"], modifiedFiles: ["f5.ts", "f6.ts"] }
      }
    }
  }
]
const otherwise = (asked: string): Json => Object.assign({}, ...differences.map(({ answers }) => answers[asked] ?? {}))

/** The text summarised is compared where both summarise the same messages. */
const comparable = (answer: Json, asked: string): Json => {
  const { serializedSha256, ...rest } = answer
  return otherwise(asked).isSplitTurn === undefined ? answer : rest
}

interface Preparation {
  readonly keepRecentTokens: number
  readonly result?: null
  readonly firstKeptEntryIndexInFile: number
  readonly tokensBefore: number
  readonly hasPreviousSummary: boolean
  readonly messagesToSummarize: string
  readonly turnPrefixMessages: string
  readonly fileLists: Json
  readonly serializedSha256: string
  readonly serializedPrefixSha256: string
}

describe.each(casesOf<Preparation>("pi/expected-compaction-preparation.json"))(
  "a compaction of $file",
  ({ file, answers }) => {
    const { file: read, tree } = load(bytesOf(`pi/${file}.jsonl`))
    const context = ContextBuilder.build(tree)
    it.each(answers)("that keeps $keepRecentTokens tokens is prepared as Pi prepares it", (expected) => {
      const planned = Compaction.plan(tree, context, expected.keepRecentTokens)
      if (Result.isFailure(planned)) return assert.strictEqual(expected.result, null)
      const plan = planned.success
      const asked = `${file}, keep ${expected.keepRecentTokens}`
      assert.deepStrictEqual(
        comparable(
          {
            keepRecentTokens: expected.keepRecentTokens,
            firstKeptEntryIndexInFile: read.rows.findIndex(({ entry }) => entry.id === plan.firstKeptEntryId),
            isSplitTurn: plan.turnPrefix.length > 0,
            tokensBefore: plan.tokensBefore,
            hasPreviousSummary: plan.previousSummary !== null,
            messagesToSummarize: rolesOf(plan.history),
            turnPrefixMessages: rolesOf(plan.turnPrefix),
            fileLists: plan.files,
            serializedSha256: sha256(JSON.stringify(transcriptInPiWords(plan.history))),
            serializedPrefixSha256: sha256(JSON.stringify(transcriptInPiWords(plan.turnPrefix)))
          },
          asked
        ),
        comparable({ ...expected, ...otherwise(asked) }, asked)
      )
    })
  }
)

interface Branch {
  readonly oldLeafId: string
  readonly targetId: string
  readonly commonAncestorId: string | null
  readonly entryIds: ReadonlyArray<string>
  readonly tokenBudget: number
  readonly totalTokens: number
  readonly messageRoles: string
  readonly fileLists: Json
  readonly serialized: string
}

/** On purpose: the files of the whole branch, where Pi lists those of the part that the budget let in. */
const filesOfWholeBranch = ({ oldLeafId, targetId }: Branch, answers: ReadonlyArray<Branch>): Json =>
  answers.find((answer) => answer.oldLeafId === oldLeafId && answer.targetId === targetId && answer.tokenBudget === 0)!
    .fileLists

describe.each(casesOf<Branch>("pi/expected-branch-summary.json"))(
  "a branch left behind in $file",
  ({ file, answers }) => {
    const { tree } = load(bytesOf(`pi/${file}.jsonl`))
    it.each(answers)("from $oldLeafId to $targetId, budget $tokenBudget, is gathered as Pi gathers it", (expected) => {
      const { ancestor, rows } = BranchSummary.abandoned(tree, expected.oldLeafId, expected.targetId)
      const gathered = BranchSummary.gather(tree, rows, expected.tokenBudget || Number.POSITIVE_INFINITY)
      assert.deepStrictEqual(
        {
          oldLeafId: expected.oldLeafId,
          targetId: expected.targetId,
          commonAncestorId: ancestor,
          entryIds: idsOf(tree.entriesAt(rows)),
          tokenBudget: expected.tokenBudget,
          totalTokens: gathered.tokens,
          messageRoles: rolesOf(gathered.messages),
          fileLists: gathered.files,
          serialized: transcriptInPiWords(gathered.messages)
        } as unknown,
        { ...expected, fileLists: filesOfWholeBranch(expected, answers) }
      )
    })
  }
)

describe("Neovate's trigger", () => {
  interface Threshold {
    readonly context: number
    readonly output: number
    readonly compressAtTotalTokens: number
  }
  const { thresholds } = jsonOf<{ readonly thresholds: ReadonlyArray<Threshold> }>(
    "neovate/expected-compress-threshold.json"
  )
  /** On purpose: Neovate waits for 25,600 tokens in a window of 8,192, which never come. */
  const otherwise = new Map([[8192, 6554]])

  it.each(thresholds)(
    "in a window of $context with $output of output is reached where Neovate compresses",
    (expected) => {
      const { context: window, output: maxOutput } = expected
      const at = otherwise.get(window) ?? expected.compressAtTotalTokens
      const isDue = (tokens: number) => Compaction.isDue(tokens, { window, maxOutput }, { trigger: "neovate" })
      assert.deepStrictEqual([isDue(at - 1), isDue(at)], [false, true])
    }
  )
})

it("the one message of a path's system messages is the one that Pi stores with a compaction", () => {
  const { tree } = load(bytesOf("pi/context-edit.jsonl"))
  const planned = Compaction.plan(tree, ContextBuilder.build(tree, "1caefd15"), 1)
  assert(Result.isSuccess(planned))
  const { timestamp: _, ...ours } = planned.success.systemMessage!
  const { timestamp: __, ...theirs } = tree.get("64ccd97b")!.systemMessage as Json
  assert.deepStrictEqual(ours as unknown, theirs)
})
