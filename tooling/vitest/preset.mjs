/** The vitest settings every package shares. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // `npm test` adds up the counts of all packages from these reports.
    reporters: ["default", ["json", { outputFile: ".reports/vitest.json" }]],
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
