import type { File, Files } from "embedded:storage/files";
import type { LogMemory } from "../../extras/diagnostics/index.js";
import { mayBeThere } from "./files.js";

const SIZE = 4096;

/** One page of a file, not synced, like hosts/node/log-memory.ts. */
export class FileLogMemory implements LogMemory {
  readonly size = SIZE;
  private readonly _files: Files;
  private readonly _path: string;
  private _file: File | undefined;

  /** The file is created on first use. */
  constructor(files: Files, path: string) {
    this._files = files;
    this._path = path;
  }

  read(at: number, into: Uint8Array): boolean {
    try {
      return this._open().read(into, at) === into.length;
    } catch {
      return false;
    }
  }

  write(at: number, bytes: Uint8Array): boolean {
    try {
      // The SDK accepts only writable buffers.
      this._open().write(bytes.slice(), at);
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this._file?.close();
    this._file = undefined;
  }

  private _open(): File {
    if (this._file) return this._file;
    const isThere = mayBeThere(this._files, this._path);
    this._file = this._files.openFile({ path: this._path, mode: isThere ? "r+" : "w+" });
    if (this._file.status().size < SIZE) this._file.setSize(SIZE);
    return this._file;
  }
}
