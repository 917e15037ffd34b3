import type { Files } from "embedded:storage/files";
import type { Store } from "../../src/port.js";
import { readWhole, replace } from "./files.js";

const LONGEST_KEY = 15;
const LARGEST_VALUE = 4000;
const PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789_-";

/** One file for each value, in a folder. */
export class FileStore implements Store {
  readonly #files: Files;
  readonly #folder: string;

  constructor(files: Files, folder: string) {
    this.#files = files;
    files.createDirectory(folder);
    this.#folder = folder;
  }

  get(key: string): Uint8Array | undefined {
    return readWhole(this.#files, this.#path(key));
  }

  set(key: string, value: Uint8Array): boolean {
    if (key.length === 0 || key.length > LONGEST_KEY || value.length > LARGEST_VALUE) return false;
    try {
      replace(this.#files, this.#path(key), value);
      return true;
    } catch {
      return false;
    }
  }

  delete(key: string): boolean {
    try {
      this.#files.delete(this.#path(key));
      return true;
    } catch {
      return false;
    }
  }

  #path(key: string): string {
    return `${this.#folder}/${fileName(key)}.bin`;
  }
}

/** Letters that a file system may take for others become %XX. */
function fileName(key: string): string {
  let name = "";
  for (const byte of new Uint8Array(ArrayBuffer.fromString(key))) {
    const letter = String.fromCharCode(byte);
    name += byte < 0x80 && PLAIN.includes(letter) ? letter : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return name;
}
