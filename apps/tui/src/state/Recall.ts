/** Going through what was typed before: in this session, then in this folder. */
import { Preview } from "@grove/core"
import type { ChatState } from "./ChatState.ts"
import * as Editor from "./Editor.ts"
import type { SessionState, World } from "./View.ts"

const sessionPrompts = new WeakMap<SessionState, ReadonlyArray<string>>()

/** Prompts of this session, newest first, read from the end as far as anyone goes back. */
const promptsOf = (session: SessionState): ReadonlyArray<string> => {
  const known = sessionPrompts.get(session)
  if (known !== undefined) return known
  const { tree } = session
  const rows = tree.rows().filter((row) => tree.roleAt(row) === "user")
  const prompts = tree.entriesAt(rows.slice(-200)).map((entry) => Preview.textOfEntry(entry))
  const newest = [...new Set(prompts.reverse())].filter((text) => text !== "")
  sessionPrompts.set(session, newest)
  return newest
}

const recallable = (chat: ChatState, world: World): ReadonlyArray<string> => [
  ...new Set([...promptsOf(world.session), ...chat.folderPrompts])
]

/** To an older prompt with 1, to a newer one with -1, and at last back to what was being written. */
export const recall = (chat: ChatState, world: World, by: 1 | -1): ChatState => {
  const prompts = recallable(chat, world)
  const from = chat.recall?.index ?? -1
  const draft = chat.recall?.draft ?? chat.editor
  const index = from + by
  if (index < -1 || index >= prompts.length) return chat
  if (index === -1) return { ...chat, editor: draft, recall: null }
  // What was recalled and then changed is kept by the undo of the editor.
  return { ...chat, editor: Editor.set(chat.editor, prompts[index]!), recall: { index, draft } }
}
