/** `grove view`: the web viewer, on this machine, until it is stopped. */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type EntryId, RunningReplies, SessionStore } from "@grove/core"
import { Exporter, Redactor } from "@grove/formats"
import { FileBlobStore, FileRunningReplies, Persist, SessionPaths } from "@grove/storage-files"
import { Library, Texts, Viewer } from "@grove/viewer"
import { Effect, Layer, Schedule, Stream } from "effect"
import * as Browser from "../Browser.ts"
import { Failure, UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment, type Surroundings } from "../Environment.ts"
import * as Foreign from "../Foreign.ts"
import * as History from "../History.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import { personOf } from "../Person.ts"
import * as Prices from "../Prices.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as SessionIndex from "../SessionIndex.ts"
import * as Signals from "../Signals.ts"

const HIGHEST_PORT = 65_535

/** How soon what other programs have said since is seen. */
const LOOK_AROUND = "20 seconds"

const portFrom = (flag: string | boolean | undefined) => {
  if (flag === undefined) return Effect.succeed(0)
  const port = Number(flag)
  const isPort = typeof flag === "string" && /^\d+$/.test(flag) && port <= HIGHEST_PORT
  return isPort
    ? Effect.succeed(port)
    : new UsageError({ message: "--port is a number up to 65535; see grove view --help" })
}

/** The page of a session that the person named; one elsewhere is shown with those beside it. */
const pageOf = Effect.fnUntraced(function* (name: string, entry: string | boolean | undefined) {
  const { ref, tree } = yield* SessionArgument.look(name)
  const query =
    typeof entry === "string" ? `?entry=${encodeURIComponent(yield* SessionArgument.entry(tree, entry))}` : ""
  return { ref, page: `s/${encodeURIComponent(ref.id)}${query}` }
})

const explain = ({ host, port, reason, cause }: { host: string; port: number; reason: string; cause: unknown }) => {
  if (reason === "needs-access") {
    return `refused to show every session to whoever can reach ${host}; add --token for a link that works once, or leave --host away`
  }
  if (reason === "port-taken") return `port ${port} is taken; choose another one, or leave --port away for a free one`
  return `cannot listen on ${host}: ${cause instanceof Error ? cause.message : String(cause)}`
}

const WRITERS = { html: "html", md: "md", jsonl: "pi" } as const

/** What `grove export` writes, as a download. */
const exporterFor = (store: SessionStore["Service"], surroundings: Surroundings, blobs: string): Viewer.Exporter => {
  const bytes = ({ listed, format, leaf, redact }: Viewer.ExportRequest) =>
    Effect.gen(function* () {
      const { header, title, tree } = yield* store.read({ id: listed.summary.id ?? "", path: listed.summary.path })
      const restore = Persist.restorer(
        FileBlobStore.make({ directory: blobs, fallbacks: FileBlobStore.beside(listed.file) })
      )
      return Exporter.stream(
        { header, title, tree, restore },
        {
          to: WRITERS[format],
          leaf: leaf !== null && tree.has(leaf) ? (leaf as EntryId) : undefined,
          redactor: redact ? Redactor.make(personOf(surroundings)) : undefined
        }
      )
    })
  return (request) =>
    Effect.succeed({
      type: Exporter.media[WRITERS[request.format]].type,
      body: Stream.orDie(Stream.unwrap(bytes(request)))
    })
}

/** Copied beside the bundle when that is built. */
const site = (): string => fileURLToPath(new URL("../site", import.meta.url))

export const run = Effect.fn("view")(function* ({ flags }: Input) {
  const paths = yield* Paths
  const surroundings = yield* Environment
  const port = yield* portFrom(flags.port)
  const host = typeof flags.host === "string" ? flags.host : undefined
  const start = typeof flags.session === "string" ? yield* pageOf(flags.session, flags.entry) : undefined
  const price = yield* Prices.today
  const isOwn = (path: string) => path.startsWith(paths.sessions) || Foreign.isCopy(paths, path)
  const outside = start !== undefined && !isOwn(start.ref.path) ? [join(start.ref.path, "..")] : []
  const roots = [
    { source: "grove", paths },
    ...outside.map((folder) => ({
      source: "folder",
      paths: { ...SessionPaths.make({ home: paths.home, sessionDirectory: folder }) }
    }))
  ]
  const exporter = exporterFor(yield* SessionStore, surroundings, paths.blobs)
  let foreign: ReadonlyArray<Foreign.Root> = []
  const look = Effect.map(Foreign.roots, (found) => {
    foreign = found
  })
  // Reading them for the first time may take long, and nobody should wait for it to see their own.
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(look), Schedule.spaced(LOOK_AROUND)))
  const library = Library.layer({ roots: () => [...roots, ...foreign], price })
  // The home's own index forgets what is in a folder elsewhere; with that to look at there is another one.
  const index = outside.length === 0 ? SessionIndex.pathFor(paths) : join(paths.cache, "viewer.index.db")
  const services = Layer.provideMerge(Texts.layer(index), library)
  const prompts = yield* History.reader(paths)
  const { works } = yield* Effect.provide(RunningReplies, FileRunningReplies.layer({ home: paths.home }))
  const token = flags.token === true
  const viewer = yield* Viewer.serve({ host, port, token, site: site(), exporter, prompts, works }).pipe(
    Effect.provide(yield* Layer.build(services)),
    Effect.mapError((error) => new Failure({ message: explain(error) }))
  )
  const link = viewer.linkTo(start?.page ?? "")
  yield* Output.lines([link])
  if (surroundings.isInteractive.output) yield* Output.note("the viewer reads and never writes; Ctrl-C stops it")
  if (flags["no-open"] !== true) yield* Browser.show(link, surroundings)
  yield* Signals.until(Effect.never)
})
