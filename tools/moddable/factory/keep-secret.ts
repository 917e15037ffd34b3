// Files with secrets: for this user alone, and not where git would take them along.
import { statSync } from "node:fs";
import { join } from "node:path";
import { onPath, tryRun } from "../program.js";
import { SdkError } from "../sdk.js";

const OTHERS = 0o077;

/** True if other users of this machine may read it. Not known on Windows. */
export const isOpen = (file: string): boolean =>
  process.platform !== "win32" && (statSync(file).mode & OTHERS) !== 0;

/** Throws SdkError if git would commit files of this existing folder. */
export async function refuseTracked(folder: string, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  if (!onPath("git", env)) return;
  const git = (...words: string[]) => tryRun(["git", "-C", folder, ...words], env);
  if ((await git("rev-parse", "--is-inside-work-tree")).text.trim() !== "true") return;
  if ((await git("check-ignore", "-q", join(folder, "x.bin"))).code === 0) return;
  throw new SdkError(
    `${folder} is in a git repository that does not ignore it: secrets would be committed. Choose a folder outside the repository, or add this one to .gitignore`,
  );
}
