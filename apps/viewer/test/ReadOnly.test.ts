/** The server cannot write a session: no module that could is part of it. */
import { assert, it } from "@effect/vitest"
import { build } from "esbuild"

const bundled = async (entry: string): Promise<ReadonlyArray<string>> => {
  const { metafile } = await build({
    entryPoints: [new URL(entry, import.meta.url).pathname],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    logLevel: "silent"
  })
  return Object.keys(metafile.inputs).flatMap(
    (path) => /(storage-files|storage-sqlite|agent|formats)\/dist\/(.+)\.js$/.exec(path)?.slice(1, 3).join("/") ?? []
  )
}

/** Everything of the storage that the viewer is made of; what is added here has been looked at. */
const READS = [
  "storage-files/BlobFiles",
  "storage-files/Bytes",
  "storage-files/CacheFile",
  "storage-files/Catalogue",
  "storage-files/IndexFile",
  "storage-files/JsonLine",
  "storage-files/LineIndex",
  "storage-files/LineScan",
  "storage-files/LineTable",
  "storage-files/Marks",
  "storage-files/SessionPaths",
  "storage-files/SessionReader",
  "storage-files/read"
]

it("the viewer's server holds no module of the storage but those that read", async () => {
  const modules = (await bundled("../src/server/index.ts")).filter((path) => path.startsWith("storage-files/"))
  assert.include(modules, "storage-files/SessionReader")
  assert.deepStrictEqual(
    modules.filter((path) => !READS.includes(path)),
    []
  )
})

it("the same look finds the writers where there are some", async () => {
  const modules = await bundled("../../../packages/storage-files/dist/index.js")
  for (const writer of ["AppendFile", "Rewrite", "Purge"]) assert.include(modules, `storage-files/${writer}`)
})
