import type { Files } from "embedded:storage/files";

/**
 * True if the file may exist. Opening a missing one throws, and the SDK prints even caught
 * exceptions. The root cannot be listed: the SDK's second listing would continue the first.
 */
export const mayBeThere = (files: Files, path: string): boolean => {
  const end = path.lastIndexOf("/");
  const name = path.slice(end + 1);
  try {
    for (const one of files.scan(path.slice(0, Math.max(0, end)))) if (one === name) return true;
    return false;
  } catch {
    return true;
  }
};

/** Content of a file; undefined if it is missing or unreadable. */
export const readWhole = (files: Files, path: string): Uint8Array | undefined => {
  try {
    if (!mayBeThere(files, path)) return undefined;
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
};

/** Replaces a file atomically: written beside it, then moved. Throws. */
export const replace = (files: Files, path: string, bytes: Uint8Array): void => {
  const beside = `${path}.new`;
  const file = files.openFile({ path: beside, mode: "w" });
  try {
    // The SDK accepts only writable buffers.
    if (bytes.length > 0) file.write(bytes.slice(), 0);
    file.flush();
  } finally {
    file.close();
  }
  files.move(beside, path);
};
