/** A walk over a JSON value of any depth that changes some members and shares everything else with the original. */

export type Container = Record<string, unknown> | Array<unknown>

/** An object or array on the way down. */
export interface Frame {
  readonly node: Container
  readonly above: Frame | undefined
  /** Its name in the node above; empty for the value the walk began with. */
  readonly key: string
  /** What stands for the node once something in it or below has changed. */
  copy: Container | undefined
}

export const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null

const frameOf = (node: Container, above: Frame | undefined, key: string): Frame => ({
  node,
  above,
  key,
  copy: undefined
})

/** The copy of a node that may be changed. The nodes above it are copied too, and no others. */
export const writable = (frame: Frame): Record<string, unknown> => {
  for (let at: Frame | undefined = frame, below: Frame | undefined; at !== undefined; below = at, at = at.above) {
    const isNew = at.copy === undefined
    at.copy ??= Array.isArray(at.node) ? [...at.node] : { ...at.node }
    if (below !== undefined) (at.copy as Record<string, unknown>)[below.key] = below.copy
    if (!isNew) break
  }
  return frame.copy as Record<string, unknown>
}

/**
 * Shows `visit` every member once, parents before what is below them; it may change the frame's `writable` copy, and
 * answers whether the walk goes below the member. Answers the root itself if nothing was changed.
 */
export const walk = <Root extends object>(
  root: Root,
  visit: (frame: Frame, key: string, value: unknown) => boolean
): Root => {
  const top = frameOf(root as unknown as Container, undefined, "")
  const pending = [top]
  for (let frame = pending.pop(); frame !== undefined; frame = pending.pop()) {
    const { node } = frame
    for (const key of Object.keys(node)) {
      const value = (node as Record<string, unknown>)[key]
      if (visit(frame, key, value) && isContainer(value)) pending.push(frameOf(value, frame, key))
    }
  }
  return (top.copy ?? root) as Root
}

/** Where a member is, as a JSON pointer (RFC 6901). */
export const pointer = (frame: Frame, key: string): string => {
  const keys = [key]
  for (let at = frame; at.above !== undefined; at = at.above) keys.push(at.key)
  return keys
    .reverse()
    .map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("")
}
