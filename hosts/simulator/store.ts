import type { Files } from "embedded:storage/files";
import type { Store } from "../../src/port.js";
import { readWhole, replace } from "./files.js";

const LONGEST_KEY = 15;
const LARGEST_VALUE = 4000;
const PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789_-";

/** One file per value, in a folder. */
export class FileStore implements Store {
  private readonly _files: Files;
  private readonly _folder: string;

  constructor(files: Files, folder: string) {
    this._files = files;
    files.createDirectory(folder);
    this._folder = folder;
  }

  get(key: string): Uint8Array | undefined {
    return readWhole(this._files, this._path(key));
  }

  set(key: string, value: Uint8Array): boolean {
    if (key.length === 0 || key.length > LONGEST_KEY || value.length > LARGEST_VALUE) return false;
    try {
      replace(this._files, this._path(key), value);
      return true;
    } catch {
      return false;
    }
  }

  delete(key: string): boolean {
    try {
      this._files.delete(this._path(key));
      return true;
    } catch {
      return false;
    }
  }

  private _path(key: string): string {
    return `${this._folder}/${fileName(key)}.bin`;
  }
}

/** Characters that file systems may confuse become %XX. */
const fileName = (key: string): string => {
  let name = "";
  for (const byte of new Uint8Array(ArrayBuffer.fromString(key))) {
    const letter = String.fromCharCode(byte);
    name += byte < 0x80 && PLAIN.includes(letter) ? letter : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return name;
};
