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

interface Known {
  readonly scope: PromptScope
  /** In the order of fit. */
  readonly prompts: ReadonlyArray<PastPrompt>
  readonly query: string
  /** Whether an answer has come. */
  readonly isAsked: boolean
  readonly isByTime: boolean
  /** How many prompts the scope has; counted up to a thousand. */
  readonly total: number
}

const MOST_COUNTED = 1000

const picker = ({ scope, prompts, query, isAsked, isByTime, total }: Known): Picker.Picker<PastPrompt> => ({
  name: "history",
  title: ({ symbols }) => [
    Row.span("HISTORY  ", "title"),
    ...SCOPES.map(([name, word]) =>
      Row.span(`${name === scope ? symbols.on : symbols.off} ${word} `, name === scope ? "plain" : "dim")
    )
  ],
  items: isByTime ? prompts.toSorted((a, b) => b.lastUsed - a.lastUsed) : prompts,
  total: `${total.toLocaleString("en")}${total === MOST_COUNTED ? "+" : ""}`,
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
    const known = { scope, prompts, query, isAsked, isByTime, total }
    if (event._tag === "PromptsSorted") return picker({ ...known, isByTime: !isByTime })
    if (event._tag !== "Prompts") return null
    const { scope: asked, prompts: found, query: words, total: all } = event
    return picker({ scope: asked, prompts: found, query: words, isAsked: true, isByTime, total: all })
  }
})

export const open = (_: World): Outcome => ({
  open: Picker.make(picker({ scope: "all", prompts: [], query: "", isAsked: false, isByTime: false, total: 0 })),
  ...search("", "all")
})
