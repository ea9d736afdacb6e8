/** Everything that can be asked for by name: typed after a slash, or chosen in the palette. */
import { type Chat, NONE, Preview } from "@grove/core"
import * as Ask from "./Ask.ts"
import * as Blocks from "./Blocks.ts"
import * as ForkView from "./ForkView.ts"
import * as Help from "./Help.ts"
import * as Picker from "./Picker.ts"
import * as Row from "./Row.ts"
import type { ApprovalMode, Next, Prompt, View, World } from "./View.ts"
import * as Words from "./Words.ts"

/** What a command leads to; `find` opens the search in the conversation. */
export type Outcome = Omit<Next, "view"> & { readonly find?: boolean }

export interface Command {
  readonly name: string
  /** What may follow it. */
  readonly takes?: string
  readonly about: string
  readonly key?: string
  readonly run: (words: string, world: World, editor: Prompt) => Outcome
}

const told = (text: string, kind: "info" | "error" = "info"): Outcome => ({
  events: [{ _tag: "Told", notice: { kind, text } }]
})

const APPROVALS: ReadonlyArray<{ readonly mode: ApprovalMode; readonly about: string }> = [
  { mode: "default", about: "asks before it writes files or runs commands" },
  { mode: "autoEdit", about: "writes files unasked, asks before it runs commands" },
  { mode: "yolo", about: "asks nothing" }
]

const approvals = ({ approval }: World): View =>
  Picker.make({
    name: "approve",
    title: () => Row.row("APPROVAL", "title"),
    items: APPROVALS,
    textOf: ({ mode, about }) => `${mode} ${about}`,
    row: ({ mode, about }, columns, { symbols }) =>
      Row.cut(
        [Row.span(` ${mode === approval ? symbols.on : symbols.off} ${mode.padEnd(10)}`), Row.span(about, "dim")],
        columns
      ),
    preview: () => [Row.row("for this session, from now on", "dim")],
    hint: ["Enter choose", "Esc"],
    nothing: () => "no such mode",
    enter: ({ mode }) => ({ intents: [{ _tag: "ChooseApproval", mode }] }),
    first: ({ mode }) => mode === approval
  })

interface ListedModel {
  readonly info: Chat.ModelInfo
  readonly problem: string | null
}

const listed = (listings: ReadonlyArray<Chat.ProviderListing>): ReadonlyArray<ListedModel> =>
  listings
    .flatMap(({ models, problem }) => models.map((info) => ({ info, problem })))
    .sort((a, b) => Number(a.problem !== null) - Number(b.problem !== null))

const models = (current: string | undefined, items: ReadonlyArray<ListedModel>): Picker.Picker<ListedModel> => ({
  name: "model",
  title: () => Row.row("MODEL", "title"),
  items,
  textOf: ({ info }) => `${info.ref} ${info.name}`,
  row: ({ info, problem }, columns, { symbols }) => {
    const window = info.window === null ? "" : `${Words.tokens(info.window)} window`
    const sign = info.ref === current ? symbols.on : symbols.off
    const left: Row.Row = [Row.span(` ${sign} `), Row.span(info.ref, problem === null ? "plain" : "dim")]
    return Row.spread(left, Row.row(`  ${problem === null ? window : "not now"}`, "dim"), columns)
  },
  preview: (item, columns) =>
    item === undefined
      ? []
      : [Row.cut(Row.row(item.problem ?? item.info.name, item.problem === null ? "plain" : "warning"), columns)],
  hint: ["Enter choose", "Esc"],
  nothing: (query) => (query === "" ? "asking the providers" : "no model has these letters"),
  enter: ({ info }) => ({ intents: [{ _tag: "ChooseModel", ref: info.ref }] }),
  hear: (event) => (event._tag === "Models" ? models(current, listed(event.listings)) : null)
})

const lastReply = ({ session }: World): string => {
  const { tree, leaf } = session
  const row = tree.pathRows(tree.rowOf(leaf)).findLast((each) => tree.roleAt(each) === "assistant") ?? NONE
  return row === NONE ? "" : Preview.textOfEntry(tree.entryAt(row))
}

