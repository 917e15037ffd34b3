// The lease decides which process may write to a state directory.
//
// A lease is one empty file, `host.lease.<number>.<holder>`; a free one names no holder. A process
// takes it by renaming it to the next number, which only one process can do. From then on every
// write of the old holder fails, even if it was paused and resumes hours later:
//
// - A file is replaced by writing a temporary file, checking the lease, and renaming. The new
// holder first removes all temporary files, so that a late rename fails.
// - A sector is written to the open queue file and counts only if the lease still holds then. If a
// new holder cannot know whether the old one is dead, it continues on a copy of the queue file.
//
// The process id of a holder in another container means nothing here. Such a holder is asked
// through the modification time of the lease, and answers with another one. Without questions
// nothing is written, so a lease costs no wear.
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join, resolve } from "node:path";
import {
  codeOf,
  type Fence,
  isDiskTrouble,
  publish,
  QUEUE_FILE,
  readIfThere,
  removeTemporaryFiles,
  syncDirectory,
  syncFile,
  temporaryPath,
} from "./files.js";
import {
  type Holder,
  holderState,
  holderText,
  identify,
  type Process,
  parseHolder,
  processState,
  thisProcess,
} from "./holder.js";

/** `host`: an open host or a platform. `run`: the supervisor of `mote run`, or commissioning. */
type Kind = "host" | "run";

/** Another process uses the state directory. */
export class LockedError extends Error {
  override name = "LockedError";
  /** The holder answered from another container or machine, and may be about to stop. */
  readonly isElsewhere: boolean;

  constructor(message: string, isElsewhere = false) {
    super(message);
    this.isElsewhere = isElsewhere;
  }
}

export interface LeaseOptions {
  /** Receives messages about waiting for another process. */
  tell?: ((line: string) => void) | undefined;
  /** Time to wait for a holder that answers from another container, in ms. Default 0. */
  waitMs?: number;
  /** Aborts the waiting. */
  stop?: AbortSignal | undefined;
  /** Time after which a holder that does not answer counts as dead, in ms. */
  silenceMs?: number;
  me?: Holder;
}

/** A holder answers within half a second, unless its machine is very busy. */
const ANSWER_MS = 500;
const SILENCE_MS = 5000;
const LOOK_MS = 100;
/** An orphaned worker notices that its supervisor is gone; it is killed after this time. */
const WORKER_MS = 5000;
/** Gives up after losing so many races to other processes. */
const TRIES = 20;

/** Modification times in seconds that every file system can store, whatever its time zone. */
const ASKED = Date.UTC(2000, 0, 2) / 1000;
const ANSWERED = Date.UTC(2001, 0, 2) / 1000;
const DAY = 86_400;

interface Found {
  readonly number: number;
  /** Undefined: the lease is free. */
  readonly holder: Holder | undefined;
  /** True if the previous holder may still run, and may write to the same queue file. */
  readonly isUnclean: boolean;
  readonly path: string;
}

/** Leases of this process by path. */
const OPEN = new Set<string>();

export class Lease implements Fence {
  readonly tag: string;
  readonly #stateDir: string;
  readonly #kind: Kind;
  readonly #number: number;
  readonly #holder: Holder;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  /** Undefined on a disk that cannot store files. Other processes are not locked out then. */
  #path: string | undefined;

  private constructor(
    stateDir: string,
    kind: Kind,
    { number, holder, path }: { number: number; holder: Holder; path: string | undefined },
  ) {
    this.tag = `${kind}${number}`;
    this.#stateDir = stateDir;
    this.#kind = kind;
    this.#number = number;
    this.#holder = holder;
    this.#path = path;
    if (path === undefined) return;
    OPEN.add(path);
    this.#timer = setInterval(() => this.#checkHolder(), ANSWER_MS).unref();
  }

