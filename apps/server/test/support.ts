/** What the tests share: a server on files of its own with the offline model, and a client that knows nothing but the interface. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Approval, ChatSummarizer, Engine, Sprout, Tools } from "@grove/agent"
import { Compactor, Consents, EntryIds, PromptHistory, Sessions } from "@grove/core"
import { FileBlobStore, FileRunningReplies, ImagePolicy, JsonlSessionStore, SessionPaths } from "@grove/storage-files"
import { Effect, Layer } from "effect"
import WebSocket from "ws"
import type { ChatHistoryTree, ChatMessageNode } from "../src/ChatTree.ts"
import type { Frame } from "../src/Frame.ts"
import * as Hubs from "../src/Hubs.ts"
import * as Server from "../src/Server.ts"
import { SearchFailed, SessionSearch } from "../src/SessionSearch.ts"

export const TOKEN = "5eed".repeat(16)

export const page = readFileSync(new URL("../static/index.html", import.meta.url), "utf8")

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "grove-server-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Finds by the letters themselves, which is enough to see that a query arrives and its hits leave. */
const search = Layer.succeed(SessionSearch, {
  search: (query, limit) =>
    query === "broken"
      ? Effect.fail(new SearchFailed({ message: "the index is damaged" }))
      : Effect.succeed(
          [
            {
              session: "s",
              entry: "e",
              role: "user",
              timestamp: "2026-01-01T00:00:00.000Z",
              snippet: query,
              marks: [[0, query.length] as const]
            }
          ].slice(0, limit)
        )
})

export const services = (home: string, mostReplies = 100) => {
  const paths = SessionPaths.make({ home, sessionDirectory: undefined })
  const blobs = FileBlobStore.layer({ directory: paths.blobs })
  const storage = Layer.mergeAll(
    Layer.provideMerge(Layer.mergeAll(JsonlSessionStore.layer({ paths }), ImagePolicy.layer), blobs),
    Consents.layerMemory,
    FileRunningReplies.layer({ home }),
    PromptHistory.layerMemory
  )
  const use = Layer.mergeAll(
    Layer.provideMerge(Sessions.layer, EntryIds.layer),
    Approval.Approvals.layer({ guarded: [home] }),
    Layer.provideMerge(Compactor.layer, ChatSummarizer.layer())
  )
  const engine = Engine.layer().pipe(
    Layer.provideMerge(use),
    Layer.provideMerge(storage),
    Layer.provideMerge(Sprout.layer)
  )
  const replyOptions = () => Effect.succeed({ cwd: home, tools: Tools.standard() })
  return Hubs.Hubs.layer({ cwd: home, mostReplies, replyOptions, idle: 0 }).pipe(
    Layer.provideMerge(engine),
    Layer.provideMerge(search)
  )
}

export interface Given extends Partial<Server.Options> {
  readonly home?: string
  readonly mostReplies?: number
}

/** A server until the scope ends. */
export const served = Effect.fnUntraced(function* ({ home: given, mostReplies, ...options }: Given = {}) {
  const home = given ?? (yield* temporary)
  const audited: Array<string> = []
  const context = yield* Layer.build(services(home, mostReplies))
  const { address, port } = yield* Effect.provideContext(
    Effect.orDie(Server.serve({ token: TOKEN, cwd: home, page, audit: (line) => audited.push(line), ...options })),
    context
  )
  return { ...client(address, options.token ?? TOKEN), home, port, audited }
})

export type Served = Effect.Success<ReturnType<typeof served>>

// ---------------------------------------------------------------------------------------------------------- client

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says; the tests look at it.
  readonly body: any
}

