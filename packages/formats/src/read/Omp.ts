/** Sessions of oh-my-pi and xcsh: Pi's format with a title slot and entries of its own. */
import * as Pi from "./Pi.ts"
import type { Reader } from "./Reader.ts"

export const reader: Reader = {
  format: "omp",
  recognises: ({ lines }) => Pi.isSession(lines) && Pi.isOmp(lines),
  read: (source) => Pi.translate("omp", source)
}
