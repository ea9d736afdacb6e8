/** The page of an exported session: tree on one side, transcript on the other, every place with a link. */
import { Preview } from "@grove/core/model"
import { h, oneLine } from "./dom.ts"
import * as EntryView from "./EntryView.ts"
import { Scroller } from "./Scroller.ts"
import { Session } from "./Session.ts"
import { TreePane } from "./TreePane.ts"

const session = new Session(JSON.parse(document.getElementById("index")!.textContent!), [
  ...document.querySelectorAll(".block")
])
const { index } = session

// ------------------------------------------------------------------------------------------------------------ the shell

const inner = h("div", { class: "inner" })
const transcript = h("section", { id: "transcript", "aria-label": "Transcript", tabindex: -1 }, inner)
const scroller = new Scroller(transcript, inner)
const toast = h("p", { id: "toast", role: "status" })

const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`
const leaves = index.ids.filter((_, row) => session.children(row).length === 0).length
const facts = [
  index.cwd ?? "",
  EntryView.timeOf(Date.parse(index.begun ?? "") || 0),
  count(session.size, "entry", "entries"),
  count(leaves, "branch", "branches"),
  index.isRedacted ? "secrets redacted" : ""
].filter((fact) => fact !== "")

const keys: ReadonlyArray<readonly [string, string]> = [
  ["j k", "next, previous entry"],
  ["J K", "next, previous prompt"],
  ["[ ]", "other branch at this entry"],
  ["{ }", "previous, next fork"],
  ["g G", "beginning, end"],
  ["t", "the tree: arrows move and fold, Enter goes there"],
  ["/", "search"],
  ["f", "next filter"],
  ["o", "open or fold all tools and thoughts"],
  ["d", "light or dark"],
  ["?", "these keys"]
]
const help = h(
  "dialog",
  { id: "help", "aria-label": "Keys" },
  h("h2", {}, "Keys"),
  h("dl", {}, ...keys.flatMap(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)])),
  h("button", { onclick: () => help.close() }, "Close")
)

const THEME = "grove-theme"
const themes = ["auto", "light", "dark"] as const
const remember = (theme: string): void => {
  try {
    localStorage.setItem(THEME, theme)
  } catch {
    // Pages from files may not be allowed to remember anything.
  }
}
const remembered = (): string => {
  try {
    return localStorage.getItem(THEME) ?? "auto"
  } catch {
    return "auto"
  }
}
const setTheme = (theme: string): void => {
  document.documentElement.dataset.theme = theme
  themeButton.title = `Theme: ${theme}`
}
const nextTheme = (): void => {
  const now = document.documentElement.dataset.theme ?? "auto"
  const next = themes[(themes.indexOf(now as "auto") + 1) % themes.length]!
  remember(next)
  setTheme(next)
  say(`theme: ${next}`)
}
const button = (label: string, sign: string, onclick: () => void): HTMLButtonElement =>
  h("button", { class: "icon", "aria-label": label, title: label, onclick }, sign)
const themeButton = button("Theme", "◐", nextTheme)

let silence: ReturnType<typeof setTimeout> | undefined
const say = (words: string): void => {
  toast.textContent = words
  toast.classList.add("shown")
  clearTimeout(silence)
  silence = setTimeout(() => toast.classList.remove("shown"), 1800)
}

// -------------------------------------------------------------------------------------------------------- what is shown

let path: ReadonlyArray<number> = []
let leaf = -1
let current = -1
let isOpen = false
let words: ReadonlyArray<string> = []
const folds = new Map<string, boolean>()

const ESTIMATES: { readonly [kind: string]: number } = { user: 110, assistant: 150, result: 40, break: 60, other: 44 }

const isShown = (row: number): boolean => {
  const type = session.type(row)
  return type !== "custom" && type !== "usage" && type !== "ttsr_injection" && type !== "context_edit"
}

const goTo = (row: number): void => {
  follow(row)
  history.pushState(null, "", `#${encodeURIComponent(index.ids[row]!)}`)
}

/** A reply after the results it asked for is the same turn, by the same model. */
const goesOn = (at: number): boolean => {
  const before = path[at - 1]
  if (before === undefined || session.role(path[at]!) !== "assistant") return false
  const kind = EntryView.kindOf(session, before)
  return kind === "result" || kind === "assistant"
}

const render = (at: number): HTMLElement => {
  const row = path[at]!
  const element = EntryView.render({ session, words, folds, isOpen: () => isOpen, goTo, goesOn: () => goesOn(at) }, row)
  if (row === current) element.classList.add("current")
  return element
}

const show = (end: number): void => {
  leaf = end
  path = session.path(end).filter(isShown)
  scroller.show({ count: path.length, estimate: (at) => ESTIMATES[EntryView.kindOf(session, path[at]!)]!, render })
}

/** Shows the branch that a row is on, and the row. */
const follow = (row: number): void => {
  if (!path.includes(row)) show(session.endOf(row))
  tree.follow(leaf, row)
  focusRow(row)
}

