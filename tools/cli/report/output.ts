// Where a report goes: a file that is there whole or not at all, or the standard output.
import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, syncDirectory } from "../../../hosts/node/files.js";
import { forStream } from "../output/table.js";
import { UsageError } from "../usage.js";

export interface Output {
  /** False once nobody reads any more. Throws Error if it cannot be written. */
  write(text: string): boolean;
  /** All of it is written. Throws Error. */
  commit(): void;
  /** It will not be whole. */
  abandon(): void;
}

/** Texts are put together up to that many characters. */
const PIECE = 65_536;

/** True if `-o` names the standard output, or is not given. */
export function isStandard(path: string | undefined): path is undefined | "-" | "/dev/stdout" {
  return path === undefined || path === "-" || path === "/dev/stdout";
}

/**
 * Throws UsageError where no file can be. `isTame`: no text contains control characters of a peer.
 */
export function openOutput(path: string | undefined, isTame = false): Output {
  return isStandard(path) ? new StandardOutput(isTame) : new FileOutput(path);
}

class FileOutput implements Output {
  readonly #path: string;
  /** Written here first; the path itself if it is a device or a pipe. */
  readonly #aside: string;
  readonly #file: number;
  #text = "";
  #open = true;

  constructor(path: string) {
    if (path === "") throw new UsageError("-o requires the name of a file");
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory()) throw new UsageError(`-o ${path} is a directory`);
    this.#path = there?.isFile() ? realpathSync(path) : path;
    const isFile = there === undefined || there.isFile();
    this.#aside = isFile
      ? join(dirname(this.#path), `.${basename(this.#path)}.${randomBytes(6).toString("hex")}.part`)
      : this.#path;
    try {
      // What cannot be written is not to be replaced either.
      if (there) accessSync(this.#path, constants.W_OK);
      // Only a new file: in a shared directory another user may have planted a link.
      this.#file = isFile ? openSync(this.#aside, "wx", modeOf(there)) : openSync(this.#path, "w");
    } catch (error) {
      throw new UsageError(`-o ${path} cannot be written (${codeOf(error)})`);
    }
  }

  write(text: string): boolean {
    this.#text += text;
    if (this.#text.length >= PIECE) this.#flush();
    return true;
  }

  commit(): void {
    this.#flush();
    try {
      if (this.#aside !== this.#path) fsyncSync(this.#file);
      this.#close();
      if (this.#aside === this.#path) return;
      renameSync(this.#aside, this.#path);
      syncDirectory(dirname(this.#path));
    } catch (error) {
      throw new Error(`${this.#path} cannot be written (${codeOf(error)})`, { cause: error });
    }
  }

  abandon(): void {
    this.#close();
    if (this.#aside !== this.#path) rmSync(this.#aside, { force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    try {
      let done = 0;
      while (done < bytes.length) done += writeSync(this.#file, bytes, done);
    } catch (error) {
      throw new Error(`${this.#path} cannot be written (${codeOf(error)})`, { cause: error });
    }
  }

  #close(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }
}

/** A file that is replaced keeps its mode. */
function modeOf(there: Stats | undefined): number {
  return there ? there.mode & 0o777 : 0o666;
}

/** Waits until a pipe or terminal takes the data, so that a slow reader slows the platform down. */
class StandardOutput implements Output {
  readonly #isTame: boolean;
  #text = "";
  #open = true;

  constructor(isTame: boolean) {
    this.#isTame = isTame;
    process.stdout.once("error", () => {
      this.#open = false;
    });
  }

  write(text: string): boolean {
    this.#text += text;
    // On a terminal each row is wanted at once.
    if (process.stdout.isTTY || this.#text.length >= PIECE) this.commit();
    return this.#open;
  }

  commit(): void {
    if (this.#text !== "" && this.#open)
      process.stdout.write(this.#isTame ? this.#text : forStream(this.#text));
    this.#text = "";
  }

  /** What was written was read already. */
  abandon(): void {
    this.commit();
  }
}
