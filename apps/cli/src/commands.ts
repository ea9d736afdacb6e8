/** Every subcommand, with what its help says. The code of each is loaded when it is called. */
import type { SessionStore, SessionStoreError } from "@grove/core"
import { TreeView, UsageReport } from "@grove/core/model"
import { formats as FORMATS } from "@grove/formats/Format"
import type { Scope } from "effect/Scope"
import type { Failure, Negative, UsageError } from "./CliError.ts"
import type { Command, Run } from "./Command.ts"
import type { Environment } from "./Environment.ts"
import type { Paths } from "./Paths.ts"
import { KEYS } from "./SettingKeys.ts"
import type { Signalled } from "./Signals.ts"

export type CommandError = UsageError | Failure | Negative | SessionStoreError | Signalled
type CommandServices = Environment | Paths | Scope | SessionStore

interface Loadable {
  readonly command: Command
  readonly load: () => Promise<Run<CommandError, CommandServices>>
}

const session = {
  name: "s",
  required: true,
  about: "a session: path, id, prefix or suffix of an id, or @last"
} as const
const leaf = {
  type: "string",
  value: "entry",
  about: "as seen from this entry instead of where the session stands"
} as const

const linear = {
  type: "boolean",
  about: "as one line: the path to the newest entry, without edits and branches"
} as const

/** What `grove` does without the name of a command. */
const chatCommand: Command = {
  name: "",
  about: "The chat. With -p, or where there is no terminal, one answer alone goes to standard output.",
  arguments: [{ name: "prompt", about: "what to answer; with -p also read from standard input" }],
  flags: {
    print: { type: "boolean", short: "p", about: "answer and leave" },
    continue: { type: "boolean", short: "c", about: "go on with the last session of this terminal or folder" },
    resume: {
      type: "string",
      short: "r",
      value: "s",
      optional: true,
      about: "go on with a session; alone, choose one"
    },
    session: { type: "string", value: "s", about: "go on with a session, or make one at a new .jsonl path" },
    fork: { type: "string", value: "s", about: "go on in a copy of a session" },
    "no-session": { type: "boolean", about: "record nothing anywhere" },
    model: { type: "string", value: "provider/model", about: "which model answers" },
    at: { type: "string", value: "entry|none", about: "with -p: say it under this entry, or as a new root" },
    samples: { type: "string", value: "n", about: "with -p: so many answers, side by side" },
    approval: { type: "string", choices: ["default", "autoEdit", "yolo"], about: "what tools may do without asking" },
    linear: { type: "boolean", about: "one line of conversation: no branches, nothing switched off" }
  },
  examples: ['grove -p "how tall is an elm?"', 'git diff | grove -p "review this"', 'grove -p -c "and an oak?"']
}

export const chat: Loadable = { command: chatCommand, load: () => import("./commands/chat.ts") }