const positionOf = (row: number): number => {
  let at = row
  while (at >= 0 && !isShown(at)) at = session.parent(at)
  return path.indexOf(at)
}

const focusRow = (row: number): void => {
  const at = positionOf(row)
  if (at < 0) return
  setCurrent(at)
  scroller.scrollTo(at)
  document.body.classList.remove("drawer")
}

const setCurrent = (at: number): void => {
  const old = path.indexOf(current)
  if (old >= 0) scroller.element(old)?.classList.remove("current")
  current = path[at] ?? -1
  scroller.element(at)?.classList.add("current")
}

const tree = new TreePane(session, goTo)
tree.onWords = (wanted) => {
  words = wanted
  scroller.refresh()
}

/** The tree keeps pace with whoever scrolls. */
scroller.onScroll = () => {
  const row = path[scroller.first]
  if (row !== undefined) tree.select(row)
}

const fromHash = (): number => {
  const id = decodeURIComponent(location.hash.slice(1))
  return id === "" ? -1 : session.rowOf(id)
}

const open = (): void => {
  const wanted = fromHash()
  if (wanted >= 0) {
    follow(wanted)
    return
  }
  if (location.hash.length > 1) say("that entry is not in this page")
  const start = index.leaf >= 0 ? index.leaf : session.size - 1
  if (start < 0) {
    inner.append(h("p", { class: "empty" }, "This session is empty: nothing was said in it yet."))
    tree.follow(-1, -1)
    return
  }
  show(start)
  const lastPrompt = path.findLast((row) => session.role(row) === "user") ?? start
  tree.follow(leaf, lastPrompt)
  focusRow(lastPrompt)
}

// -------------------------------------------------------------------------------------------------------------- keys

const step = (by: number, counts: (row: number) => boolean = () => true): void => {
  let at = path.indexOf(current) + by
  while (at >= 0 && at < path.length && !counts(path[at]!)) at += by
  if (at < 0 || at >= path.length) return
  setCurrent(at)
  scroller.scrollTo(at)
  history.replaceState(null, "", `#${encodeURIComponent(index.ids[path[at]!]!)}`)
}

const isFork = (row: number): boolean => session.siblings(row).length > 1

const sibling = (by: number): void => {
  const row = isFork(current) ? current : path.slice(0, path.indexOf(current)).findLast(isFork)
  const siblings = row === undefined ? [] : session.siblings(row)
  const next = siblings[siblings.indexOf(row ?? -1) + by]
  if (row === undefined) say("no fork above this entry")
  else if (next === undefined) say(by > 0 ? "this is the last branch here" : "this is the first branch here")
  else goTo(next)
}

const isPrompt = (row: number): boolean => session.role(row) === "user"
const openAll = (): void => {
  isOpen = !isOpen
  folds.clear()
  scroller.refresh()
}

const commands: { readonly [key: string]: () => void } = {
  j: () => step(1),
  k: () => step(-1),
  J: () => step(1, isPrompt),
  K: () => step(-1, isPrompt),
  "[": () => sibling(-1),
  "]": () => sibling(1),
  "{": () => step(-1, isFork),
  "}": () => step(1, isFork),
  g: () => focusRow(path[0] ?? -1),
  G: () => focusRow(path.at(-1) ?? -1),
  t: () => {
    document.body.classList.add("drawer")
    tree.focus()
  },
  "/": () => {
    document.body.classList.add("drawer")
    tree.focusSearch()
  },
  f: () => tree.nextFilter(),
  o: openAll,
  d: nextTheme,
  "?": () => help.showModal()
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return
  const { target } = event
  if (target instanceof HTMLInputElement) return
  if (event.key === "Escape") return document.body.classList.remove("drawer")
  const command = Object.hasOwn(commands, event.key) ? commands[event.key] : undefined
  if (command === undefined) return
  event.preventDefault()
  command()
})
window.addEventListener("popstate", open)

/** A session without a name is known by what it began with. */
const nameOf = (): string => {
  const first = index.ids.findIndex((_, row) => session.role(row) === "user")
  return index.name ?? (first < 0 ? "Session" : Preview.textOfEntry(session.entry(first)))
}
const title = h("h1", {}, oneLine(nameOf(), 120))
document.getElementById("app")!.replaceWith(
  h(
    "div",
    { id: "shell" },
    h(
      "header",
      { id: "bar" },
      button("Tree", "☰", () => document.body.classList.toggle("drawer")),
      h("div", { class: "title" }, title, h("p", { class: "dim" }, oneLine(facts.join(" · "), 240))),
      button("Open or fold all tools and thoughts", "⇕", openAll),
      themeButton,
      button("Keys", "?", () => help.showModal())
    ),
    tree.element,
    transcript,
    h("div", { id: "shade", onclick: () => document.body.classList.remove("drawer") })
  ),
  help,
  toast
)
setTheme(remembered())
open()
