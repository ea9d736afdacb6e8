/** What went wrong, in one line for a person. */
import { SessionStoreError } from "@grove/core"

const causes: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOENT: "it is gone",
  ENOSPC: "the disk is full",
  EDQUOT: "your quota on this disk is used up",
  EROFS: "the file system is read-only",
  EIO: "the disk reported an error"
}

const causeOf = (cause: unknown): string => {
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException
  return (code === undefined ? undefined : causes[code]) ?? message ?? String(cause)
}

const ofStore = ({ session, reason }: SessionStoreError): string => {
  switch (reason._tag) {
    case "SessionNotFound":
      return `there is no session ${session}`
    case "SessionAmbiguous":
      return `${session} could be one of ${reason.candidates.length} sessions`
    case "NotASession":
      return `${session} is not a session; it was not changed`
    case "SessionExists":
      return `session ${session} exists already`
    case "SessionReadOnly":
      return "this session was written by a newer program and can only be read"
    case "StoreRefused":
      return `cannot write ${session}: ${causeOf(reason.cause)}; what you typed is still here`
  }
}

export const explain = (error: unknown): string => {
  const text =
    error instanceof SessionStoreError ? ofStore(error) : error instanceof Error ? error.message : String(error)
  return text.replace(/\s+/g, " ")
}
