/** Grove answers like oh-my-pi and xcsh on their files: messages as xcsh, settings as oh-my-pi 18. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, type SessionTree } from "../../src/model/index.ts"
import { bytesOf, type Json, jsonOf, type Loaded, load, namesIn, refusal, roundTrip, sha256 } from "../support.ts"

interface Context {
  readonly $hangs?: boolean
  readonly messages: unknown
  readonly thinkingLevel: string
  readonly models: Json
  readonly mode?: string
  readonly modeData?: unknown
  readonly injectedTtsrRules: ReadonlyArray<string>
}
type Nested = string | null | [string, ReadonlyArray<Nested>]
interface Answer {
  readonly open: { readonly ok: boolean; readonly leafId: string | null; readonly labels: Json }
  readonly contexts: { readonly [leaf: string]: Context }
  readonly tree: ReadonlyArray<Nested> | "(large)"
}
interface Case {
  readonly case: string
  readonly file: string
  readonly leaves: ReadonlyArray<string>
  readonly results: { readonly [program: string]: Answer }
}

const all = namesIn("omp", /^expected-.*\.json$/).map((name) => jsonOf<Case>(`omp/${name}`))
const omp = ({ results }: Case) => results["omp-18.3.4"]!
const xcsh = ({ results }: Case) => results["xcsh-19.54.0"]!
const refused = all.filter((it) => !omp(it).open.ok)
const opened = all.filter((it) => omp(it).open.ok)

// ------------------------------------------------------------------------------------ as the fixtures write

/** Long texts and lists are replaced by their size, hash and ends. */
const abbreviated = (value: unknown): unknown => {
  if (typeof value === "string" && value.length > 1500) {
    return { $length: value.length, $sha256: sha256(value), $head: value.slice(0, 40), $tail: value.slice(-60) }
  }
  if (Array.isArray(value) && value.length > 600) {
    return {
      $count: value.length,
      $sha256: sha256(JSON.stringify(value)),
      $first: abbreviated(value[0]),
      $last: abbreviated(value.at(-1))
    }
  }
  if (Array.isArray(value)) return value.map(abbreviated)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, abbreviated(member)]))
}

const blobs = new Map(
  namesIn("omp/blobs", /^[0-9a-f]{64}$/).map((hash) => [
    `blob:sha256:${hash}`,
    Buffer.from(bytesOf(`omp/blobs/${hash}`)).toString("base64")
  ])
)

/** The pure builder keeps references; whoever holds the blobs puts the images back. */
const withImages = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withImages)
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, withImages(member)])
  const made: Json = Object.fromEntries(members)
  return made.type === "image" ? { ...made, data: blobs.get(made.data as string) ?? made.data } : made
}

/** Ids of a version 1 file are named by their position. */
const nameIn =
  ({ file }: Loaded) =>
  (id: string | null): string | null => {
    if (id === null || file.version === null || file.version >= 2) return id
    return `#${file.rows.findIndex(({ entry }) => entry.id === id)}`
  }

const leafIn = ({ file }: Loaded, leaf: string): string | null | undefined => {
  if (leaf === "@default") return undefined
  if (leaf === "@null") return null
  return leaf.startsWith("#") ? (file.rows[Number(leaf.slice(1))]?.entry.id ?? leaf) : leaf
}

const nestedOf = (tree: SessionTree, name: (id: string) => string | null) => {
  const nested = (id: string): Nested => {
    const children = tree.children(id).map(nested)
    return children.length === 0 ? name(id) : [name(id)!, children]
  }
  return tree.roots().map(nested)
}

const settingsOf = (context: Context) => ({
  thinkingLevel: context.thinkingLevel,
  models: context.models,
  mode: context.mode,
  modeData: context.modeData ?? null,
  injectedTtsrRules: context.injectedTtsrRules
})
type Settings = ReturnType<typeof settingsOf>

// --------------------------------------------------------------------------------------- where Grove differs

