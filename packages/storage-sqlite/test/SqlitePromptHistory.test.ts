import { join } from "node:path"
import { PromptHistoryContract } from "@grove/core/testing"
import * as SqlitePromptHistory from "../src/SqlitePromptHistory.ts"
import { drivers, temporary } from "./support.ts"

for (const driver of drivers) {
  PromptHistoryContract.suite(
    `SQLite by ${driver.name}`,
    SqlitePromptHistory.layer({ path: join(temporary(), "history.db"), driver })
  )
}
