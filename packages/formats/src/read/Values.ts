/** Values of foreign files, where they are what they should be. */
import { isObject, type Json } from "@grove/core"

/** A text that is not empty. */
export const stringIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

export const objectIn = (value: unknown): Json => (isObject(value) ? value : {})

/** The objects of a list. */
export const objectsIn = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isObject) : [])
