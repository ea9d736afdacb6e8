/** Sub-agents: a task given away into a session of its own, whose answer comes back as the result of a call. */
import { type Entry, isObject, type Json, type Session, Sessions } from "@grove/core"
import { Effect } from "effect"
import { Approvals } from "./Approval.ts"
import { Engine } from "./Engine.ts"
import * as Content from "./models/Content.ts"
import { failed, succeeded, type Tool, type ToolOutcome } from "./Tool.ts"
import type { ReplyOptions, TurnEnd } from "./Turn.ts"

export const NAME = "task"

const definition = {
  name: NAME,
  description:
    "Gives a task to another agent, which works on it in a session of its own with the same tools and sees nothing of this conversation. Its last answer is the result. Several tasks called for at once are worked on side by side.",
  parameters: {
    type: "object",
    properties: { prompt: { type: "string", description: "The whole task, with all that has to be known for it." } },
    required: ["prompt"]
  }
}

const promptIn = ({ prompt }: Json): string => (typeof prompt === "string" ? prompt.trim() : "")

const textOf = ({ message }: Entry.Entry): string => (isObject(message) ? Content.textOf(message.content) : "")

/** The last thing said, on the path that the turn ended on. */
const answerOf = ({ tree }: Session, { leaf }: TurnEnd): string => {
  for (let row = tree.rowOf(leaf); row >= 0; row = tree.parentRow(row)) {
    if (tree.roleAt(row) === "assistant") return textOf(tree.entryAt(row))
  }
  return ""
}

const outcomeOf = (child: Session, end: TurnEnd): ToolOutcome => {
  const details = { session: child.ref.id, path: child.ref.path, leaf: end.leaf, usage: end.usage }
  const said = answerOf(child, end)
  if (end.error !== null)
    return failed([`the agent failed: ${end.error.message}`, said].filter(Boolean).join("\n"), details)
  return said === "" ? failed("the agent said nothing", details) : succeeded(said, details)
}

/** The tool for turns of `parent`. Sub-agents have every tool but this one, and ask as their parent would. */
export const tool = Effect.fnUntraced(function* (parent: Session, options: ReplyOptions) {
  const engine = yield* Engine
  const sessions = yield* Sessions
  const approvals = yield* Approvals
  const tools = (options.tools ?? []).filter(({ definition }) => definition.name !== NAME)

  const work = Effect.fnUntraced(function* (task: string) {
    const ref = yield* sessions.create({ cwd: options.cwd, parentSession: parent.ref.path })
    const child = yield* sessions.open(ref.path)
    yield* child.main.append({
      type: "session_init",
      systemPrompt: options.system ?? "",
      task,
      tools: tools.map(({ definition }) => definition.name)
    })
    const { ref: model } = yield* engine.model(parent, options)
    const { allowed } = yield* approvals.settings(parent.ref, parent.tree.facts.config)
    const turn = yield* engine.start(child, { approval: allowed.mode, ...options, tools, model, prompt: task })
    return outcomeOf(child, yield* turn.end)
  }, Effect.scoped)

  return {
    definition,
    kind: "agent",
    describe: (args) => Effect.succeed({ line: `${NAME} ${promptIn(args)}`, paths: [] }),
    run: (args) => {
      const task = promptIn(args)
      if (task === "") return Effect.succeed(failed("there is no task: prompt is empty"))
      return Effect.catch(work(task), ({ message }) => Effect.succeed(failed(`the agent could not begin: ${message}`)))
    }
  } satisfies Tool
})