/** Every place where Grove follows its own rules instead of a program: why, and what it answers there. */
interface Difference {
  readonly reason: string
  /** All leaves, if left out. */
  readonly leaves?: ReadonlyArray<string>
  readonly messages?: (theirs: Theirs<unknown>) => unknown
  readonly settings?: (theirs: Settings) => Settings
  readonly tree?: (theirs: Theirs<ReadonlyArray<Nested>>) => ReadonlyArray<Nested>
}
interface Theirs<A> {
  readonly xcsh: A
  readonly omp: A
}

const idOf = (node: Nested) => (Array.isArray(node) ? node[0] : node)
const each = (nodes: ReadonlyArray<Nested>, change: (nodes: ReadonlyArray<Nested>) => ReadonlyArray<Nested>) =>
  change(nodes).map((node): Nested => (Array.isArray(node) ? [node[0], each(node[1], change)] : node))
const once = (nodes: ReadonlyArray<Nested>): ReadonlyArray<Nested> =>
  each(nodes, (siblings) => [...new Map(siblings.map((node) => [idOf(node), node])).values()])

const differences: { readonly [name: string]: ReadonlyArray<Difference> } = {
  "title-slot": [
    {
      reason: "xcsh takes a file that begins with a title slot for empty and overwrites it, so oh-my-pi 18 is followed",
      leaves: ["@default", "no-such-entry", "9f30b3d0", "1bcc2644", "215992ee", "e52fd5b2", "bb802e9c"],
      messages: ({ omp }) => omp,
      tree: ({ omp }) => omp
    }
  ],
  "self-cycle": [{ reason: "xcsh never returns from a cycle, so oh-my-pi 18 is followed", messages: ({ omp }) => omp }],
  "cycle-two": [
    {
      reason: "xcsh never returns from a cycle, so oh-my-pi 18 is followed",
      leaves: ["@default", "@null", "no-such-entry", "a0000002"],
      messages: ({ omp }) => omp
    },
    {
      reason: "a cycle is cut at its first entry in file order, whichever entry the walk began at",
      leaves: ["a0000001"],
      messages: () => [{ role: "user", content: "one", timestamp: 1756684800001 }],
      settings: (theirs) => ({ ...theirs, models: {} })
    },
    {
      reason: "the entries of a cut cycle stay in the tree, where the programs draw none of them",
      tree: () => [["a0000001", ["a0000002"]]]
    }
  ],
  "entry-missing-fields": [
    {
      reason: "a custom_message without content says nothing, as in Pi 1.5, rather than break who reads it",
      leaves: ["@default", "no-such-entry", "a0000005", "a0000006"],
      messages: ({ xcsh }) =>
        (xcsh as ReadonlyArray<Json>).map((message) =>
          message.role === "custom" ? { ...message, content: [] } : message
        )
    },
    {
      reason: "a mode_change without a mode means none, where the programs answer with no mode at all",
      leaves: ["@default", "no-such-entry", "a0000004", "a0000005", "a0000006"],
      settings: (theirs) => ({ ...theirs, mode: "none" })
    }
  ],
  "duplicate-ids": [
    { reason: "of several entries with one id the last counts, and is drawn once", tree: ({ xcsh }) => once(xcsh) }
  ],
  "burst-duplicates": [{ reason: "a line that is there twice is one entry", tree: ({ xcsh }) => once(xcsh) }],
  "scalar-lines": [
    {
      reason: "JSON that is no entry is skipped and reported, and is no root of the tree",
      tree: ({ xcsh }) => xcsh.filter((node) => node !== null)
    }
  ],
  "entry-without-id": [
    {
      reason: "a line without an id is skipped and reported, and is no root of the tree",
      tree: ({ xcsh }) => xcsh.filter((node) => node !== null)
    }
  ]
}

const differenceFor = <K extends "messages" | "settings" | "tree">(name: string, key: K, leaf?: string) =>
  (differences[name] ?? []).find(
    (it) => it[key] !== undefined && (leaf === undefined || it.leaves === undefined || it.leaves.includes(leaf))
  )?.[key]

