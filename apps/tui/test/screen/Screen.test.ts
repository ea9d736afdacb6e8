import { PassThrough, Writable } from "node:stream"
import type { ReadStream, WriteStream } from "node:tty"
import { assert, it } from "@effect/vitest"
import xterm from "@xterm/headless"
import type { Input } from "../../src/keys.ts"
import * as Screen from "../../src/screen/Screen.ts"
import * as Row from "../../src/state/Row.ts"

const COLUMNS = 40
const LINES = 6

/** A terminal that nobody looks at, and the screen that paints on it. */
const make = () => {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: LINES, allowProposedApi: true })
  const sent: Array<string> = []
  const waiting: Array<Promise<void>> = []
  const output = Object.assign(
    new Writable({
      write: (chunk, _, done) => {
        sent.push(String(chunk))
        waiting.push(new Promise((resolve) => terminal.write(String(chunk), resolve)))
        done()
      }
    }),
    { columns: COLUMNS, rows: LINES, isTTY: true }
  ) as unknown as WriteStream
  const modes: Array<boolean> = []
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (mode: boolean) => modes.push(mode) })
  const inputs: Array<Input> = []
  const screen = Screen.open({
    input: input as unknown as ReadStream,
    output,
    theme: "dark",
    colors: 256,
    unicode: true,
    onInput: (each) => inputs.push(each),
    onResize: () => undefined
  })
  const lines = async () => {
    await Promise.all(waiting)
    return Array.from(
      { length: LINES },
      (_, y) => terminal.buffer.active.getLine(y)?.translateToString(true).trimEnd() ?? ""
    )
  }
  const paint = (...texts: ReadonlyArray<string>) =>
    screen.paint({ rows: texts.map((text) => Row.row(text, "accent")), caret: { line: 0, column: 2 } })
  return { screen, terminal, input, inputs, modes, sent, lines, paint }
}

it("a row that fills the screen is painted to its last column, whatever it is made of", async () => {
  const { screen, lines, paint } = make()
  const full = (text: string) => `${text}${".".repeat(COLUMNS - 1 - Row.width(Row.row(text)))}|`
  const texts = [full("👩 🎉🎉🎉"), full("会话🎉"), full("plain"), full("🎉".repeat(19))]
  paint(...texts)
  assert.deepStrictEqual((await lines()).slice(0, 4), texts)
  screen.close()
})

it("nothing is painted while the terminal belongs to somebody else, and all of it afterwards", async () => {
  const { screen, sent, lines, paint } = make()
  paint("before")
  screen.pause()
  sent.length = 0
  paint("between")
  assert.deepStrictEqual(sent, [])
  screen.resume()
  paint("after")
  assert.strictEqual((await lines())[0], "after")
  screen.close()
})

it("what is painted over wide characters leaves no half of them behind", async () => {
  const { screen, lines, paint } = make()
  for (const texts of [
    ["会话树保留每个分支", "ab会"],
    ["a会话树", "会"],
    ["한국어 x", "────"],
    ["plain", ""],
    ["テスト·…‹2/3›", "会话"]
  ]) {
    paint(...texts)
    assert.deepStrictEqual((await lines()).slice(0, 2), texts)
  }
  screen.close()
})

it("the caret of the terminal is where the text is written, for whoever composes characters there", async () => {
  const { screen, terminal, lines, paint } = make()
  paint("会话")
  await lines()
  assert.deepStrictEqual([terminal.buffer.active.cursorX, terminal.buffer.active.cursorY], [2, 0])
  screen.close()
})

it("text that looks like sequences is text", async () => {
  const { screen, lines, paint } = make()
  paint("a\x1b[2Jb {bold}c{/bold}", "d")
  assert.deepStrictEqual((await lines()).slice(0, 2), ["a␛[2Jb {bold}c{/bold}", "d"])
  screen.close()
})

it("keys come as they are typed, a paste as one", () => {
  const { screen, input, inputs } = make()
  input.write("会\x1b[A\x1b[200~one\ntwo\x1b[201~")
  input.read(0)
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    assert.deepStrictEqual(
      inputs.map((each) => (each._tag === "Key" ? each.name : each._tag)),
      ["会", "up", "Paste"]
    )
    screen.close()
  })
})

it("closing turns off all that was turned on", async () => {
  const { screen, terminal, modes, sent, lines, paint } = make()
  paint("x")
  screen.close()
  await lines()
  assert.strictEqual(terminal.buffer.active.type, "normal")
  assert.deepStrictEqual(modes, [true, false])
  const all = sent.join("")
  for (const mode of ["2004", "1000", "1006"]) {
    assert.isAbove(all.lastIndexOf(`\x1b[?${mode}l`), all.lastIndexOf(`\x1b[?${mode}h`))
  }
})
