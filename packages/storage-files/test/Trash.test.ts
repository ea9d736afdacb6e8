import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Disk from "../src/Disk.ts"
import * as Trash from "../src/Trash.ts"
import { HOUR, type Home, killedAnywhere, makeHome, pathOf } from "./support/Home.ts"
import { fileOf, header, temporary, user, write } from "./support.ts"

const { live } = it

/** A session with everything that may belong to one. */
const prepared = (): Home => {
  const home = makeHome()
  const path = home.session("s1", user("a1", null, "hello"))
  home.session("s10", user("b1", null, "another, whose name begins alike"))
  write(`${path}.draft`, fileOf(header({ id: "s1" })))
  write(`${path}.v1.bak`, "version 1")
  write(`${path}.v1.bak.2`, "version 1 again")
  write(`${path}.rejected`, "{")
  home.write(
    path
      .slice(home.home.length + 1)
      .replace("--home-ada--", "--old-place--")
      .concat(".bak"),
    "before it was moved"
  )
  write(home.indexOf(path), "index")
  return home
}

const move = ({ home, paths }: Home) => Trash.move(paths, { id: "s1", path: pathOf(home, "s1") })

describe("a session in the trash", () => {
  live("has left nothing in its place, and others are as they were", () =>
    Effect.gen(function* () {
      const home = prepared()
      const before = home.contents()
      const trashed = yield* move(home)
      const left = Object.keys(home.contents()).filter((name) => !name.startsWith("trash/"))
      assert.deepStrictEqual(left, [pathOf("", "s10")])
      assert.strictEqual(trashed.path, pathOf(home.home, "s1"))
      assert.strictEqual(readFileSync(Trash.file(trashed), "latin1"), before[pathOf("", "s1")])
      assert.deepStrictEqual(
        (yield* Trash.list(home.home)).map(({ id, path }) => ({ id, path })),
        [{ id: "s1", path: pathOf(home.home, "s1") }]
      )
      for (const name of ["trash", trashed.folder.slice(home.home.length + 1)]) {
        assert.strictEqual(statSync(join(home.home, name)).mode & 0o777, 0o700)
      }
    })
  )

  live("comes back exactly", () =>
    Effect.gen(function* () {
      const home = prepared()
      const before = home.contents()
      const path = pathOf(home.home, "s1")
      const { ino, mtimeMs } = statSync(path)
      yield* Trash.restore(yield* move(home))
      assert.deepStrictEqual(home.contents(), before)
      assert.deepStrictEqual([statSync(path).ino, statSync(path).mtimeMs], [ino, mtimeMs], "it is the very same file")
      assert.deepStrictEqual(yield* Trash.list(home.home), [])
      assert.deepStrictEqual(readdirSync(join(home.home, "trash")), [])
    })
  )

  live("comes back also where its folder is gone", () =>
    Effect.gen(function* () {
      const home = prepared()
      const before = home.contents()
      const trashed = yield* move(home)
      rmSync(join(home.home, "sessions/--old-place--"), { recursive: true })
      yield* Trash.restore(trashed)
      assert.deepStrictEqual(home.contents(), before)
    })
  )

  live.each([[""], [".draft"], [".v1.bak"]])(
    "is not put back over a file that has come to be there: <file>%s",
    ([ending]) =>
      Effect.gen(function* () {
        const home = prepared()
        const trashed = yield* move(home)
        const taken = write(`${pathOf(home.home, "s1")}${ending}`, "somebody else's")
        const before = home.contents()
        const error = yield* Effect.flip(Trash.restore(trashed))
        assert.deepStrictEqual([error._tag, (error as Trash.PlaceTaken).path], ["PlaceTaken", taken])
        assert.deepStrictEqual(home.contents(), before, "and nothing was moved")
      })
  )

  live("gives way to a newer index, which is a cache", () =>
    Effect.gen(function* () {
      const home = prepared()
      const trashed = yield* move(home)
      write(home.indexOf(pathOf(home.home, "s1")), "newer")
      yield* Trash.restore(trashed)
      assert.strictEqual(readFileSync(home.indexOf(pathOf(home.home, "s1")), "utf8"), "newer")
      assert.deepStrictEqual(readdirSync(join(home.home, "trash")), [])
    })
  )

  live("may be a draft that never became more", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const path = pathOf(home.home, "s1")
      write(`${path}.draft`, fileOf(header({ id: "s1" })))
      const before = home.contents()
      const trashed = yield* move(home)
      assert.strictEqual(trashed.path, path)
      assert.isFalse(existsSync(`${path}.draft`))
      yield* Trash.restore(yield* Trash.find(home.home, path))
      assert.deepStrictEqual(home.contents(), before)
    })
  )

  live("may be trashed and brought back again and again, and twice under the same id", () =>
    Effect.gen(function* () {
      const home = prepared()
      const before = home.contents()
      for (let i = 0; i < 3; i++) yield* Trash.restore(yield* move(home))
      assert.deepStrictEqual(home.contents(), before)
      yield* move(home)
      home.session("s1")
      yield* move(home)
      const error = yield* Effect.flip(Trash.find(home.home, "s1"))
      assert.strictEqual(error._tag, "TrashAmbiguous")
      for (const folder of (error as Trash.TrashAmbiguous).candidates) {
        assert.strictEqual((yield* Trash.find(home.home, folder)).id, "s1")
      }
    })
  )

  live("is moved as the file a link leads to", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const file = write(join(temporary(), "real.jsonl"), fileOf(header()))
      mkdirSync(home.home, { recursive: true })
      symlinkSync(file, join(home.home, "link.jsonl"))
      const trashed = yield* Trash.move(home.paths, { id: "x", path: join(home.home, "link.jsonl") })
      assert.strictEqual(trashed.path, file)
      assert.isFalse(existsSync(file))
    })
  )
})

