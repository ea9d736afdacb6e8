/** A page to read: help, usage, comparisons. Scrolls, and any other key closes it. */
import * as Row from "./Row.ts"
import type { Event, Next, View, World } from "./View.ts"

interface Page {
  readonly name: string
  readonly title: string
  readonly rows: (columns: number, world: World) => ReadonlyArray<Row.Row>
}

export const make = (page: Page): View => at(page, 0)

const at = (page: Page, top: number): View => ({
  name: page.name,
  on: (event, world) => on(page, top, event, world),
  draw: (world) => {
    const { columns, rows, symbols } = world
    const all = page.rows(columns - 2, world)
    const room = Math.max(1, rows - 2)
    const shown = all.slice(clamp(top, all.length, room), clamp(top, all.length, room) + room)
    const filler = Array.from({ length: Math.max(0, room - shown.length) }, () => Row.empty)
    const more = all.length > room ? `${symbols.up}${symbols.down} scroll${symbols.dot}` : ""
    return {
      rows: [
        Row.row(` ${page.title}`, "title"),
        ...shown.map((row) => [Row.span(" "), ...row]),
        ...filler,
        Row.row(` ${more}Esc back`, "dim")
      ].slice(0, rows),
      caret: null
    }
  }
})

const clamp = (top: number, length: number, room: number): number => Math.max(0, Math.min(top, length - room))

const on = (page: Page, top: number, event: Event, world: World): Next => {
  const room = Math.max(1, world.rows - 2)
  const to = (next: number): Next => ({ view: at(page, clamp(next, page.rows(world.columns - 2, world).length, room)) })
  if (event._tag === "Wheel") return to(top + event.lines)
  if (event._tag !== "Key") return { view: at(page, top) }
  switch (event.name) {
    case "up":
    case "k":
      return to(top - 1)
    case "down":
    case "j":
      return to(top + 1)
    case "pageup":
      return to(top - room)
    case "pagedown":
    case "space":
      return to(top + room)
    case "home":
      return to(0)
    case "end":
      return to(Number.MAX_SAFE_INTEGER)
    default:
      return { view: null }
  }
}
