// Folders of tests, which go with the process that made them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];
process.once("exit", () => {
  // A child that was killed may still write for a moment.
  for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
});

/** Writes a program into a folder. Returns its path. */
export function writeProgram(folder: string, name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, script, { mode: 0o755 });
  return file;
}

export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), "mote-test-"));
  made.push(path);
  return path;
}
