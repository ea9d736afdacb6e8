/** Consents as small files that only their owner can read, one a session, named by a hash of the session's id and place. */
import { createHash, randomBytes } from "node:crypto"
import { lstat, mkdir, open, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Consent, Consents, ConsentsError, noConsent, type SessionRef } from "@grove/core"
import { Effect, Layer, Option, Schema } from "effect"

export const folder = (home: string): string => join(home, "consents")

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Consent))

/** As UTF-16, in which two texts never become the same bytes. */
const nameOf = ({ id, path }: SessionRef): string =>
  createHash("sha256")
    .update(Buffer.from(JSON.stringify([id, path]), "utf16le"))
    .digest("hex")

/** Where the consent of a session is kept. */
export const fileOf = (directory: string, session: SessionRef): string => join(directory, nameOf(session))

/** A file that others could have written says nothing about what the person wants. */
const read = async (file: string): Promise<Consent> => {
  try {
    const { uid, mode } = await lstat(file)
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
    return isOwn ? Option.getOrElse(decode(await readFile(file, "utf8")), () => noConsent) : noConsent
  } catch {
    return noConsent
  }
}

const writeDurably = async (directory: string, name: string, text: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = join(directory, `.${name}.${randomBytes(6).toString("hex")}.tmp`)
  const file = await open(temporary, "wx", 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
    await file.close()
    await rename(temporary, join(directory, name))
  } catch (cause) {
    await file.close().catch(() => {})
    await rm(temporary, { force: true })
    throw cause
  }
}

export const make = ({ directory }: { readonly directory: string }) =>
  Consents.of({
    find: Effect.fn("FileConsents.find")((session) => Effect.promise(() => read(fileOf(directory, session)))),
    note: Effect.fn("FileConsents.note")((session, { mode, tools }) =>
      Effect.tryPromise({
        try: () => writeDurably(directory, nameOf(session), `${JSON.stringify({ mode, tools })}\n`),
        catch: (cause) => new ConsentsError({ session: session.id, cause })
      })
    )
  })

export const layer = (options: { readonly directory: string }) => Layer.sync(Consents, () => make(options))
