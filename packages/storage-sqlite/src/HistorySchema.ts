/**
 * The tables of `history.db`. The index follows the prompts by triggers alone, so that it is in step whoever writes.
 * `history` is a view for people and programs that know the table of that name.
 */
export const migrations: ReadonlyArray<ReadonlyArray<string>> = [
  [
    `CREATE TABLE prompt (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       prompt TEXT NOT NULL,
       hash TEXT NOT NULL UNIQUE,
       gram TEXT NOT NULL,
       place TEXT NOT NULL,
       uses INTEGER NOT NULL,
       first_at INTEGER NOT NULL,
       last_at INTEGER NOT NULL,
       cwd TEXT,
       session TEXT,
       entry TEXT
     )`,
    "CREATE INDEX prompt_last ON prompt (last_at) WHERE uses > 0",
    `CREATE TABLE prompt_use (
       id INTEGER PRIMARY KEY,
       prompt_id INTEGER NOT NULL REFERENCES prompt (id) ON DELETE CASCADE,
       at INTEGER NOT NULL,
       cwd TEXT,
       session TEXT,
       entry TEXT,
       author TEXT NOT NULL,
       is_repeat INTEGER NOT NULL
     )`,
    "CREATE INDEX prompt_use_prompt ON prompt_use (prompt_id, at)",
    "CREATE INDEX prompt_use_session ON prompt_use (session) WHERE session IS NOT NULL",
    "CREATE TABLE folder (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)",
    // How many prompts hold a word: to know what is rare, what a beginning may go on to, and what was mistyped.
    "CREATE TABLE word (term TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID",
    `CREATE VIEW history (id, prompt, created_at, cwd) AS
       SELECT id, prompt, last_at / 1000, cwd FROM prompt WHERE uses > 0`,
    `CREATE VIRTUAL TABLE history_fts USING fts5 (
       prompt, gram, place,
       content = 'prompt', content_rowid = 'id', columnsize = 0,
       tokenize = 'unicode61 remove_diacritics 2'
     )`,
    // Without it a deleted word stays in the index until chance merges it away.
    "INSERT INTO history_fts (history_fts, rank) VALUES ('secure-delete', 1)",
    `CREATE TRIGGER history_insert AFTER INSERT ON prompt BEGIN
       INSERT INTO history_fts (rowid, prompt, gram, place) VALUES (new.id, new.prompt, new.gram, new.place);
     END`,
    `CREATE TRIGGER history_delete AFTER DELETE ON prompt BEGIN
       INSERT INTO history_fts (history_fts, rowid, prompt, gram, place)
         VALUES ('delete', old.id, old.prompt, old.gram, old.place);
     END`,
    `CREATE TRIGGER history_update AFTER UPDATE OF id, prompt, gram, place ON prompt BEGIN
       INSERT INTO history_fts (history_fts, rowid, prompt, gram, place)
         VALUES ('delete', old.id, old.prompt, old.gram, old.place);
       INSERT INTO history_fts (rowid, prompt, gram, place) VALUES (new.id, new.prompt, new.gram, new.place);
     END`
  ]
]
