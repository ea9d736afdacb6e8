/** Programs killed at random moments, and what is found in their files then. */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Jsonl } from "@grove/core"
import { Result } from "effect"
import { AppendFile } from "../../src/AppendFile.ts"
import * as Catalogue from "../../src/Catalogue.ts"
import { real } from "../../src/Disk.ts"
import * as SessionPaths from "../../src/SessionPaths.ts"
import { Chance } from "./Chance.ts"
import { type Child, start, startEach } from "./Children.ts"
import { missing, read } from "./Found.ts"
import * as LazyEager from "./LazyEager.ts"
import { bytesOf, HEADER, line } from "./Lines.ts"

export interface Crashes {
  readonly rounds: number
  readonly acknowledged: number
  readonly torn: number
  /** Everything that was found wrong, in words. */
  readonly wrong: ReadonlyArray<string>
}

const sleep = (milliseconds: number) => new Promise((next) => setTimeout(next, milliseconds))

const inFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "grove-crash-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lets a program work, for a while or until it told something, and kills it. Answers what it told after it was ready. */
const cutShort = async (child: Child, chance: Chance): Promise<ReadonlyArray<string>> => {
  child.say("go")
  if (chance.oneIn(3)) await sleep(chance.next() * 30)
  else {
    await child.printed(1 + chance.between(1, 12))
    await sleep(chance.next() * 3)
  }
  await child.kill()
  if (child.errors !== "") throw new Error(child.errors)
  return child.lines.slice(1)
}

/** One line more, as the next program would write it. */
export const appendOne = async (path: string, id: string): Promise<void> => {
  const { ino, size } = statSync(path)
  const nothing = () => {}
  const hooks = { onForeign: nothing, onReplaced: nothing, onFailure: nothing }
  const from = { inode: ino, end: size }
  const file = new AppendFile({ disk: real, names: [path], durability: "always", from, ...hooks })
  await file.append(bytesOf(line(id)))
  await file.close()
}

/** Appending programs, killed: every acknowledged entry is there, at most one line is torn, the next append is whole. */
export const appends = (rounds: number, seed = 1): Promise<Crashes> =>
  inFolder(async (folder) => {
    const chance = new Chance(seed)
    const wrong: Array<string> = []
    let acknowledged = 0
    let torn = 0
    function* parameters() {
      for (let round = 0; round < rounds; round++) {
        const path = join(folder, `${round}.jsonl`)
        writeFileSync(path, HEADER)
        yield [path, (round + 36).toString(36), round % 4 === 0 ? "never" : "always"]
      }
    }
    for await (const [child, [path = "", name]] of startEach("appender", parameters())) {
      const told = await cutShort(child, chance)
      acknowledged += told.length
      const before = read(readFileSync(path))
      const lost = missing(told, before.ids)
      if (lost.length > 0) wrong.push(`${name}: ${lost.length} acknowledged entries are gone`)
      if (before.problems.some((kind) => kind !== "torn-tail")) wrong.push(`${name}: ${before.problems}`)
      torn += before.problems.length
      await appendOne(path, "next")
      const after = read(readFileSync(path))
      if (!after.ids.has("next") || missing(before.ids, after.ids).length > 0 || !after.isSound) {
        wrong.push(`${name}: the next append is not whole`)
      }
      if (after.problems.length > 1) wrong.push(`${name}: ${after.problems.length} lines are set apart`)
      rmSync(path)
    }
    return { rounds, acknowledged, torn, wrong }
  })

/** Chats, killed anywhere between making the draft and the second prompt. */
export const drafts = (rounds: number, seed = 1): Promise<Crashes> =>
  inFolder(async (folder) => {
    const chance = new Chance(seed)
    const wrong: Array<string> = []
    let acknowledged = 0
    let torn = 0
    const homes = Array.from({ length: rounds }, (_, round) => [join(folder, String(round))])
    for await (const [child, [home = ""]] of startEach("chatter", homes)) {
      const told = (await cutShort(child, chance)).map((text) => text.split(" "))
      acknowledged += told.length
      const replied = new Set(told.filter(([what]) => what === "reply").map(([, path]) => path!))
      for (const path of new Set(told.map(([, path]) => path!))) {
        const draft = `${path}.draft`
        if (existsSync(path) && existsSync(draft)) wrong.push(`${path}: under two names`)
        if (replied.has(path) && !existsSync(path)) wrong.push(`${path}: has a reply and is still a draft`)
        const found = read(readFileSync(existsSync(path) ? path : draft))
        torn += found.problems.length
        const ids = told.filter(([, at, id]) => at === path && id !== undefined).map(([, , id]) => id!)
        if (missing(ids, found.ids).length > 0) wrong.push(`${path}: acknowledged entries are gone`)
      }
      const blobs = join(home, "blobs")
      for (const name of existsSync(blobs) ? readdirSync(blobs) : []) {
        if (!name.startsWith(".") && sha256(join(blobs, name)) !== name) wrong.push(`blob ${name} is not whole`)
      }
      rmSync(home, { recursive: true, force: true })
    }
    return { rounds, acknowledged, torn, wrong }
  })

