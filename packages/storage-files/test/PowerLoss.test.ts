/** What a power cut leaves, on a disk that keeps only what was synced. */
import { assert, describe, it } from "@effect/vitest"
import { Blobs } from "@grove/core"
import { Effect } from "effect"
import { AppendFile, type Durability } from "../src/AppendFile.ts"
import { Disk } from "../src/Disk.ts"
import * as FileBlobStore from "../src/FileBlobStore.ts"
import * as Rewrite from "../src/Rewrite.ts"
import * as SessionFiles from "../src/SessionFiles.ts"
import { type Chance, forSeeds } from "./support/Chance.ts"
import { missing, read } from "./support/Found.ts"
import { bytesOf, HEADER, line } from "./support/Lines.ts"
import { errno, MemoryDisk as Memory, type MemoryDisk } from "./support/MemoryDisk.ts"

const PATH = "/home/sessions/one.jsonl"
const DRAFT = `${PATH}.draft`

const nothing = () => {}
const openAppend = (disk: MemoryDisk, durability: Durability = "always", names = [PATH]): AppendFile => {
  const name = names.find((name) => disk.names.includes(name)) ?? names[0]!
  const { inode, size } = disk.stat(name)
  const hooks = { onForeign: nothing, onReplaced: nothing, onFailure: nothing }
  return new AppendFile({ disk, names, durability, from: { inode, end: size }, ...hooks })
}

const diskOf = (chance: Chance): MemoryDisk => {
  const disk = new Memory()
  disk.syncTurns = () => chance.pick([0, 1, 1, 2, 5])
  return disk
}

/** The rest of the turn of the event loop. */
const turn = () => new Promise((next) => setImmediate(next))

/** Appends, several at a time, until the power goes or it is done; notes what was acknowledged. */
const appendMany = async (
  disk: MemoryDisk,
  name: string,
  chance: Chance,
  acknowledged: Set<string>,
  count = chance.between(1, 25)
) => {
  const file = openAppend(disk)
  const appends: Array<Promise<void>> = []
  for (let i = 0; i < count; i++) {
    const ids = Array.from({ length: chance.pick([1, 1, 1, 3]) }, (_, k) => `${name}-${i}-${k}`)
    const text = ids.map((id) => line(id, chance.pick([20, 300, 5000]))).join("")
    const note = () => {
      for (const id of ids) acknowledged.add(id)
    }
    appends.push(file.append(bytesOf(text)).then(note, nothing))
    if (chance.oneIn(3)) await turn()
    if (chance.oneIn(8)) await Promise.all(appends)
  }
  await Promise.all(appends)
  await file.close().catch(nothing)
}

const rewriteSome = async (disk: MemoryDisk, chance: Chance) => {
  for (let i = chance.between(1, 4); i > 0; i--) {
    const options = chance.oneIn(2) ? {} : { backup: `${PATH}.bak` }
    await Rewrite.rewrite({ disk, path: PATH, ...options }, (bytes) => bytes)
    if (chance.oneIn(2)) await turn()
  }
}

const isThere = (disk: MemoryDisk, ids: Iterable<string>, path = PATH): void => {
  const found = read(disk.contentOf(path))
  assert.deepStrictEqual(missing(ids, found.ids), [], "acknowledged, and gone")
  assert.isTrue(found.isSound)
}

/** Everything acknowledged is there after the crash, and what is appended then is whole, also after another crash. */
const survives = async (disk: MemoryDisk, chance: Chance, acknowledged: Set<string>, seed: number) => {
  const after = disk.crash(chance)
  isThere(after, acknowledged)
  await appendMany(after, `again${seed}`, chance, acknowledged, 3)
  isThere(after, acknowledged)
  isThere(after.crash(chance), acknowledged)
}