const expectedMessages = (it: Case, leaf: string): unknown => {
  const theirs = { xcsh: xcsh(it).contexts[leaf]?.messages, omp: omp(it).contexts[leaf]!.messages }
  return differenceFor(it.case, "messages", leaf)?.(theirs) ?? theirs.xcsh
}

const expectedSettings = (it: Case, leaf: string): Settings => {
  const theirs = settingsOf(omp(it).contexts[leaf]!)
  return differenceFor(it.case, "settings", leaf)?.(theirs) ?? theirs
}

// ----------------------------------------------------------------------------------------------------- tests

it("the fixtures hold sixty-one sessions, of which five are refused", () => {
  assert.strictEqual(all.length, 61)
  assert.strictEqual(refused.length, 5)
})

describe.each(opened)("$file", (session) => {
  const loaded = load(bytesOf(`omp/${session.file}`))
  const { tree } = loaded
  const name = nameIn(loaded)

  it.each(session.leaves)("at leaf %s has the messages of xcsh and the settings of oh-my-pi", (leaf) => {
    const context = ContextBuilder.build(tree, leafIn(loaded, leaf))
    assert.deepStrictEqual(abbreviated(withImages(roundTrip(context.messages))), expectedMessages(session, leaf))
    assert.deepStrictEqual(settingsOf(context), expectedSettings(session, leaf))
  })

  it("opens at the leaf and with the labels of oh-my-pi", () => {
    assert.strictEqual(name(tree.leaf), omp(session).open.leafId)
    assert.deepStrictEqual(Object.fromEntries(tree.facts.labels), omp(session).open.labels)
  })

  if (xcsh(session).tree === "(large)") return

  it("is the tree of xcsh", () => {
    const theirs = { xcsh: xcsh(session).tree, omp: omp(session).tree } as Theirs<ReadonlyArray<Nested>>
    const expected = differenceFor(session.case, "tree")?.(theirs) ?? theirs.xcsh
    assert.deepStrictEqual(nestedOf(tree, name), expected as Array<Nested>)
  })
})

describe.each(refused)("$file", ({ file }) => {
  it("is refused as oh-my-pi 18 refuses it, where xcsh writes a new session over it", () => {
    assert.strictEqual(refusal(bytesOf(`omp/${file}`))._tag, "NotASession")
  })
})

it.each(["empty", "whitespace-only"])(
  "a file that is %s is an empty session, and no header is made up for it as the programs do",
  (name) => {
    const { file, tree } = load(bytesOf(`omp/sessions/${name}.jsonl`))
    assert.strictEqual(file.header, null)
    assert.strictEqual(tree.size, 0)
  }
)

it("a context keeps the references of images that are blobs", () => {
  const { tree } = load(bytesOf("omp/sessions/images-omp.jsonl"))
  const text = JSON.stringify(ContextBuilder.build(tree).messages)
  for (const reference of blobs.keys()) assert.include(text, reference)
})

describe.each(Object.entries(differences).flatMap(([name, rows]) => rows.map((row) => ({ name, ...row }))))(
  "in $name, $reason",
  ({ name, leaves, messages, settings, tree }) => {
    const session = all.find((it) => it.case === name)!
    const somewhere = leaves ?? session.leaves

    it("and that is no more than the difference there is", () => {
      const differs = [
        ...(messages === undefined
          ? []
          : somewhere.map((leaf) => [xcsh(session).contexts[leaf]?.messages, expectedMessages(session, leaf)])),
        ...(settings === undefined
          ? []
          : somewhere.map((leaf) => [settingsOf(omp(session).contexts[leaf]!), expectedSettings(session, leaf)])),
        ...(tree === undefined
          ? []
          : [[xcsh(session).tree, tree({ xcsh: xcsh(session).tree, omp: omp(session).tree } as never)]])
      ]
      for (const [theirs, ours] of differs) assert.notDeepEqual(theirs, ours)
    })
  }
)
