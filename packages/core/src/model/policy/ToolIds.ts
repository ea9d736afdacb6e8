/** Step: tool calls have ids that nobody else has, and ids and names are spelt as providers take them. */
import type { Capabilities } from "../Capabilities.ts"
import { isReply, isResult, type Note, note, type Said, type Step, type ToolCall } from "./Draft.ts"
import { pair } from "./Pairing.ts"

const SPELLING: { readonly [length in Capabilities["toolIds"]]: RegExp } = {
  long: /^[a-zA-Z0-9_-]{1,40}$/,
  short: /^[a-zA-Z0-9]{9}$/
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const spelt = (name: string): string =>
  NAME.test(name) ? name : name.slice(0, 64).replace(/[^a-zA-Z0-9_-]/g, "_") || "tool"

const callsIn = (said: ReadonlyArray<Said>): ReadonlyArray<ToolCall> =>
  said.flatMap((each) => (isReply(each) ? each.message.content.filter((block) => block.type === "toolCall") : []))

/** Names for calls, by counting: the same draft always gets the same. Each fits both spellings. */
const minter = (reserved: ReadonlySet<string>) => {
  let count = 0
  return (): string => {
    for (;;) {
      const id = `call${(++count).toString(36).padStart(5, "0")}`
      if (!reserved.has(id)) return id
    }
  }
}

export const toolIds: Step = {
  name: "tool-ids",
  apply: (draft, { model }) => {
    const answers = pair(draft.said)
    const mint = minter(new Set(callsIn(draft.said).map(({ id }) => id)))
    const taken = new Set<string>()
    const changes: Array<Note> = []
    const renamed = (call: ToolCall, each: Said): ToolCall => {
      const isFine = SPELLING[model.toolIds].test(call.id) && !taken.has(call.id)
      const id = isFine ? call.id : mint()
      const name = spelt(call.name)
      taken.add(id)
      if (!isFine)
        changes.push(note("renamed", each, "a call whose id is used before or is not spelt as providers take it"))
      if (name !== call.name) changes.push(note("renamed", each, "a tool whose name is not spelt as providers take it"))
      return id === call.id && name === call.name ? call : { ...call, id, name }
    }
    const said: Array<Said> = []
    for (const [row, each] of draft.said.entries()) {
      if (isReply(each)) {
        const content = each.message.content.map((block) => (block.type === "toolCall" ? renamed(block, each) : block))
        said.push({ ...each, message: { ...each.message, content } })
        continue
      }
      const answered = answers.get(row)
      const reply = said[answered?.reply ?? -1]
      const call = reply !== undefined && isReply(reply) ? reply.message.content[answered!.block] : undefined
      if (isResult(each) && call?.type === "toolCall") {
        said.push({ ...each, message: { ...each.message, toolCallId: call.id, toolName: call.name } })
      } else said.push(each)
    }
    return { systemPrompt: draft.systemPrompt, said, changes }
  }
}
