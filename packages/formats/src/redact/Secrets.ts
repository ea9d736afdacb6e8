/** What secrets look like, by kind, and their removal from a text. */

const REDACTED = "[redacted "

/** What stands for a secret. No pattern takes it for one, so that redacting twice is redacting once. */
export const placeholder = (kind: string): string => `${REDACTED}${kind}]`

/** Told of every secret that was taken out. */
export type OnFound = (kind: string) => void

/**
 * Where a token may begin: not within a word. A letter that ends an escape, as in `\nsk-…` or `%3Dsk-…`, is no word.
 * Without it, words that happen to contain a prefix would count; with it, a long run is tried once, not at every letter.
 */
const START = "(?<!(?<!\\\\|%[0-9A-Fa-f])[A-Za-z0-9])"
const END = "(?![A-Za-z0-9])"
const RUN = "[A-Za-z0-9_-]"
/** Words are letters alone; what a machine made has a digit soon. */
const HAS_DIGIT = "(?=[A-Za-z_-]{0,80}[0-9])"

/**
 * Tokens that tell by their beginning what they are. No pattern can be met in the middle of its own matches, and none
 * looks further than its match by more than a constant: all of them together are linear.
 */
const tokens: ReadonlyArray<readonly [kind: string, pattern: string]> = [
  ["anthropic-key", `sk-ant-${RUN}{16,}`],
  ["openrouter-key", `sk-or-${RUN}{16,}`],
  ["openai-key", `${START}sk-${HAS_DIGIT}${RUN}{20,}`],
  ["github-token", "gh[pousr]_[A-Za-z0-9]{30,}"],
  ["github-token", "github_pat_[A-Za-z0-9_]{22,}"],
  ["gitlab-token", `gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas|imt)-${RUN}{16,}`],
  ["aws-access-key", `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}${END}`],
  ["google-key", `AIza${RUN}{35}`],
  ["google-oauth", `${START}ya29\\.${RUN}{20,}`],
  ["google-oauth", `GOCSPX-${RUN}{20,}`],
  ["slack-token", "xox[abeoprs]-[A-Za-z0-9-]{10,}"],
  ["slack-token", "xapp-[0-9]-[A-Za-z0-9-]{10,}"],
  ["slack-webhook", "hooks\\.slack\\.com\\\\?/(?:services|workflows|triggers)\\\\?/[A-Za-z0-9_/\\\\+-]{16,}"],
  ["discord-webhook", `discord(?:app)?\\.com\\\\?/api\\\\?/webhooks\\\\?/[0-9]{5,25}\\\\?/${RUN}{16,}`],
  ["stripe-key", "[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"],
  ["stripe-key", "whsec_[A-Za-z0-9+/]{24,}"],
  ["npm-token", "npm_[A-Za-z0-9]{36}"],
  ["pypi-token", `pypi-${RUN}{32,}`],
  ["huggingface-token", `${START}hf_[A-Za-z0-9]{30,}`],
  ["jwt", `${START}eyJ${RUN}{8,}\\.eyJ${RUN}{4,}\\.${RUN}{4,}`],
  ["sendgrid-key", `${START}SG\\.${RUN}{16,32}\\.${RUN}{16,64}`],
  ["twilio-key", `${START}(?:AC|SK)[0-9a-f]{32}${END}`],
  ["telegram-token", `${START}[0-9]{8,10}:AA${RUN}{32,34}${END}`],
  ["mailgun-key", `${START}key-[0-9a-f]{32}${END}`],
  ["digitalocean-token", "do[opr]_v1_[0-9a-f]{64}"],
  ["shopify-token", "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"],
  ["square-token", `sq0(?:atp|csp)-${RUN}{22,}`],
  ["linear-key", "lin_api_[A-Za-z0-9]{32,}"],
  ["notion-token", `${START}ntn_[A-Za-z0-9]{40,}`],
  ["figma-token", `figd_${RUN}{32,}`],
  ["groq-key", `${START}gsk_[A-Za-z0-9]{40,}`],
  ["xai-key", `${START}xai-[A-Za-z0-9]{60,}`],
  ["perplexity-key", `${START}pplx-[A-Za-z0-9]{40,}`],
  ["replicate-token", `${START}r8_[A-Za-z0-9]{37}`],
  ["vault-token", `${START}hv[sb]\\.${RUN}{24,}`],
  ["docker-token", `dckr_(?:pat|oat)_${RUN}{20,}`],
  ["grafana-token", "glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"],
  ["age-key", "AGE-SECRET-KEY-1[0-9A-Z]{58}"],
  ["ssh-key", "(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp[0-9]{3}) AAAA[A-Za-z0-9+/=]{40,}"]
]