export const commands: ReadonlyArray<Loadable> = [
  {
    command: {
      name: "ls",
      about: "Lists sessions, newest first.",
      arguments: [],
      flags: { all: { type: "boolean", about: "also those of sub-agents and of other programs" } }
    },
    load: () => import("./commands/ls.ts")
  },
  {
    command: {
      name: "show",
      about: "Tells what a session is: header, name, where it stands, counts, labels, cost.",
      arguments: [session],
      flags: { leaf }
    },
    load: () => import("./commands/show.ts")
  },
  {
    command: {
      name: "tree",
      about: "Draws a session as a tree. Side branches are folded to one line each.",
      arguments: [session],
      flags: {
        filter: {
          type: "string",
          choices: TreeView.filters,
          about: "which entries are shown (people: turns, --json: all)"
        },
        unfold: { type: "boolean", about: "draw side branches whole" },
        ids: { type: "boolean", about: "what each entry is named by, for --leaf and grove edit" },
        linear
      },
      examples: ["grove tree @last", "grove tree 3f9c --filter user"]
    },
    load: () => import("./commands/tree.ts")
  },
  {
    command: {
      name: "branches",
      about: "Lists the branches of a session: every path to an entry without children.",
      arguments: [session],
      flags: {}
    },
    load: () => import("./commands/branches.ts")
  },
  {
    command: {
      name: "context",
      about: "Shows what the model is shown.",
      arguments: [session],
      flags: {
        leaf: { ...leaf, value: "entry|none" },
        linear,
        sendable: { type: "boolean", about: "as a provider accepts it, and what was changed for that" }
      }
    },
    load: () => import("./commands/context.ts")
  },
  {
    command: {
      name: "compare",
      about: "Compares two branches: what they share, what each cost, how their turns differ.",
      arguments: [
        session,
        { name: "leafA", required: true, about: "the end of one branch" },
        { name: "leafB", required: true, about: "the end of the other" }
      ],
      flags: {},
      examples: ["grove compare @last f3e2 09c5"]
    },
    load: () => import("./commands/compare.ts")
  },
  {
    command: {
      name: "edit",
      about: "Changes how a session is read. Nothing that was said is lost, and every edit can be undone.",
      arguments: [
        session,
        {
          name: "operation",
          required: true,
          words: [
            ...["enable", "disable", "prune", "graft", "merge", "summarize", "leaf", "label"],
            ...["name", "rate", "stash", "undo", "redo"]
          ],
          about:
            "enable|disable <id>...; prune <id>; graft <source> <target>; merge <leaf>; summarize <id>..<id>; leaf <id>|none; label <id> [text]; name [text]; rate <id> <1-5>|none; stash; undo [edit]; redo"
        },
        { name: "words", many: true, about: "what the operation is about" }
      ],
      flags: {
        force: { type: "boolean", about: "prune: even where a reply is being generated" },
        onto: { type: "string", value: "entry", about: "merge: to this entry instead of where the session stands" },
        pick: { type: "string", value: "id,...", about: "merge: copy these entries of the branch" },
        summary: { type: "boolean", about: "merge: put a summary of the branch here" },
        text: {
          type: "string",
          value: "summary",
          about: "merge --summary, summarize: the summary; =- reads it from standard input"
        },
        note: { type: "string", value: "text", about: "rate: a note beside the rating" }
      },
      examples: [
        "grove edit @last disable 9a01 77c2",
        "grove edit @last merge f3e2 --pick 4497,4370",
        "grove edit @last summarize 8b5c..4497 --text 'The route is read.'",
        "grove edit @last undo"
      ]
    },
    load: () => import("./commands/edit.ts")
  },
  {
    command: {
      name: "import",
      about: "Takes in sessions of other programs; without a path, all that are found in the usual places.",
      arguments: [{ name: "path", many: true, about: "files or folders; they are only read" }],
      flags: {
        from: { type: "string", choices: [...FORMATS, "auto"], about: "whose files they are (default: auto)" },
        "dry-run": { type: "boolean", about: "only say what would be done" }
      },
      examples: [
        "grove import",
        "grove import ~/.claude/projects --dry-run",
        "grove import conversations.json --from chatgpt"
      ]
    },
    load: () => import("./commands/import.ts")
  },
  {
    command: {
      name: "usage",
      about: "Tells what all sessions used and cost. A fork does not count again what its parent did.",
      arguments: [],
      flags: { by: { type: "string", choices: UsageReport.groupings, about: "a row for each (default: day, of UTC)" } }
    },
    load: () => import("./commands/usage.ts")
  },
  {
    command: {
      name: "models",
      about: "Lists the models there are, and why some would not answer now.",
      arguments: [],
      flags: {}
    },
    load: () => import("./commands/models.ts")
  },
  {
    command: {
      name: "check",
      about: "Examines session files and reports every problem by its line. Changes nothing.",
      arguments: [{ name: "file", required: true, many: true, about: "session files" }],
      flags: {}
    },
    load: () => import("./commands/check.ts")
  },
  {
    command: {
      name: "history",
      about: "Finds prompts by their words, in every session; also adds, deletes, imports and counts them.",
      arguments: [
        {
          name: "query",
          many: true,
          words: ["add", "delete", "import", "stats"],
          about:
            "words, 'exact ^start end$ !not a | b re:/x/ cwd: session: author: after: before:; or add, delete, import, stats"
        }
      ],
      flags: {
        scope: { type: "string", choices: ["all", "cwd", "session"], about: "only what was used here (default: all)" },
        session: { type: "string", value: "s", about: "the session of --scope session, or of a prompt that is added" },
        limit: { type: "string", value: "n", about: "at most so many (default: 100)" },
        cwd: { type: "string", value: "dir", about: "add: where it was typed (default: here)" },
        id: { type: "string", value: "n", about: "delete: the prompt of this number" },
        "dry-run": { type: "boolean", about: "delete, import: only say what would be done" },
        yes: { type: "boolean", about: "delete: do not ask" },
        from: { type: "string", value: "format", about: "import: grove, pi, omp, claude-code, codex, neovate or shell" }
      },
      examples: [
        "grove history 折叠 test",
        'grove history "\'tree !leaf after:7d" --scope cwd',
        "grove history delete --id 42",
        "grove history import ~/.claude/history.jsonl",
        "grove history -- stats"
      ]
    },
    load: () => import("./commands/history.ts")
  },
  {
    command: {
      name: "search",
      about: "Finds what was said in any session, by people, models and tools.",
      arguments: [{ name: "query", required: true, many: true, about: "words, as for grove history" }],
      flags: {
        role: { type: "string", choices: ["user", "assistant", "tool", "summary"], about: "only what these said" },
        tool: { type: "string", value: "name", about: "only calls and results of this tool" },
        label: { type: "string", value: "text", about: "only entries with this label" },
        after: { type: "string", value: "time", about: "since 2026-01-31, or for 12h, 7d, 2w, 1y" },
        before: { type: "string", value: "time", about: "until then" },
        project: { type: "string", value: "dir", about: "only sessions whose working directory holds this" },
        limit: { type: "string", value: "n", about: "at most so many (default: 20)" }
      },
      examples: [
        'grove search "rate limit" --role assistant',
        "grove search 折叠 --after 7d",
        "grove search ENOENT --tool bash"
      ]
    },
    load: () => import("./commands/search.ts")
  },
  {
    command: {
      name: "compact",
      about: "Makes the context of a session shorter: what was said first gives way to a summary.",
      arguments: [session, { name: "instructions", about: "what the summary should dwell on" }],
      flags: { model: { type: "string", value: "provider/model", about: "which model writes the summary" } },
      examples: ['grove compact @last "keep every file name"']
    },
    load: () => import("./commands/compact.ts")
  },
  {
    command: {
      name: "export",
      about: "Writes a session as a page, a text, or a file of another program, without secrets unless asked to.",
      arguments: [session],
      flags: {
        to: { type: "string", choices: ["html", "md", "json", "pi", "omp", "neovate"], about: "what it becomes" },
        leaf: { ...leaf, about: "only the branch that ends here (md: instead of where the session stands)" },
        output: { type: "string", short: "o", value: "file", about: "to this file instead of standard output" },
        force: { type: "boolean", about: "replace the file if it is there" },
        "no-redact": { type: "boolean", about: "keep keys, tokens, passwords, the home directory and the user name" }
      },
      examples: ["grove export @last --to html -o session.html", "grove export 3f9c --to md | less"]
    },
    load: () => import("./commands/export.ts")
  },
  {
    command: {
      name: "append",
      about: "Appends entries, read as JSON from standard input, one a line; prints the id of each when it is written.",
      arguments: [{ ...session, about: "a session, or a new .jsonl path" }],
      flags: { sync: { type: "boolean", about: "print an id only when its entry is on the disk" } },
      examples: ['echo \'{"type":"session_info","name":"plan"}\' | grove append @last']
    },
    load: () => import("./commands/append.ts")
  },
  {
    command: {
      name: "fork",
      about: "Copies the path to an entry into a new session and prints where it is.",
      arguments: [session],
      flags: {
        at: { type: "string", value: "entry", about: "the last entry to copy (default: where the session stands)" },
        all: { type: "boolean", about: "copy every branch" },
        cwd: { type: "string", value: "dir", about: "the working directory of the new session" }
      }
    },
    load: () => import("./commands/fork.ts")
  },
  {
    command: {
      name: "move",
      about: "Gives a session another working directory. The old file is kept as a backup.",
      arguments: [session],
      flags: { cwd: { type: "string", value: "dir", about: "the new working directory" } }
    },
    load: () => import("./commands/move.ts")
  },
  {
    command: {
      name: "migrate",
      about: "Brings session files to the current version. The originals are kept as backups.",
      arguments: [{ name: "file", required: true, many: true, about: "session files" }],
      flags: { "dry-run": { type: "boolean", about: "only say what would change" } }
    },
    load: () => import("./commands/migrate.ts")
  },
  {
    command: {
      name: "repair",
      about: "Keeps the readable lines of a file; the original and the unreadable lines are kept beside it.",
      arguments: [{ name: "file", required: true, about: "a session file" }],
      flags: {}
    },
    load: () => import("./commands/repair.ts")
  },
  {
    command: {
      name: "rm",
      about: "Moves a session to the trash, with its draft and backups.",
      arguments: [session],
      flags: {}
    },
    load: () => import("./commands/rm.ts")
  },
  {
    command: {
      name: "serve",
      about: "Sessions over HTTP and WebSocket, for other front ends. Prints its address and a token.",
      arguments: [],
      flags: {
        port: { type: "string", value: "n", about: "0, or nothing, takes a free one" },
        host: { type: "string", value: "address", about: "another than 127.0.0.1: others can then reach it" },
        model: { type: "string", value: "provider/model", about: "which model answers where nobody says" },
        approval: {
          type: "string",
          choices: ["default", "autoEdit", "yolo"],
          about: "what tools may do without asking"
        }
      },
      examples: ["grove serve", "grove serve --port 4700"]
    },
    load: () => import("./commands/serve.ts")
  },
  {
    command: {
      name: "gc",
      about: "Removes blobs that nothing names any more, and moves old sessions to the trash if asked to.",
      arguments: [],
      flags: {
        "older-than": { type: "string", value: "time", about: "also sessions without a message for 12h, 30d, 8w, 1y" },
        "dry-run": { type: "boolean", about: "only say what would be done" },
        restore: { type: "string", value: "s", about: "put a session back from the trash, and do nothing else" }
      },
      examples: ["grove gc --dry-run", "grove gc --older-than 30d", "grove gc --restore 3f9c"]
    },
    load: () => import("./commands/gc.ts")
  },
  {
    command: {
      name: "purge",
      about: "Makes a session, an entry or a text really gone: every copy, backup, blob and prompt. Asks first.",
      arguments: [{ ...session, required: false }],
      flags: {
        entry: { type: "string", value: "entry", about: "only this entry; what follows it follows its parent" },
        text: { type: "string", value: "secret", about: "this text, in all sessions; =- reads it from standard input" },
        yes: { type: "boolean", about: "do not ask" }
      },
      examples: ["grove purge 3f9c", "grove purge @last --entry 9a01", "grove purge --text=- --yes < secret.txt"]
    },
    load: () => import("./commands/purge.ts")
  },
  {
    command: {
      name: "backup",
      about: "Copies all sessions, blobs and settings to an empty folder, also while they are in use.",
      arguments: [{ name: "dir", required: true, about: "a folder that is empty or not there yet" }],
      flags: {}
    },
    load: () => import("./commands/backup.ts")
  },
  {
    command: {
      name: "view",
      about: "Shows all sessions in the browser, read-only, until it is stopped. Prints the link first.",
      arguments: [],
      flags: {
        port: { type: "string", value: "n", about: "listen there instead of on a free port" },
        host: { type: "string", value: "name", about: "listen beyond this machine; needs --token" },
        token: { type: "boolean", about: "print a link that works once, and let in nobody without it" },
        "no-open": { type: "boolean", about: "do not open the browser" },
        session: { type: "string", value: "s", about: "begin with this session" },
        entry: { type: "string", value: "entry", about: "and with this entry of it" }
      },
      examples: ["grove view", "grove view --session @last", "grove view --port 8080 --no-open"]
    },
    load: () => import("./commands/view.ts")
  },
  {
    command: {
      name: "doctor",
      about: "Looks whether everything Grove stands on is in order, and says how to mend what is not.",
      arguments: [],
      flags: {}
    },
    load: () => import("./commands/doctor.ts")
  },
  {
    command: {
      name: "config",
      about: "Shows and changes the settings.",
      arguments: [
        { name: "get|set|list", required: true, words: ["get", "set", "list"], about: "what to do" },
        { name: "key", words: Object.keys(KEYS), about: "a setting; grove config list shows them all" },
        { name: "value", many: true, words: [], about: "set: a text, or JSON" }
      ],
      flags: { unset: { type: "boolean", about: "set: forget the value" } },
      examples: [
        "grove config list",
        "grove config set model anthropic/claude-sonnet-4-5",
        "grove config set compaction.enabled false",
        "grove config set theme --unset"
      ]
    },
    load: () => import("./commands/config.ts")
  },
  {
    command: {
      name: "completions",
      about: "Prints a script that lets a shell complete the words of grove.",
      arguments: [
        { name: "shell", required: true, words: ["bash", "zsh", "fish"], about: "bash, zsh or fish" },
        { name: "words", many: true, words: [], about: "completions next -- <words>: what may stand next" }
      ],
      flags: {},
      examples: ["source <(grove completions bash)", "grove completions fish > ~/.config/fish/completions/grove.fish"]
    },
    load: () => import("./commands/completions.ts")
  }
]
