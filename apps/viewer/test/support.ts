/** A viewer over the store of the tests, and the browser that looks at it. */
import { createHash } from "node:crypto"
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { Effect, Exit, Layer, Scope } from "effect"
import { Library, type Root } from "../src/server/Library.ts"
import { Texts } from "../src/server/Texts.ts"
import * as Viewer from "../src/server/Viewer.ts"
import * as Store from "./store.ts"

/** The pages as they are shipped. */
export const SITE = new URL("../dist/site/", import.meta.url).pathname

export interface Running {
  readonly url: string
  readonly port: number
  readonly home: string
  readonly store: Store.Store
  /** What asked a server that no page may know of. */
  readonly canary: { readonly hits: ReadonlyArray<string> }
  readonly stop: () => Promise<void>
}

const listenForCanary = (): Promise<{
  readonly server: Server
  readonly hits: Array<string>
  readonly address: string
}> =>
  new Promise((resolve) => {
    const hits: Array<string> = []
    const server = createServer((request, response) => {
      hits.push(request.url ?? "")
      response.end()
    })
    server.listen(0, "127.0.0.1", () => {
      resolve({ server, hits, address: `127.0.0.1:${(server.address() as AddressInfo).port}` })
    })
  })

export const start = async (
  options: Partial<Viewer.Options> = {},
  more: (store: Store.Store) => ReadonlyArray<Root> = () => []
): Promise<Running> => {
  const home = mkdtempSync(join(tmpdir(), "grove-viewer-"))
  const canary = await listenForCanary()
  const store = Store.write(home, canary.address)
  const scope = Effect.runSync(Scope.make())
  const roots = [{ source: "grove", paths: store.paths }, ...more(store)]
  const library = Library.layer({ roots: () => roots })
  const services = Layer.provideMerge(Texts.layer(join(home, "index.db")), library)
  const serve = Effect.gen(function* () {
    return yield* Effect.provide(Viewer.serve({ site: SITE, ...options }), yield* Layer.build(services))
  })
  const { server } = await Effect.runPromise(Scope.provide(serve, scope))
  return {
    url: server.address.replace(/\/$/, ""),
    port: server.port,
    home,
    store,
    canary,
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await new Promise((done) => canary.server.close(done))
      rmSync(home, { recursive: true, force: true })
    }
  }
}

/** What the sessions and blobs of a home come to: the same as before if nobody wrote. */
export const hashOf = (home: string): string => {
  const hash = createHash("sha256")
  for (const folder of ["sessions", "blobs"]) {
    for (const name of readdirSync(join(home, folder), { recursive: true, encoding: "utf8" }).toSorted()) {
      hash.update(name)
      try {
        hash.update(readFileSync(join(home, folder, name)))
      } catch {
        // A folder, or what is not ours to read.
      }
    }
  }
  return hash.digest("hex")
}

const canRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The system's own Chromium, if there is one. */
export const chromiumPath = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find(canRun)