const kinds = [...new Set(tokens.map(([kind]) => kind))]
const TOKEN = new RegExp(tokens.map(([, pattern]) => `(?:${pattern})`).join("|"), "g")
const kindPatterns = tokens.map(([kind, pattern]) => [kind, new RegExp(`^(?:${pattern})$`)] as const)

const kindOf = (token: string): string => kindPatterns.find(([, pattern]) => pattern.test(token))?.[0] ?? kinds[0]!

// ------------------------------------------------------------------------------------------------------- headers, URLs

const VALUE = "[^\\s\"'`\\\\,;<>(){}\\[\\]]"
/** A value that says itself that it is none: a variable, a placeholder, what was redacted before. */
const NO_VALUE =
  "(?!\\$|%[A-Za-z(]|\\*{3}|x{4}|X{4}|\\.{3}|…|process\\.|import\\.|env\\.|os\\.|null|undefined|true|false)"

const AUTHORIZATION = new RegExp(
  `((?:[aA]uthorization|AUTHORIZATION)["'\\\\]{0,3}\\s{0,3}[:=]\\s{0,3}["'\`\\\\]{0,3}(?:[A-Za-z]{3,10}\\s{1,3})?)(${NO_VALUE}${VALUE}{8,})|((?:[bB]earer|BEARER)\\s{1,3})(${NO_VALUE}(?=[A-Za-z._~+/=-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{16,})`,
  "g"
)

const URL_PASSWORD = /(:\\?\/\\?\/[^\s/:@"'`\\]{0,128}:)([^\s/@"'`\\]{1,256})(?=@)/g

// ------------------------------------------------------------------------------------------------------- assignments

const NAME =
  "(?:[A-Za-z0-9]_(?:api_?)?(?:key|token|secret|password|passwd|pwd|credentials?|passphrase)|(?:api|access|secret|private|auth|client|account|signing|encryption|shared)[_-]?key|(?:access|auth|refresh|api|bearer|session|bot|personal|secret)[_-]?token|secret|passw(?:or)?d|passphrase)"
/** `NAME=value`, `"name": "value"`, `name = 'value'`; a bare value only where it is no code. */
const ASSIGNMENT = new RegExp(
  [
    `(${NAME}["'\`\\\\]{0,3} {0,3}[:=]{1,2}\\s{0,3}\\\\{0,3}["'\`])(${NO_VALUE}[^"'\`\\\\\\s]{4,})`,
    `(${NAME}=)(${NO_VALUE}${VALUE}{4,})(?![A-Za-z0-9_(.\\[])`,
    `(${NAME} {0,3}[:=]\\s{1,3})(${NO_VALUE}(?=[^0-9\\s"'\`\\\\,;<>(){}\\[\\]]{0,64}[0-9])${VALUE}{6,})(?![A-Za-z0-9_(.\\[])`,
    `(${START}token=)(${NO_VALUE}(?=[^0-9\\s"'\`\\\\,;<>(){}\\[\\]]{0,64}[0-9])${VALUE}{6,})(?![A-Za-z0-9_(.\\[])`
  ].join("|"),
  "gi"
)

/** Members of an object whose value is a secret whatever it looks like. */
const SECRET_NAME = new RegExp(`${NAME}$|^(?:authorization|x-api-key|cookie|set-cookie)$`, "i")
const IS_VALUE = new RegExp(`^${NO_VALUE}[^\\s]{4,}$`)

/** Whether the value of a member with that name is a secret, of whatever shape. */
export const isSecretMember = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) && IS_VALUE.test(value) && !value.startsWith(REDACTED)

// ------------------------------------------------------------------------------------------------------------- blocks

interface Block {
  readonly kind: string
  readonly begin: RegExp
  readonly end: RegExp
}

/** What goes on until its end is met, over lines, escaped or not. */
const blocks: ReadonlyArray<Block> = [
  {
    kind: "private-key",
    begin: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g,
    end: /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
  },
  { kind: "private-key", begin: /PuTTY-User-Key-File-[0-9]:/g, end: /Private-MAC: ?[0-9a-f]*/g }
]
/** What a key that was cut off goes on with. */
const CUT_OFF = /[A-Za-z0-9+/=\s\\:,.-]*/y

/** A block without an end goes on as far as it looks like one. */
const withoutBlocks = (text: string, { kind, begin, end }: Block, onFound: OnFound): string => {
  const parts: Array<string> = []
  let from = 0
  let hasEnd = true
  begin.lastIndex = 0
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    const after = found.index + found[0].length
    end.lastIndex = after
    const closing: RegExpExecArray | null = hasEnd ? end.exec(text) : null
    hasEnd = closing !== null
    CUT_OFF.lastIndex = after
    const stop = closing === null ? after + CUT_OFF.exec(text)![0].trimEnd().length : end.lastIndex
    onFound(kind)
    parts.push(text.slice(from, found.index), placeholder(kind))
    from = stop
    begin.lastIndex = stop
  }
  return from === 0 ? text : parts.join("") + text.slice(from)
}

