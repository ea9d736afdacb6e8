/** OpenAI's chat completions as a server sends them. */
import { drip, type Handler, refuse, wishIn } from "./support.ts"

export const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
export const chunk = (delta: object, finish_reason: string | null = null): string =>
  event({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })
export const USAGE = event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 } })
export const DONE = "data: [DONE]\n\n"
export const text = (...texts: ReadonlyArray<string>): string => texts.map((content) => chunk({ content })).join("")

export const grant: Handler = ({ body }, response) => {
  const wish = wishIn(body)
  if ("say" in wish) drip(response, chunk({ role: "assistant" }) + text(...wish.say) + chunk({}, "stop") + USAGE + DONE)
  else if ("call" in wish) {
    const starts = wish.call.map(({ name }, index) =>
      chunk({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: "" } }] })
    )
    // The calls take turns, as they do when they are made in parallel.
    const spelled = wish.call.map(({ arguments: given }) => JSON.stringify(given))
    const deltas = Array.from({ length: 3 }, (_, third) =>
      spelled.map((json, index) => {
        const size = Math.ceil(json.length / 3)
        return chunk({ tool_calls: [{ index, function: { arguments: json.slice(third * size, (third + 1) * size) } }] })
      })
    )
    drip(response, [...starts, ...deltas.flat()].join("") + chunk({}, "tool_calls") + USAGE + DONE)
  } else if ("overflow" in wish) {
    const error = { code: "context_length_exceeded", message: "This model's maximum context length is 8192 tokens" }
    return refuse(400, { error })({ path: "", headers: {}, body }, response)
  } else {
    drip(response, text("cut" in wish ? wish.cut : wish.hang))
    if ("hang" in wish) return
  }
  response.end()
}
