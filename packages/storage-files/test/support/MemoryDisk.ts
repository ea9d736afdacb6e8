/**
 * A disk that forgets what was not synced. It keeps what programs see apart from what is on the medium; when the power
 * goes, only that stays, and of what was under way any part: a prefix, pieces with holes between, names or no names.
 */
import { dirname } from "node:path"
import type { Disk, FileState } from "../../src/Disk.ts"
import type { Chance } from "./Chance.ts"

/** The power is off: nothing can be done any more. */
export class PowerCut extends Error {}

export const errno = (code: string, path = ""): Error => Object.assign(new Error(`${code}: ${path}`), { code })

/** A stretch of a file. `doubtful`: a sync of it failed, so it may be lost though later ones succeed. */
interface Stretch {
  readonly start: number
  readonly end: number
  state: "unsynced" | "doubtful" | "synced"
}

interface Inode {
  readonly number: number
  data: Buffer
  size: number
  stretches: Array<Stretch>
}

/** A change of names, as a whole or not at all. */
interface Naming {
  readonly directories: ReadonlyArray<string>
  readonly apply: (names: Map<string, Inode>, directories: Set<string>) => void
  isSynced: boolean
}

export class MemoryDisk implements Disk {
  readonly #names = new Map<string, Inode>()
  readonly #directories = new Set<string>(["/"])
  readonly #synced: { readonly names: Map<string, Inode>; readonly directories: Set<string> }
  #namings: Array<Naming> = []
  readonly #files = new Map<number, Inode>()
  #lastNumber = 0
  #isOff = false
  /** How many operations are left until the power goes. */
  #left = Number.POSITIVE_INFINITY
  #operations = 0
  /** How many turns of the event loop a sync takes, so that others get in between. */
  syncTurns: () => number = () => 1
  /** Asked before each sync of a file; answers what it fails with, if it does. */
  syncFailure: () => Error | undefined = () => undefined

  constructor(names: ReadonlyMap<string, Inode> = new Map(), directories: ReadonlySet<string> = new Set(["/"])) {
    for (const directory of directories) this.#directories.add(directory)
    for (const [name, inode] of names) {
      this.#names.set(name, inode)
      this.#lastNumber = Math.max(this.#lastNumber, inode.number)
    }
    this.#synced = { names: new Map(this.#names), directories: new Set(this.#directories) }
  }

  get operations(): number {
    return this.#operations
  }

