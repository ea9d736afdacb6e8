/** System messages as Pi stores them: each one changes what those before it said. */
import { isObject, type Json } from "./open.ts"
import { textOf } from "./Preview.ts"

const named = (tools: unknown): ReadonlyArray<readonly [string, Json]> =>
  (Array.isArray(tools) ? tools.filter(isObject) : [])
    .filter((tool) => typeof tool.name === "string")
    .map((tool) => [tool.name as string, tool])

/** The one message that says what all of them say together; `undefined` where there is none. */
export const fold = (messages: ReadonlyArray<Json>): Json | undefined => {
  if (messages.length === 0) return undefined
  const contents: Array<string> = []
  const sections = new Map<string, unknown>()
  const tools = new Map<string, Json>()
  for (const message of messages) {
    const content = textOf(message.content)
    if (content !== "") contents.push(content)
    for (const [name, text] of Object.entries(isObject(message.sections) ? message.sections : {})) {
      if (text === null) sections.delete(name)
      else sections.set(name, text)
    }
    for (const [name] of named(message.toolsRemoved)) tools.delete(name)
    for (const [name, tool] of named(message.toolsAdded)) tools.set(name, tool)
  }
  const { timestamp } = messages.at(-1)!
  return {
    role: "system",
    content: contents.join("\n\n"),
    ...(sections.size === 0 ? {} : { sections: Object.fromEntries(sections) }),
    ...(tools.size === 0 ? {} : { toolsAdded: [...tools.values()] }),
    ...(timestamp === undefined ? {} : { timestamp })
  }
}
