/** Where the key of a provider comes from: the environment, else a file that nobody but its owner can read. */
import { readFile, stat } from "node:fs/promises"
import { Chat, isObject } from "@grove/core"
import { Effect, Redacted } from "effect"

export interface Options {
  /** The environment, handed in by whoever may read it. */
  readonly environment: { readonly [name: string]: string | undefined }
  /** `{"<provider>": "<key>"}`, or `{"<provider>": {"key": "<key>"}}`. */
  readonly file?: string
}

export interface Keys {
  /** The key of `provider`, from the first of these variables that is set, else from the file. Its label says where it was. */
  readonly find: (
    provider: string,
    variables: ReadonlyArray<string>
  ) => Effect.Effect<Redacted.Redacted, Chat.NoKey | Chat.WrongKey>
}

/** What may stand in a header. Anything else would be quoted, key and all, in the error of who sends it. */
const SENDABLE = /^[\x21-\x7e]+$/

const usable = (key: string, place: string): Effect.Effect<Redacted.Redacted, Chat.WrongKey> =>
  SENDABLE.test(key)
    ? Effect.succeed(Redacted.make(key, { label: place }))
    : Effect.fail(new Chat.WrongKey({ detail: `what ${place} holds has characters that no key has` }))

const inFile = async (file: string, provider: string): Promise<string | Chat.NoKey | undefined> => {
  try {
    if (((await stat(file)).mode & 0o077) !== 0) {
      return new Chat.NoKey({ remedy: `others can read ${file}, so it is not used; chmod 600 it` })
    }
    const keys: unknown = JSON.parse(await readFile(file, "utf8"))
    const found = isObject(keys) && Object.hasOwn(keys, provider) ? keys[provider] : undefined
    const key = isObject(found) ? found.key : found
    return typeof key === "string" && key.trim() !== "" ? key.trim() : undefined
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined
    return new Chat.NoKey({ remedy: `${file} could not be read as JSON` })
  }
}

export const make = ({ environment, file }: Options): Keys => ({
  find: Effect.fnUntraced(function* (provider, variables) {
    for (const name of variables) {
      const key = environment[name]?.trim()
      if (key !== undefined && key !== "") return yield* usable(key, name)
    }
    const kept = file === undefined ? undefined : yield* Effect.promise(() => inFile(file, provider))
    if (typeof kept === "string") return yield* usable(kept, file!)
    if (kept !== undefined) return yield* kept
    const places = [...variables.map((name) => `set ${name}`), ...(file === undefined ? [] : [`put it into ${file}`])]
    return yield* new Chat.NoKey({ remedy: places.join(" or ") })
  })
})
