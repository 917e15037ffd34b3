// Folders of builds, which hold what a project's manifest holds: token, provisioning secret, Wi-Fi.
import { chmodSync, mkdirSync } from "node:fs";

/** Creates the folder, or makes it one that only this user can open. */
export function makeBuildFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}