describe("after a power cut", () => {
  it("every acknowledged entry is there, whatever was under way", () =>
    forSeeds(400, async (chance, seed) => {
      const disk = diskOf(chance)
      disk.put(PATH, HEADER)
      disk.cutPowerAfter(chance.between(5, 400))
      const acknowledged = new Set<string>()
      await Promise.allSettled([
        appendMany(disk, "a", chance, acknowledged),
        ...(chance.oneIn(2) ? [appendMany(disk, "b", chance, acknowledged)] : [])
      ])
      await survives(disk, chance, acknowledged, seed)
    }))

  it("every acknowledged entry is there though syncs failed before", () =>
    forSeeds(400, async (chance, seed) => {
      const disk = diskOf(chance)
      disk.put(PATH, HEADER)
      const rate = chance.between(2, 12)
      disk.syncFailure = () => (chance.oneIn(rate) ? errno("EIO") : undefined)
      if (chance.oneIn(2)) disk.cutPowerAfter(chance.between(5, 400))
      const acknowledged = new Set<string>()
      await appendMany(disk, "a", chance, acknowledged).catch(nothing)
      await survives(disk, chance, acknowledged, seed)
    }))

  it("every acknowledged entry is there though the file was replaced meanwhile", () =>
    forSeeds(600, async (chance, seed) => {
      const disk = diskOf(chance)
      disk.put(PATH, `${HEADER}${line("first")}${chance.oneIn(3) ? line("torn").slice(0, 50) : ""}`)
      if (!chance.oneIn(4)) disk.cutPowerAfter(chance.between(5, 600))
      const acknowledged = new Set(["first"])
      await Promise.allSettled([
        appendMany(disk, "a", chance, acknowledged),
        appendMany(disk, "b", chance, acknowledged),
        rewriteSome(disk, chance),
        ...(chance.oneIn(3) ? [rewriteSome(disk, chance)] : [])
      ])
      await survives(disk, chance, acknowledged, seed)
    }))

  it("nothing of what was written without syncing is acknowledged twice or glued to what follows", () =>
    forSeeds(200, async (chance) => {
      const disk = diskOf(chance)
      disk.put(PATH, HEADER)
      const file = openAppend(disk, "never")
      for (let i = 0; i < 5; i++) await file.append(bytesOf(line(`unsynced-${i}`, 200)))
      await file.close()
      const after = disk.crash(chance)
      const acknowledged = new Set<string>()
      await appendMany(after, "next", chance, acknowledged, 3)
      isThere(after, acknowledged)
    }))

  it("what was flushed is there, also where appends are not synced", () =>
    forSeeds(100, async (chance) => {
      const disk = diskOf(chance)
      disk.put(PATH, HEADER)
      const file = openAppend(disk, "never")
      await file.append(bytesOf(line("flushed")))
      await file.flush()
      await file.append(bytesOf(line("not")))
      isThere(disk.crash(chance), ["flushed"])
    }))
})

describe("after a power cut while a session is made", () => {
  it("a session that was made is there, with its folder and everything acknowledged, under one of its names", () =>
    forSeeds(600, async (chance, seed) => {
      const disk = diskOf(chance)
      disk.cutPowerAfter(chance.between(1, 60))
      const acknowledged = new Set<string>()
      let isMade = false
      const chat = async () => {
        await SessionFiles.create(disk, DRAFT, bytesOf(HEADER))
        isMade = true
        const file = openAppend(disk, "always", [PATH, DRAFT])
        await file.append(bytesOf(line("prompt")))
        acknowledged.add("prompt")
        await file.append(bytesOf(line("reply", 100, "assistant")))
        file.promote(PATH)
        acknowledged.add("reply")
        await file.append(bytesOf(line("next")))
        acknowledged.add("next")
      }
      await chat().catch(nothing)
      const after = disk.crash(chance)
      const name = [PATH, DRAFT].find((name) => after.names.includes(name))
      if (!isMade && name === undefined) return
      assert(name !== undefined, "a session that was made is gone")
      if (isMade) isThere(after, acknowledged, name)
      if (acknowledged.has("reply")) assert.strictEqual(name, PATH)
      if (!isMade) return
      const file = openAppend(after, "always", [PATH, DRAFT])
      await file.append(bytesOf(line(`again${seed}`)))
      isThere(after, [...acknowledged, `again${seed}`], name)
    }))
})

