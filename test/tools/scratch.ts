// Folders of tests, which go with the process that made them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];
process.once("exit", () => {
  // A child that was killed may still write for a moment.
  for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
});

export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), "mote-test-"));
  made.push(path);
  return path;
}
