import { assert, describe, it } from "@effect/vitest"
import { AppendFile, type Options } from "../src/AppendFile.ts"
import * as FaultyDisk from "./support/FaultyDisk.ts"
import { read } from "./support/Found.ts"
import { bytesOf, HEADER, line } from "./support/Lines.ts"
import { MemoryDisk } from "./support/MemoryDisk.ts"

const PATH = "/sessions/one.jsonl"
const DRAFT = `${PATH}.draft`
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

const setUp = (content = HEADER, options: Partial<Options> = {}, name = PATH) => {
  const memory = new MemoryDisk()
  memory.put(name, content)
  const disk = FaultyDisk.make(memory)
  const foreign: Array<string> = []
  const failures: Array<unknown> = []
  let replacements = 0
  const { inode } = memory.stat(name)
  const open = (more: Partial<Options> = {}) =>
    new AppendFile({
      disk,
      names: [PATH, DRAFT],
      durability: "always",
      from: { inode, end: content.lastIndexOf("\n") + 1 },
      onForeign: (lines) => foreign.push(...lines.map(text)),
      onReplaced: () => void replacements++,
      onFailure: (_, cause) => failures.push(cause),
      ...options,
      ...more
    })
  const file = open()
  /** As another program does it: at the end of whatever the path names. */
  const writeAs = (content: string, path = PATH) => {
    const other = memory.open(path, "append")
    memory.write(other, bytesOf(content))
    memory.close(other)
  }
  const replaceBy = (content: string) => {
    memory.put("/sessions/new", content)
    memory.rename("/sessions/new", PATH)
  }
  return {
    memory,
    disk,
    file,
    open,
    foreign,
    failures,
    replacements: () => replacements,
    writeAs,
    replaceBy,
    content: (path = PATH) => memory.contentOf(path).toString(),
    append: (id: string, length?: number) => file.append(bytesOf(line(id, length)))
  }
}

const code = (cause: unknown): unknown => (cause as NodeJS.ErrnoException).code
const reasonOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => "it succeeded",
    (cause) => code(cause) ?? cause
  )

describe("an append that needs no sync", () => {
  const now = (more: Partial<Options> = {}) => setUp(HEADER, { durability: "never", ...more })

  /** What was answered by the time the call returned. */
  const answered = (file: AppendFile, text: string): ReadonlyArray<unknown> => {
    const answers: Array<unknown> = []
    file.write([text.trimEnd()], (failure) => answers.push(failure?.cause ?? "kept"))
    return answers
  }

  it("is kept when the call returns", () => {
    const { file, content } = now()
    assert.deepStrictEqual(answered(file, line("a")), ["kept"])
    assert.strictEqual(content(), HEADER + line("a"))
  })

  it("is text or bytes", () => {
    const { file, content } = now()
    assert.deepStrictEqual(answered(file, line("折叠")), ["kept"])
    file.write(bytesOf(line("b")), () => {})
    assert.strictEqual(content(), HEADER + line("折叠") + line("b"))
  })

  it("waits its turn behind one that is on its way", async () => {
    const { append, file, disk, content } = now()
    disk.next("write", FaultyDisk.failing("ENOSPC"))
    await reasonOf(append("lost"))
    const first = append("a")
    assert.deepStrictEqual(answered(file, line("b")), [])
    await first
    await file.flush()
    assert.strictEqual(content(), HEADER + line("a") + line("b"))
  })

  it("goes to the file that the path names, not to the one it named before", async () => {
    const { append, disk, replaceBy, content } = now()
    disk.next("write", (go, handle, bytes) => {
      replaceBy(HEADER)
      return go(handle, bytes)
    })
    await append("a")
    assert.strictEqual(content(), HEADER + line("a"))
  })

  it("begins on a line of its own behind what somebody left unfinished", () => {
    const { file, writeAs, content } = now()
    assert.deepStrictEqual(answered(file, line("a")), ["kept"])
    writeAs('{"type":"torn')
    assert.deepStrictEqual(answered(file, line("b")), ["kept"])
    assert.strictEqual(content(), `${HEADER}${line("a")}{"type":"torn\n${line("b")}`)
  })

  it("is written again where somebody left a line unfinished at the same moment", async () => {
    const { append, disk, writeAs, content, foreign } = now()
    disk.next("write", (go, handle, bytes) => {
      writeAs('{"type":"torn')
      return go(handle, bytes)
    })
    await append("a")
    assert.strictEqual(content(), `${HEADER}{"type":"torn${line("a")}${line("a")}`)
    assert.deepStrictEqual(foreign, [`{"type":"torn${line("a").trimEnd()}`])
  })

  it("tells of a failure like any other, and is made good by the next", async () => {
    const { append, file, disk, failures } = now()
    disk.next("write", FaultyDisk.failing("ENOSPC"))
    assert.strictEqual(await reasonOf(append("a")), "ENOSPC")
    assert.deepStrictEqual(failures.map(code), ["ENOSPC"])
    assert.strictEqual(await reasonOf(file.flush()), "ENOSPC")
    await append("b")
    await file.flush()
  })

  it("is refused once the file is closed", async () => {
    const { append, file } = now()
    await file.close()
    assert.match(String(await reasonOf(append("a"))), /closed/)
  })
})

