/** What the tests of this package share: folders that vanish after the test, and small sessions. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach } from "@effect/vitest"

export type Json = { readonly [key: string]: unknown }

const made: Array<string> = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** An empty folder, gone after the test. */
export const temporary = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "grove-files-")))
  made.push(folder)
  return folder
}

/** Runs as somebody else where it is run by root, to whom no file is closed. */
export const withoutPrivilege = async <A>(work: () => Promise<A>): Promise<A> => {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid!(65534)
  try {
    return await work()
  } finally {
    process.seteuid!(0)
  }
}

export const write = (path: string, data: string | Uint8Array): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, data)
  return path
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

export const header = (fields: Json = {}): Json => ({
  type: "session",
  version: 3,
  id: "session-0001",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/home/ada",
  ...fields
})

/** A file of those lines; objects are encoded, strings stand as they are. */
export const fileOf = (...lines: ReadonlyArray<object | string>): string =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")

export const user = (id: string, parentId: string | null, content: unknown, fields: Json = {}): Json => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:01:00.000Z",
  message: { role: "user", content },
  ...fields
})

export const image = (hash: string): Json => ({ type: "image", mimeType: "image/png", data: `blob:sha256:${hash}` })
