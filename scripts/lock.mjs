// One build at a time: a file that names the process which builds. That of a process that is gone counts for nothing.
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_MS = 50;

/** Waits until nobody else holds the lock; the function that is returned gives it back. */
export async function takeLock(file) {
  const own = `${file}-${randomUUID()}`;
  writeFileSync(own, String(process.pid));
  try {
    while (!taken(own, file)) {
      if (isLeft(file)) rmSync(file, { force: true });
      else await sleep(LOOK_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(file, { force: true });
}

/** A link to a whole file: nobody reads it before it names its process. */
function taken(own, file) {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function isLeft(file) {
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
