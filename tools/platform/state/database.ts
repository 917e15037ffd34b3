// Opens the SQLite file of the platform's state. Loads SQLite only if state is stored.
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Database } from "libsql";
import { codeOf, makeDirectory, syncDirectory } from "../../../hosts/node/files.js";
import { Lease, LockedError } from "../../../hosts/node/lease.js";
import { IN_USE } from "../../exit-codes.js";

/** The state cannot be opened, read or written; the message is for people. */
export class StateError extends Error {
  override name = "StateError";
  /** The file that is there cannot be read as state. Nothing of it was changed. */
  readonly isDamaged: boolean;

  constructor(message: string, options: ErrorOptions & { isDamaged?: boolean } = {}) {
    super(message, options);
    this.isDamaged = options.isDamaged === true;
  }
}

export const FILE = "platform.db";
/** "mote" in ASCII: what the file is, for `file` and for this program. */
const APPLICATION = 0x6d6f7465;
const VERSION = 1;

const TABLES = `
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE record (place INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, UNIQUE (kind, id));
  CREATE TABLE file (package TEXT PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE attribute (device TEXT, scope TEXT, key TEXT, ts REAL, value TEXT NOT NULL, PRIMARY KEY (device, scope, key)) WITHOUT ROWID;
  CREATE TABLE series (id INTEGER PRIMARY KEY, device TEXT NOT NULL, key TEXT NOT NULL, UNIQUE (device, key));
  CREATE TABLE point (series INTEGER, ts REAL, value TEXT NOT NULL, PRIMARY KEY (series, ts)) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${VERSION};`;

/** SQLite's codes, by their beginning. */
const CODES: readonly (readonly [string, (directory: string, message: string) => string])[] = [
  ["SQLITE_FULL", (directory) => `the state in ${directory} can't be written: the disk is full`],
  ["SQLITE_READONLY", (directory) => `the state in ${directory} can't be written: it is read-only`],
  ["SQLITE_IOERR", (directory, message) => `the state in ${directory} can't be written or read (${message})`],
  ["SQLITE_BUSY", (directory) => `another program writes to ${FILE} in ${directory}`],
];

export interface Opened {
  readonly database: Database;
  /** Writes the log into the file itself, and lets go of both. */
  close(): void;
}

/**
 * Opens the file, or creates it where there is none. It is locked until it is closed or this
 * process ends. Throws StateError; an unreadable file and its log are left as they are.
 */
export async function openDatabase(directory: string, mostPages?: number): Promise<Opened> {
  const Library = await library();
  const file = join(directory, FILE);
  const lock = lockDirectory(directory);
  // What is made there holds tokens and secrets.
  const before = process.umask(0o077);
  let database: Database | undefined;
  try {
    if (isThere(file)) check(Library, file);
    else create(Library, file);
    database = new Library(file);
    // Each commit is synced to the disk.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    if (mostPages !== undefined) database.exec(`PRAGMA max_page_count = ${mostPages}`);
    return { database, close: closing(database, lock) };
  } catch (error) {
    database?.close();
    lock.release();
    throw error instanceof StateError ? error : stateError(error, directory);
  } finally {
    process.umask(before);
  }
}

function lockDirectory(directory: string): Lease {
  try {
    makeDirectory(directory);
    const lease = Lease.ofHost(directory);
    lease.lost.addEventListener("abort", () => {
      process.stderr.write(`error: another process took over ${directory}; stopping\n`);
      process.exit(IN_USE);
    });
    return lease;
  } catch (error) {
    const why =
      error instanceof LockedError ? error.message : `cannot store state in ${directory} (${codeOf(error)})`;
    throw new StateError(why, { cause: error });
  }
}

function closing(database: Database, lock: Lease): () => void {
  return () => {
    try {
      // Checkpoint by name: the library closes a database with live statements only partly.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // A full disk: the log stays, and is read at the next start.
    }
    database.close();
    lock.release();
  };
}

type Libsql = typeof import("libsql");

async function library(): Promise<Libsql> {
  try {
    return (await import("libsql")).default;
  } catch (error) {
    throw new StateError(
      "--state requires SQLite (libsql, an optional package built for Linux, macOS and Windows), which is not installed",
      { cause: error },
    );
  }
}

/** Throws for an empty file or a log alone: SQLite would begin anew and delete the log. */
function isThere(file: string): boolean {
  const [size, log] = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false })?.size);
  // SQLite leaves an empty log behind.
  if (size === 0 || (size === undefined && log)) throw unreadable("it is empty or missing");
  return size !== undefined;
}

/** Renames a new database into place when complete: a killed start leaves no half. */
function create(Library: Libsql, file: string): void {
  const aside = `${file}.new`;
  rmSync(aside, { force: true });
  const database = new Library(aside);
  try {
    database.exec(`PRAGMA synchronous = FULL; BEGIN; ${TABLES}; COMMIT`);
  } finally {
    database.close();
  }
  renameSync(aside, file);
  syncDirectory(dirname(file));
}

/** Reads the whole file and its log. A connection that only reads changes neither. */
function check(Library: Libsql, file: string): void {
  const made = [`${file}-wal`, `${file}-shm`].filter((path) => !existsSync(path));
  const database = new Library(file, { readonly: true });
  try {
    const pragma = (name: string): unknown =>
      Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    if (pragma("application_id") !== APPLICATION || pragma("user_version") !== VERSION)
      throw unreadable("another program or another version of Mote wrote it");
    const found = pragma("integrity_check");
    if (found !== "ok") throw unreadable(String(found));
  } finally {
    database.close();
    for (const path of made) rmSync(path, { force: true });
  }
}

export function unreadable(why: string): StateError {
  return new StateError(
    `${FILE} is unreadable (${why}): put a copy in its place, or move it and its -wal file away to begin without state`,
    { isDamaged: true },
  );
}

/** What SQLite threw, for people. */
export function stateError(error: unknown, directory: string): StateError {
  const { code = "", message = "unknown" } = error as { code?: string; message?: string };
  // Without a code, the file could not be opened. It may be undamaged.
  if (message.startsWith("ConnectionFailed"))
    return new StateError(`${FILE} in ${directory} cannot be opened`, { cause: error });
  const [, tell] = CODES.find(([begin]) => code.startsWith(begin)) ?? [];
  return tell ? new StateError(tell(directory, message), { cause: error }) : unreadable(message);
}
