/**
 * Sessions of Claude Code. One reply is written as a line for each of its blocks, and results of parallel calls hang on
 * those lines, so the links fork where the conversation does not: both are put together again here.
 */
import { basename } from "node:path"
import { isObject, type Json } from "@grove/core"
import * as Messages from "./ClaudeMessages.ts"
import { asTask, compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Forest from "./Forest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note, TranslatedSession } from "./Translation.ts"
import { stringIn } from "./Values.ts"

const FORMAT = "claude-code"

type Link = Messages.Link

/** Lines that name the session, the one that counts most first. */
const TITLES = [
  ["custom-title", "customTitle"],
  ["ai-title", "aiTitle"],
  ["summary", "summary"]
] as const

/** The conversation's lines, each uuid once; all others are left out with a note. */
const linksIn = (
  lines: ReadonlyArray<Lines.Line>,
  repaired: Array<Note>,
  unmapped: Array<Note>
): ReadonlyArray<Link> => {
  const links = new Map<string, Link>()
  for (const { line, value } of lines) {
    const uuid = stringIn(value.uuid)
    const isTitle = TITLES.some(([type]) => type === value.type)
    if ((uuid === undefined && !isTitle) || isPassing(value))
      unmapped.push({ line, kind: stringIn(value.type) ?? "unknown" })
    if (uuid === undefined) continue
    if (links.has(uuid)) repaired.push({ line, kind: "duplicate-id" })
    else links.set(uuid, { line, uuid, parent: stringIn(value.parentUuid) ?? null, value })
  }
  return [...links.values()]
}

/** What only told how far something was: it is left out, and what hangs on it hangs on what it hung on. */
const isPassing = ({ type }: Json): boolean => type === "progress"

// --------------------------------------------------------------------------------------------------------- parents

/**
 * Each line with the line it follows in truth: a compaction follows what it summarised, what was kept by a compaction
 * follows it from then on, and a parent that was never written is the line before.
 */
const rewired = (links: ReadonlyArray<Link>, repaired: Array<Note>): ReadonlyArray<Link> => {
  const order = new Map(links.map(({ uuid }, i) => [uuid, i]))
  const keptBy = new Map<string, string>()
  return links.map((link, at) => {
    const isBefore = (uuid: string | undefined): boolean => (order.get(uuid ?? "") ?? at) < at
    const previous = links[at - 1]?.uuid ?? null
    if (Messages.isBoundary(link)) {
      const kept = Messages.keptBy(link).filter(isBefore)
      for (const uuid of kept) keptBy.set(uuid, link.uuid)
      const logical = stringIn(link.value.logicalParentUuid)
      return { ...link, parent: isBefore(logical) ? logical! : (kept.at(-1) ?? link.parent ?? previous) }
    }
    if (link.parent === null) return link
    if (order.has(link.parent)) return { ...link, parent: keptBy.get(link.parent) ?? link.parent }
    repaired.push({ line: link.line, kind: "unknown-parent" })
    return { ...link, parent: previous }
  })
}

// --------------------------------------------------------------------------------------------------------- units

/** A reply of the model and the results of its calls, which no branch goes through. */
interface Unit {
  readonly links: Array<Link>
  readonly calls: Map<string, string>
  /** The last of its entries. */
  tail: string
}

/** Which unit each line belongs to. A reply goes on only below itself or below the results of its own calls. */
const unitsIn = (links: ReadonlyArray<Link>) => {
  const ofLine = new Map<string, Unit>()
  const ofReply = new Map<string, Unit>()
  const ofCall = new Map<string, Unit>()
  for (const link of links) {
    const above = ofLine.get(link.parent ?? "")
    const { type } = link.value
    let unit: Unit | undefined
    if (isPassing(link.value)) unit = above
    else if (type === "assistant") {
      const reply = stringIn(Messages.messageOf(link).id)
      const known = reply === undefined ? undefined : ofReply.get(reply)
      unit = known !== undefined && known === above ? known : { links: [], calls: new Map(), tail: link.uuid }
      unit.links.push(link)
      if (reply !== undefined) ofReply.set(reply, unit)
      for (const { id, name } of Messages.blocksOf(link).filter(Messages.isCall)) {
        unit.calls.set(String(id), stringIn(name) ?? "unknown")
        ofCall.set(String(id), unit)
      }
    } else if (type === "user") {
      const [result] = Messages.blocksOf(link).filter(Messages.isResult)
      unit = result === undefined ? undefined : ofCall.get(String(result.tool_use_id))
    }
    if (unit !== undefined) ofLine.set(link.uuid, unit)
  }
  return { ofLine, ofCall }
}

// --------------------------------------------------------------------------------------------------------- pieces

/** For each compaction, the line with its summary. */
const summariesIn = (links: ReadonlyArray<Link>): ReadonlyMap<string, Link> => {
  const boundaries = new Set(links.filter(Messages.isBoundary).map(({ uuid }) => uuid))
  const found = new Map<string, Link>()
  for (const link of links) {
    const { parent } = link
    if (parent !== null && boundaries.has(parent) && !found.has(parent) && Messages.isSummary(link))
      found.set(parent, link)
  }
  return found
}

const piecesOf = (links: ReadonlyArray<Link>, repaired: Array<Note>, unmapped: Array<Note>): ReadonlyArray<Piece> => {
  const { ofLine, ofCall } = unitsIn(links)
  const summaries = summariesIn(links)
  const parents = new Map(links.map(({ uuid, parent }) => [uuid, parent]))
  /** The last entry that a line was made into; lines that were made into none are not in it. */
  const last = new Map<string, string>()
  const made: Array<{
    readonly link: Link
    readonly id: string
    readonly below: string | null
    readonly body: Piece["body"]
  }> = []
  const make = (link: Link, body: Piece["body"], unit?: Unit): void => {
    const before = last.get(link.uuid)
    const id = before === undefined ? link.uuid : digest(link.uuid, before)
    made.push({ link, id, below: unit?.tail ?? before ?? null, body })
    last.set(link.uuid, id)
    if (unit !== undefined) unit.tail = id
  }
  for (const link of links) {
    const { type } = link.value
    const summary = summaries.get(link.uuid)
    if (isPassing(link.value) || summaries.get(link.parent ?? "") === link) continue
    if (type === "assistant") {
      const unit = ofLine.get(link.uuid)!
      if (unit.links[0] === link) make(link, Messages.reply(unit.links, unmapped))
    } else if (summary !== undefined) {
      make(link, Messages.compaction(link, summary))
    } else if (type === "user" && link.value.isCompactSummary === true) {
      make(link, Messages.compaction(link, link))
    } else if (type === "user") {
      const blocks = Messages.blocksOf(link)
      const results = blocks.filter(Messages.isResult)
      for (const block of results) {
        const unit = ofCall.get(String(block.tool_use_id))
        if (unit === undefined) repaired.push({ line: link.line, kind: "orphan-result" })
        make(
          link,
          Messages.result(block, link, unit?.calls.get(String(block.tool_use_id)) ?? "unknown", unmapped),
          unit
        )
      }
      const rest = blocks.filter((block) => !Messages.isResult(block))
      if (results.length === 0 || rest.length > 0)
        make(link, Messages.prompt(link, rest, unmapped), ofLine.get(link.uuid))
    } else make(link, Messages.other(link))
  }
  const endOf = Forest.endsOf(parents, (uuid) => ofLine.get(uuid)?.tail ?? last.get(uuid))
  return made.map(({ link, id, below, body }) => ({
    ...{ id, parentId: below ?? endOf(link.parent), line: link.line, timestamp: link.value.timestamp },
    ...{ entry: link.uuid, body: keeping(body, (uuid) => last.get(uuid)) }
  }))
}

/** The first entry that a compaction kept, where there is one. */
const keeping = (body: Piece["body"], entryOf: (uuid: string) => string | undefined): Piece["body"] => {
  if (body.type !== "compaction" || typeof body.firstKeptEntryId !== "string") return body
  const { firstKeptEntryId, ...rest } = body
  const kept = entryOf(firstKeptEntryId)
  return kept === undefined ? rest : { ...rest, firstKeptEntryId: kept }
}

// --------------------------------------------------------------------------------------------------------- session

const first = <A>(links: ReadonlyArray<Link>, of: (link: Link) => A | undefined): A | undefined => {
  for (const link of links) {
    const found = of(link)
    if (found !== undefined) return found
  }
  return undefined
}

const forkedFrom = ({ value }: Link): string | undefined =>
  isObject(value.forkedFrom) ? stringIn(value.forkedFrom.sessionId) : undefined

/** A fork in the background names nothing that it comes from, but begins with the same line. */
const sharedWith = (source: Source, [start]: ReadonlyArray<Link>): string | undefined => {
  if (start === undefined || start.value.sessionKind !== "bg") return undefined
  const own = basename(source.file)
  const found = source.namesIn(".").filter((name) => {
    const bytes = name !== own && UUID.test(name.replace(/\.jsonl$/, "")) ? source.beside(name) : undefined
    return (
      bytes !== undefined &&
      Buffer.from(bytes).includes(start.uuid) &&
      !Buffer.from(bytes).includes('"sessionKind":"bg"')
    )
  })
  return found[0]?.replace(/\.jsonl$/, "")
}

const titleIn = (lines: ReadonlyArray<Lines.Line>, links: ReadonlyArray<Link>): string | undefined => {
  const uuids = new Set(links.map(({ uuid }) => uuid))
  for (const [type, field] of TITLES) {
    // An old summary may name a line of another file, whose title it is.
    const own = lines.filter(
      ({ value }) => value.type === type && (type !== "summary" || uuids.has(String(value.leafUuid)))
    )
    const title = stringIn(own.at(-1)?.value[field])
    if (title !== undefined) return title
  }
  return undefined
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Files are named after their session, also where their lines were copied from another. */
const idIn = (file: string, links: ReadonlyArray<Link>): string | undefined => {
  const name = basename(file).replace(/\.jsonl$/, "")
  return UUID.test(name) ? name : first(links, ({ value }) => stringIn(value.sessionId))
}

/** Lines of sub-agents, by agent; older files have them among their own, and name no agent. */
const byAgent = (links: ReadonlyArray<Link>): ReadonlyMap<string, ReadonlyArray<Link>> => {
  const agents = new Map<string, Array<Link>>()
  const agentOf = new Map<string, string>()
  for (const link of links) {
    const agent = stringIn(link.value.agentId) ?? agentOf.get(link.parent ?? "") ?? link.uuid
    agentOf.set(link.uuid, agent)
    const own = agents.get(agent)
    if (own === undefined) agents.set(agent, [link])
    else own.push(link)
  }
  return agents
}

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const lines = Lines.objects(source.bytes, repaired)
  const links = linksIn(lines, repaired, unmapped)
  const isSide = ({ value }: Link): boolean => value.isSidechain === true
  const main = links.filter((link) => !isSide(link))
  const side = links.filter(isSide)
  const own = idIn(source.file, links)
  const id = Names.session(FORMAT, own, links[0]?.uuid ?? source.file)
  const sessionOf = (
    part: ReadonlyArray<Link>,
    name: string,
    fields: { readonly agent?: string }
  ): TranslatedSession => {
    const joined = rewired(part, repaired)
    const pieces = piecesOf(joined, repaired, unmapped)
    const { agent } = fields
    const parent = agent === undefined ? (first(part, forkedFrom) ?? sharedWith(source, part)) : id
    const composed = agent === undefined ? pieces : asTask(pieces, name)
    return compose(
      {
        ...{ format: FORMAT, file: source.file, session: own ?? null, id: name, timestamp: part[0]?.value.timestamp },
        cwd: first(part, ({ value }) => stringIn(value.cwd)) ?? "",
        parentSession: parent === name ? undefined : parent,
        name: agent === undefined ? titleIn(lines, links) : undefined,
        ...{ pieces: composed, leaf: leafOf(composed) }
      },
      repaired
    )
  }
  const agents = [...byAgent(side)].map(([agent, part]) => {
    const safe = Names.isPlain(agent) && !/[.:]/.test(agent) ? agent : digest(agent)
    return sessionOf(part, Names.session(FORMAT, `${id}.agent-${safe}`, part[0]!.uuid), { agent })
  })
  const sessions = main.length === 0 ? agents : [sessionOf(main, id, {}), ...agents]
  return { format: FORMAT, sessions, repaired, unmapped } as const
}

/** Where the program would go on: at the last entry it wrote. */
const leafOf = (pieces: ReadonlyArray<Piece>): string | null => pieces.at(-1)?.id ?? null

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ lines }) =>
    lines.some(
      (line) => typeof line.uuid === "string" && "parentUuid" in line && "sessionId" in line && line.type !== "message"
    ),
  read
}
