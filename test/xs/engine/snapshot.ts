// The engine's own picture of what is alive: atoms of a length, a name and what they hold, one after the other.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Of the snapshot as a whole: its length and its name. */
const HEAD = 8;

/** Bytes of the chunks (texts, buffers, code) in the snapshot that `write` leaves at the path it is given. */
export async function chunkBytes(write: (path: string) => Promise<void>): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "mote-xs-"));
  try {
    const path = join(directory, "snapshot");
    await write(path);
    const bytes = readFileSync(path);
    for (let at = HEAD; at < bytes.length; ) {
      const length = bytes.readUInt32BE(at);
      if (bytes.toString("latin1", at + 4, at + 8) === "BLOC") return length - HEAD;
      at += Math.max(length, HEAD);
    }
    throw new Error("the snapshot holds no chunks");
  } finally {
    rmSync(directory, { recursive: true });
  }
}
