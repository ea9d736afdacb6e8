/** The keys of `/tree`, for its own help line and for the page of all keys. */
import type { World } from "./View.ts"

export const keys: ReadonlyArray<readonly [key: string, brief: string, about: string]> = [
  ["↑↓", "move", "move; PageUp, PageDown, Home and End too"],
  ["← →", "fold, unfold", "fold or unfold a branch; else to the fork above, or into the branch"],
  ["[ ]", "sibling", "the branch beside this one"],
  ["{ }", "fork", "the fork further up or down"],
  ["Enter", "go", "go there; a prompt comes back to the editor, to be sent anew"],
  ["s", "go + summary", "go there, with a summary of the branch you leave if you like"],
  ["f", "fork to file", "go on from there in a new session"],
  ["Space", "mark", "mark: what follows then acts on all marked entries"],
  ["c", "compare two", "compare two branches, both marked or one marked and one selected"],
  ["l", "label", "label, or take the label away"],
  ["Tab", "filter", "the next filter: turns, user, labeled, errors, all"],
  ["^U", "user", "prompts alone, and back"],
  ["^O", "all", "every entry, tools too, and back"],
  ["/", "search, n N", "search the full text; n and N go on"],
  ["p", "preview", "preview beside, whole, or none; Shift+Up and Down scroll it"],
  ["y", "copy id", "copy the id"],
  ["d", "mute", "leave out of every context, or take in again"],
  ["x", "prune after", "cut off what follows; it waits in the stash"],
  ["v", "graft here", "copy what is marked to here"],
  ["m", "merge", "bring a branch to where you are: summarised or copied"],
  ["z", "summarise range", "summarise from the marked entry to here"],
  ["S", "stash", "what was cut off; Enter brings it back"],
  ["u U", "undo, redo", "undo the last edit, or make it again"],
  ["1-5", "rate", "rate; 0 takes it away"],
  ["Esc", "back", "let go of the search, the marks, then the tree"]
]

const shown = (key: string, { symbols }: World): string =>
  symbols.up === "↑" ? key : key.replace("↑↓", "up/down").replace("← →", "left/right")

export const brief = (world: World): ReadonlyArray<string> =>
  keys.map(([key, words]) => `${shown(key, world)} ${words}`)

export const full = (world: World): ReadonlyArray<readonly [key: string, about: string]> =>
  keys.map(([key, , about]) => [shown(key, world), about])
