/** Several programs on one file. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AppendFile, type Durability } from "../../src/AppendFile.ts"
import { real } from "../../src/Disk.ts"
import { Chance } from "./Chance.ts"
import { start } from "./Children.ts"
import { type Found, missing, read } from "./Found.ts"
import { bytesOf, HEADER, line } from "./Lines.ts"

const inFile = async <A>(use: (path: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "grove-writers-"))
  const path = join(folder, "one.jsonl")
  writeFileSync(path, HEADER)
  try {
    return await use(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a writer's tree was in the end, and what it heard of. */
export interface Tree {
  readonly size: number
  readonly digest: string
  /** Entries of its own that it was told of as somebody else's. */
  readonly own: number
  /** Entries it was told of more than once. */
  readonly twice: number
  readonly waited: number
}

export interface Written {
  readonly expected: number
  readonly found: Found
  readonly trees: ReadonlyArray<Tree>
  readonly rewrites: number
  readonly milliseconds: number
}

export interface Options {
  readonly writers: number
  readonly appends: number
  readonly durability: Durability
  /** How often another program replaces the file meanwhile, and how long it rests in between. */
  readonly rewrites?: number
  readonly pause?: number
}

/** So many programs append so many entries each, all at once, and tell what they have in the end. */
export const write = ({ writers, appends, durability, rewrites = 0, pause = 0 }: Options): Promise<Written> =>
  inFile(async (path) => {
    const names = Array.from({ length: writers }, (_, i) => `w${i}`)
    const children = await Promise.all(names.map((name) => start("writer", path, name, String(appends), durability)))
    const copier = rewrites === 0 ? undefined : await start("copier", path, String(rewrites), String(pause))
    const all = copier === undefined ? children : [...children, copier]
    await Promise.all(all.map((child) => child.printed(1)))
    const began = performance.now()
    for (const child of all) child.say("go")
    await Promise.all(all.map((child) => child.printed(2)))
    const milliseconds = performance.now() - began
    const expected = writers * appends
    for (const child of children) child.say(String(expected))
    await Promise.all(children.map((child) => child.end()))
    await copier?.end()
    const trees = children.map(({ lines }) => JSON.parse(lines.at(-1)!) as Tree)
    return { expected, found: read(readFileSync(path)), trees, rewrites, milliseconds }
  })

export interface Torn {
  readonly acknowledged: number
  readonly lost: ReadonlyArray<string>
  readonly torn: number
}

/** One program appends while others are killed inside lines of 10 MB, one after the other. */
export const writeAmongTorn = (rounds: number, seed = 1): Promise<Torn> =>
  inFile(async (path) => {
    const chance = new Chance(seed)
    const { ino, size } = statSync(path)
    const nothing = () => {}
    const hooks = { onForeign: nothing, onReplaced: nothing, onFailure: nothing }
    const from = { inode: ino, end: size }
    const file = new AppendFile({ disk: real, names: [path], durability: "never", from, ...hooks })
    const acknowledged: Array<string> = []
    let isOver = false
    const kill = async () => {
      for (let round = 0; round < rounds; round++) {
        const child = await start("tearer", path, `torn-${round}`)
        await child.printed(1)
        child.say("go")
        await new Promise((next) => setTimeout(next, chance.next() * 25))
        await child.kill()
      }
      isOver = true
    }
    const append = async () => {
      for (let i = 0; !isOver; i++) {
        await file.append(bytesOf(line(`small-${i}`, 200)))
        acknowledged.push(`small-${i}`)
        await new Promise((next) => setImmediate(next))
      }
    }
    await Promise.all([kill(), append()])
    await file.close()
    const { ids, problems } = read(readFileSync(path))
    return { acknowledged: acknowledged.length, lost: missing(acknowledged, ids), torn: problems.length }
  })