describe("after a power cut while a blob is stored", () => {
  const directory = "/no/such/home/blobs"
  const store = FileBlobStore.make({ directory })

  it("a blob that was told of is there with its folder, and none is there in part", () =>
    forSeeds(300, async (chance) => {
      const disk = diskOf(chance)
      disk.cutPowerAfter(chance.between(1, 30))
      const told = new Set<string>()
      const blobs = [1, 2].map((size) => bytesOf(line("blob", size * 1000)))
      for (const bytes of blobs) {
        const put = Effect.provideService(store.put(bytes), Disk, disk)
        await Effect.runPromise(put).then((hash) => told.add(hash), nothing)
      }
      const after = disk.crash(chance)
      for (const bytes of blobs) {
        const hash = Blobs.hashOf(bytes)
        const isThere = after.names.includes(`${directory}/${hash}`)
        if (told.has(hash)) assert.isTrue(isThere, "told of, and gone")
        if (isThere) assert.deepStrictEqual(after.contentOf(`${directory}/${hash}`), Buffer.from(bytes))
      }
    }))
})

const V1 = [
  '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/home/ada"}',
  '{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}',
  "not JSON at all",
  '{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":"two"}}',
  ""
].join("\n")

describe("after a power cut while a file is rewritten", () => {
  it("a migrated file is either as it was or migrated, and the original is there", () =>
    forSeeds(300, async (chance) => {
      const disk = diskOf(chance)
      disk.put(PATH, V1)
      disk.cutPowerAfter(chance.between(1, 50))
      const done = await SessionFiles.migrate(disk, PATH).catch(() => undefined)
      const after = disk.crash(chance)
      const content = after.contentOf(PATH).toString()
      const isMigrated = content !== V1
      if (done !== undefined) assert.isTrue(isMigrated)
      assert.strictEqual(read(Buffer.from(content)).ids.size, 2)
      if (isMigrated) assert.strictEqual(after.contentOf(`${PATH}.v1.bak`).toString(), V1)
      assert.strictEqual((await SessionFiles.migrate(after, PATH)).changed, !isMigrated)
      assert.strictEqual(read(after.contentOf(PATH)).ids.size, 2)
    }))

  it("a repaired file is either as it was or repaired, and its unreadable lines are kept", () =>
    forSeeds(300, async (chance) => {
      const broken = `${HEADER}${line("a")}{"type":"mess\n${line("b")}${line("c").slice(0, 30)}`
      const disk = diskOf(chance)
      disk.put(PATH, broken)
      disk.cutPowerAfter(chance.between(1, 60))
      const makeHeader = () => JSON.parse(HEADER)
      const options = { timestamp: "2026-01-01T00:00:00.000Z", makeHeader }
      const done = await SessionFiles.repair(disk, PATH, options).catch(() => undefined)
      const after = disk.crash(chance)
      isThere(after, ["a", "b"])
      const isRepaired = after.contentOf(PATH).toString() !== broken
      if (done !== undefined) assert.isTrue(isRepaired)
      if (!isRepaired) return
      assert.strictEqual(after.contentOf(`${PATH}.2026-01-01T00-00-00-000Z.bak`).toString(), broken)
      assert.include(after.contentOf(`${PATH}.rejected`).toString(), '{"type":"mess\n')
    }))

  it("a moved session is at its old place or at its new one, with everything acknowledged", () =>
    forSeeds(400, async (chance) => {
      const to = "/home/sessions/elsewhere/one.jsonl"
      const disk = diskOf(chance)
      disk.put(PATH, `${HEADER}${line("first")}`)
      if (!chance.oneIn(4)) disk.cutPowerAfter(chance.between(1, 150))
      const acknowledged = new Set(["first"])
      const [, moved] = await Promise.allSettled([
        appendMany(disk, "a", chance, acknowledged, 5),
        SessionFiles.move(disk, PATH, to, "/elsewhere")
      ])
      const after = disk.crash(chance)
      const places = [PATH, to].filter((name) => after.names.includes(name))
      assert.strictEqual(places.length, 1)
      if (moved.status === "fulfilled") assert.deepStrictEqual(places, [to])
      isThere(after, acknowledged, places[0]!)
    }))
})
