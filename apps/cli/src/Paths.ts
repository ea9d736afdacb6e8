/** The folders in use, for commands that work on files rather than on sessions. */
import type { SessionPaths } from "@grove/storage-files"
import { Context } from "effect"

export class Paths extends Context.Service<Paths, SessionPaths.SessionPaths>()("@grove/cli/Paths") {}
