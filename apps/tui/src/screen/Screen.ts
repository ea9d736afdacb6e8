/** The thin layer over blessed: paints frames, reads keys, and leaves the terminal as it was found, whatever happens. */
import { createRequire } from "node:module"
import { PassThrough } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import type { ReadStream, WriteStream } from "node:tty"
import type { Widgets } from "blessed"
import * as Keys from "../keys.ts"
import type { Row } from "../state/Row.ts"
import type { Frame } from "../state/View.ts"
import * as Theme from "./Theme.ts"
import * as Widths from "./Widths.ts"

export interface Options {
  readonly input: ReadStream
  readonly output: WriteStream
  readonly theme: Theme.Theme
  readonly colors: Theme.Colors
  /** Whether the terminal shows more than ASCII. */
  readonly unicode: boolean
  readonly onInput: (input: Keys.Input) => void
  readonly onResize: (columns: number, rows: number) => void
}

export interface Screen {
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly paint: (frame: Frame) => void
  /** The next frame is painted whole, whatever the terminal shows. */
  readonly forget: () => void
  /** Gives the terminal back until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
  readonly close: () => void
}

const RESET = "\x1b[0m"

const textOf = (row: Row, sequences: (style: Row[number]["style"]) => string): string =>
  row
    .map(({ text, style }) => {
      const sequence = text === "" ? "" : sequences(style)
      return sequence === "" ? text : `${sequence}${text}${RESET}`
    })
    .join("")

/** blessed is given a stream that says nothing: keys are decoded here. */
const silentInput = (): ReadStream =>
  Object.assign(new PassThrough(), { isTTY: true, isRaw: true, setRawMode: () => undefined }) as unknown as ReadStream

export const open = (options: Options): Screen => {
  const { input, output, onInput, onResize } = options
  Widths.install()
  const blessed = createRequire(import.meta.url)("blessed") as typeof import("blessed")
  const look = Theme.lookOf(options.theme, options.colors)
  const sequences = (style: Row[number]["style"]) => Theme.sequenceOf(look, style)

  // ------------------------------------------------------------------------------------------------------ input
  const decoder = new StringDecoder("utf8")
  let pending = ""
  let timer: NodeJS.Timeout | undefined
  const drain = (isAll: boolean) => {
    const { inputs, rest } = Keys.decode(pending, isAll)
    pending = rest
    for (const each of inputs) onInput(each)
  }
  const onData = (chunk: Buffer) => {
    clearTimeout(timer)
    pending += decoder.write(chunk)
    drain(false)
    if (pending !== "" && !Keys.isPasting(pending)) timer = setTimeout(() => drain(true), Keys.ESCAPE_MILLIS)
  }
  const listen = () => {
    input.setRawMode(true)
    input.on("data", onData)
    input.resume()
  }
  const deafen = () => {
    clearTimeout(timer)
    input.off("data", onData)
    input.pause()
    if (!input.destroyed) input.setRawMode(false)
  }

  // ----------------------------------------------------------------------------------------------------- screen
  const screen = blessed.screen({
    input: silentInput(),
    output,
    smartCSR: true,
    fullUnicode: true,
    warnings: false,
    autoPadding: false,
    // What every terminal of today understands; their own descriptions name much that blessed cannot read.
    terminal: "xterm-256color"
  } as unknown as Widgets.IScreenOptions) as Widgets.Screen & { readonly enter: () => void; readonly leave: () => void }
  const { program } = screen
  // Lines are characters like all others, not a second character set.
  const { tput } = screen as unknown as { readonly tput: { brokenACS: boolean; unicode: boolean } }
  tput.brokenACS = true
  tput.unicode = options.unicode
  // Rows are as wide as the screen already. blessed would cut them by their code units, of which an emoji has more than
  // columns; in a box wider than the screen it does not, and paints what is on the screen.
  const box = blessed.box({ parent: screen, top: 0, left: 0, width: "200%", height: "100%", tags: false, wrap: false })
  let caret: Frame["caret"] = null
  const placeCaret = () => {
    if (caret === null) program.hideCursor()
    else {
      program.cup(caret.line, caret.column)
      program.showCursor()
    }
  }
  const size = () => ({ columns: Number(screen.width), rows: Number(screen.height) })
  screen.on("resize", () => onResize(size().columns, size().rows))

  const enable = () => output.write(Keys.ENABLE)
  const disable = () => output.write(Keys.DISABLE)
  let isOpen = true
  let isPaused = false
  enable()
  listen()

  return {
    size,
    paint: (frame) => {
      // What is not ours now is not painted on.
      if (!isOpen || isPaused) return
      box.setContent(frame.rows.map((row) => textOf(row, sequences)).join("\n"))
      screen.render()
      caret = frame.caret
      placeCaret()
      program.flush()
    },
    forget: () => {
      screen.alloc()
    },
    pause: () => {
      isPaused = true
      disable()
      deafen()
      program.showCursor()
      screen.leave()
      program.flush()
    },
    resume: () => {
      isPaused = false
      screen.enter()
      enable()
      listen()
      screen.alloc()
    },
    close: () => {
      if (!isOpen) return
      isOpen = false
      disable()
      deafen()
      screen.destroy()
    }
  }
}
