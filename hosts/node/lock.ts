// One `mote run` for one state directory: a file that names the process, and the worker that it started.
import { linkSync, readFileSync, renameSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { codeOf, readIfThere, replaceFile } from "./files.js";

/** A process, and when it began: process ids are used again. `since` is undefined where the system does not tell. */
interface Process {
  pid: number;
  since?: string | undefined;
}

interface Holder extends Process {
  worker?: Process | undefined;
}

/** Somebody else uses the state directory. */
export class LockedError extends Error {
  override name = "LockedError";
}

const PATIENCE_MS = 5000;
const LOOK_MS = 50;

export class Lock {
  readonly #path: string;
  readonly #holder: Holder;

  private constructor(path: string, holder: Holder) {
    this.#path = path;
    this.#holder = holder;
  }

  /**
   * Throws LockedError if a process that lives holds it. If the holder died, its worker (which notices, and ends) is waited for,
   * and killed after 5 s.
   */
  static async take(stateDir: string): Promise<Lock> {
    const path = join(stateDir, "lock.json");
    const holder = identify(process.pid);
    for (;;) {
      if (claim(path, holder)) return new Lock(path, holder);
      const found = readHolder(path);
      if (!found) continue;
      // Without start times our own number in it is from another life, as in a container, where each start has the same.
      if (alive(found) && (found.pid !== process.pid || found.since !== undefined)) {
        throw new LockedError(`${stateDir} is in use by process ${found.pid}`);
      }
      if (found.worker) await outlive(found.worker);
      discard(path, found);
    }
  }

  /** Notes the worker, or that there is none. Throws. */
  worker(pid: number | undefined): void {
    this.#holder.worker = pid === undefined ? undefined : identify(pid);
    replaceFile(this.#path, encode(this.#holder));
  }

  release(): void {
    try {
      unlinkSync(this.#path);
    } catch {
      // Gone already: nothing is held.
    }
  }
}

const encode = (holder: Holder): Buffer => Buffer.from(`${JSON.stringify(holder)}\n`);

/** True if there was no lock and now it is ours: a link appears as a whole, or not at all. */
function claim(path: string, holder: Holder): boolean {
  const aside = `${path}.${process.pid}`;
  replaceFile(aside, encode(holder));
  try {
    linkSync(aside, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(aside);
  }
}

/** Undefined if it is gone meanwhile. What cannot be read is a lock of nobody. */
function readHolder(path: string): Holder | undefined {
  const bytes = readIfThere(path);
  if (!bytes) return undefined;
  try {
    const value: Holder = JSON.parse(bytes.toString());
    return typeof value?.pid === "number" ? value : { pid: 0 };
  } catch {
    return { pid: 0 };
  }
}

/** Takes a dead holder's lock away; puts it back if another took it in the meantime. */
function discard(path: string, dead: Holder): void {
  const aside = `${path}.${process.pid}.old`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  try {
    if (moved && (moved.pid !== dead.pid || moved.since !== dead.since)) linkSync(aside, path);
  } catch {
    // A third one was quicker: the next round tells who.
  } finally {
    unlinkSync(aside);
  }
}

async function outlive(worker: Process): Promise<void> {
  const tries = PATIENCE_MS / LOOK_MS;
  for (let n = 0; alive(worker); n++) {
    // Only a process that is surely the one: without its start time the number may be somebody else's by now.
    if (n === tries && worker.since !== undefined) process.kill(worker.pid, "SIGKILL");
    if (n >= 2 * tries) throw new LockedError(`process ${worker.pid} still uses the state directory`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function identify(pid: number): Process {
  return { pid, since: since(pid) };
}

function alive({ pid, since: then }: Process): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  const now = since(pid);
  return then === undefined || now === undefined || now === then;
}

/** Linux tells when a process began (and a zombie has ended): the start time counts from the boot that is named with it. */
function since(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in brackets may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return "ended";
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return undefined;
  }
}
