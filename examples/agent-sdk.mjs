/**
 * A small agent on @grove/sdk. It answers each line of standard input, keeps everything as a tree, and understands:
 *   /again        another answer to the last prompt, beside the first
 *   /mute <text>  leaves prompts with that text out of what the model is shown
 *   /find <text>  looks in everything that was ever said
 *
 *   node agent-sdk.mjs <home>
 */
import { createInterface } from "node:readline"
import { openGrove } from "@grove/sdk"

/** In place of a request to a model. @param {ReadonlyArray<any>} messages */
const model = async (messages) => `I was shown ${messages.length} messages.`

const grove = openGrove({ home: process.argv[2] ?? ".grove" })
const session = await grove.create({ cwd: process.cwd() })
let prompt = null

const answer = async () => {
  const { messages } = await session.context()
  const content = [{ type: "text", text: await model(messages) }]
  await session.append({
    type: "message",
    message: { role: "assistant", content, provider: "example", model: "1", stopReason: "stop", timestamp: Date.now() }
  })
  console.log(content[0].text)
}

const commands = {
  again: async () => {
    if (prompt === null) return console.log("nothing was asked yet")
    await session.branch(prompt.id)
    await answer()
  },
  mute: async (/** @type {string} */ text) => {
    const hits = session.tree.entries.filter(
      ({ type, message }) => type === "message" && message.role === "user" && JSON.stringify(message).includes(text)
    )
    const { context } = await session.edit({ op: "disable", ids: hits.map(({ id }) => id) })
    console.log(`${hits.length} muted; ${context.before.tokens} → ${context.after.tokens} tokens`)
  },
  find: async (/** @type {string} */ text) => {
    for (const { snippet } of await grove.search(text)) console.log(`found: ${snippet}`)
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [, name, rest = ""] = /^\/(\w+)\s*(.*)$/u.exec(line) ?? []
  if (name !== undefined && name in commands) await commands[name](rest)
  else {
    prompt = await session.prompt(line)
    await answer()
  }
}
console.log(session.path)
await grove.close()
