// Files that are whole after any power loss.
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** The durable queue, in a state directory. */
export const QUEUE_FILE = "blocks.bin";

/** Whether this process may still write to the state directory (hosts/node/lease.ts). */
export interface Fence {
  /** Part of the names of temporary files: letters and digits. */
  readonly tag: string;
  /** False once another process took the directory over. */
  holds(): boolean;
}

/** For files that no other process writes. */
export const UNFENCED: Fence = { tag: "own", holds: () => true };

/** Another process took the state directory over before a file was replaced or removed: it was not. */
export class FencedError extends Error {
  override name = "FencedError";
}

/** Makes the directory and those above it, for this user only; each lasts when it returns. Throws. */
export function makeDirectory(path: string): void {
  // Not Node's `recursive`: where nothing can be made (as in /proc) it tries for ever.
  const above = dirname(path);
  if (isDirectory(path)) {
    syncLeft(above);
    return;
  }
  if (above !== path) makeDirectory(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isDirectory(path)) throw error;
  }
  // What is kept in a directory is lost with the directory's own name.
  syncLeft(above);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Writes the whole of `bytes` at `at`: a write may take fewer than it was given. Throws. */
export function writeAll(file: number, bytes: Uint8Array, at: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

/** Makes what was renamed or unlinked in the directory last. */
export function syncDirectory(path: string): void {
  // Windows opens no directories, and keeps its names in order by itself.
  if (process.platform === "win32") return;
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * What a process that was killed had not synced is synced before it is read: else it could be gone again after the next power loss.
 * On a disk that takes no writes, and in a directory of somebody else's, nothing is done. Throws.
 */
export function syncLeft(path: string): void {
  try {
    syncDirectory(path);
  } catch (error) {
    if (!isDiskTrouble(error) && codeOf(error) !== "EACCES") throw error;
  }
}

/**
 * A new, empty file that only this user can read; whatever had the name is removed first. A symbolic
 * link that somebody put there is removed, not followed. Throws.
 */
export function createFile(path: string): number {
  unlinkIfThere(path);
  return openSync(path, "wx", 0o600);
}

/** Windows has no such flag. */
const NO_LINKS = constants.O_NOFOLLOW ?? 0;

/**
 * Opens a file to change it in place, or makes it, for this user only. On a read-only disk the file
 * can only be read. Throws, also for a symbolic link.
 */
export function openInPlace(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | NO_LINKS);
  } catch (error) {
    if (codeOf(error) === "EROFS") return openSync(path, "r");
    if (codeOf(error) === "ELOOP")
      throw Object.assign(new Error(`${path} is a symbolic link: put the file itself there`), {
        code: "ELOOP",
      });
    if (codeOf(error) !== "ENOENT") throw error;
    return openSync(path, "wx+", 0o600);
  }
}

/** Beside `path`; removed by the next process that takes the state directory. */
export const temporaryPath = (path: string, tag: string): string =>
  join(dirname(path), `.${basename(path)}.${tag}.new`);

const TEMPORARY = /^\..+\.(host|run)\d+\.new$/;

/** Removes temporary files of processes that held the state directory before. */
export function removeTemporaryFiles(stateDir: string): void {
  for (const directory of [stateDir, join(stateDir, "store"), join(stateDir, "run")]) {
    if (!isDirectory(directory)) continue;
    for (const name of readdirSync(directory)) {
      if (TEMPORARY.test(name)) unlinkIfThere(join(directory, name));
    }
  }
}

/** The old content or the new, never between; on disk when it returns; readable by this user only. Throws. */
export function replaceFile(path: string, bytes: Uint8Array, fence: Fence): void {
  const directory = dirname(path);
  const aside = temporaryPath(path, fence.tag);
  const file = createFile(aside);
  try {
    writeAll(file, bytes, 0);
    fsyncSync(file);
  } catch (error) {
    // On a full disk each byte counts.
    unlinkSync(aside);
    throw error;
  } finally {
    closeSync(file);
  }
  publish(aside, path, fence);
  syncDirectory(directory);
}

/**
 * Gives a temporary file its name, unless another process took the directory over: that process has
 * removed the temporary file, if it did so after the check. Throws.
 */
export function publish(aside: string, path: string, fence: Fence): void {
  if (!fence.holds()) {
    unlinkIfThere(aside);
    throw new FencedError(`${path} was not written: another process uses the directory`);
  }
  renameSync(aside, path);
}

/** The content, or undefined if there is no such file. Throws for any other trouble. */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Gone on disk when it returns. Throws. */
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
  // Another process took over in between, and the file may be that one's.
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

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** The bytes of a file are on disk when it returns. Throws. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** True for what a disk that is full, worn out or read-only answers: what is there can still be read. */
export function isDiskTrouble(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EFBIG"].includes(codeOf(error));
}

/** The system's name of what went wrong: `ENOENT`. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "unknown error";
}