export const client = (url: string, token: string) => {
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {}
  ): Promise<Answer> => {
    const response = await fetch(`${url.replace(/\/$/, "")}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
  }
  const chat = (sessionId: string) => {
    const at = `/api/chat/${encodeURIComponent(sessionId)}`
    return {
      tree: async (): Promise<ChatHistoryTree> => (await ask("GET", `${at}/tree`)).body,
      say: (content: string | undefined, parentId: string | null = null, more: object = {}) =>
        ask("POST", `${at}/message`, { parentId, ...(content !== undefined && { content }), ...more }),
      edit: (ops: ReadonlyArray<object>, headers?: Record<string, string>) =>
        ask("PUT", `${at}/tree/edit`, { ops }, headers),
      state: (id: string, isEnabled: boolean) =>
        ask("PUT", `${at}/node/${encodeURIComponent(id)}/state`, { isEnabled }),
      states: (states: ReadonlyArray<object>) => ask("PUT", `${at}/nodes/state`, { states }),
      leaf: (leafId: string | null, headers?: Record<string, string>) =>
        ask("PUT", `${at}/active_leaf`, { leafId }, headers),
      socket: (since?: number) => socket(url, token, sessionId, since),
      at
    }
  }
  const create = async (title?: string) => {
    const { body } = await ask("POST", "/api/sessions", title === undefined ? {} : { title })
    return { ...chat(body.sessionId), id: body.sessionId as string }
  }
  return { url, token, ask, chat, create }
}

// ---------------------------------------------------------------------------------------------------------- socket

export interface Listening {
  readonly frames: ReadonlyArray<Frame>
  /** Resolves when the frames satisfy; at once if they do already. */
  readonly until: (isEnough: (frames: ReadonlyArray<Frame>) => boolean) => Promise<void>
  readonly opened: Promise<void>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly close: () => Promise<unknown>
  readonly raw: WebSocket
}

export const socket = (
  url: string,
  token: string,
  sessionId: string,
  since?: number,
  options: object = {}
): Listening => {
  const query = since === undefined ? "" : `?since=${since}`
  const address = `${url.replace(/^http/, "ws").replace(/\/$/, "")}/api/chat/${encodeURIComponent(sessionId)}/events${query}`
  const raw = new WebSocket(address, ["grove", `bearer.${token}`], options)
  const frames: Array<Frame> = []
  const waiting = new Set<() => void>()
  raw.on("message", (data) => {
    frames.push(JSON.parse(String(data)))
    for (const wake of waiting) wake()
  })
  raw.on("error", () => {})
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    raw.on("close", (code, reason) => resolve({ code, reason: String(reason) }))
  })
  const opened = new Promise<void>((resolve, reject) => {
    raw.on("open", () => resolve())
    raw.on("unexpected-response", (_, response) => reject(new Error(String(response.statusCode))))
    raw.on("error", reject)
  })
  opened.catch(() => {})
  return {
    frames,
    raw,
    opened,
    closed,
    close: () => {
      raw.close()
      return closed
    },
    until: (isEnough) =>
      new Promise((resolve, reject) => {
        const wake = () => {
          if (!isEnough(frames)) return
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
        closed.then(({ code }) => reject(new Error(`closed with ${code} after ${frames.length} frames`)))
        wake()
      })
  }
}

export const isDone = (count: number) => (frames: ReadonlyArray<Frame>) =>
  frames.filter(({ event }) => event === "node.completed" || event === "node.failed").length >= count

/** A request as no well-behaved client would send it; answers status, headers and body. */
export const raw = (
  port: number,
  options: { method?: string; path?: string; headers?: Record<string, string | Array<string>>; body?: string }
) =>
  new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const { method = "GET", path = "/", headers = {}, body } = options
    const asked = httpRequest(
      { host: "127.0.0.1", port, method, path, headers, setHost: false, agent: false },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk) => chunks.push(chunk))
        response.on("end", () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() })
        )
      }
    )
    asked.on("error", reject)
    asked.end(body)
  })

// --------------------------------------------------------------------------------------------- what a client draws

type Drawn = { -readonly [K in keyof ChatHistoryTree]: ChatHistoryTree[K] } & { nodes: Record<string, ChatMessageNode> }

/** A tree that a client holds and keeps up to date with nothing but frames. */
export class Picture {
  readonly tree: Drawn
  constructor(tree: ChatHistoryTree) {
    this.tree = { ...structuredClone(tree) } as Drawn
  }

  #put(node: ChatMessageNode): void {
    const { tree } = this
    const before = tree.nodes[node.id]
    if (before !== undefined && before.parentId !== node.parentId && before.parentId !== null) {
      const old = tree.nodes[before.parentId]!
      tree.nodes[old.id] = { ...old, childrenIds: old.childrenIds.filter((id) => id !== node.id) }
    }
    tree.nodes[node.id] = node
    const parent = node.parentId === null ? undefined : tree.nodes[node.parentId]
    if (node.parentId === null) {
      if (!tree.rootNodeIds.includes(node.id) && !tree.stash.includes(node.id))
        tree.rootNodeIds = [...tree.rootNodeIds, node.id]
    } else if (parent !== undefined && !parent.childrenIds.includes(node.id)) {
      tree.nodes[parent.id] = { ...parent, childrenIds: [...parent.childrenIds, node.id] }
    }
  }

  take(frame: Frame): void {
    const { tree } = this
    tree.seq = frame.seq
    switch (frame.event) {
      case "node.created":
      case "node.completed":
      case "node.failed":
        this.#put(frame.data)
        return
      case "node.content.updated": {
        const node = tree.nodes[frame.data.id]
        // A piece of a reply whose beginning one has missed: it comes whole when it is done.
        if (node !== undefined) tree.nodes[node.id] = { ...node, content: node.content + frame.data.contentChunk }
        return
      }
      case "node.state.updated": {
        const node = tree.nodes[frame.data.id]!
        tree.nodes[node.id] = { ...node, isEnabled: frame.data.isEnabled }
        return
      }
      case "tree.edited":
        for (const node of frame.data.nodes) tree.nodes[node.id] = node
        tree.rootNodeIds = frame.data.rootNodeIds
        tree.stash = frame.data.stash
        if (frame.data.title !== undefined) tree.title = frame.data.title
        return
      case "leaf.changed":
        tree.activeLeafId = frame.data.activeLeafId
    }
  }

  /** What does not depend on when one looked: children in any order, and no clocks. */
  get shape() {
    const { nodes, rootNodeIds, activeLeafId, stash } = this.tree
    const reachable = new Map<string, object>()
    const pending = [...rootNodeIds, ...stash]
    for (let at = 0; at < pending.length; at++) {
      const { id, childrenIds, ...rest } = nodes[pending[at]!]!
      reachable.set(id, { ...rest, childrenIds: [...childrenIds].sort() })
      for (const child of childrenIds) pending.push(child)
    }
    return {
      nodes: Object.fromEntries([...reachable].sort(([a], [b]) => (a < b ? -1 : 1))),
      roots: [...rootNodeIds].sort(),
      activeLeafId,
      stash: [...stash].sort()
    }
  }
}
