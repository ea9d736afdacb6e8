/** Numbers, times and names as people are told them. */
import { Figures, Preview } from "@grove/core/model"

export const { age, count } = Figures

/** A path, an id or a message as it may be printed in a line: what a terminal would obey is shown instead. */
export const safe = (text: string): string => Preview.inert(text).replaceAll("\n", "␊")

/** Millionths of a dollar; unknown prices are said to be unknown. */
export const money = (micros: number | null): string =>
  micros === null ? "cost unknown" : `$${(micros / 1e6).toFixed(2)}`
