// One `mote run`, and one host, for one state directory: a file that names the process, and the worker that it started.
import { linkSync, readFileSync, renameSync, unlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { codeOf, isDiskTrouble, readIfThere, replaceFile } from "./files.js";

/** A process, and when it began: process ids are used again. `since` is undefined where the system does not say. */
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
/** Rounds of taking, each lost to another process. */
const TRIES = 20;

/** Of hosts of this process. */
const OPEN = new Set<string>();

export class Lock {
  readonly #path: string;
  readonly #holder: Holder;
  /** False on a disk that takes no file: nobody else is kept out. */
  readonly held: boolean;

  private constructor(path: string, holder: Holder, held: boolean) {
    this.#path = path;
    this.#holder = holder;
    this.held = held;
  }

  /**
   * Throws LockedError if a process that lives holds it. If the holder died, its worker (which notices, and ends) is waited for,
   * and killed after 5 s. On a disk that is full or read-only there is a lock that holds nothing.
   */
  static async take(stateDir: string): Promise<Lock> {
    const path = join(stateDir, "lock.json");
    const holder = identify(process.pid);
    // Without start times our own number in it is from another life, as in a container, where each start has the same.
    const counts = ({ pid, since }: Holder): boolean => pid !== process.pid || since !== undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const { lock, left } = Lock.#attempt(path, holder, counts);
      if (left?.worker) await outlive(left.worker);
      if (lock) return lock;
      if (left) discard(path, left);
    }
    throw new LockedError(`${path} can't be taken or taken away`);
  }

  /** Of one open host. Throws LockedError if another has the directory. A process that died holds nothing. */
  static ofHost(stateDir: string): Lock {
    const path = resolve(stateDir, "host.json");
    const holder = identify(process.pid);
    if (OPEN.has(path)) throw new LockedError(`${stateDir} is in use by another host of this process`);
    for (let tries = 0; tries < TRIES; tries++) {
      const { lock, left } = Lock.#attempt(path, holder, ({ pid }) => pid !== process.pid);
      if (lock) {
        OPEN.add(path);
        return lock;
      }
      if (left) discard(path, left);
    }
    throw new LockedError(`${path} can't be taken or taken away`);
  }

  /**
   * The lock, if it is ours or there is no room for one; `left`: a holder that is in its way or was, and is dead. Neither: somebody was quicker.
   * Throws LockedError if the holder is one that `counts`, and lives.
   */
  static #attempt(
    path: string,
    holder: Holder,
    counts: (found: Holder) => boolean,
  ): { lock?: Lock; left?: Holder | undefined } {
    const claimed = claim(path, holder);
    if (claimed === "ours") return { lock: new Lock(path, holder, true) };
    const left = readHolder(path);
    if (left && counts(left) && isRunning(left))
      throw new LockedError(`${dirname(path)} is in use by process ${left.pid}`);
    return claimed === "taken" ? { left } : { lock: new Lock(path, holder, false), left };
  }

  /** Notes the worker, or that there is none. Without room on the disk a worker that outlives us is not waited for. Throws. */
  worker(pid: number | undefined): void {
    this.#holder.worker = pid === undefined ? undefined : identify(pid);
    if (!this.held) return;
    try {
      replaceFile(this.#path, encode(this.#holder));
    } catch (error) {
      if (!isDiskTrouble(error)) throw error;
    }
  }

  release(): void {
    OPEN.delete(this.#path);
    if (!this.held) return;
    remove(this.#path);
  }
}

const encode = (holder: Holder): Buffer => Buffer.from(`${JSON.stringify(holder)}\n`);

/** "ours": there was no lock and now it is ours: a link appears as a whole, or not at all. */
function claim(path: string, holder: Holder): "ours" | "taken" | "no room" {
  const aside = `${path}.${process.pid}`;
  try {
    replaceFile(aside, encode(holder));
    linkSync(aside, path);
    return "ours";
  } catch (error) {
    if (codeOf(error) === "EEXIST") return "taken";
    if (isDiskTrouble(error)) return "no room";
    throw error;
  } finally {
    remove(aside);
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is not there: nothing to do.
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
    // A third one was quicker: the next round shows who.
  } finally {
    remove(aside);
  }
}

async function outlive(worker: Process): Promise<void> {
  const tries = PATIENCE_MS / LOOK_MS;
  for (let n = 0; isRunning(worker); n++) {
    // Only a process that is surely the one: without its start time the number may be somebody else's by now.
    if (n === tries && worker.since !== undefined) process.kill(worker.pid, "SIGKILL");
    if (n >= 2 * tries) throw new LockedError(`process ${worker.pid} still uses the state directory`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function identify(pid: number): Process {
  return { pid, since: since(pid) };
}

function isRunning({ pid, since: then }: Process): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  const now = since(pid);
  return then === undefined || now === undefined || now === then;
}

/** Linux says when a process began (and a zombie has ended): the start time counts from the boot that is named with it. */
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
