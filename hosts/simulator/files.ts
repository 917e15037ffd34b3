import type { Files } from "embedded:storage/files";

/**
 * Whether it may be there. Opening what is not throws, and the SDK prints each exception, though it is caught: nobody would find the lines that
 * matter. The root can't be looked at: the SDK's second look at it goes on where the first one ended.
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

/** What a file holds; undefined if there is none, or it can't be read. */
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

/** Old or new, never between: written beside, and moved into its place. Throws. */
export const replace = (files: Files, path: string, bytes: Uint8Array): void => {
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
};
