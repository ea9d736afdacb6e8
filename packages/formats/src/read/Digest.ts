/** Names made from what they name, so that the same source always translates to the same ids. */
import { createHash } from "node:crypto"

/** Twelve hex digits, as Grove's own ids have. */
export const digest = (...parts: ReadonlyArray<string | number>): string =>
  createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 12)
