/** What the tests share: folders that nobody has used, and every driver that loads here. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "@effect/vitest"
import * as SqliteDriver from "../src/SqliteDriver.ts"

export const drivers = SqliteDriver.available()

export const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "grove-sqlite-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