  /**
   * Takes the lease of an open host. Blocks while a holder in another container is asked. Throws
   * LockedError if the holder is alive.
   */
  static ofHost(stateDir: string, options: LeaseOptions = {}): Lease {
    const taking = Lease.#take(resolve(stateDir), "host", options);
    for (;;) {
      const step = taking.next();
      if (step.done) return step.value.lease;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, step.value);
    }
  }

  /**
   * Takes the lease of a supervisor. Waits for a worker that outlived its supervisor, and ensures
   * that no host is open. Rejects with LockedError if a holder is alive, at once or after `waitMs`.
   */
  static async ofRun(stateDir: string, options: LeaseOptions = {}): Promise<Lease> {
    const { waitMs = 0, stop } = options;
    let { tell } = options;
    for (let waited = 0; ; waited += ANSWER_MS) {
      try {
        return await Lease.#takeBoth(resolve(stateDir), options);
      } catch (error) {
        const isOver = waited >= waitMs || stop?.aborted;
        if (!(error instanceof LockedError) || !error.isElsewhere || isOver) throw error;
        tell?.(`${error.message}: waiting up to ${waitMs / 1000} s for it to stop`);
        tell = undefined;
        await sleep(ANSWER_MS);
      }
    }
  }

  static async #takeBoth(stateDir: string, options: LeaseOptions): Promise<Lease> {
    const { lease, before } = await drive(Lease.#take(stateDir, "run", options), options.stop);
    try {
      const me = lease.#holder;
      const isNear = before?.boot === me.boot && before.space === me.space;
      if (isNear && before.worker) await outlive(before.worker);
      const host = await drive(Lease.#take(stateDir, "host", options), options.stop);
      host.lease.release();
      return lease;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /** Yields ms to wait. Throws LockedError. */
  static *#take(stateDir: string, kind: Kind, options: LeaseOptions): Generator<number, Taken, void> {
    const { me = thisProcess() } = options;
    refuseOldLock(stateDir, kind, me);
    for (let tries = 0; tries < TRIES; tries++) {
      let number = 0;
      try {
        const found = newest(stateDir, kind) ?? makeFree(stateDir, kind);
        number = found.number + 1;
        const verdict = yield* settle(stateDir, found, me, options);
        if (verdict === "gone") continue;
        const isUnclean = verdict === "silent" || found.isUnclean;
        const path = pathOf(stateDir, kind, number, me, isUnclean);
        renameSync(found.path, path);
        utimesSync(path, ANSWERED, ANSWERED);
        if (!removeOthers(stateDir, kind, number, path)) {
          yield LOOK_MS + (process.pid % LOOK_MS);
          continue;
        }
        const lease = new Lease(stateDir, kind, { number, holder: me, path });
        lease.#begin(isUnclean);
        return { lease, before: found.holder };
      } catch (error) {
        if (codeOf(error) === "ENOENT") continue;
        if (!isDiskTrouble(error)) throw error;
        const lease = new Lease(stateDir, kind, { number, holder: me, path: undefined });
        return { lease, before: undefined };
      }
    }
    throw new LockedError(`${stateDir} is in use: other processes take it again and again`);
  }

  /** False on a disk that cannot store files. Other processes are not locked out then. */
  get held(): boolean {
    return this.#path !== undefined;
  }

  /** Aborted when another process took the directory over. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  holds(): boolean {
    return this.#path === undefined || existsSync(this.#path);
  }

  /** Notes the worker that the holder started, or that there is none. */
  worker(pid: number | undefined): void {
    const worker = pid === undefined ? undefined : identify(pid);
    this.#move(pathOf(this.#stateDir, this.#kind, this.#number, { ...this.#holder, worker }));
  }

  release(): void {
    clearInterval(this.#timer);
    this.#move(pathOf(this.#stateDir, this.#kind, this.#number, undefined));
    if (this.#path !== undefined) OPEN.delete(this.#path);
  }

  /** Renames the lease. Does nothing if the lease is lost or the disk fails. */
  #move(to: string): void {
    if (this.#path === undefined) return;
    try {
      renameSync(this.#path, to);
    } catch (error) {
      if (codeOf(error) !== "ENOENT" && !isDiskTrouble(error)) throw error;
      return;
    }
    OPEN.delete(this.#path);
    OPEN.add(to);
    this.#path = to;
  }

  /** Answers questions and notices a takeover. */
  #checkHolder(): void {
    try {
      const at = mtime(this.#path ?? "");
      if (at !== undefined) {
        if (isAsked(at)) utimesSync(this.#path ?? "", ANSWERED, ANSWERED);
      } else if (existsSync(this.#stateDir)) {
        clearInterval(this.#timer);
        this.#lost.abort();
      }
    } catch {
      // A failing disk says nothing about the lease.
    }
  }

  /** Ensures that late actions of the old holder have no effect. Throws. */
  #begin(isUnclean: boolean): void {
    try {
      removeTemporaryFiles(this.#stateDir);
    } catch (error) {
      this.release();
      throw error;
    }
    if (isUnclean) this.#copyQueue();
  }

  /** Replaces the queue file by a copy. An old holder that still runs writes to the old file. */
  #copyQueue(): void {
    const path = join(this.#stateDir, QUEUE_FILE);
    const aside = temporaryPath(path, this.tag);
    try {
      copyFileSync(path, aside, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      syncFile(aside);
      publish(aside, path, this);
      syncDirectory(this.#stateDir);
    } catch {
      // No queue file, or no room for a copy: only the check before each write protects the queue.
      rmSync(aside, { force: true });
    }
    this.#move(pathOf(this.#stateDir, this.#kind, this.#number, this.#holder));
  }
}

interface Taken {
  readonly lease: Lease;
  readonly before: Holder | undefined;
}

/** "free": can be taken. "silent": the holder does not answer. "gone": renamed meanwhile. */
type Settled = "free" | "silent" | "gone";

/** Throws LockedError if the holder is alive. */
function* settle(
  stateDir: string,
  { holder, path }: Found,
  me: Holder,
  { tell, silenceMs = SILENCE_MS }: LeaseOptions,
): Generator<number, Settled, void> {
  if (!holder) return "free";
  const { pid } = holder;
  if (OPEN.has(path) && holderText(holder) === holderText(me))
    throw new LockedError(`${stateDir} is in use by another host of this process`);
  const verdict = holderState(holder, me);
  if (verdict === "dead") return "free";
  if (verdict === "alive") throw new LockedError(`${stateDir} is in use by process ${pid}`);
  utimesSync(path, ASKED, ASKED);
  for (let waited = 0; waited < silenceMs; waited += LOOK_MS) {
    if (waited === 2 * ANSWER_MS)
      tell?.(`${stateDir} was in use by process ${pid}: waiting ${silenceMs / 1000} s for its answer`);
    yield LOOK_MS;
    const at = mtime(path);
    if (at === undefined) return "gone";
    if (!isAsked(at))
      throw new LockedError(`${stateDir} is in use by process ${pid} of another container or machine`, true);
  }
  return "silent";
}

const isAsked = (mtimeMs: number): boolean => Math.abs(mtimeMs / 1000 - ASKED) < DAY;

const mtime = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

function pathOf(
  stateDir: string,
  kind: Kind,
  number: number,
  holder: Holder | undefined,
  isUnclean = false,
): string {
  const parts = [kind, "lease", number, ...(holder ? [holderText(holder)] : [])];
  return join(stateDir, [...parts, ...(isUnclean ? [UNCLEAN] : [])].join("."));
}

const UNCLEAN = "unclean";
/** Stands for a holder whose name is unreadable. Its process is asked whether it runs. */
const STRANGER: Holder = { pid: 0, started: "", space: "", boot: "", machine: "" };

function leases(stateDir: string, kind: Kind): Found[] {
  const begin = `${kind}.lease.`;
  const found: Found[] = [];
  for (const name of readdirSync(stateDir)) {
    if (!name.startsWith(begin)) continue;
    const [number = "", ...fields] = name.slice(begin.length).split(".");
    if (!/^\d{1,15}$/.test(number)) continue;
    const isUnclean = fields.at(-1) === UNCLEAN;
    if (isUnclean) fields.pop();
    const holder = fields.length === 0 ? undefined : (parseHolder(fields) ?? STRANGER);
    found.push({ number: Number(number), holder, isUnclean, path: join(stateDir, name) });
  }
  return found;
}

const newest = (stateDir: string, kind: Kind): Found | undefined =>
  leases(stateDir, kind).sort((one, other) => other.number - one.number)[0];

function makeFree(stateDir: string, kind: Kind): Found {
  const path = pathOf(stateDir, kind, 0, undefined);
  closeSync(openSync(path, "a", 0o600));
  return { number: 0, holder: undefined, isUnclean: false, path };
}

/**
 * Removes leases with lower numbers. False, removing its own lease, if another has this number or a
 * higher one: two processes created the first lease at the same time.
 */
function removeOthers(stateDir: string, kind: Kind, number: number, own: string): boolean {
  const others = leases(stateDir, kind).filter(({ path }) => path !== own);
  const isFirst = others.every((other) => other.number < number);
  for (const { path } of isFirst ? others : [{ path: own }]) rmSync(path, { force: true });
  return isFirst;
}

const OLD_LOCKS: Readonly<Record<Kind, string>> = { host: "host.json", run: "lock.json" };

/** Before leases existed, a file named the process. Throws LockedError if that process is alive. */
function refuseOldLock(stateDir: string, kind: Kind, me: Holder): void {
  const path = join(stateDir, OLD_LOCKS[kind]);
  const bytes = readIfThere(path);
  if (!bytes) return;
  const [, pid, boot, started] = /"pid":(\d+),"since":"([^/"]*)\/(\d+)"/.exec(bytes.toString()) ?? [];
  if (started && boot === me.boot && processState({ pid: Number(pid), started }) === "alive")
    throw new LockedError(`${stateDir} is in use by process ${pid}`);
  rmSync(path, { force: true });
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function drive<T>(steps: Generator<number, T, void>, stop: AbortSignal | undefined): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (stop?.aborted) throw new LockedError("stopped while waiting for the state directory");
    await sleep(step.value);
  }
}

/** Waits until a worker without supervisor ends by itself or is killed. */
async function outlive(worker: Process): Promise<void> {
  const tries = WORKER_MS / LOOK_MS;
  for (let n = 0; n < 2 * tries; n++) {
    const state = processState(worker);
    if (state === "dead") return;
    // Without a start time, this may be another process: do not kill it. The host's lease decides.
    if (n === tries && state === "unknown") return;
    if (n === tries) process.kill(worker.pid, "SIGKILL");
    await sleep(LOOK_MS);
  }
  throw new LockedError(`process ${worker.pid} still uses the state directory`);
}
