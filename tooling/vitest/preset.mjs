/** The vitest settings every package shares. */
import { defineConfig } from "vitest/config"

// Node 20 has neither groupBy. vitest 5 needs one to print why a test failed, the other to write a snapshot.
Map.groupBy ??= (items, keyOf) => {
  const groups = new Map()
  let index = 0
  for (const item of items) {
    const key = keyOf(item, index++)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
Object.groupBy ??= (items, keyOf) => Object.fromEntries(Map.groupBy(items, keyOf))

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // `npm test` adds up the counts of all packages from these reports.
    reporters: ["default", ["json", { outputFile: ".reports/vitest.json" }]],
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
