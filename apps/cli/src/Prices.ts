/** What requests cost: one rule for whatever tells a cost. */
import { Pricing } from "@grove/agent"
import type { Usage } from "@grove/core"
import { Effect } from "effect"
import type { Environment } from "./Environment.ts"
import * as Output from "./Output.ts"
import * as Settings from "./Settings.ts"

/** By what the person has configured, else by the table. A file that cannot be read is told; the table goes on alone. */
export const today: Effect.Effect<Usage.Pricer, never, Environment> = Settings.read.pipe(
  Effect.catch(({ message }) =>
    Effect.as(Output.note(`${message} (its prices are not used)`), {} as Settings.Settings)
  ),
  Effect.map(({ models }) => Pricing.today(models?.overrides))
)