describe("finding in the trash", () => {
  const twoIds = ["0195aaaa-1111-7000-8000-00000000cafe", "0195bbbb-2222-7000-8000-00000000beef"] as const
  const filled = Effect.gen(function* () {
    const home = makeHome()
    for (const id of twoIds) yield* Trash.move(home.paths, { id, path: home.session(id) })
    return home.home
  })

  live("goes by id, by prefix or suffix, and by the path it had", () =>
    Effect.gen(function* () {
      const home = yield* filled
      for (const name of [twoIds[0], "0195aaaa", "0000cafe", pathOf(home, twoIds[0])]) {
        assert.strictEqual((yield* Trash.find(home, name)).id, twoIds[0])
      }
    })
  )

  live("tells who is meant by what several answer to, and what nobody answers to", () =>
    Effect.gen(function* () {
      const home = yield* filled
      const ambiguous = yield* Effect.flip(Trash.find(home, "0195"))
      assert.deepStrictEqual((ambiguous as Trash.TrashAmbiguous).candidates.toSorted(), [...twoIds])
      assert.strictEqual((yield* Effect.flip(Trash.find(home, "ffff")))._tag, "NotInTrash")
      assert.strictEqual((yield* Effect.flip(Trash.find(makeHome().home, "ffff")))._tag, "NotInTrash")
    })
  )

  live("is not led astray by damaged notes", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const notes = [
        "",
        "{",
        '{"version":1,"id":"x","trashed":"","files":[]}',
        '{"version":1,"id":"x","trashed":"","files":[{"name":"../../x","from":"/x"}]}',
        '{"version":1,"id":"x","trashed":"","files":[{"name":"..","from":"/x"}]}',
        '{"version":1,"id":"x","trashed":"","files":[{"name":"x","from":"relative"}]}'
      ]
      for (const [i, note] of notes.entries()) {
        home.write(`trash/${i}.json`, note)
        home.write(`trash/${i}/x`, "x")
      }
      assert.deepStrictEqual(yield* Trash.list(home.home), [])
      yield* Trash.settle(home.home)
      assert.strictEqual(Object.keys(home.contents()).length, notes.length * 2, "and nothing of them is touched")
    })
  )

  live("a session that is not there cannot be moved", () =>
    Effect.gen(function* () {
      const home = makeHome()
      assert.strictEqual((yield* Effect.flip(move(home)))._tag, "FileRefused")
      assert.deepStrictEqual(home.contents(), {})
    })
  )
})

/** Where every file of a session is, each in one place or with two names; by what it holds. */
const whereabouts = (home: Home): ReadonlyArray<string> =>
  Object.entries(home.contents())
    .filter(([name]) => !name.endsWith(".json") && !name.endsWith(".tmp"))
    .map(([, data]) => data)

/** As if the notes in the trash had been written an hour ago. */
const ageNotes = (home: Home): void => {
  for (const name of readdirSync(join(home.home, "trash")).filter((one) => one.endsWith(".json"))) {
    const path = join(home.home, "trash", name)
    const note = JSON.parse(readFileSync(path, "utf8"))
    write(path, JSON.stringify({ ...note, trashed: new Date(Date.parse(note.trashed) - HOUR).toISOString() }))
  }
}

