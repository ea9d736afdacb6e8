/** Step: images that a model cannot take are told as a note that they are left out. */
import { type Image, isReply, type Message, type Note, note, type Step, text, withContent } from "./Draft.ts"

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])
const NOT_BASE64 = /[^A-Za-z0-9+/=]/

/** Why an image cannot be sent, if it cannot. */
const obstacle = ({ data, mimeType }: Image, takesImages: boolean): string | undefined => {
  if (!takesImages) return "this model takes no images"
  if (!TYPES.has(mimeType)) return "models take no images of its type"
  return data === "" || NOT_BASE64.test(data) ? "its data is missing" : undefined
}

export const images: Step = {
  name: "images",
  apply: ({ systemPrompt, said }, { model }) => {
    const changes: Array<Note> = []
    const replaced = said.map((each) => {
      const content = each.message.content.map((block) => {
        if (block.type !== "image") return block
        const why = isReply(each) ? "a reply holds none" : obstacle(block as Image, model.images)
        if (why === undefined) return block
        changes.push(note("replaced", each, `an image: ${why}`))
        return text(`[image left out: ${why}]`)
      })
      const isSame = content.every((block, at) => block === each.message.content[at])
      return isSame ? each : withContent(each, content as Message["content"])
    })
    return { systemPrompt, said: replaced, changes }
  }
}