const sums = ({ session: { usage }, model }: World, columns: number): ReadonlyArray<Row.Row> => {
  const line = (name: string, sum: typeof usage.path) =>
    Row.cut(
      [
        Row.span(name.padEnd(20)),
        Row.span(Words.cost(sum.costMicros).padStart(10), "strong"),
        Row.span(`${Words.count(sum.requests, "request")}`.padStart(16), "dim"),
        Row.span(`${Words.tokens(sum.input + sum.cacheRead + sum.cacheWrite)} in`.padStart(12), "dim"),
        Row.span(`${Words.tokens(sum.output)} out`.padStart(12), "dim")
      ],
      columns
    )
  return [
    Row.empty,
    line("this path", usage.path),
    line("whole tree", usage.tree),
    line("abandoned branches", usage.abandoned),
    Row.empty,
    ...Row.wrap(
      Row.row(`Each reply counts once, however many branches run through it. Model: ${model?.ref ?? "none"}.`, "dim"),
      columns
    )
  ]
}

const usagePage = (): View => Help.page("usage", "USAGE", (columns, world) => sums(world, columns))

/** Views that other modules bring, so that this table stays the only list of commands. */
export interface Screens {
  readonly tree: (world: World) => Outcome
  readonly sessions: (world: World) => Outcome
  readonly history: (world: World) => Outcome
}

/** All commands, in the order in which the palette shows them. */
export const commands = (screens: Screens): ReadonlyArray<Command> => [
  {
    name: "tree",
    about: "the whole session as a tree: go anywhere, fold, search, label",
    key: "ctrl+t",
    run: (_, world) => screens.tree(world)
  },
  {
    name: "branch",
    about: "go back to before a prompt, in this session",
    key: "Esc Esc",
    run: (_, world) => ({ open: ForkView.branchHere(world) })
  },
  {
    name: "fork",
    about: "go on in a new session from a prompt of this path",
    run: (_, world) => ({ open: ForkView.fork(world) })
  },
  { name: "resume", about: "open another session", run: (_, world) => screens.sessions(world) },
  { name: "new", about: "begin a new session", run: () => ({ intents: [{ _tag: "NewSession" }] }) },
  { name: "history", about: "find a prompt typed before", key: "ctrl+r", run: (_, world) => screens.history(world) },
  { name: "find", about: "search in this conversation", key: "ctrl+s", run: () => ({ find: true }) },
  {
    name: "compact",
    takes: "[instructions]",
    about: "summarise the older part of the context",
    run: (instructions) => ({ intents: [{ _tag: "Compact", instructions }] })
  },
  {
    name: "name",
    takes: "[text]",
    about: "name this session",
    run: (name, world) =>
      name !== ""
        ? { intents: [{ _tag: "Name", name }] }
        : {
            open: Ask.make(
              {
                name: "name",
                question: "Name of this session",
                answer: (text) => ({ intents: [{ _tag: "Name", name: text }] })
              },
              world.session.name ?? ""
            )
          }
  },
  {
    name: "label",
    takes: "[text]",
    about: "label the entry you stand on",
    run: (text, { session: { leaf, tree } }) => {
      if (leaf === null) return told("nothing was said here yet, so there is nothing to label", "error")
      if (text !== "") return { intents: [{ _tag: "Label", target: leaf, label: text }] }
      const answer = (label: string): Outcome => ({
        intents: [{ _tag: "Label", target: leaf, label: label === "" ? null : label }]
      })
      return { open: Ask.make({ name: "label", question: "Label", answer }, tree.facts.labels.get(leaf) ?? "") }
    }
  },
  {
    name: "model",
    takes: "[provider/model]",
    about: "choose who answers",
    run: (ref, world) =>
      ref !== ""
        ? { intents: [{ _tag: "ChooseModel", ref }] }
        : { open: Picker.make(models(world.model?.ref, [])), intents: [{ _tag: "ListModels" }] }
  },
  {
    name: "approve",
    takes: "[default|autoEdit|yolo]",
    about: "choose what may run without asking",
    run: (word, world) => {
      const found = APPROVALS.find(({ mode }) => mode.toLowerCase() === word.toLowerCase())
      if (word === "") return { open: approvals(world) }
      return found === undefined
        ? told(`no approval mode ${word}; there are default, autoEdit and yolo`, "error")
        : { intents: [{ _tag: "ChooseApproval", mode: found.mode }] }
    }
  },
  {
    name: "sample",
    takes: "[n]",
    about: "have the last prompt answered n times more, side by side",
    run: (word) => {
      const count = word === "" ? 2 : Number(word)
      return Number.isInteger(count) && count >= 1 && count <= 16
        ? { intents: [{ _tag: "Sample", count, prompt: null }] }
        : told("how many? /sample takes a number from 1 to 16", "error")
    }
  },
  {
    name: "export",
    takes: "[format] [file] [--force]",
    about: "write this session to a file: md, html, json, pi, omp, neovate",
    run: (words) => ({ intents: [{ _tag: "Export", words }] })
  },
  {
    name: "copy",
    about: "copy the last reply to the clipboard",
    run: (_, world) => {
      const text = lastReply(world)
      return text === "" ? told("there is no reply to copy yet", "error") : { intents: [{ _tag: "Copy", text }] }
    }
  },
  { name: "usage", about: "what this session cost, dead ends included", run: () => ({ open: usagePage() }) },
  {
    name: "linear",
    about: "hide branches and edits, or show them again",
    run: () => ({ intents: [{ _tag: "ToggleLinear" }] })
  },
  {
    name: "view",
    about: "open this entry in the web viewer",
    run: (_, { session: { leaf } }) => ({ intents: [{ _tag: "OpenViewer", entry: leaf }] })
  },
  {
    name: "editor",
    about: "write the prompt in $EDITOR",
    key: "ctrl+g",
    run: (_, __, { text }) => ({ intents: [{ _tag: "EditOutside", text }] })
  },
  { name: "help", about: "all keys and commands", key: "?", run: () => ({ open: Help.make(commands(screens)) }) },
  { name: "quit", about: "leave; the session stays", key: "ctrl+d", run: () => ({ intents: [{ _tag: "Quit" }] }) }
]