const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex")

/** Blob stores, killed: every hash that was told is there whole, and none is there in part. */
export const blobs = (rounds: number, seed = 1): Promise<Crashes> =>
  inFolder(async (folder) => {
    const chance = new Chance(seed)
    const wrong: Array<string> = []
    let acknowledged = 0
    const directories = Array.from({ length: rounds }, (_, round) => [join(folder, String(round)), String(round)])
    for await (const [child, [directory = ""]] of startEach("blobber", directories)) {
      const told = await cutShort(child, chance)
      acknowledged += told.length
      const names = existsSync(directory) ? readdirSync(directory) : []
      for (const hash of told) if (!names.includes(hash)) wrong.push(`blob ${hash} is gone`)
      for (const name of names) {
        if (!name.startsWith(".") && sha256(join(directory, name)) !== name) wrong.push(`blob ${name} is not whole`)
      }
      rmSync(directory, { recursive: true, force: true })
    }
    return { rounds, acknowledged, torn: 0, wrong }
  })

/** Programs that write caches, killed: whatever is left of a cache, what is read is right. */
export const caches = (rounds: number, seed = 1): Promise<Crashes> =>
  inFolder(async (home) => {
    const chance = new Chance(seed)
    const wrong: Array<string> = []
    const paths = SessionPaths.make({ home })
    const folder = join(paths.sessions, "--work--")
    mkdirSync(folder, { recursive: true })
    mkdirSync(paths.cache)
    const sessions = Array.from({ length: 2 }, (_, i) => {
      const path = join(folder, `${i}.jsonl`)
      const lines = Array.from({ length: 150 }, (_, k) =>
        line(`${i}-${k}`, 200, "user", k === 0 ? null : `${i}-${k - 1}`)
      )
      writeFileSync(path, HEADER.replace("session-0001", `session-${i}`) + lines.join(""))
      return path
    })
    const expected = JSON.stringify(Catalogue.list(paths, true))
    const parameters = Array.from({ length: rounds }, (_, round) => [home, String(round)])
    for await (const [child, [, round]] of startEach("lister", parameters)) {
      await cutShort(child, chance)
      if (JSON.stringify(Catalogue.list(paths, true)) !== expected) wrong.push(`${round}: the list is wrong`)
      for (const path of sessions) {
        LazyEager.withLazy(home, path, { cached: true }, (lazy) => LazyEager.sameAsEager(lazy, readFileSync(path)))
      }
    }
    return { rounds, acknowledged: 0, torn: 0, wrong }
  })

const V1 = [
  '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/home/ada"}',
  '{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}',
  "not JSON at all",
  '{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":"two"}}',
  ""
].join("\n")
const BROKEN = `${HEADER}${line("a")}{"type":"mess\n${line("b")}`

/** What each kind of rewrite begins with. */
const works = {
  migrate: V1,
  repair: BROKEN,
  move: HEADER + line("a") + line("b"),
  copy: HEADER + line("a") + line("b")
}

/** Rewriting programs, killed after every step: the session is there, old or new, and the rewrite can be done again. */
export const rewrites = (steps: ReadonlyArray<string>): Promise<Crashes> =>
  inFolder(async (folder) => {
    const wrong: Array<string> = []
    const cutAndRepeat = async (work: string, content: string, step: string) => {
      const path = join(folder, `${work}-${step}`, "one.jsonl")
      mkdirSync(dirname(path))
      writeFileSync(path, content)
      const child = await start("rewriter", work, path, step)
      if ((await child.ended) !== null) wrong.push(`${work} was not killed at ${step}: ${child.errors}`)
      const entries = () => {
        const at = existsSync(path) ? path : join(dirname(path), "elsewhere", "one.jsonl")
        return Result.getOrThrow(Jsonl.read(readFileSync(at))).rows.length
      }
      if (entries() !== 2) wrong.push(`${work} at ${step}: ${entries()} entries`)
      await appendOne(path, "next")
      await (await start("rewriter", work, path, "never")).end()
      if (entries() !== 3) wrong.push(`${work} after ${step}: ${entries()} entries`)
    }
    for (const step of steps) {
      await Promise.all(Object.entries(works).map(([work, content]) => cutAndRepeat(work, content, step)))
    }
    const rounds = steps.length * Object.keys(works).length
    return { rounds, acknowledged: 0, torn: 0, wrong }
  })
