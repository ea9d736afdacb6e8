/** `grove completions`: what a shell runs to complete the words of `grove`. It asks Grove itself what may stand next. */
import { SessionStore } from "@grove/core"
import { Effect } from "effect"
import { UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Completion from "../Completion.ts"
import { chat, commands } from "../commands.ts"
import * as Output from "../Output.ts"

const bash = `# grove completions bash > ~/.local/share/bash-completion/completions/grove
_grove() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(grove completions next -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _grove grove`

const zsh = `#compdef grove
# grove completions zsh > a folder of $fpath, as _grove
_grove() {
  local -a found
  found=("\${(@f)$(grove completions next -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; fi
  _files
}
if [[ "\${funcstack[1]}" = _grove ]]; then _grove "$@"; else compdef _grove grove; fi`

const fish = `# grove completions fish > ~/.config/fish/completions/grove.fish
function __grove_next
  set -l words (commandline -opc) (commandline -ct)
  grove completions next -- $words[2..-1] 2>/dev/null
end
complete -c grove -a '(__grove_next)'`

const scripts: { readonly [shell: string]: string } = { bash, zsh, fish }

/** As many as fit on a screen; whoever looks for an older one knows how its id begins. */
const MOST = 50

const sessionIds = SessionStore.use(({ list }) => list()).pipe(
  Effect.map((listed) => ["@last", ...listed.slice(0, MOST).flatMap(({ id }) => id ?? [])]),
  Effect.catch(() => Effect.succeed([]))
)

const next = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const begun = words.at(-1) ?? ""
  const table = commands.map(({ command }) => command)
  const found = Completion.next(chat.command, table, words.slice(0, -1), begun)
  const ids = found.sessions ? yield* sessionIds : []
  const fitting = [...found.words, ...ids].filter((word) => word.startsWith(begun))
  if (fitting.length > 0) yield* Output.lines(fitting)
})

export const run = Effect.fn("completions")(function* ({ arguments: [shell = "", ...words], unguarded }: Input) {
  if (shell === "next") return yield* next(words)
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined || unguarded > 1) {
    return yield* new UsageError({
      message: `completions are made for ${Object.keys(scripts).join(", ")}, not ${JSON.stringify(shell)}`
    })
  }
  yield* Output.lines([script])
})
