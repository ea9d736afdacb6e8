/**
 * Prompts to measure with: made up, always the same for a seed. English and Chinese, code and names, most words common and
 * a few rare, some 280 bytes each; one in twenty is a prompt that came before.
 */
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { randomFrom } from "./generate.mjs"

/** Changes with the shape of the prompts or of the tables, so that old ones are not measured again. */
export const VERSION = 1

const ENGLISH =
  "the a to of in and is it for on with that this be please fix add test tests session sessions user users userland build search index parser commit file error rename function module export import type schema layer effect branch tree fold compact summary token cache window viewer server client request response header parse query prompt history update remove delete insert table column trigger batch worker thread async".split(
    " "
  )
const CHINESE = [
  ..."修复会话树折叠的错误并补上测试写一个搜索要能找到历史记录分支压缩摘要令牌缓存窗口迁移格式文件目录用户请求响应服务器客户端"
]
const NAMES =
  "getUserById session_tree parseHTTPRequest2 useMemo build_context SqlClient fooBarBaz handle_request_v2".split(" ")
const LETTERS = "abcdefghijklmnopqrstuvwxyz"
const RARE_WORDS = 30_000
const REUSED = 0.05
const FOLDERS = 30
const PER_SESSION = 20
const FIRST = Date.UTC(2023, 0, 1)
const BETWEEN_MS = 60_000

/** Words that most prompts do not have: some in many, most in a few. @param {() => number} random */
const rareWords = (random) =>
  Array.from({ length: RARE_WORDS }, (_, i) =>
    Array.from({ length: 4 + (i % 6) }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join("")
  )

/** @param {number} seed */
export const promptsFrom = (seed) => {
  const random = randomFrom(seed)
  const rare = rareWords(random)
  /** @template A @param {ReadonlyArray<A> | string} list @param {number} skew */
  const pick = (list, skew) => list[Math.floor(list.length * random() ** skew)]
  const word = () => {
    const kind = random()
    if (kind < 0.6) return pick(ENGLISH, 2.5)
    if (kind < 0.85) return pick(rare, 2)
    if (kind < 0.92) return Array.from({ length: 2 + Math.floor(random() * 8) }, () => pick(CHINESE, 2.5)).join("")
    return pick(NAMES, 2.5) + (random() < 0.3 ? Math.floor(random() * 100) : "")
  }
  /** @type {Array<string>} */
  const before = []
  const prompt = () => {
    if (before.length > 0 && random() < REUSED) return before[Math.floor(random() * before.length)]
    const made = Array.from({ length: 15 + Math.floor(random() * 50) }, word).join(" ")
    if (before.length < 1000) before.push(made)
    return made
  }
  return {
    rare,
    /** @param {number} i */
    use: (i) => ({
      prompt: prompt(),
      at: FIRST + i * BETWEEN_MS,
      cwd: `/home/ada/project${Math.floor(random() * FOLDERS)}`,
      session: `s${Math.floor(i / PER_SESSION)}`,
      entry: `e${i}`,
      author: "user"
    })
  }
}

/**
 * What is asked, by kind; a list long enough that no answer is only remembered.
 *
 * @param {ReadonlyArray<string>} rare
 */
export const questions = (rare) => {
  const random = randomFrom(7)
  const some = (/** @type {ReadonlyArray<string>} */ list) => list[Math.floor(random() * list.length)]
  const seldom = rare.slice(-5000).filter((word) => word.length > 6)
  const kinds = {
    "a rare word": () => some(seldom),
    "a common word": () => some(["the", "session", "please", "fix", "user", "test"]),
    "two words": () => `${some(["fix", "session", "user", "add"])} ${some(["tree", "parser", "viewer", "token"])}`,
    "a beginning": () => some(["s", "se", "ses", "sess", "sessio", "u", "us", "use", "comm", "respo", "getU"]),
    "inside a word": () => some(["ssion", "arser", "ommit", "ewer", "quest", "rigger"]),
    "2 CJK characters": () => some(["修复", "会话", "折叠", "错误", "搜索", "分支", "迁移"]),
    "no match": () => `qq${some(seldom).slice(0, 3)}zzxv`
  }
  return kinds
}

const BATCH = 10_000

/** @param {string} path */
const settled = (path) => {
  for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true })
}

/** How fast they were added is kept beside the file. @param {string} path @param {number} perSecond */
const finish = (path, perSecond) => {
  writeFileSync(`${path}.json`, JSON.stringify({ perSecond }))
  renameSync(`${path}.new`, path)
}

/**
 * @param {string} path
 * @param {{ readonly seed: number, readonly prompts: number }} shape
 */
export const writeHistory = async (path, { seed, prompts }) => {
  const [{ Effect }, { PromptHistory }, { SqlitePromptHistory }] = await Promise.all([
    import("effect"),
    import("@grove/core"),
    import("@grove/storage-sqlite")
  ])
  const { use } = promptsFrom(seed)
  let ms = 0
  await Effect.runPromise(
    Effect.gen(function* () {
      const history = yield* PromptHistory
      for (let from = 0; from < prompts; from += BATCH) {
        const uses = Array.from({ length: Math.min(BATCH, prompts - from) }, (_, i) => use(from + i))
        const begun = performance.now()
        yield* history.addAll(uses)
        ms += performance.now() - begun
      }
    }).pipe(Effect.provide(SqlitePromptHistory.layer({ path: `${path}.new` })))
  )
  settled(`${path}.new`)
  finish(path, (prompts / ms) * 1000)
}

/** The schema that agents have used so far, which LIKE is asked of too. */
const PLAIN = [
  "PRAGMA journal_mode = WAL",
  "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, created_at INTEGER, cwd TEXT)",
  "CREATE INDEX idx_history_created_at ON history (created_at DESC)",
  "CREATE VIRTUAL TABLE history_fts USING fts5 (prompt, content = 'history', content_rowid = 'id')",
  `CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN
     INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt); END`
]

/**
 * @param {string} path
 * @param {{ readonly seed: number, readonly prompts: number }} shape
 */
export const writePlain = async (path, { seed, prompts }) => {
  const { SqliteDriver } = await import("@grove/storage-sqlite")
  const driver = SqliteDriver.preferred()
  if (driver === undefined) throw new Error("no SQLite driver loads")
  const database = await driver.open(`${path}.new`)
  for (const statement of PLAIN) await database.all(statement, [])
  const { use } = promptsFrom(seed)
  let ms = 0
  for (let from = 0; from < prompts; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, prompts - from) }, (_, i) => use(from + i))
    const begun = performance.now()
    await database.all(
      `INSERT INTO history (prompt, created_at, cwd) SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`,
      [JSON.stringify(rows.map(({ prompt, at, cwd }) => [prompt, at, cwd]))]
    )
    ms += performance.now() - begun
  }
  await database.all("PRAGMA wal_checkpoint(TRUNCATE)", [])
  await database.close()
  settled(`${path}.new`)
  finish(path, (prompts / ms) * 1000)
}
