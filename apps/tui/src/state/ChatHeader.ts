/** The first line of the chat: which session and branch this is, who answers, how full the context is. */
import { Preview } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import * as Row from "./Row.ts"
import type { SessionState, World } from "./View.ts"

interface Place {
  readonly branch: string
}
const places = new WeakMap<SessionState, Place>()

/** Which branch this is, told at the last fork of the path. */
const placeOf = (session: SessionState): Place => {
  const known = places.get(session)
  if (known !== undefined) return known
  const { tree } = session
  const blocks = Blocks.of(session)
  let branch = ""
  let label: string | undefined
  for (let i = blocks.length - 1; i >= 0; i--) {
    const { row } = blocks[i]!
    label ??= tree.facts.labels.get(tree.idAt(row)!)
    const siblings = Blocks.siblingsOf(tree, row)
    if (siblings === undefined) continue
    const turn = blocks.slice(0, i + 1).filter((block) => tree.roleAt(block.row) === "user").length
    const name = label === undefined ? "" : ` ${Preview.line(label, 20)}`
    branch = `branch${name} (${siblings.index + 1} of ${siblings.rows.length} at turn ${Math.max(1, turn)})`
    break
  }
  const place = { branch }
  places.set(session, place)
  return place
}

const shortId = (id: string): string => id.slice(-8)

export const header = (world: World): Row.Row => {
  const { columns, symbols, session, model, linear } = world
  const { branch } = placeOf(session)
  const parts = [
    "grove",
    session.name === null ? shortId(session.ref.id) : Preview.line(session.name, Math.floor(columns / 3)),
    ...(linear ? ["linear"] : branch === "" ? [] : [branch])
  ].filter((part) => part !== "")
  const share =
    model?.window == null || session.tokens === null
      ? ""
      : `${Math.min(999, Math.round((100 * session.tokens) / model.window))} %`
  const right = [model?.model ?? "no model", share, ...(world.approval === "default" ? [] : [world.approval])]
    .filter((part) => part !== "")
    .join(symbols.dot)
  const left: Row.Row = [
    Row.span(` ${parts[0]}`, "title"),
    Row.span(
      parts
        .slice(1)
        .map((part) => symbols.dot + part)
        .join(""),
      "dim"
    )
  ]
  return Row.spread(left, Row.row(`${right} `, "dim"), columns)
}