// -------------------------------------------------------------------------------------------------------------- text

/** The last two groups that took part: what stays, and what goes. */
const keepingName =
  (kind: string, onFound: OnFound) =>
  (_: string, ...groups: ReadonlyArray<unknown>) => {
    const at = groups.findIndex((group) => typeof group === "string")
    const value = groups[at + 1] as string
    if (value.startsWith(REDACTED.trimEnd())) return `${groups[at]}${value}`
    onFound(kind)
    return `${groups[at]}${placeholder(kind)}`
  }

/** The text without its secrets; the same string where it has none. */
export const withoutSecrets = (text: string, onFound: OnFound): string => {
  if (!mayHoldSecrets(text)) return text
  let clean = text
  for (const block of blocks) clean = withoutBlocks(clean, block, onFound)
  clean = clean.replace(TOKEN, (token) => {
    const kind = kindOf(token)
    onFound(kind)
    return placeholder(kind)
  })
  clean = clean.replace(URL_PASSWORD, keepingName("url-password", onFound))
  clean = clean.replace(AUTHORIZATION, keepingName("authorization", onFound))
  return clean.replace(ASSIGNMENT, keepingName("assignment", onFound))
}

// --------------------------------------------------------------------------------------------------------- first look

/** How each secret begins, up to a character that is rare in words; what is named is looked at in either case. */
const BEGINNINGS = [
  "(?:sk|gl[a-z]{2,5}|OCSPX|xox[abeoprs]|xapp|pypi|key|sq0...|xai|pplx|KEY|ssh|sha2|PuTTY)-",
  "(?:gh[pousr]|pat|live|test|whsec|npm|hf|v1|shp..|api|ntn|figd|gsk|r8|oat|glsa)_",
  "(?:ya29|SG|hv[sb]|hooks|discord|discordapp)\\.",
  "A[KSB]I|ACC|AIz|eyJ|:A|(?:AC|SK)(?=[0-9a-f]{32})",
  "-(?=BEGIN )",
  "[hH]oriz|HORIZ",
  "(?:[kK][eE][yY]|[tT][oO][kK][eE][nN]|[sS][eE][cC][rR][eE][tT]|[sS][wW]?[oO]?[rR]?[dD]|[pP][wW][dD]|[tT][iI][aA][lL][sS]?|[rR][aA][sS][eE]|[oO][oO][kK][iI][eE])[\"'`\\\\]{0,8} {0,3}[=:]"
]

/**
 * Finds the rare characters at which a secret may have begun, and looks back only from there: several times as fast as
 * trying every beginning at every letter.
 */
export const firstLook = (more: { readonly characters: string; readonly beginnings: ReadonlyArray<string> }): RegExp =>
  new RegExp(`[-_.=:IJzZACK${more.characters}](?<=${[...BEGINNINGS, ...more.beginnings].join("|")})`)

const SECRET = firstLook({ characters: "", beginnings: [] })
const BEARER = /[bB]earer|BEARER/

/** What a first look does not find. */
export const mayHoldOthers = (text: string): boolean =>
  BEARER.test(text) || (text.includes("@") && text.search(URL_PASSWORD) >= 0)

/** Whether a text may hold a secret: never wrong where it says no. */
const mayHoldSecrets = (text: string): boolean => SECRET.test(text) || mayHoldOthers(text)

/** Every kind there is, for those who list them. */
export const secretKinds: ReadonlyArray<string> = [
  ...kinds,
  "private-key",
  "url-password",
  "authorization",
  "assignment"
]