interface Prepared {
  readonly home: Home
  readonly before: { readonly [path: string]: string }
}
const remembered = (): Prepared => {
  const home = prepared()
  return { home, before: home.contents() }
}
const inPlace = (home: Home) => Object.keys(home.contents()).filter((name) => !name.startsWith("trash/"))

describe("killed at any step", () => {
  live("of a move, nothing is lost: the session is in its place or in the trash, and can be moved or put back", () =>
    Effect.gen(function* () {
      const places = yield* killedAnywhere(
        remembered,
        ({ home }) => move(home),
        ({ home, before }, step) =>
          Effect.gen(function* () {
            const all = whereabouts(home)
            for (const data of Object.values(before)) assert.include(all, data, `killed at step ${step}`)
            const [trashed] = yield* Trash.list(home.home)
            if (trashed === undefined) assert.deepStrictEqual(inPlace(home), Object.keys(before))
            yield* Trash.restore(trashed ?? (yield* move(home)))
            for (const [name, data] of Object.entries(before)) assert.strictEqual(home.contents()[name], data, name)
          })
      )
      assert.isAbove(places, 15, "it was killed at every step there is")
    })
  )

  live("of a move, the next cleaning finishes it", () =>
    killedAnywhere(
      remembered,
      ({ home }) => move(home),
      ({ home, before }) =>
        Effect.gen(function* () {
          if (!existsSync(join(home.home, "trash"))) return
          const isTrashed = (yield* Trash.list(home.home)).length === 1
          const interrupted = home.contents()
          yield* Trash.settle(home.home)
          assert.deepStrictEqual(home.contents(), interrupted, "but not while it may be under way")
          ageNotes(home)
          yield* Trash.settle(home.home)
          assert.deepStrictEqual(inPlace(home), isTrashed ? [pathOf("", "s10")] : Object.keys(before))
          assert.strictEqual((yield* Trash.list(home.home)).length, isTrashed ? 1 : 0)
        })
    )
  )

  live("of putting back, nothing is lost, and doing it again finishes it", () =>
    Effect.gen(function* () {
      const places = yield* killedAnywhere(
        remembered,
        ({ home }) => Effect.flatMap(Effect.provideService(move(home), Disk.Disk, Disk.real), Trash.restore),
        ({ home, before }, step) =>
          Effect.gen(function* () {
            const all = whereabouts(home)
            for (const data of Object.values(before)) assert.include(all, data, `killed at step ${step}`)
            const [trashed] = yield* Trash.list(home.home)
            if (trashed !== undefined) yield* Trash.restore(trashed)
            else assert.includeMembers(inPlace(home), Object.keys(before), "the session came last")
            ageNotes(home)
            yield* Trash.settle(home.home)
            assert.deepStrictEqual(home.contents(), before)
          })
      )
      assert.isAbove(places, 15)
    })
  )
})

describe("across disks", () => {
  /** A disk on which no file can have a name elsewhere. */
  const apart: Disk.Disk = {
    ...Disk.real,
    link: () => {
      throw Object.assign(new Error("cross-device link"), { code: "EXDEV" })
    }
  }

  live("a session is copied whole before it goes, and comes back exactly", () =>
    Effect.gen(function* () {
      const home = prepared()
      const before = home.contents()
      const trashed = yield* move(home)
      assert.strictEqual(Object.keys(home.contents()).filter((name) => name.startsWith("sessions/")).length, 1)
      yield* Trash.restore(trashed)
      assert.deepStrictEqual(home.contents(), before)
    }).pipe(Effect.provideService(Disk.Disk, apart))
  )

  live("what is appended while it is copied is copied too", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const path = home.session("s1")
      const open = `${path}.open`
      linkSync(path, open)
      const late = fileOf(user("late", null, "appended meanwhile"))
      const disk: Disk.Disk = {
        ...apart,
        remove: (name) => {
          if (name === path) {
            const file = Disk.real.open(open, "append")
            Disk.real.write(file, Buffer.from(late))
            Disk.real.close(file)
          }
          Disk.real.remove(name)
        }
      }
      const trashed = yield* Effect.provideService(move(home), Disk.Disk, disk)
      assert.isTrue(readFileSync(Trash.file(trashed), "utf8").endsWith(late))
    })
  )

  live("nothing is put over a file that is there", () =>
    Effect.gen(function* () {
      const home = makeHome()
      home.session("s1")
      const trashed = yield* move(home)
      write(trashed.path, "somebody else's")
      assert.strictEqual((yield* Effect.flip(Trash.restore(trashed)))._tag, "PlaceTaken")
      assert.strictEqual(readFileSync(trashed.path, "utf8"), "somebody else's")
    }).pipe(Effect.provideService(Disk.Disk, apart))
  )
})