describe("an append", () => {
  it("is one write at the end, then one sync", async () => {
    const { file, disk, content } = setUp()
    await file.append(bytesOf(line("a") + line("b")))
    assert.strictEqual(content(), HEADER + line("a") + line("b"))
    assert.deepStrictEqual([disk.calls.write, disk.calls.sync], [1, 1])
  })

  it("is not acknowledged before the sync is done", async () => {
    const { file, disk } = setUp()
    let release = () => {}
    disk.next("sync", async (go, handle) => {
      await new Promise<void>((done) => {
        release = done
      })
      await go(handle)
    })
    let isAcknowledged = false
    const append = file.append(bytesOf(line("a"))).then(() => {
      isAcknowledged = true
    })
    for (let i = 0; i < 20; i++) await new Promise((next) => setImmediate(next))
    assert.isFalse(isAcknowledged)
    release()
    await append
    assert.isTrue(isAcknowledged)
  })

  it("syncs nothing where durability is not asked for, until it is flushed", async () => {
    const { file, disk } = setUp(HEADER, { durability: "never" })
    await file.append(bytesOf(line("a")))
    assert.strictEqual(disk.calls.sync, 0)
    await file.flush()
    assert.strictEqual(disk.calls.sync, 1)
    await file.close()
    assert.strictEqual(disk.calls.sync, 1)
  })

  it("keeps the order of the calls", async () => {
    const { append, content } = setUp()
    await Promise.all(["a", "b", "c", "d"].map((id) => append(id)))
    assert.strictEqual(content(), HEADER + ["a", "b", "c", "d"].map((id) => line(id)).join(""))
  })

  it("ends the unfinished line of somebody else, and begins on a line of its own", async () => {
    const { append, content, foreign } = setUp(`${HEADER}{"type":"mess`)
    await append("a")
    assert.strictEqual(content(), `${HEADER}{"type":"mess\n${line("a")}`)
    assert.deepStrictEqual(foreign, ['{"type":"mess'])
  })

  it("tells of what others wrote, whole lines alone, each once", async () => {
    const { append, writeAs, file, foreign, content } = setUp()
    writeAs(line("theirs") + line("unfinished").slice(0, 40))
    file.poll()
    file.poll()
    assert.deepStrictEqual(foreign, [line("theirs").trim()])
    writeAs(line("unfinished").slice(40))
    await append("a")
    file.poll()
    assert.deepStrictEqual(foreign, [line("theirs").trim(), line("unfinished").trim()])
    assert.strictEqual(content(), HEADER + line("theirs") + line("unfinished") + line("a"))
  })

  it("is not written to a file that is no longer the one", async () => {
    const { memory, append, replaceBy, content, replacements } = setUp()
    memory.link(PATH, "/sessions/before")
    replaceBy(HEADER)
    await append("a")
    assert.strictEqual(content("/sessions/before"), HEADER)
    assert.strictEqual(content(), HEADER + line("a"))
    assert.strictEqual(replacements(), 1)
  })

  it("is written again when the file is replaced just before the write", async () => {
    const { append, disk, replaceBy, content } = setUp()
    disk.next("write", (go, handle, bytes) => {
      replaceBy(`${HEADER}${line("new")}`)
      return go(handle, bytes)
    })
    await append("a")
    assert.strictEqual(content(), HEADER + line("new") + line("a"))
  })

  it("is written again when the file is replaced while it is synced", async () => {
    const { append, disk, replaceBy, content } = setUp()
    disk.next("sync", async (go, handle) => {
      await go(handle)
      replaceBy(HEADER)
    })
    await append("a")
    assert.strictEqual(content(), HEADER + line("a"))
  })

  it("is written again when the file that replaced ours is as long as ours is with it", async () => {
    const { append, disk, replaceBy, content } = setUp()
    const other = line("b")
    assert.strictEqual(other.length, line("a").length)
    disk.next("sync", async (go, handle) => {
      await go(handle)
      replaceBy(HEADER + other)
    })
    await append("a")
    assert.strictEqual(content(), HEADER + other + line("a"))
  })

  it("begins on a line of its own in a file that is as long as ours was, but unfinished", async () => {
    const { append, replaceBy, memory, writeAs, file, content } = setUp()
    const unfinished = "x".repeat(line("a").length)
    await append("a")
    replaceBy(HEADER + unfinished)
    await append("b")
    assert.strictEqual(content(), `${HEADER}${unfinished}\n${line("b")}`)
    memory.truncate(PATH, HEADER.length)
    file.poll()
    writeAs("x".repeat(`${unfinished}\n${line("b")}`.length))
    await append("c")
    assert.isTrue(content().endsWith(`x\n${line("c")}`))
  })

  it("is written once when whoever replaced the file carried it over", async () => {
    const { append, disk, replaceBy, content, foreign } = setUp()
    disk.next("sync", async (go, handle) => {
      await go(handle)
      replaceBy(HEADER + line("a") + line("b"))
    })
    await append("a")
    assert.strictEqual(content(), HEADER + line("a") + line("b"))
    assert.deepStrictEqual(foreign, [HEADER.trim(), line("a").trim(), line("b").trim()])
  })

  it("is written again when somebody's torn line got in just before it", async () => {
    const { append, disk, writeAs, content } = setUp()
    disk.next("write", (go, handle, bytes) => {
      writeAs('{"type":"torn')
      return go(handle, bytes)
    })
    await append("a")
    assert.strictEqual(content(), `${HEADER}{"type":"torn${line("a")}${line("a")}`)
    assert.isTrue(read(bytesOf(content())).ids.has("a"))
  })

  it("is written once when somebody's whole lines got in before and after it", async () => {
    const { append, disk, writeAs, content, foreign } = setUp()
    disk.next("write", (go, handle, bytes) => {
      writeAs(line("before"))
      const written = go(handle, bytes)
      writeAs(line("after") + line("unfinished").slice(0, 20))
      return written
    })
    await append("a")
    assert.strictEqual(content(), HEADER + line("before") + line("a") + line("after") + line("unfinished").slice(0, 20))
    assert.deepStrictEqual(foreign, [line("before").trim(), line("after").trim()])
  })

  it("finds its file under the final name when a draft gets it between two looks", async () => {
    const { memory, append, disk, content } = setUp(HEADER, {}, DRAFT)
    await append("a")
    disk.next("stat", (go, path) => {
      assert.strictEqual(path, PATH)
      try {
        return go(path)
      } finally {
        memory.rename(DRAFT, PATH)
      }
    })
    await append("b")
    assert.strictEqual(content(), HEADER + line("a") + line("b"))
  })

  it("waits for what a rewriter carries over last", async () => {
    let isWhole = true
    const { append, replaceBy, writeAs, content } = setUp(HEADER, { isWhole: () => isWhole })
    await append("a")
    replaceBy(HEADER)
    isWhole = false
    const later = append("b")
    await new Promise((next) => setTimeout(next, 50))
    assert.strictEqual(content(), HEADER)
    writeAs(line("a"))
    isWhole = true
    await later
    assert.strictEqual(content(), HEADER + line("a") + line("b"))
  })

  it("is refused when the file was replaced by one without what was in it", async () => {
    const { append, replaceBy, content, failures } = setUp(HEADER, { isWhole: () => false })
    replaceBy(HEADER)
    const cause = await append("a").catch((cause) => cause)
    assert.match(cause.message, /replaced by one without entries/)
    assert.deepStrictEqual([content(), failures], [HEADER, [cause]])
  })

  it("is refused after closing, and closing waits for those before it", async () => {
    const { append, file, content } = setUp()
    const before = append("a")
    await file.close()
    await before
    assert.strictEqual(content(), HEADER + line("a"))
    assert.match((await append("b").catch((cause) => cause)).message, /closed/)
    await file.close()
  })
})

