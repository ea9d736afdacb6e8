import { appendFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { AppendFile } from "../src/AppendFile.ts"
import { real } from "../src/Disk.ts"
import * as Rewrite from "../src/Rewrite.ts"
import * as SessionFiles from "../src/SessionFiles.ts"
import * as FaultyDisk from "./support/FaultyDisk.ts"
import { missing, read } from "./support/Found.ts"
import { bytesOf, HEADER, line } from "./support/Lines.ts"
import { MemoryDisk } from "./support/MemoryDisk.ts"
import { temporary, write } from "./support.ts"

const PATH = "/sessions/one.jsonl"
const BACKUP = `${PATH}.bak`
const NEW_HEADER = HEADER.replace("/home/ada", "/home/bob")

const nothing = () => {}

const setUp = (content = HEADER + line("first")) => {
  const memory = new MemoryDisk()
  memory.put(PATH, content)
  const disk = FaultyDisk.make(memory)
  const { inode, size } = memory.stat(PATH)
  const hooks = { onForeign: nothing, onReplaced: nothing, onFailure: nothing }
  const writer = new AppendFile({ disk, names: [PATH], durability: "never", from: { inode, end: size }, ...hooks })
  const held = memory.open(PATH, "append")
  return {
    memory,
    disk,
    /** As Grove appends: looked, written and looked again by the time this returns. */
    append: (id: string) => void writer.append(bytesOf(line(id))),
    /** As a program appends that opened the file before and looks at nothing. */
    appendBlindly: (text: string) => void memory.write(held, bytesOf(text)),
    content: (path = PATH) => memory.contentOf(path).toString(),
    rewrite: (onStep: Rewrite.OnStep = nothing, transform = withNewHeader) =>
      Rewrite.rewrite({ disk, path: PATH, backup: BACKUP, onStep }, transform)
  }
}

const withNewHeader = (bytes: Uint8Array): Uint8Array =>
  Buffer.from(Buffer.from(bytes).toString().replace(HEADER, NEW_HEADER))

const idsIn = (text: string): ReadonlySet<string> => read(bytesOf(text)).ids
const occurrences = (text: string, part: string): number => text.split(part).length - 1

describe("a rewrite", () => {
  it("goes through its steps in order, keeps the original and leaves nothing else behind", async () => {
    const { memory, rewrite, content } = setUp()
    const taken: Array<Rewrite.Step> = []
    assert.deepStrictEqual(await rewrite((step) => taken.push(step)), { backup: BACKUP })
    assert.deepStrictEqual(taken, [...Rewrite.steps])
    assert.deepStrictEqual([content(), content(BACKUP)], [NEW_HEADER + line("first"), HEADER + line("first")])
    assert.deepStrictEqual([...memory.names].sort(), [PATH, BACKUP])
  })

  it("never overwrites a backup", async () => {
    const { memory, rewrite } = setUp()
    memory.put(BACKUP, "an older one")
    assert.deepStrictEqual(await rewrite(), { backup: `${BACKUP}.2` })
    assert.strictEqual(memory.contentOf(BACKUP).toString(), "an older one")
  })

  it("that has nothing to change changes nothing", async () => {
    const { memory, disk } = setUp()
    const { inode } = memory.stat(PATH)
    assert.deepStrictEqual(await Rewrite.rewrite({ disk, path: PATH, backup: BACKUP }, () => undefined), {
      backup: null
    })
    assert.deepStrictEqual([memory.stat(PATH).inode, memory.names], [inode, [PATH]])
  })

  const points = ["before", ...Rewrite.steps] as const
  describe.each(points)("during which somebody appends at %s", (point) => {
    it("loses nothing of it, and writes it once", async () => {
      const { append, rewrite, content } = setUp()
      if (point === "before") append("theirs")
      await rewrite((step) => step === point && append("theirs"))
      assert.deepStrictEqual([...idsIn(content())], ["first", "theirs"])
      assert.strictEqual(occurrences(content(), line("theirs")), 1)
      assert.isTrue(content().startsWith(NEW_HEADER))
    })

    it.each(Rewrite.steps)("and which ends at %s, loses nothing", async (end) => {
      const { append, rewrite, content } = setUp()
      if (point === "before") append("theirs")
      const acknowledged = new Set(point === "before" ? ["first", "theirs"] : ["first"])
      const crash = rewrite((step) => {
        if (step === point) {
          append("theirs")
          acknowledged.add("theirs")
        }
        if (step === end) throw new Error("cut here")
      })
      assert.strictEqual((await crash.catch((cause) => cause)).message, "cut here")
      assert.deepStrictEqual(missing(acknowledged, idsIn(content())), [])
      append("after")
      await rewrite()
      assert.deepStrictEqual(missing([...acknowledged, "after"], idsIn(content())), [])
      assert.isTrue(content().startsWith(NEW_HEADER))
      assert.isTrue(content().endsWith(line("after")))
    })
  })

  it.each(points)("carries over what a program writes to the old file at %s without looking", async (point) => {
    const { appendBlindly, rewrite, content } = setUp()
    if (point === "before") appendBlindly(line("theirs"))
    await rewrite((step) => step === point && step !== "drained" && step !== "named" && appendBlindly(line("theirs")))
    const isInTime = point !== "drained" && point !== "named"
    assert.deepStrictEqual([...idsIn(content())], isInTime ? ["first", "theirs"] : ["first"])
  })

  it.each(["written", "backed-up", "renamed"] as const)(
    "puts a line together whose second half comes at %s",
    async (point) => {
      const half = line("halved").length >> 1
      const { appendBlindly, rewrite, content } = setUp(HEADER + line("first") + line("halved").slice(0, half))
      await rewrite((step) => step === point && appendBlindly(line("halved").slice(half) + line("next")))
      assert.deepStrictEqual([...idsIn(content())], ["first", "halved", "next"])
    }
  )

  it("waits for a last line that is being written", async () => {
    const path = write(join(temporary(), "one.jsonl"), HEADER + line("first") + line("halved").slice(0, 30))
    const rewritten = Rewrite.rewrite({ disk: real, path }, withNewHeader)
    await new Promise((next) => setTimeout(next, 100))
    appendFileSync(path, line("halved").slice(30))
    await rewritten
    assert.strictEqual(readFileSync(path, "utf8"), NEW_HEADER + line("first") + line("halved"))
  })

  it("takes a last line for torn that nobody writes on for a second", async () => {
    const path = write(join(temporary(), "one.jsonl"), HEADER + line("first") + line("torn").slice(0, 30))
    const start = performance.now()
    await Rewrite.rewrite({ disk: real, path }, withNewHeader)
    assert.isAbove(performance.now() - start, 900)
    assert.strictEqual(readFileSync(path, "utf8"), NEW_HEADER + line("first") + line("torn").slice(0, 30))
  })

  it("keeps an unfinished last line that nobody finishes, and what is appended next stands alone", async () => {
    const { append, rewrite, content } = setUp(HEADER + line("first") + line("torn").slice(0, 30))
    await rewrite()
    assert.strictEqual(content(), NEW_HEADER + line("first") + line("torn").slice(0, 30))
    append("after")
    assert.strictEqual(content(), `${NEW_HEADER}${line("first")}${line("torn").slice(0, 30)}\n${line("after")}`)
  })

  it("carries over the beginning of a line that comes to the old file last, and it stands alone", async () => {
    const { append, appendBlindly, rewrite, content } = setUp()
    const begun = line("torn").slice(0, 30)
    await rewrite((step) => step === "renamed" && appendBlindly(begun))
    append("after")
    assert.strictEqual(content(), `${NEW_HEADER}${line("first")}${begun}\n${line("after")}`)
  })

  it("does not carry over what its writer has brought along", async () => {
    const { append, appendBlindly, rewrite, content } = setUp()
    await rewrite((step) => {
      if (step !== "renamed") return
      append("theirs")
      append("and more")
      appendBlindly(line("theirs"))
    })
    assert.strictEqual(content(), NEW_HEADER + line("first") + line("theirs") + line("and more"))
  })

  it("starts over when somebody else replaced the file meanwhile", async () => {
    const { memory, rewrite, content } = setUp()
    let isFirst = true
    await rewrite((step) => {
      if (step !== "backed-up" || !isFirst) return
      isFirst = false
      memory.put("/sessions/theirs", HEADER + line("first") + line("theirs"))
      memory.rename("/sessions/theirs", PATH)
    })
    assert.strictEqual(content(), NEW_HEADER + line("first") + line("theirs"))
    assert.strictEqual(content(BACKUP), HEADER + line("first") + line("theirs"))
    assert.deepStrictEqual([...memory.names].sort(), [PATH, BACKUP])
  })

  it("of a file that is replaced again and again gives up, and leaves it", async () => {
    const { memory, rewrite, content } = setUp()
    const again = rewrite((step) => {
      if (step !== "synced") return
      memory.put("/sessions/theirs", HEADER + line("first"))
      memory.rename("/sessions/theirs", PATH)
    })
    assert.match((await again.catch((cause) => cause)).message, /again and again/)
    assert.deepStrictEqual([content(), memory.names], [HEADER + line("first"), [PATH]])
  })
})

describe("a disk that fails at any operation of", () => {
  const broken = `${HEADER}${line("first")}{"type":"mess\n${line("second")}`
  const v1 = `{"type":"session","id":"old"}\n{"type":"message","message":{"role":"user","content":"one"}}\n`
  const TO = "/sessions/elsewhere/one.jsonl"
  const repairOptions = { timestamp: "2026-01-01T00:00:00.000Z", makeHeader: () => JSON.parse(HEADER) }
  const works: ReadonlyArray<
    readonly [
      string,
      {
        readonly content?: string
        readonly run: (disk: FaultyDisk.FaultyDisk) => Promise<unknown>
        readonly entries: number
        readonly places?: ReadonlyArray<string>
      }
    ]
  > = [
    [
      "a rewrite",
      {
        content: HEADER + line("first"),
        run: (disk) => Rewrite.rewrite({ disk, path: PATH, backup: BACKUP }, withNewHeader),
        entries: 1
      }
    ],
    ["a migration", { content: v1, run: (disk) => SessionFiles.migrate(disk, PATH), entries: 1 }],
    ["a repair", { content: broken, run: (disk) => SessionFiles.repair(disk, PATH, repairOptions), entries: 2 }],
    [
      "a move",
      {
        content: HEADER + line("first"),
        run: (disk) => SessionFiles.move(disk, PATH, TO, "/elsewhere"),
        entries: 1,
        places: [TO, PATH]
      }
    ],
    ["a creation", { run: (disk) => SessionFiles.create(disk, PATH, bytesOf(HEADER)), entries: 0 }]
  ]

  it.each(works)("%s leaves a session or none, and can be done again", async (_, work) => {
    const { content, run, entries, places = [PATH] } = work
    for (let failAt = 1; ; failAt++) {
      const memory = new MemoryDisk()
      if (content !== undefined) memory.put(PATH, content)
      const disk = FaultyDisk.make(memory)
      let count = 0
      for (const operation of [
        "open",
        "stat",
        "statOpen",
        "read",
        "write",
        "syncDirectory",
        "makeDirectory",
        "rename",
        "link"
      ] as const) {
        disk.every(operation, ((go: (...all: ReadonlyArray<unknown>) => unknown, ...all: ReadonlyArray<unknown>) => {
          if (++count === failAt) throw FaultyDisk.failure("EIO")
          return go(...all)
        }) as never)
      }
      disk.every("sync", async (go, file) => {
        if (++count === failAt) throw FaultyDisk.failure("EIO")
        await go(file)
      })
      const outcome = await run(disk).then(
        () => "done",
        (cause) => cause.code
      )
      const place = places.find((place) => memory.names.includes(place))
      if (place !== undefined) assert.strictEqual(read(memory.contentOf(place)).ids.size, entries, `at ${failAt}`)
      else assert.strictEqual(content, undefined, `at ${failAt}`)
      assert.deepStrictEqual(
        memory.names.filter((name) => name.endsWith(".tmp")),
        [],
        `at ${failAt}`
      )
      if (count < failAt) {
        assert.strictEqual(outcome, "done")
        assert.isAbove(failAt, 4)
        return
      }
      if (outcome !== "done") {
        assert.strictEqual(outcome, "EIO")
        const isMoved = place === TO
        if (!isMoved && !(content === undefined && place !== undefined)) await run(FaultyDisk.make(memory))
        assert.isTrue(places.some((place) => memory.names.includes(place)))
      }
    }
  })
})

describe("a repair", () => {
  const options = { timestamp: "2026-01-01T00:00:00.000Z", makeHeader: () => JSON.parse(HEADER) }

  it("adds to lines rejected before, on lines of their own", async () => {
    const { disk, memory, content } = setUp(`${HEADER}{"second\n${line("first")}`)
    memory.put(`${PATH}.rejected`, '{"first')
    await SessionFiles.repair(disk, PATH, options)
    assert.strictEqual(content(`${PATH}.rejected`), '{"first\n{"second\n')
    assert.strictEqual(content(), HEADER + line("first"))
  })
})

describe("a move", () => {
  it("does not replace a file that came to its new place while it was rewritten", async () => {
    const { disk, memory, content } = setUp()
    const to = "/elsewhere/one.jsonl"
    const taken = SessionFiles.move(disk, PATH, to, "/elsewhere", (step) => {
      if (step === "named") memory.put(to, "theirs")
    })
    assert.strictEqual((await taken.catch((cause) => cause)).code, "EEXIST")
    assert.strictEqual(content(to), "theirs")
    assert.deepStrictEqual([...idsIn(content())], ["first"])
  })
})
