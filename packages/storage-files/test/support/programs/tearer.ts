/** Appends lines of 10 MB until it is killed in one of them: `tearer <path> <name>`. */
import { closeSync, openSync, writeSync } from "node:fs"
import { line } from "../Lines.ts"
import { ready } from "./program.ts"

const [path = "", name = ""] = process.argv.slice(2)
const text = Buffer.from(line(name, 10_000_000))
const file = openSync(path, "a")
await ready()
for (let i = 0; i < 8; i++) writeSync(file, text)
closeSync(file)
