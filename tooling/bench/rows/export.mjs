/** Row 9: a large session as one page of HTML, from opening the file to the last byte of the page. */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { largeSession, scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import { timed } from "../timed.mjs"

export const title = "HTML export"

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { entries, pi }) => ({
  ...{ entries, pi },
  file: largeSession({ entries }),
  cache: scratch("export")
})

/** @param {any} input @param {boolean} redacts */
const withGrove = async ({ file, cache }, redacts) => {
  const [{ Effect, Stream }, { Exporter, Redactor }, { FileBlobStore, Persist }, Grove] = await Promise.all([
    import("effect"),
    import("@grove/formats"),
    import("@grove/storage-files"),
    import("../grove.mjs")
  ])
  const store = await Grove.store({ home: cache, cache })
  const restore = Persist.restorer(FileBlobStore.make({ directory: `${cache}/blobs` }))
  mkdirSync(cache, { recursive: true })
  const exported = Effect.gen(function* () {
    const { header, title, tree } = yield* store.read(yield* store.find(file))
    const redactor = redacts ? Redactor.make({ home: "/home/ada", user: "ada" }) : undefined
    const page = openSync(`${cache}/page.html`, "w")
    const bytes = Exporter.stream({ header, title, tree, restore }, { to: "html", redactor })
    yield* Stream.runForEach(bytes, (some) => Effect.sync(() => void writeSync(page, some)))
    closeSync(page)
  })
  const { value: _, ...measured } = await timed(() => Effect.runPromise(Effect.scoped(exported)))
  return measured
}

export const grove = (/** @type {any} */ input) => withGrove(input, true)
export const plain = (/** @type {any} */ input) => withGrove(input, false)

const pi = async (/** @type {any} */ { file, pi, cache }) => {
  mkdirSync(cache, { recursive: true })
  const { exportFromFile } = await import(`${dirname(pi)}/export-html/index.js`)
  const { value: _, ...measured } = await timed(() => exportFromFile(file, { outputPath: `${cache}/pi.html` }))
  return measured
}

export const jobs = { grove, plain, pi }

const anew = (/** @type {any} */ { cache }) => rmSync(cache, { recursive: true, force: true })
export const before = { grove: anew, plain: anew, pi: anew }

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { entries }) => {
  const work = `HTML export, ${entries.toLocaleString("en")} entries`
  const by = (/** @type {string} */ job, /** @type {string} */ fact) => ({
    pi: column(found.pi, fact),
    grove: column(found[job], fact)
  })
  return [
    { work, unit: "ms", columns: by("plain", "ms"), goals: [{ against: "pi", times: 10 }] },
    // Pi takes nothing out, so this is more work than it does.
    { work: "… with secrets redacted", unit: "ms", columns: by("grove", "ms"), goals: [] },
    { work: "… its memory", unit: "MB", columns: by("grove", "memory"), goals: [{ against: "pi", times: 6 }] }
  ]
}