describe("a promotion", () => {
  it("gives the draft its final name and syncs the folder", async () => {
    const { file, append, disk, memory, content } = setUp(HEADER, {}, DRAFT)
    await append("a")
    file.promote(PATH)
    assert.deepStrictEqual(memory.names, [PATH])
    assert.strictEqual(disk.calls.syncDirectory, 1)
    await append("b")
    assert.strictEqual(content(), HEADER + line("a") + line("b"))
  })

  it("is no failure when somebody else was first", async () => {
    const { file, append, memory } = setUp(HEADER, {}, DRAFT)
    await append("a")
    memory.rename(DRAFT, PATH)
    file.promote(PATH)
    assert.strictEqual(file.path, PATH)
  })

  it("is noticed by who else has the draft open", async () => {
    const { file, open, append, content } = setUp(HEADER, {}, DRAFT)
    const other = open()
    await append("a")
    file.promote(PATH)
    await other.append(bytesOf(line("b")))
    assert.deepStrictEqual([other.path, content()], [PATH, HEADER + line("a") + line("b")])
  })

  it("that the disk refuses leaves the draft as it is", async () => {
    const { file, append, disk, content } = setUp(HEADER, {}, DRAFT)
    await append("a")
    disk.next("rename", FaultyDisk.failing("EACCES"))
    assert.throws(() => file.promote(PATH), /EACCES/)
    assert.deepStrictEqual([file.path, content(DRAFT)], [DRAFT, HEADER + line("a")])
    file.promote(PATH)
    assert.strictEqual(file.path, PATH)
  })
})

