/** How turns of a session are answered in a folder: with tools, sub-agents, and what the project says. */
import type { Session, Sessions } from "@grove/core"
import { Clock, Effect } from "effect"
import type { Approvals } from "./Approval.ts"
import type { Engine } from "./Engine.ts"
import * as Instructions from "./Instructions.ts"
import * as SubAgents from "./SubAgents.ts"
import * as Tools from "./Tools.ts"
import type { ReplyOptions } from "./Turn.ts"

/** What the caller leaves out is as the folder has it; `outputs` says where long outputs of commands are kept. */
export const options = Effect.fnUntraced(function* (
  session: Session,
  given: Omit<ReplyOptions, "system" | "tools">,
  outputs: { readonly folder?: string | undefined } = {}
): Effect.fn.Return<ReplyOptions, never, Approvals | Engine | Sessions> {
  const { cwd } = given
  const tools = Tools.standard(outputs)
  const date = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, "yyyy-mm-dd".length)
  const project = yield* Instructions.projectFile(cwd)
  const definitions = tools.map(({ definition }) => definition)
  const own: ReplyOptions = {
    ...given,
    system: Instructions.systemPrompt({ cwd, date, tools: definitions, project }),
    tools
  }
  return { ...own, tools: [...tools, yield* SubAgents.tool(session, own)] }
})
