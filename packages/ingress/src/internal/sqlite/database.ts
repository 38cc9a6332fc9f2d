/**
 * Database: the file of a store: its rights, its tables, and their versions. Synchronous; it throws what Node throws.
 *
 * 1. The file is 0600 from its first moment, and so are the two beside it, which take after it.
 * 2. A commit has returned when it is on the disk (`synchronous = FULL`), and readers wait for nobody (WAL).
 * 3. `user_version` counts the migrations that were made. A file of a later program is left alone.
 */
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"

/** Each takes the tables from the version of its place to the next. What was published is never changed. */
const migrations = [
  `CREATE TABLE ingress_meta (backend_id TEXT NOT NULL);
   CREATE TABLE ingress_stream (
     id INTEGER PRIMARY KEY,
     tenant TEXT NOT NULL,
     session TEXT NOT NULL,
     sub TEXT NOT NULL,
     last_seq INTEGER NOT NULL DEFAULT 0,
     last_uuid TEXT,
     epoch INTEGER NOT NULL DEFAULT 0,
     writer TEXT,
     bytes INTEGER NOT NULL DEFAULT 0,
     boundary_seq INTEGER NOT NULL DEFAULT 1,
     said_first TEXT NOT NULL DEFAULT '{}',
     said_last TEXT NOT NULL DEFAULT '{}',
     updated_at INTEGER NOT NULL,
     deleted_at INTEGER,
     UNIQUE (tenant, session, sub)
   ) STRICT;
   CREATE INDEX ingress_project ON ingress_stream (tenant, said_first ->> 'project', session) WHERE sub = '';
   CREATE TABLE ingress_entry (
     stream_id INTEGER NOT NULL REFERENCES ingress_stream,
     seq INTEGER NOT NULL,
     key TEXT NOT NULL,
     hash TEXT NOT NULL,
     kind TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (stream_id, seq),
     UNIQUE (stream_id, key)
   ) STRICT;`
]

/** How long one waits for a lock that another process has, in milliseconds. */
const BUSY = 5_000

/** Opens the file, makes it where it is missing, and brings its tables up to date. */
export const open = (file: string): DatabaseSync => {
  refuseOpenDirectory(path.dirname(path.resolve(file)))
  const { O_CREAT, O_NOFOLLOW, O_RDWR } = fs.constants
  const descriptor = fs.openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
  fs.fchmodSync(descriptor, 0o600)
  fs.closeSync(descriptor)
  const database = new DatabaseSync(file, { timeout: BUSY })
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    migrate(database, file)
  } catch (cause) {
    database.close()
    throw cause
  }
  return database
}

/** Names the data of a file. */
export const backendId = (database: DatabaseSync): string =>
  String(database.prepare("SELECT backend_id FROM ingress_meta").get()?.["backend_id"])

/** Who may write the directory can put another file in place of ours. */
const refuseOpenDirectory = (directory: string): void => {
  const { mode } = fs.statSync(directory)
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0)
    throw new Error(`others may write ${directory}. Take that right away (chmod go-w), or put the file elsewhere.`)
}

const migrate = (database: DatabaseSync, file: string): void => {
  database.exec("BEGIN IMMEDIATE")
  try {
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"])
    if (version > migrations.length)
      throw new Error(
        `${file} has version ${version}, this program knows ${migrations.length}. Run the later program, or restore a copy.`
      )
    for (const migration of migrations.slice(version)) database.exec(migration)
    if (version === 0) database.prepare("INSERT INTO ingress_meta VALUES (?)").run(randomUUID())
    database.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`)
  } catch (cause) {
    database.exec("ROLLBACK")
    throw cause
  }
}
