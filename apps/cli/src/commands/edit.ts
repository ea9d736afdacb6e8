/** `grove edit`: changes to how a session is read, each one undoable; nothing that was said is lost. */
import { readFileSync } from "node:fs"
import {
  type AppendError,
  type EditRefused,
  type EntryId,
  EntryIds,
  Generating,
  Ids,
  type NoSummary,
  Preview,
  RunningReplies,
  type Session,
  Sessions,
  type SessionTree,
  type SummaryFailed,
  TreeEdits,
  Width
} from "@grove/core"
import { FileRunningReplies } from "@grove/storage-files"
import { Effect, Layer } from "effect"
import { Failure, UsageError } from "../CliError.ts"
import { didYouMean, type Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

type EditError = AppendError | EditRefused | NoSummary | SummaryFailed

interface Asked {
  readonly session: Session
  readonly words: ReadonlyArray<string>
  readonly flags: Input["flags"]
}

interface Operation {
  /** What follows the operation on the command line. */
  readonly usage: string
  readonly least: number
  readonly most: number
  /** Flags that mean something to it. */
  readonly flags?: ReadonlyArray<string>
  readonly run: (asked: Asked) => Effect.Effect<TreeEdits.Edited, EditError | Failure | UsageError>
  /** The words after `grove edit <s>` that take it back, where that is not an undo; asked before it is done. */
  readonly inverse?: (asked: Asked) => ReadonlyArray<string>
}

const MANY = Number.POSITIVE_INFINITY

const refusal = (code: TreeEdits.RefusalCode, message: string) =>
  new Failure({ message: `refused (${code}): ${message}` })

/** The entry a person named. One that is not there is refused like anything else that cannot be edited. */
const entry = (tree: SessionTree, name: string): Effect.Effect<EntryId, Failure> =>
  SessionArgument.candidates(tree, name).length > 0
    ? SessionArgument.entry(tree, name)
    : Effect.fail(refusal("unknown", `no entry ${name} in this session; grove tree --ids shows its entries`))

/** The edit a person named, by the id of its mark; an entry that is none is refused as such. */
const edit = (tree: SessionTree, name: string): Effect.Effect<EntryId, Failure> => {
  const edits = tree.edits.all.map(({ id }) => id)
  const found = Ids.candidates(name, edits)
  if (found.length > 0) return SessionArgument.only(`edit ${name}`, found)
  return tree.has(name) ? Effect.succeed(name as EntryId) : entry(tree, name)
}

const entries = (tree: SessionTree, names: ReadonlyArray<string>) => Effect.forEach(names, (name) => entry(tree, name))

/** `-`, and `--text=-`, read standard input: a summary is often made by another program. */
const textOf = ({ words, flags }: Asked, at: number): Effect.Effect<string | undefined, UsageError> =>
  Effect.suspend(() => {
    const given = words[at] === "-" ? "-" : flags.text
    if (typeof given !== "string") return Effect.succeed(undefined)
    const text = (given === "-" ? readFileSync(0, "utf8") : given).trim()
    return text === ""
      ? Effect.fail(new UsageError({ message: "the summary is empty; nothing was changed" }))
      : Effect.succeed(text)
  })

const wrong = (message: string) => Effect.fail(new UsageError({ message: `${message}; see grove edit --help` }))

const ofMany = (edit: typeof TreeEdits.enable): Operation => ({
  usage: "<id>...",
  least: 1,
  most: MANY,
  run: ({ session, words }) => Effect.flatMap(entries(session.tree, words), (ids) => edit(session, ids))
})

const merge: Operation = {
  usage: "<leaf> [--onto <id>] --pick <id,…>|--summary [--text <t>]",
  least: 1,
  most: 2,
  flags: ["onto", "pick", "summary", "text"],
  run: (asked) =>
    Effect.gen(function* () {
      const { session, words, flags } = asked
      const { tree } = session
      const branch = yield* entry(tree, words[0]!)
      const onto = typeof flags.onto === "string" ? yield* entry(tree, flags.onto) : undefined
      if ((typeof flags.pick === "string") === (flags.summary === true)) {
        return yield* wrong("merge takes either --pick <id,…> or --summary")
      }
      if (typeof flags.pick !== "string") {
        return yield* TreeEdits.mergeSummary(session, branch, { onto, text: yield* textOf(asked, 1) })
      }
      const picked = yield* entries(
        tree,
        flags.pick.split(",").filter((name) => name !== "")
      )
      if (picked.length === 0) return yield* wrong("--pick names no entry")
      return yield* TreeEdits.mergePicked(session, branch, picked, { onto })
    })
}

const summarize: Operation = {
  usage: "<id>..<id> [--text <t>]",
  least: 1,
  most: 2,
  flags: ["text"],
  run: (asked) =>
    Effect.gen(function* () {
      const { session, words } = asked
      const [first = "", last = "", ...more] = words[0]!.split("..")
      if (first === "" || last === "" || more.length > 0) return yield* wrong("summarize takes a range: <id>..<id>")
      const from = yield* entry(session.tree, first)
      const to = yield* entry(session.tree, last)
      return yield* TreeEdits.summarize(session, from, to, { text: yield* textOf(asked, 1) })
    })
}

const RATINGS = ["1", "2", "3", "4", "5"]

const rate: Operation = {
  usage: "<id> <1-5>|none [--note <t>]",
  least: 2,
  most: 2,
  flags: ["note"],
  run: ({ session, words: [name, rating], flags }) =>
    Effect.gen(function* () {
      if (rating !== "none" && !RATINGS.includes(rating!))
        return yield* wrong(`a rating is 1 to 5 or none, not ${rating}`)
      const id = yield* entry(session.tree, name!)
      const note = typeof flags.note === "string" ? flags.note : undefined
      return yield* TreeEdits.rate(session, id, rating === "none" ? null : Number(rating), note)
    })
}

const operations: { readonly [name: string]: Operation } = {
  enable: ofMany(TreeEdits.enable),
  disable: ofMany(TreeEdits.disable),
  prune: {
    usage: "<id> [--force]",
    least: 1,
    most: 1,
    flags: ["force"],
    run: ({ session, words, flags }) =>
      Effect.flatMap(entry(session.tree, words[0]!), (id) =>
        TreeEdits.prune(session, id, { force: flags.force === true })
      )
  },
  graft: {
    usage: "<source> <target>",
    least: 2,
    most: 2,
    run: ({ session, words }) =>
      Effect.flatMap(entries(session.tree, words), ([source, target]) => TreeEdits.graft(session, source!, target!))
  },
  merge,
  summarize,
  leaf: {
    usage: "<id>|none",
    least: 1,
    most: 1,
    run: ({ session, words: [name] }) =>
      name === "none" && !session.tree.has(name)
        ? TreeEdits.leaf(session, null)
        : Effect.flatMap(entry(session.tree, name!), (id) => TreeEdits.leaf(session, id))
  },
  label: {
    usage: "<id> [<text>]",
    least: 1,
    most: MANY,
    run: ({ session, words: [name, ...text] }) =>
      Effect.flatMap(entry(session.tree, name!), (id) => TreeEdits.label(session, id, text.join(" ") || null)),
    inverse: ({ session: { tree }, words: [name] }) => {
      const id = SessionArgument.candidates(tree, name!)[0]
      const before = id === undefined ? undefined : tree.facts.labels.get(id)
      return ["label", id ?? name!, ...(before === undefined ? [] : [before])]
    }
  },
  name: {
    usage: "[<text>]",
    least: 0,
    most: MANY,
    run: ({ session, words }) => TreeEdits.name(session, words.join(" ")),
    inverse: ({ session: { tree } }) => ["name", ...(tree.facts.name === null ? [] : [tree.facts.name])]
  },
  rate,
  undo: {
    usage: "[<edit>]",
    least: 0,
    most: 1,
    run: ({ session, words: [name] }) =>
      name === undefined
        ? TreeEdits.undo(session)
        : Effect.flatMap(edit(session.tree, name), (id) => TreeEdits.undo(session, id))
  },
  redo: { usage: "", least: 0, most: 0, run: ({ session }) => TreeEdits.redo(session) }
}

// ------------------------------------------------------------------------------------------------------- output

const SAFE_WORD = /^[\w@%+=:,./-]+$/

/** As it can be typed into a shell. */
const quoted = (word: string): string => (SAFE_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** Words that look like flags stand behind `--`. */
const command = (name: string, folder: Input["flags"][string], words: ReadonlyArray<string>): string =>
  [
    "grove",
    "edit",
    ...(typeof folder === "string" ? [`--session-dir=${folder}`] : []),
    ...(words.some((word) => word.startsWith("-")) ? ["--"] : []),
    name,
    ...words
  ]
    .map(quoted)
    .join(" ")

/** Flags of other operations are slips, and would change nothing. */
const SHARED_FLAGS = ["json", "session-dir"]
const strayFlag = ({ flags: own = [] }: Operation, flags: Input["flags"]): string | undefined =>
  Object.keys(flags).find((flag) => !SHARED_FLAGS.includes(flag) && !own.includes(flag))

const some = (n: number) => Words.count(n, "entry", "entries")

const done = ({ op, applied, created, leaf }: TreeEdits.Edited): string => {
  switch (op) {
    case "disable":
      return `${some(applied.length)} muted`
    case "enable":
      return `${some(applied.length)} shown again`
    case "prune":
      return `${Words.count(applied.length, "fragment")} moved to the stash: ${applied.join(", ")}`
    case "graft":
      return `${some(created.length)} copied, ending at ${created.at(-1)}`
    case "merge":
      return `${some(created.length)} merged, ending at ${created.at(-1)}`
    case "summarize":
      return `${some(applied.length)} muted, summary in ${created[0]}`
    case "leaf":
      return leaf === null ? "the next prompt begins a new root" : `the session stands at ${leaf}`
    case "label":
      return `label of ${applied[0]} written`
    case "name":
      return "name of the session written"
    case "rate":
      return `rating of ${applied[0]} written`
    default:
      return `${op === "undo" ? "undid" : "redid"} ${applied[0]}`
  }
}

/** Why an edit wrote nothing, where that is not because it is so already. */
const copiesNothing = "Nothing to copy: only what is said, summaries and settings are copied."
const NOTHING: { readonly [op: string]: string } = {
  prune: "Nothing to prune: nothing follows that entry.",
  graft: copiesNothing,
  merge: copiesNothing
}

/** `8 → 6 messages`; where nothing changed, `8 messages`. */
const change = (before: number, after: number, what: string, arrow: string): string =>
  `${before === after ? "" : `${before.toLocaleString("en-US")} ${arrow} `}${Words.count(after, what)}`

const effect = ({ context: { before, after } }: TreeEdits.Edited, unicode: boolean): string => {
  const arrow = unicode ? "→" : "->"
  const messages = change(before.messages, after.messages, "message", arrow)
  return `context: ${messages}, about ${change(before.tokens, after.tokens, "token", arrow)}`
}

const BY_HAND = "give the summary with --text <t>, or - to read it from standard input"

const told = (name: string, error: EditError) => {
  switch (error._tag) {
    case "EditRefused":
      return refusal(error.code, error.message)
    case "NoSummary":
      return new Failure({ message: `no model is set up to summarise ${some(error.entries)} of ${name}; ${BY_HAND}` })
    case "SummaryFailed":
      return new Failure({ message: `${error.message}; ${BY_HAND}` })
    default:
      return error
  }
}

// -------------------------------------------------------------------------------------------------------- stash

const PREVIEW_COLUMNS = 80

const fragmentsOf = (tree: SessionTree) =>
  tree.edits.stash.map(({ root, edit }) => {
    const row = tree.rowOf(root)
    let size = 0
    const pending = [row]
    for (let at = 0; at < pending.length; at++, size++)
      for (const child of tree.childRows(pending[at]!)) pending.push(child)
    return {
      id: root,
      prunedAt: tree.idAt(tree.shownParentRow(row)),
      edit,
      entries: size,
      label: tree.facts.labels.get(root) ?? null,
      preview: Preview.ofEntry(tree.entryAt(row), PREVIEW_COLUMNS)
    }
  })

const stash = Effect.fnUntraced(function* (name: string, flags: Input["flags"]) {
  const { tree } = yield* SessionArgument.read(name)
  const fragments = fragmentsOf(tree)
  if (flags.json === true) return yield* Output.json(fragments)
  if (fragments.length === 0) return yield* Output.lines(["The stash is empty: nothing is pruned in this session."])
  const surroundings = yield* Environment
  const { line } = Style.make(surroundings)
  yield* Output.lines(
    fragments.map(({ id, entries, label, preview }) => {
      const called = label === null ? "" : `[${line(label, 24)}] `
      const left = `${Width.pad(Preview.line(id, 12), 12)}  ${some(entries).padStart(11)}  ${called}`
      return `${left}${line(preview, surroundings.columns - Width.of(left))}`
    })
  )
})

// ---------------------------------------------------------------------------------------------------------- run

const STASH = "stash"
export const operationNames = [...Object.keys(operations), STASH]

/** Whether a model has to write a summary: one is needed and none was given. */
const isSummaryAsked = (word: string, words: ReadonlyArray<string>, flags: Input["flags"]): boolean =>
  (word === "summarize" || flags.summary === true) && flags.text === undefined && words[1] !== "-"

/** What can be done to a session in which nothing was said; anything else names an entry, and a file that is not there is a slip. */
const isBeginning = (word: string, words: ReadonlyArray<string>): boolean =>
  word === "name" || (word === "leaf" && words[0] === "none")

const summaries = Effect.promise(async () => (await import("../Summaries.ts")).layer)

/** Where replies are being generated, in whichever program. */
const generating = Effect.gen(function* () {
  const { home } = yield* Paths
  const running = yield* Effect.provide(RunningReplies, FileRunningReplies.layer({ home }))
  return {
    under: ({ header, ref }: Session) =>
      Effect.map(
        running.list(header?.id ?? ref.id),
        (replies) => new Set(replies.flatMap(({ parentId }) => (parentId === null ? [] : [parentId])))
      )
  }
})

export const run = Effect.fn("edit")(function* ({ arguments: [name, word, ...words], flags }: Input) {
  if (word === STASH) {
    return yield* words.length === 0 ? stash(name!, flags) : wrong(`stash takes no ${JSON.stringify(words[0])}`)
  }
  const operation = Object.hasOwn(operations, word!) ? operations[word!] : undefined
  if (operation === undefined) {
    const near = didYouMean(word!, operationNames)
    return yield* new UsageError({
      message: `unknown operation ${JSON.stringify(word)}${near === "" ? "; see grove edit --help" : near}`
    })
  }
  if (words.length < operation.least || words.length > operation.most) {
    return yield* new UsageError({ message: `usage: grove edit <s> ${word} ${operation.usage}`.trimEnd() })
  }
  const stray = strayFlag(operation, flags)
  if (stray !== undefined) return yield* wrong(`${word} does not take --${stray}`)
  const edited = yield* Effect.gen(function* () {
    const { path } = yield* SessionArgument.locateToWrite(name!, { mustExist: !isBeginning(word!, words) })
    const session = yield* Sessions.use((sessions) => sessions.open(path))
    const asked = { session, words, flags }
    const inverse = operation.inverse?.(asked)
    const result = yield* operation.run(asked)
    const back = inverse ?? (result.edit === null ? [] : ["undo", result.edit])
    return { ...result, undo: back.length === 0 ? null : command(name!, flags["session-dir"], back) }
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provide(Sessions.layer, EntryIds.layer)),
    Effect.provide(isSummaryAsked(word!, words, flags) ? yield* summaries : Layer.empty),
    Effect.provideService(Generating, yield* generating),
    Effect.catchTags({
      EditRefused: (error) => Effect.fail(told(name!, error)),
      NoSummary: (error) => Effect.fail(told(name!, error)),
      SummaryFailed: (error) => Effect.fail(told(name!, error))
    })
  )
  if (flags.json === true) {
    const { edit, op, asked, applied, created, leaf, context, undo } = edited
    return yield* Output.json({ edit, op, asked, applied, created, leaf, context, undo })
  }
  const { unicode } = yield* Environment
  if (edited.edit === null) return yield* Output.lines([NOTHING[edited.op] ?? "Nothing to change: it is so already."])
  yield* Output.lines([Words.safe(done(edited)), effect(edited, unicode), Words.safe(`undo: ${edited.undo}`)])
})