describe("a disk that fails", () => {
  type Disk = ReturnType<typeof setUp>["disk"]
  const { failing, shortBy } = FaultyDisk
  const faults: ReadonlyArray<readonly [string, string, (disk: Disk) => void]> = [
    ["is full", "ENOSPC", (disk) => disk.next("write", failing("ENOSPC"))],
    [
      "takes nothing of a line",
      "ENOSPC",
      (disk) =>
        disk.next(
          "write",
          shortBy(() => 0)
        )
    ],
    [
      "takes one byte of a line",
      "ENOSPC",
      (disk) =>
        disk.next(
          "write",
          shortBy(() => 1)
        )
    ],
    [
      "takes half a line",
      "ENOSPC",
      (disk) =>
        disk.next(
          "write",
          shortBy((length) => length >> 1)
        )
    ],
    [
      "takes all of a line but its end",
      "ENOSPC",
      (disk) =>
        disk.next(
          "write",
          shortBy((length) => length - 1)
        )
    ],
    ["cannot be written", "EIO", (disk) => disk.next("write", failing("EIO"))],
    ["may not be written any more", "EACCES", (disk) => disk.next("write", failing("EACCES"))],
    [
      "cannot sync, twice",
      "EIO",
      (disk) => {
        disk.next("sync", async () => failing("EIO")())
        disk.next("sync", async () => failing("EIO")())
      }
    ],
    [
      "cannot sync and then is full",
      "ENOSPC",
      (disk) => {
        disk.next("sync", async () => failing("EIO")())
        disk.next("write", (go, handle, bytes) => {
          disk.next("write", failing("ENOSPC"))
          return go(handle, bytes)
        })
      }
    ],
    ["cannot be asked before the write", "EIO", (disk) => disk.next("stat", failing("EIO"))],
    [
      "cannot be asked after the write",
      "EIO",
      (disk) =>
        disk.next("write", (go, handle, bytes) => {
          disk.next("stat", failing("EIO"))
          return go(handle, bytes)
        })
    ],
    ["cannot be read", "EIO", (disk) => disk.next("read", failing("EIO"))]
  ]

  describe.each(faults)("that %s", (_, expected, fail) => {
    it("refuses the append with the reason, and keeps everything acknowledged before", async () => {
      const { append, disk, content, writeAs } = setUp()
      await append("before")
      writeAs(line("theirs"))
      fail(disk)
      assert.strictEqual(await reasonOf(append("refused")), expected)
      assert.isTrue(content().startsWith(HEADER + line("before") + line("theirs")))
    })

    it("is told of once, and flush and close fail until an append succeeds", async () => {
      const { append, file, disk, failures, open } = setUp()
      fail(disk)
      await reasonOf(append("refused"))
      assert.deepStrictEqual(failures.map(code), [expected])
      assert.strictEqual(await reasonOf(file.flush()), expected)
      disk.next("write", failing("EIO"))
      await reasonOf(append("refused too"))
      assert.deepStrictEqual(failures.map(code), [expected])
      assert.strictEqual(await reasonOf(file.flush()), expected)
      await append("accepted")
      await file.flush()
      disk.next("write", failing("EIO"))
      await reasonOf(append("refused again"))
      assert.deepStrictEqual(failures.map(code), [expected, "EIO"])
      assert.strictEqual(await reasonOf(file.close()), "EIO")
      await open().close()
    })

    it("is followed by an append that is whole and on a line of its own", async () => {
      const { append, disk, content } = setUp()
      fail(disk)
      await reasonOf(append("refused", 100))
      await append("after")
      const { ids, isSound } = read(bytesOf(content()))
      assert.isTrue(ids.has("after") && isSound)
      assert.isTrue(content().endsWith(`\n${line("after")}`))
    })

    it("fails every append that shared the write, and tells which of their lines are in the file all the same", async () => {
      const { append, disk, file, content, foreign } = setUp()
      fail(disk)
      const reasons = await Promise.all(["a", "b", "c"].map((id) => reasonOf(append(id))))
      assert.deepStrictEqual(reasons, [expected, expected, expected])
      await append("after")
      file.poll()
      const { ids } = read(bytesOf(content()))
      const told = foreign.filter((text) => read(bytesOf(`${HEADER}${text}`)).ids.size > 0)
      assert.deepStrictEqual(
        new Set(told.map((text) => JSON.parse(text).id)),
        new Set([...ids].filter((id) => id !== "after"))
      )
    })
  })

  it("that fails to sync once gets the lines again, on lines of their own", async () => {
    const { append, disk, content, failures } = setUp()
    disk.next("sync", async () => failing("EIO")())
    await append("a")
    assert.strictEqual(content(), `${HEADER}${line("a")}\n${line("a")}`)
    assert.deepStrictEqual([disk.calls.sync, failures], [2, []])
  })

  it("that writes a batch in part keeps the lines it has, and the next append follows them", async () => {
    const { file, append, disk, content } = setUp()
    const lines = ["a", "b", "c"].map((id) => line(id))
    disk.next(
      "write",
      shortBy(() => lines[0]!.length + lines[1]!.length + 10)
    )
    assert.strictEqual(await reasonOf(file.append(bytesOf(lines.join("")))), "ENOSPC")
    await append("after")
    assert.strictEqual(content(), `${HEADER}${lines[0]}${lines[1]}${lines[2]!.slice(0, 10)}\n${line("after")}`)
  })

  it("that lost the file says so, and goes on when it is back", async () => {
    const { append, memory, content } = setUp()
    await append("a")
    const before = content()
    memory.remove(PATH)
    assert.strictEqual(await reasonOf(append("b")), "ENOENT")
    memory.put(PATH, before)
    await append("c")
    assert.strictEqual(content(), HEADER + line("a") + line("c"))
  })

  it("that lost the file while it was written says so", async () => {
    const { append, memory, disk } = setUp()
    disk.next("sync", async (go, handle) => {
      await go(handle)
      memory.remove(PATH)
    })
    assert.strictEqual(await reasonOf(append("a")), "ENOENT")
  })

  it("that may not open the file which replaced ours says so, and goes on when it may", async () => {
    const { append, disk, replaceBy, content } = setUp()
    replaceBy(HEADER)
    disk.next("open", failing("EACCES"))
    assert.strictEqual(await reasonOf(append("a")), "EACCES")
    await append("b")
    assert.strictEqual(content(), HEADER + line("b"))
  })

  it("on which somebody cut the file short is read anew from its start", async () => {
    const { append, memory, replacements, foreign, content } = setUp()
    await append("a")
    // As a program does that writes its file in place: the same inode, shorter.
    memory.truncate(PATH, HEADER.length)
    await append("b")
    assert.strictEqual(replacements(), 1)
    assert.deepStrictEqual(foreign, [HEADER.trim()])
    assert.strictEqual(content(), HEADER + line("b"))
  })
})

describe("64 writers at once", () => {
  it("share their syncs: at most one for 32 appends", async () => {
    const { file, disk, content } = setUp()
    const appends = 64 * 50
    await Promise.all(
      Array.from({ length: 64 }, async (_, writer) => {
        for (let i = 0; i < 50; i++) await file.append(bytesOf(line(`${writer}-${i}`)))
      })
    )
    assert.strictEqual(read(bytesOf(content())).ids.size, appends)
    assert.isAtMost(disk.calls.sync, appends / 32)
    assert.isAtMost(disk.calls.write, appends / 32)
  })
})
