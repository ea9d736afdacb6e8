/** Structs that keep what they do not know, so that a file written by a newer program survives us. */
import { Schema } from "effect"

/** A struct that checks the named fields and carries every other one along unchanged. */
export const open = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)])

export type Json = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const stringOr = <A>(value: unknown, otherwise: A): string | A => (typeof value === "string" ? value : otherwise)
