// File operations that are atomic even at power loss.
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** The durable queue in a state directory. */
export const QUEUE_FILE = "blocks.bin";

/** Creates the directory and its parents, for this user only; durable on return. Throws. */
export function makeDirectory(path: string): void {
  // Not Node's `recursive`, which loops forever where nothing can be created (as in /proc).
  const above = dirname(path);
  if (isDirectory(path)) {
    syncLeft(above);
    return;
  }
  if (above !== path) makeDirectory(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === "EEXIST" && !isDirectory(path))
      throw new Error(`${path} is not a directory: remove it`, { cause: error });
    if (!isDirectory(path)) throw error;
  }
  // A directory's content is lost with the directory's own name.
  syncLeft(above);
}

/** A file of the state directory cannot be used as it is: the operator must look at it. */
export class StateFileError extends Error {
  override name = "StateFileError";
}

/**
 * Creates a directory below a state directory. Throws if the name is a symbolic link, or the
 * directory another user's: that user may have planted it to read the token or to choose the image.
 */
export function makeOwnDirectory(path: string): void {
  if (isLink(path)) throw symbolicLink(path, "directory");
  makeDirectory(path);
  refuseOthers(statSync(path), path);
}

/**
 * Creates a directory where every user may, such as below /tmp. Throws as `makeOwnDirectory` does,
 * and for root, too: who owns a directory chooses what is in it.
 */
export function makePrivateDirectory(path: string): void {
  makeOwnDirectory(path);
  if (statSync(path).uid !== (process.geteuid?.() ?? 0)) throw ofAnotherUser(path);
}

function ofAnotherUser(path: string): Error {
  return Object.assign(new StateFileError(`${path} belongs to another user: remove it or change its owner`), {
    code: "EACCES",
  });
}

/**
 * Throws for another user's file, which that user may change at any time. Files of root are
 * trusted, and root may use everybody's.
 */
function refuseOthers({ uid }: Stats, path: string): void {
  const own = process.geteuid?.() ?? 0;
  if (own !== 0 && uid !== 0 && uid !== own) throw ofAnotherUser(path);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Writes all `bytes` at `at`, even if single writes are partial. Throws. */
export function writeAll(file: number, bytes: Uint8Array, at: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

/** Makes renames and removals in the directory durable. */
export function syncDirectory(path: string): void {
  // Windows cannot open directories and keeps names consistent by itself.
  if (process.platform === "win32") return;
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Syncs what a killed process had not synced, before it is read; otherwise it could be lost at the
 * next power loss. Does nothing on a read-only disk or in a foreign directory. Throws.
 */
export function syncLeft(path: string): void {
  try {
    syncDirectory(path);
  } catch (error) {
    if (!isDiskTrouble(error) && codeOf(error) !== "EACCES") throw error;
  }
}

/**
 * Creates an empty file that only this user can read, and removes whatever had the name. A symbolic
 * link is removed, not followed. Throws.
 */
export function createFile(path: string): number {
  unlinkIfThere(path);
  return openSync(path, "wx", 0o600);
}

/** Windows has no such flags. */
const NO_LINKS = constants.O_NOFOLLOW ?? 0;
/** Opening a pipe would wait for its writer. */
const NO_WAIT = constants.O_NONBLOCK ?? 0;

function notFile(path: string): Error {
  return Object.assign(new StateFileError(`${path} is not a file: remove it`), { code: "ENODEV" });
}

/** A change in place would change the file of the other name too, which may be any of this user. */
function hardLink(path: string): Error {
  return Object.assign(new StateFileError(`${path} is a hard link: put the file itself there`), {
    code: "EMLINK",
  });
}

function symbolicLink(path: string, what: string): Error {
  return Object.assign(new StateFileError(`${path} is a symbolic link: put the ${what} itself there`), {
    code: "ELOOP",
  });
}

/**
 * Opens a file for changes in place, or creates it, for this user only. On a read-only disk it can
 * only be read. Throws, also for a symbolic or hard link and for another user's file.
 */
export function openInPlace(path: string): number {
  try {
    // A pipe or a device would neither keep what is written nor be emptied.
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found && !found.isFile() && !found.isSymbolicLink()) throw notFile(path);
    if (found) refuseOthers(found, path);
    if (found?.isFile() && found.nlink > 1) throw hardLink(path);
    return openSync(path, constants.O_RDWR | NO_LINKS);
  } catch (error) {
    if (codeOf(error) === "EROFS") return openSync(path, "r");
    if (codeOf(error) === "ELOOP") throw symbolicLink(path, "file");
    if (codeOf(error) !== "ENOENT") throw error;
    return openSync(path, "wx+", 0o600);
  }
}

/** A path of this process beside `path`; removed by the next that locks the state directory. */
export const temporaryPath = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}.new`);

const TEMPORARY = /^\..+\.\d+\.new$/;

/** Removes temporary files of processes that were killed. */
export function removeTemporaryFiles(stateDir: string): void {
  for (const directory of [stateDir, join(stateDir, "store"), join(stateDir, "run")]) {
    if (!isDirectory(directory) || (directory !== stateDir && isLink(directory))) continue;
    for (const name of readdirSync(directory)) {
      if (TEMPORARY.test(name)) unlinkIfThere(join(directory, name));
    }
  }
}

/** Replaces a file atomically; durable on return, readable by this user only. Throws. */
export function replaceFile(path: string, bytes: Uint8Array): void {
  const aside = temporaryPath(path);
  const file = createFile(aside);
  try {
    writeAll(file, bytes, 0);
    fsyncSync(file);
  } catch (error) {
    // On a full disk, free every byte.
    unlinkSync(aside);
    throw error;
  } finally {
    closeSync(file);
  }
  try {
    publish(aside, path);
  } catch (error) {
    unlinkIfThere(aside);
    throw error;
  }
  syncDirectory(dirname(path));
}

/**
 * Replaces a file outside a state directory, and creates its folder: durable, readable by this user
 * only, also while it is written. A planted link or file is not written to. Throws.
 */
export function writeSecret(path: string, bytes: Uint8Array): void {
  makeDirectory(dirname(path));
  replaceFile(path, bytes);
}

/** Renames a temporary file. Throws. */
export function publish(aside: string, path: string): void {
  try {
    renameSync(aside, path);
  } catch (error) {
    throw isDirectory(path) ? notFile(path) : error;
  }
}

/**
 * The content; undefined if the file does not exist. Throws other errors, also for a symbolic link,
 * another user's file and anything that is not a file, such as a pipe.
 */
export function readIfThere(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | NO_LINKS | NO_WAIT);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (codeOf(error) === "ELOOP") throw symbolicLink(path, "file");
    // A socket.
    throw codeOf(error) === "ENXIO" ? notFile(path) : error;
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw notFile(path);
    refuseOthers(found, path);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a file durably. Throws. */
export function removeFile(path: string): void {
  if (unlinkIfThere(path)) syncDirectory(dirname(path));
}

/** True if there was a file. Throws, also for a directory. */
export function unlinkIfThere(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw isDirectory(path) ? notFile(path) : error;
  }
}

/** True for errors of a full, failing or read-only disk, which can still be read. */
export function isDiskTrouble(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EFBIG"].includes(codeOf(error));
}

/** The system's error code, such as `ENOENT`. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "unknown error";
}
