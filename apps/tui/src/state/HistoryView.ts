/** Every prompt ever typed, to be found and typed again (Ctrl+R). */
import { Preview } from "@grove/core/model"
import type { Outcome } from "./Commands.ts"
import * as Picker from "./Picker.ts"
import * as Row from "./Row.ts"
import type { PastPrompt, PromptScope, World } from "./View.ts"
import * as Words from "./Words.ts"

const SCOPES: ReadonlyArray<readonly [PromptScope, string]> = [
  ["all", "all"],
  ["cwd", "folder"],
  ["session", "session"]
]

const scopeAfter = (scope: PromptScope): PromptScope => {
  const index = SCOPES.findIndex(([name]) => name === scope)
  return SCOPES[(index + 1) % SCOPES.length]![0]
}

const search = (query: string, scope: PromptScope): Picker.Taken => ({
  intents: [{ _tag: "SearchPrompts", query, scope }]
})

const folderName = (cwd: string | null): string => cwd?.split(/[\\/]/).at(-1) ?? ""

const picker = (
  scope: PromptScope,
  items: ReadonlyArray<PastPrompt>,
  query: string,
  isAsked: boolean,
  isByTime: boolean
): Picker.Picker<PastPrompt> => ({
  name: "history",
  title: ({ symbols }) => [
    Row.span("HISTORY  ", "title"),
    ...SCOPES.map(([name, word]) =>
      Row.span(`${name === scope ? symbols.on : symbols.off} ${word} `, name === scope ? "plain" : "dim")
    )
  ],
  items: isByTime ? items.toSorted((a, b) => b.lastUsed - a.lastUsed) : items,
  textOf: ({ text }) => text,
  row: ({ text, uses, cwd, lastUsed }, columns, { now, symbols }) => {
    const right = `  ${symbols.times}${uses}  ${Preview.line(folderName(cwd), 12).padEnd(12)} ${Words.age(lastUsed, now).padStart(4)}`
    return Row.spread(Row.row(Preview.line(text, columns)), Row.row(right, "dim"), columns)
  },
  preview: (item, columns) =>
    item === undefined ? [] : Row.wrap(Row.row(Preview.line(item.text, columns * 3)), columns).slice(0, 3),
  hint: ["Enter insert", "^O open that turn", "^R scope", isByTime ? "^S by fit" : "^S by time", "^D delete", "Esc"],
  nothing: (words) =>
    !isAsked
      ? "looking"
      : words === ""
        ? "nothing was typed here yet; ^R: a wider scope"
        : "no prompt has these words; ^R: another scope",
  enter: ({ text }) => ({ events: [{ _tag: "Filled", prompt: { text, images: [] } }] }),
  keys: {
    "ctrl+r": () => search(query, scopeAfter(scope)),
    "ctrl+s": () => ({ events: [{ _tag: "PromptsSorted" }] }),
    "ctrl+o": (item) => {
      if (item === undefined || item.session === null) return {}
      const at = item.entry === null ? {} : { at: item.entry }
      return { close: true, intents: [{ _tag: "OpenSession", path: item.session, ...at }] }
    },
    "ctrl+d": (item) =>
      item === undefined || item.id === null
        ? {}
        : {
            intents: [
              { _tag: "DeletePrompt", id: item.id },
              { _tag: "SearchPrompts", query, scope }
            ]
          }
  },
  search: (words) => search(words, scope),
  hear: (event) => {
    if (event._tag === "Prompts") return picker(event.scope, event.prompts, event.query, true, isByTime)
    return event._tag === "PromptsSorted" ? picker(scope, items, query, isAsked, !isByTime) : null
  }
})

export const open = (_: World): Outcome => ({
  open: Picker.make(picker("all", [], "", false, false)),
  ...search("", "all")
})
