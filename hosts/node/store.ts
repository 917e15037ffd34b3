import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../../src/port.js";
import {
  isDiskTrouble,
  makeOwnDirectory,
  readIfThere,
  removeFile,
  replaceFile,
  StateFileError,
  syncLeft,
} from "./files.js";

const LONGEST_KEY = 15;
const LARGEST_VALUE = 4000;
const PLAIN = /[a-z0-9_-]/;

/** One file per value. */
export class FileStore implements Store {
  readonly #directory: string;

  /**
   * Creates `directory` if it is missing. Throws if that fails, or if a value in it may not be
   * read: a device without its token would provision itself again.
   */
  constructor(directory: string) {
    makeOwnDirectory(directory);
    syncLeft(directory);
    for (const name of readdirSync(directory))
      if (name.endsWith(".bin")) readOrDamaged(join(directory, name));
    this.#directory = directory;
  }

  get(key: string): Uint8Array | undefined {
    try {
      const bytes = readIfThere(this.#path(key));
      return bytes && new Uint8Array(bytes);
    } catch {
      return undefined;
    }
  }

  set(key: string, value: Uint8Array): boolean {
    const characters = [...key].length;
    if (characters === 0 || characters > LONGEST_KEY || value.length > LARGEST_VALUE) return false;
    try {
      const path = this.#path(key);
      // Skip an unchanged value, because each write waits for the disk.
      if (readIfThere(path)?.equals(value)) return true;
      replaceFile(path, value);
      return true;
    } catch {
      return false;
    }
  }

  delete(key: string): boolean {
    try {
      removeFile(this.#path(key));
      return true;
    } catch {
      return false;
    }
  }

  #path(key: string): string {
    return join(this.#directory, `${fileName(key)}.bin`);
  }
}

/** Throws, unless the disk fails: vital values are stored twice. */
function readOrDamaged(path: string): void {
  try {
    readIfThere(path);
  } catch (error) {
    if (!isDiskTrouble(error)) throw new StateFileError((error as Error).message, { cause: error });
  }
}

/** Characters that file systems may confuse (case, dots, slashes) become %XX. */
function fileName(key: string): string {
  let name = "";
  for (const byte of Buffer.from(key)) {
    const letter = String.fromCharCode(byte);
    name += PLAIN.test(letter) ? letter : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return name;
}
