/** `node scripts/fuzz.mjs [lines] [first seed]`: damaged files, read both ways. A million lines unless said otherwise. */
import { load, numbers } from "./bundle.mjs"

const [lines, seed] = numbers(1_000_000, 1)
const { fuzz } = await load("Fuzz")
console.log(JSON.stringify(fuzz(lines, seed)))