/** The palette: every command, by name or by what it does. */
export const palette = (screens: Screens): View =>
  Picker.make<Command>({
    name: "palette",
    title: () => Row.row("COMMANDS", "title"),
    items: commands(screens),
    textOf: ({ name, about }) => `/${name} ${about}`,
    row: ({ name, about, key = "" }, columns) =>
      Row.spread([Row.span(` /${name}`.padEnd(12), "accent"), Row.span(about)], Row.row(`  ${key}`, "dim"), columns),
    preview: () => [],
    hint: ["Enter run", "Esc"],
    nothing: () => "no command has these letters",
    enter: ({ run }, world) => {
      const { find = false, ...rest } = run("", world, { text: "", images: [] })
      return find ? { events: [{ _tag: "Key", name: "ctrl+s" }] } : rest
    }
  })

/** A line that is a command: its name and the words behind it. */
export const parse = (text: string): { readonly name: string; readonly words: string } | undefined => {
  const match = /^\/([a-zA-Z]+)(?:\s+([\s\S]*))?$/.exec(text.trim())
  return match === null ? undefined : { name: match[1]!.toLowerCase(), words: (match[2] ?? "").trim() }
}

/** The sibling to the left or right at a block, as a move. */
export const step = (world: World, key: string | null, by: -1 | 1): Outcome => {
  const { tree } = world.session
  const blocks = Blocks.of(world.session)
  const index = key === null ? -1 : blocks.findIndex((block) => block.key === key)
  const from = index === -1 ? blocks.length - 1 : index
  for (let i = from; i >= 0; i--) {
    const siblings = Blocks.siblingsOf(tree, blocks[i]!.row)
    if (siblings === undefined) continue
    const target = siblings.rows[(siblings.index + by + siblings.rows.length) % siblings.rows.length]!
    return { intents: [{ _tag: "Move", to: Blocks.endBelow(tree, target) }] }
  }
  return told("no fork here or above: nothing was answered twice")
}
