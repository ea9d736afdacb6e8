/** What packages say of themselves. */
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { root } from "../setup/tools.mjs"
import { entryPoints, omissions, omissionsOf, published, versioned } from "./manifests.mjs"

const whole = { license: "MIT", engines: { node: ">=20" } }
const complete = {
  ...{ name: "@grove/a", version: "1.0.0", description: "A.", type: "module", files: ["dist"], ...whole },
  exports: { ".": { types: "./dist/a.d.ts", default: "./dist/a.js" }, "./package.json": "./package.json" }
}

test("a manifest that says everything has no omissions", () => {
  assert.deepEqual(omissions(complete, whole), [])
})

test("what a manifest leaves unsaid is named", () => {
  assert.deepEqual(omissions({ name: "@grove/a" }, whole), [
    "has no description",
    "is not of type module",
    "is not under MIT",
    "does not ask for Node >=20",
    "does not list dist in its files",
    "has no exports"
  ])
})

test("code without types and another version of a sibling are omissions", () => {
  const exports = { ".": "./dist/a.js", "./b": { default: "./dist/b.js" } }
  assert.deepEqual(omissions({ ...complete, exports, dependencies: { "@grove/b": "0.9.0" } }, whole), [
    "exports . without types",
    "exports ./b without types",
    "wants @grove/b 0.9.0, not its own version"
  ])
})

test("entry points are written as others import them", () => {
  const exports = { ".": {}, "./model": {}, "./package.json": "./package.json" }
  assert.deepEqual(entryPoints({ name: "@grove/core", exports }), ["@grove/core", "@grove/core/model"])
})

for (const found of published) {
  test(`${found.manifest.name} says everything, and brings its README and licence`, () => {
    assert.deepEqual(omissionsOf(found), [])
    assert.equal(readFileSync(`${root}${found.folder}/LICENSE`, "utf8"), readFileSync(`${root}LICENSE`, "utf8"))
  })
}

test("everything that is published gets one version together", () => {
  assert.deepEqual(versioned().toSorted(), published.map(({ manifest }) => manifest.name).toSorted())
})
