/** What `config.json` says of models: prices, windows and abilities known better than the table, and servers of one's own. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Models } from "@grove/agent"
import { isObject } from "@grove/core/model"

export type ModelSettings = Pick<Models.Options, "overrides" | "providers">

const isProvider = (value: unknown): value is Models.CustomProvider =>
  isObject(value) && typeof value.id === "string" && typeof value.baseUrl === "string"

/** Under `models`: `overrides` by `provider/model`, and `providers`. What is missing or no JSON says nothing. */
export const read = (home: string): ModelSettings => {
  let config: unknown
  try {
    config = JSON.parse(readFileSync(join(home, "config.json"), "utf8"))
  } catch {
    return {}
  }
  const models = isObject(config) && isObject(config.models) ? config.models : {}
  return {
    ...(isObject(models.overrides) && { overrides: models.overrides as NonNullable<ModelSettings["overrides"]> }),
    ...(Array.isArray(models.providers) && { providers: models.providers.filter(isProvider) })
  }
}
