// File operations that are atomic even at power loss.
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
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

/** Tells whether this process may still write to the state directory (hosts/node/lease.ts). */
export interface Fence {
  /** Part of the names of temporary files: letters and digits. */
  readonly tag: string;
  /** False after another process took the directory over. */
  holds(): boolean;
}

/** For files that no other process writes. */
export const UNFENCED: Fence = { tag: "own", holds: () => true };

/** Another process took the state directory over, so a file was not replaced or removed. */
export class FencedError extends Error {
  override name = "FencedError";
}

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
 * Throws for another user's file, which that user may change at any time. Files of root are
 * trusted, and root may use everybody's.
 */
function refuseOthers({ uid }: Stats, path: string): void {
  const own = process.geteuid?.() ?? 0;
  if (own === 0 || uid === 0 || uid === own) return;
  throw Object.assign(new StateFileError(`${path} belongs to another user: remove it or change its owner`), {
    code: "EACCES",
  });
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

/** A path beside `path`; removed by the next process that takes the state directory. */
export const temporaryPath = (path: string, tag: string): string =>
  join(dirname(path), `.${basename(path)}.${tag}.new`);

const TEMPORARY = /^\..+\.(host|run)\d+\.new$/;

/** Removes temporary files of previous owners of the state directory. */
export function removeTemporaryFiles(stateDir: string): void {
  for (const directory of [stateDir, join(stateDir, "store"), join(stateDir, "run")]) {
    if (!isDirectory(directory) || (directory !== stateDir && isLink(directory))) continue;
    for (const name of readdirSync(directory)) {
      if (TEMPORARY.test(name)) unlinkIfThere(join(directory, name));
    }
  }
}

/** Replaces a file atomically; durable on return, readable by this user only. Throws. */
export function replaceFile(path: string, bytes: Uint8Array, fence: Fence): void {
  const directory = dirname(path);
  const aside = temporaryPath(path, fence.tag);
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
    publish(aside, path, fence);
  } catch (error) {
    unlinkIfThere(aside);
    throw error;
  }
  syncDirectory(directory);
}

/**
 * Replaces a file outside a state directory, and creates its folder: durable, readable by this user
 * only, also while it is written. A planted link or file is not written to. Throws.
 */
export function writeSecret(path: string, bytes: Uint8Array): void {
  makeDirectory(dirname(path));
  replaceFile(path, bytes, { ...UNFENCED, tag: `${process.pid}` });
}

/**
 * Renames a temporary file, unless another process took the directory over. If that happened after
 * the check, that process has removed the temporary file. Throws.
 */
export function publish(aside: string, path: string, fence: Fence): void {
  if (!fence.holds()) {
    unlinkIfThere(aside);
    throw new FencedError(`${path} was not written: another process uses the directory`);
  }
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
export function removeFile(path: string, fence: Fence): void {
  const aside = temporaryPath(path, fence.tag);
  const refused = (): Error => new FencedError(`${path} was not removed: another process uses the directory`);
  if (!fence.holds()) throw refused();
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return;
  }
  // Another process took over in between, and the file may be its own.
  if (!fence.holds()) {
    putBack(aside, path);
    throw refused();
  }
  unlinkIfThere(aside);
  syncDirectory(dirname(path));
}

function putBack(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch {
    // A newer file has the name, or the temporary file was removed.
  }
  unlinkIfThere(aside);
}

/** Throws, also for a directory. */
export function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw isDirectory(path) ? notFile(path) : error;
  }
}

/** Syncs a file to disk. Throws. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
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