  get names(): ReadonlyArray<string> {
    return [...this.#names.keys()]
  }

  cutPowerAfter(operations: number): void {
    this.#left = operations
  }

  /** What is there when the power is back, by chance among all that could be. */
  crash(chance: Chance): MemoryDisk {
    this.#isOff = true
    const names = new Map(this.#synced.names)
    const directories = new Set(this.#synced.directories)
    const luck = chance.pick([0, 0.5, 1])
    for (const { apply, isSynced } of this.#namings) {
      if (isSynced || chance.next() < luck) apply(names, directories)
    }
    const survivors = new Map<Inode, Inode>()
    for (const inode of new Set(names.values())) survivors.set(inode, survivorOf(inode, chance))
    const kept = [...names].filter(([name]) => directories.has(dirname(name)))
    return new MemoryDisk(new Map(kept.map(([name, inode]) => [name, survivors.get(inode)!])), directories)
  }

  #act(): void {
    if (this.#isOff || --this.#left < 0) {
      this.#isOff = true
      throw new PowerCut("the power is off")
    }
    this.#operations++
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(path)
    if (inode === undefined) throw errno("ENOENT", path)
    return inode
  }

  #file(file: number): Inode {
    const inode = this.#files.get(file)
    if (inode === undefined) throw errno("EBADF", String(file))
    return inode
  }

  #rename(directories: ReadonlyArray<string>, apply: Naming["apply"]): void {
    apply(this.#names, this.#directories)
    this.#namings.push({ directories, apply, isSynced: false })
  }

  readonly open: Disk["open"] = (path, mode) => {
    this.#act()
    if (mode === "create") {
      if (this.#names.has(path)) throw errno("EEXIST", path)
      if (!this.#directories.has(dirname(path))) throw errno("ENOENT", path)
      const inode = { number: ++this.#lastNumber, data: Buffer.alloc(0), size: 0, stretches: [] }
      this.#rename([dirname(path)], (names) => names.set(path, inode))
    }
    const file = ++this.#lastNumber
    this.#files.set(file, this.#inode(path))
    return file
  }

  readonly close: Disk["close"] = (file) => {
    this.#files.delete(file)
  }

  readonly stat: Disk["stat"] = (path) => {
    this.#act()
    return stateOf(this.#inode(path))
  }

  readonly statOpen: Disk["statOpen"] = (file) => {
    this.#act()
    return stateOf(this.#file(file))
  }

  readonly read: Disk["read"] = (file, into, position) => {
    this.#act()
    const { data, size } = this.#file(file)
    const bytes = data.subarray(Math.min(position, size), Math.min(size, position + into.length))
    into.set(bytes)
    return bytes.length
  }

  readonly write: Disk["write"] = (file, bytes) => {
    const inode = this.#file(file)
    const start = inode.size
    if (inode.data.length < start + bytes.length) {
      const larger = Buffer.alloc((start + bytes.length) * 2)
      inode.data.copy(larger, 0, 0, start)
      inode.data = larger
    }
    inode.data.set(bytes, start)
    inode.size += bytes.length
    inode.stretches.push({ start, end: inode.size, state: "unsynced" })
    this.#act()
    return bytes.length
  }

  readonly sync: Disk["sync"] = async (file) => {
    const inode = this.#file(file)
    const underWay = inode.stretches.filter(({ state }) => state === "unsynced")
    for (let turns = this.syncTurns(); turns > 0; turns--) await new Promise((next) => setImmediate(next))
    this.#act()
    const failure = this.syncFailure()
    for (const stretch of underWay) stretch.state = failure === undefined ? "synced" : "doubtful"
    if (failure !== undefined) throw failure
  }

  readonly syncDirectory: Disk["syncDirectory"] = (path) => {
    this.#act()
    for (const naming of this.#namings) if (naming.directories.includes(path)) naming.isSynced = true
    // What is synced and comes first will stay, whatever comes after.
    while (this.#namings[0]?.isSynced) this.#namings.shift()!.apply(this.#synced.names, this.#synced.directories)
  }

  readonly makeDirectory: Disk["makeDirectory"] = (path) => {
    this.#act()
    let topmost: string | undefined
    const missing: Array<string> = []
    for (let above = path; !this.#directories.has(above); above = dirname(above)) missing.unshift(above)
    for (const directory of missing) {
      topmost ??= directory
      this.#rename([dirname(directory)], (_, directories) => directories.add(directory))
    }
    return topmost
  }

  readonly rename: Disk["rename"] = (from, to) => {
    this.#act()
    const inode = this.#inode(from)
    // For sure once the folder of the new name is synced; that of the old one alone does not do.
    this.#rename([dirname(to)], (names) => {
      if (names.get(from) !== inode) return
      names.delete(from)
      names.set(to, inode)
    })
  }

  readonly link: Disk["link"] = (from, to) => {
    this.#act()
    const inode = this.#inode(from)
    if (this.#names.has(to)) throw errno("EEXIST", to)
    this.#rename([dirname(to)], (names) => names.set(to, inode))
  }

  readonly remove: Disk["remove"] = (path) => {
    this.#act()
    this.#inode(path)
    this.#rename([dirname(path)], (names) => names.delete(path))
  }

  /** The whole content of a file, as programs see it. */
  contentOf(path: string): Buffer {
    const { data, size } = this.#inode(path)
    return data.subarray(0, size)
  }

  /** Cuts a file short in place, as only others do. */
  truncate(path: string, size: number): void {
    const inode = this.#inode(path)
    inode.size = size
    inode.stretches = [{ start: 0, end: size, state: "synced" }]
  }

  /** Puts a file there, durably: what a test begins with. */
  put(path: string, content: string | Uint8Array): void {
    const data = Buffer.from(content as string)
    const stretches: Array<Stretch> = [{ start: 0, end: data.length, state: "synced" }]
    const inode = { number: ++this.#lastNumber, data, size: data.length, stretches }
    for (let above = dirname(path); !this.#directories.has(above); above = dirname(above)) {
      this.#directories.add(above)
      this.#synced.directories.add(above)
    }
    this.#names.set(path, inode)
    this.#synced.names.set(path, inode)
  }
}

/** Long at rest, since nothing here is ever half written. */
const stateOf = ({ number, size }: Inode): FileState => ({ device: 1, inode: number, size, modified: 0, isFile: true })

/** The file as it is when the power is back: what was not synced may be cut short or full of holes. */
const survivorOf = ({ number, data, size, stretches }: Inode, chance: Chance): Inode => {
  const synced = Math.max(0, ...stretches.filter(({ state }) => state === "synced").map(({ end }) => end))
  const length = chance.pick([synced, size, chance.between(synced, size)])
  const kept = Buffer.from(data.subarray(0, length))
  for (const { start, end, state } of stretches) {
    if (state === "synced") continue
    for (let holes = chance.pick([0, 0, 1, 3]); holes > 0; holes--) {
      const from = chance.between(start, end)
      kept.fill(0, Math.min(length, from), Math.min(length, chance.between(from, end)))
    }
    if (chance.oneIn(4)) kept.fill(0, Math.min(length, start), Math.min(length, end))
  }
  return { number, data: kept, size: length, stretches: [{ start: 0, end: length, state: "synced" }] }
}
