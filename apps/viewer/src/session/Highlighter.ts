/** Colours for code, loaded when the first block is seen; a language only when it is met. Slow or long code stays plain. */
import type { HighlighterCore, LanguageInput } from "shiki/core"

export interface Token {
  readonly text: string
  readonly kind: string
}
export type Colored = ReadonlyArray<ReadonlyArray<Token>>

const LONGEST = 50_000
const LONGEST_LINE = 2_000
const TIME_LIMIT = 80

const languages: { readonly [name: string]: () => Promise<{ readonly default: LanguageInput }> } = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs")
}

const aliases: { readonly [name: string]: string } = {
  "c++": "cpp",
  cs: "csharp",
  dockerfile: "docker",
  js: "javascript",
  jsonc: "json",
  jsonl: "json",
  kt: "kotlin",
  md: "markdown",
  mjs: "javascript",
  mts: "typescript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash"
}

/** The language that a name, an alias or the end of a file name stands for. */
export const languageOf = (name: string): string | undefined => {
  const last = name.toLowerCase().split(".").at(-1)!
  const known = Object.hasOwn(aliases, last) ? aliases[last]! : last
  return Object.hasOwn(languages, known) ? known : undefined
}

let loading: Promise<HighlighterCore> | undefined
const highlighter = (): Promise<HighlighterCore> => {
  loading ??= (async () => {
    const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] = await Promise.all([
      import("shiki/core"),
      import("shiki/engine/javascript")
    ])
    return createHighlighterCore({
      themes: [createCssVariablesTheme({ name: "words", variablePrefix: "--tok-", fontStyle: false })],
      langs: [],
      engine: createJavaScriptRegexEngine({ forgiving: true })
    })
  })()
  return loading
}

/** `var(--tok-token-keyword)` names what a token is; the style sheet says how that looks. */
const kindOf = (color: string | undefined): string => /--tok-(?:token-)?([a-z-]+)/.exec(color ?? "")?.[1] ?? ""

export const highlight = async (text: string, name: string): Promise<Colored | null> => {
  const language = languageOf(name)
  if (language === undefined || text.length > LONGEST) return null
  try {
    const shiki = await highlighter()
    if (!shiki.getLoadedLanguages().includes(language)) await shiki.loadLanguage((await languages[language]!()).default)
    const lines = shiki.codeToTokensBase(text, {
      lang: language,
      theme: "words",
      tokenizeMaxLineLength: LONGEST_LINE,
      tokenizeTimeLimit: TIME_LIMIT
    })
    return lines.map((line) => line.map(({ content, color }) => ({ text: content, kind: `tok-${kindOf(color)}` })))
  } catch {
    // Colours are a kindness; without them the code is as readable as it was.
    return null
  }
}
