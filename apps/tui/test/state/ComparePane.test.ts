import { assert, describe, expect, it } from "@effect/vitest"
import type { Entry, EntryId } from "@grove/core"
import * as ComparePane from "../../src/state/ComparePane.ts"
import type { World } from "../../src/state/View.ts"
import { linesOf, plan, pressing, reply, screen, sessionOf, user, worldOf } from "./views.ts"

const comparing = (a: string, b: string, entries: ReadonlyArray<Entry.Entry> = plan(), columns = 80, rows = 24) => {
  const world = worldOf(sessionOf(entries), columns, rows)
  const state = ComparePane.open(world, a as EntryId, b as EntryId)
  const press = pressing(ComparePane.on, world)
  return {
    world,
    state,
    press: (...keys: ReadonlyArray<string>) => {
      const after = press(state, ...keys)
      return { ...after, lines: after.state === null ? [] : linesOf(ComparePane.draw(after.state, world), world) }
    }
  }
}

describe("two branches compared", () => {
  it.each([
    [80, 24],
    [120, 40]
  ])("look like this at %i columns and %i lines", async (columns, rows) => {
    const { world, state } = comparing("s2", "a3", plan(), columns, rows)
    await expect(screen(ComparePane.draw(state, world), world)).toMatchFileSnapshot(
      `golden/compare-${columns}x${rows}.txt`
    )
  })
  it("tell what each cost since they parted", () => {
    const { lines } = comparing("s2", "a3").press("w")
    assert.include(lines[0], "2 entries in common")
    assert.match(lines[1]!, /^ A {2}sqlite then .*2 entries · .* tokens · \$0\.40/)
    assert.match(lines[2]!, /^ B {2}41 passed, coverage 93 % .*5 entries · .*\$1\.21/)
  })
  it("cost what they would today, and what is unknown is said to be", () => {
    const told = (price: World["price"]) => {
      const world = { ...worldOf(sessionOf(plan()), 80, 24), price }
      const drawn = ComparePane.draw(ComparePane.open(world, "s2" as EntryId, "a3" as EntryId), world)
      return linesOf(drawn, world)[1]!
    }
    assert.include(
      told(() => 2_000_000),
      "$2.00"
    )
    assert.notMatch(
      told(() => null),
      /\$\d/
    )
  })
  it("hide what is the same, and show it when asked", () => {
    const same = Array.from({ length: 30 }, (_, i) => `same ${i}`).join("\n")
    const entries = [
      user("u", null, "hi"),
      reply("a", "u", "hello"),
      user("b1", "a", "go"),
      reply("b2", "b1", `${same}\nleft`),
      user("c1", "a", "go"),
      reply("c2", "c1", `${same}\nright`)
    ]
    const short = comparing("b2", "c2", entries).press("home").lines.join("\n")
    assert.include(short, "≈ 29 same lines")
    assert.include(short, "A left")
    assert.include(short, "B right")
    assert.notMatch(short, /^ {3}same 5$/m)
    assert.include(comparing("b2", "c2", entries).press("w").lines.join("\n"), "   same 5")
    const down = comparing("b2", "c2", entries).press("w", "end").lines.join("\n")
    assert.include(down, "B right")
  })
  it("lead to either side", () => {
    assert.deepStrictEqual(comparing("s2", "a3").press("a").intents, [{ _tag: "Move", to: "s2" }])
    assert.deepStrictEqual(comparing("s2", "a3").press("b").intents, [{ _tag: "Move", to: "a3" }])
    assert.isNull(comparing("s2", "a3").press("escape").state)
  })
  it("say so if they do not differ", () => {
    assert.include(comparing("a3", "a3").press("down").lines.join("\n"), "one and the same entry")
  })
  it("fit any screen, whatever is pressed", () => {
    for (const columns of [20, 41, 80, 133]) {
      for (const rows of [6, 10, 24, 50]) {
        const { press, world, state } = comparing("l2", "a3", plan(), columns, rows)
        screen(ComparePane.draw(state, world), world)
        press("down", "]", "]", "pagedown", "w", "end", "[", "up", "pageup", "x")
      }
    }
  })
})
