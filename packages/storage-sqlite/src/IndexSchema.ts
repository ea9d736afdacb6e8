/**
 * The tables of `index.db`, a cache over all session files: who said something where, and by which words it is found. The
 * texts themselves stay in the sessions.
 */
export const migrations: ReadonlyArray<ReadonlyArray<string>> = [
  [
    `CREATE TABLE file (
       id INTEGER PRIMARY KEY,
       path TEXT NOT NULL UNIQUE,
       session TEXT,
       cwd TEXT,
       ino TEXT NOT NULL,
       state TEXT NOT NULL,
       known INTEGER NOT NULL
     )`,
    `CREATE TABLE item (
       id INTEGER PRIMARY KEY,
       file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
       entry TEXT NOT NULL,
       role TEXT NOT NULL,
       tools TEXT NOT NULL,
       at INTEGER NOT NULL,
       start INTEGER NOT NULL,
       length INTEGER NOT NULL
     )`,
    "CREATE UNIQUE INDEX item_entry ON item (file_id, entry)",
    `CREATE TABLE label (
       file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
       entry TEXT NOT NULL,
       label TEXT NOT NULL,
       PRIMARY KEY (file_id, entry)
     ) WITHOUT ROWID`,
    `CREATE VIRTUAL TABLE item_fts USING fts5 (
       text, gram, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
     )`,
    `CREATE TRIGGER item_delete AFTER DELETE ON item BEGIN
       DELETE FROM item_fts WHERE rowid = old.id;
     END`
  ],
  // A file of which nothing is known so far is read anew when it changes.
  ["ALTER TABLE file ADD COLUMN print TEXT NOT NULL DEFAULT ''"]
]
