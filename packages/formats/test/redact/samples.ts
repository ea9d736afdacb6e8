/** One made-up secret of every kind, put together here so that no whole one stands in the repository. */
const hex = (length: number): string => "0123456789abcdef".repeat(8).slice(0, length)
const mixed = (length: number): string => "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuV".repeat(4).slice(0, length)
const upper = (length: number): string => "A1B2C3D4E5F6G7H8J9".repeat(8).slice(0, length)
const base64 = (length: number): string => "MIIEvQIBADANBgkqhkiG9w0BAQ+FAASC/Bkcw".repeat(8).slice(0, length)

export interface Sample {
  readonly kind: string
  /** As it would stand in a text. */
  readonly text: string
  /** The part that must be gone. */
  readonly secret: string
}

const token = (kind: string, ...parts: ReadonlyArray<string>): Sample => ({
  kind,
  text: parts.join(""),
  secret: parts.join("")
})
const within = (kind: string, before: string, secret: string, after = ""): Sample => ({
  kind,
  text: `${before}${secret}${after}`,
  secret
})

const pem = (label: string, newline: string): string =>
  [`-----BEGIN ${label}-----`, base64(64), base64(64), base64(30), `-----END ${label}-----`].join(newline)

export const samples: ReadonlyArray<Sample> = [
  token("anthropic-key", "sk-", "ant-api03-", mixed(80)),
  token("openrouter-key", "sk-", "or-v1-", hex(64)),
  token("openai-key", "sk-", "proj-", mixed(48)),
  token("openai-key", "sk-", mixed(48)),
  token("github-token", "gh", "p_", mixed(36)),
  token("github-token", "gh", "s_", mixed(36)),
  token("github-token", "github", "_pat_", mixed(22), "_", mixed(59)),
  token("gitlab-token", "gl", "pat-", mixed(20)),
  token("aws-access-key", "AKI", "A", upper(16)),
  within("assignment", "aws_secret_access_key = ", mixed(40)),
  token("google-key", "AIz", "a", mixed(35)),
  token("google-oauth", "ya", "29.", mixed(60)),
  token("google-oauth", "GOC", "SPX-", mixed(28)),
  token("slack-token", "xox", "b-", "123456789012-", mixed(24)),
  token("slack-token", "xap", "p-1-", "A0123-", mixed(24)),
  within("slack-webhook", "https://", `hooks.${"slack"}.com/services/T0001/B0002/${mixed(24)}`),
  within("discord-webhook", "https://", `discord.${"com"}/api/webhooks/123456789012/${mixed(60)}`),
  token("stripe-key", "sk", "_live_", mixed(24)),
  token("stripe-key", "wh", "sec_", mixed(32)),
  token("npm-token", "np", "m_", mixed(36)),
  token("pypi-token", "pyp", "i-", mixed(90)),
  token("huggingface-token", "h", "f_", mixed(34)),
  token("jwt", "ey", `J${mixed(20)}.`, "ey", `J${mixed(30)}.`, mixed(43)),
  token("sendgrid-key", "S", `G.${mixed(22)}.`, mixed(43)),
  token("twilio-key", "A", "C", hex(32)),
  token("telegram-token", "123456789", ":A", `A${mixed(33)}`),
  token("mailgun-key", "ke", "y-", hex(32)),
  token("digitalocean-token", "do", "p_v1_", hex(64)),
  token("shopify-token", "shp", "at_", hex(32)),
  token("square-token", "sq0", "atp-", mixed(22)),
  token("linear-key", "lin", "_api_", mixed(40)),
  token("notion-token", "nt", "n_", mixed(46)),
  token("figma-token", "fig", "d_", mixed(40)),
  token("groq-key", "gs", "k_", mixed(52)),
  token("xai-key", "xa", "i-", mixed(80)),
  token("perplexity-key", "ppl", "x-", mixed(48)),
  token("replicate-token", "r", "8_", mixed(37)),
  token("vault-token", "hv", "s.", mixed(28)),
  token("docker-token", "dckr", "_pat_", mixed(27)),
  token("grafana-token", "gls", "a_", mixed(32), "_", hex(8)),
  token("age-key", "AGE-SECRET", "-KEY-1", upper(58)),
  token("ssh-key", "ssh-", "rsa AAAA", base64(200)),
  token("private-key", pem("RSA PRIVATE KEY", "\n")),
  token("private-key", pem("OPENSSH PRIVATE KEY", "\\n")),
  token("private-key", pem("PGP PRIVATE KEY BLOCK", "\r\n")),
  within("private-key", "", `-----BEGIN ${"PRIVATE KEY"}-----\n${base64(64)}\n${base64(20)}`),
  within(
    "private-key",
    "",
    `PuTTY-User-Key-File-${3}: ssh-ed25519\nPrivate-Lines: 1\n${base64(60)}\nPrivate-MAC: ${hex(40)}`
  ),
  within("authorization", "Authorization: Bearer ", "abc.def-ghi_jkl"),
  within("authorization", '"authorization": "Basic ', "YWRhOmxvdmVsYWNl", '"'),
  within("authorization", "curl -H 'X: bearer ", "s0me-opaque-value-1234", "'"),
  within("url-password", "postgres://ada:", "hunter2", "@db.example.com/shop"),
  within("url-password", "redis://:", "p%40ss", "@localhost:6379"),
  within("assignment", "export SHOP_API_KEY=", "correct-horse"),
  within("assignment", 'password: "', "open sesame".replace(" ", "-"), '"'),
  within("assignment", "DB_PASSWORD='", "s3cr3t!", "'"),
  within("assignment", '{\\"client_secret\\": \\"', "wJalrXUtnFEMI", '\\"}'),
  within("assignment", "TOKEN=", "abcdef012345"),
  within("assignment", "?access_token=", "abcdef012345", "&page=2")
]

/** What looks a little like a secret and is none. */
export const harmless: ReadonlyArray<string> = [
  "the task-runner-with-a-rather-long-name is done",
  "const password = readPassword()",
  "apiKey: process.env.OPENAI_API_KEY",
  "export GITHUB_TOKEN=$TOKEN",
  "password: string",
  "token = parser.next()",
  "f(token=token, key=key)",
  "key: Enter",
  "maxTokens: 4096, tokensBefore: 12345",
  "https://example.com:8080/path@2x.png",
  "git@github.com:ada/grove.git",
  "commit 3f9c2e7b8a1d4c5e6f708192a3b4c5d6e7f80910",
  "0195d1a0-0000-7000-8000-00000000cafe",
  "-----BEGIN CERTIFICATE-----",
  "Bearer of bad news and internationalization",
  "a secret: nobody reads this"
]
