/** All keys and commands on one page. */
import type { Command } from "./Commands.ts"
import * as Row from "./Row.ts"
import * as TextView from "./TextView.ts"
import * as TreeKeys from "./TreeKeys.ts"
import type { View, World } from "./View.ts"

const SECTIONS: ReadonlyArray<readonly [title: string, keys: ReadonlyArray<readonly [key: string, about: string]>]> = [
  [
    "Writing",
    [
      ["Enter", "send; while a reply runs, queue"],
      ["Shift+Enter  Alt+Enter  \\ Enter", "a new line"],
      ["Up  Down", "through what you typed before"],
      ["Tab", "complete /commands and @files"],
      ["!command  !!command", "run a command yourself; of one after !! the model sees nothing"],
      ["Ctrl+G", "write in $EDITOR"],
      ["Ctrl+_  Alt+Y", "undo, redo"],
      ["Ctrl+W U K Y", "cut word, to the start, to the end; put back"],
      ["Ctrl+Left Right  Alt+B F", "by words"]
    ]
  ],
  [
    "Conversation",
    [
      ["PageUp PageDown  wheel", "scroll; Shift+Up and Down by one row, Shift+End follows again"],
      ["Alt+Up  Alt+Down", "select a message; Enter unfolds it, Esc lets go"],
      ["Alt+Left  Alt+Right", "the other answer at the nearest fork, or at the selected message"],
      ["Ctrl+O", "unfold or fold all tools and thinking"],
      ["Ctrl+S", "search"],
      ["Esc", "cancel the reply"],
      ["Esc Esc", "go back to before a prompt"]
    ]
  ],
  [
    "Everywhere",
    [
      ["Ctrl+T", "tree"],
      ["Ctrl+R", "history of prompts"],
      ["Ctrl+P", "all commands"],
      ["Ctrl+L", "draw the screen anew"],
      ["Ctrl+Z", "to the shell; fg comes back"],
      ["Ctrl+C  Ctrl+D", "clear, cancel, quit"],
      ["Shift+drag", "select text with the mouse"]
    ]
  ]
]

/** Keys of the lists: sessions, forks, history, commands, models. */
const LISTS: ReadonlyArray<readonly [key: string, about: string]> = [
  ["letters", "filter"],
  ["Up  Down  PageUp  PageDown", "move"],
  ["Enter", "take; Esc takes the filter back, then closes"],
  ["/resume", "Tab all folders, ^S sort, ^R rename, ^D to the trash, ^T tree, ^W web viewer"],
  ["^R history", "^R scope, ^S by time, ^O open that turn, ^D delete"],
  ["/fork", "Tab gives the new session a name"]
]

const LEFT = 34

const line = (left: string, right: string, columns: number): ReadonlyArray<Row.Row> =>
  columns < 70
    ? [
        Row.row(`  ${left}`, "accent"),
        ...Row.indent(Row.wrap(Row.row(right), columns - 6), Row.row("      "), Row.row("      "))
      ]
    : Row.indent(
        Row.wrap(Row.row(right), columns - LEFT - 4),
        [Row.span(`  ${left}`.padEnd(LEFT + 2), "accent"), Row.span(left.length > LEFT - 1 ? " " : "")],
        Row.row(" ".repeat(LEFT + 2))
      )

export const page = (
  name: string,
  title: string,
  rows: (columns: number, world: World) => ReadonlyArray<Row.Row>
): View => TextView.make({ name, title, rows })

export const make = (commands: ReadonlyArray<Command>): View =>
  page("help", "KEYS AND COMMANDS", (columns, world) => [
    ...[...SECTIONS, ["In /tree", TreeKeys.full(world)] as const, ["In lists", LISTS] as const].flatMap(
      ([title, keys]) => [
        Row.empty,
        Row.row(title, "heading"),
        ...keys.flatMap(([key, about]) => line(key, about, columns))
      ]
    ),
    Row.empty,
    Row.row("Commands", "heading"),
    ...commands.flatMap(({ name, takes, about }) =>
      line(`/${name}${takes === undefined ? "" : ` ${takes}`}`, about, columns)
    )
  ])
