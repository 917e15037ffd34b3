import type { Files } from "embedded:storage/files";

/** What a file holds; undefined if there is none, or it can't be read. */
export function readWhole(files: Files, path: string): Uint8Array | undefined {
  try {
    const file = files.openFile({ path });
    try {
      const bytes = new Uint8Array(file.status().size);
      return file.read(bytes, 0) === bytes.length ? bytes : undefined;
    } finally {
      file.close();
    }
  } catch {
    return undefined;
  }
}

/** Old or new, never between: written beside, and moved into its place. Throws. */
export function replace(files: Files, path: string, bytes: Uint8Array): void {
  const beside = `${path}.new`;
  const file = files.openFile({ path: beside, mode: "w" });
  try {
    // The SDK takes only what may be written to.
    if (bytes.length > 0) file.write(bytes.slice(), 0);
    file.flush();
  } finally {
    file.close();
  }
  files.move(beside, path);
}
