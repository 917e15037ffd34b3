// The lease decides which process may write to a state directory.
//
// A holder listens on a Unix socket in the directory, `host.lock.<number>`. The highest number
// holds: a new holder ends the old lease by creating the next name, which only one process can do.
// A released name ends in `.free`. The kernel closes a socket with its process, in whatever
// container, so a refused connection proves that the holder is dead. An open connection proves
// nothing, because a paused process has it, too: only an answer does.
//
// A paused holder may resume in the middle of a write:
// - A file is replaced by writing a temporary file, checking the lease, and renaming. The new
//   holder first removes all temporary files, so that a late rename fails.
// - A sector is written to the open queue file and counts only if the lease still holds then. The
//   new holder continues on a copy of the queue file.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import {
  codeOf,
  createFile,
  type Fence,
  isDiskTrouble,
  publish,
  QUEUE_FILE,
  removeTemporaryFiles,
  syncDirectory,
  syncFile,
  temporaryPath,
  unlinkIfThere,
} from "./files.js";
import { ask, atAddress } from "./lock-socket.js";

/** `host`: an open host or a platform. `run`: the supervisor of `mote run`, or commissioning. */
type Kind = "host" | "run";

/** Another process uses the state directory. */
export class LockedError extends Error {
  override name = "LockedError";
}

export interface LeaseOptions {
  /** Receives a line about a holder that is waited for, or was replaced. */
  tell?: ((line: string) => void) | undefined;
  /** Time to wait for a holder that answers to stop, in ms. Default 0. */
  waitMs?: number;
  /** Aborts the waiting. */
  stop?: AbortSignal | undefined;
  /** Time after which a holder that does not answer is replaced, in ms. Default 5,000. */
  silenceMs?: number;
  /** Paths of this process's leases: it cannot answer while it asks. */
  own?: Set<string>;
}

const SILENCE_MS = 5000;
const LOOK_MS = 500;
/** Between two questions to a holder that is waited for. */
const WAIT_MS = 1000;
/** Gives up after losing so many races to other processes. */
const TRIES = 20;
/** The highest number that a lock's name can have; no device starts so often. */
const LAST = 10 ** 15 - 1;
const OWN = new Set<string>();
const IS_WINDOWS = process.platform === "win32";

export class Lease implements Fence {
  readonly tag: string;
  readonly #stateDir: string;
  readonly #kind: Kind;
  readonly #number: number;
  readonly #path: string;
  readonly #own: Set<string>;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #server: Server | undefined;

  private constructor(stateDir: string, kind: Kind, number: number, own: Set<string>, server?: Server) {
    this.tag = `${kind}${number}`;
    this.#stateDir = stateDir;
    this.#kind = kind;
    this.#number = number;
    this.#path = pathOf(stateDir, kind, number);
    this.#own = own;
    this.#server = server;
    if (!server) return;
    own.add(this.#path);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /**
   * Takes the lease of an open host. Throws LockedError if the holder is alive. Blocks for 5 s if
   * it is paused.
   */
  static ofHost(stateDir: string, options: LeaseOptions = {}): Lease {
    return Lease.#take(resolve(stateDir), "host", options);
  }

  /**
   * Takes the lease of a supervisor, and ensures that no host is open. Rejects with LockedError if
   * a holder is alive, at once or after `waitMs`.
   */
  static async ofRun(stateDir: string, options: LeaseOptions = {}): Promise<Lease> {
    const { waitMs = 0, stop, tell } = options;
    for (let waited = 0; ; waited += WAIT_MS) {
      let lease: Lease | undefined;
      try {
        lease = Lease.#take(resolve(stateDir), "run", options);
        Lease.#take(resolve(stateDir), "host", options).release();
        return lease;
      } catch (error) {
        lease?.release();
        if (!(error instanceof LockedError) || waited >= waitMs || stop?.aborted) throw error;
        if (waited === 0) tell?.(`${error.message}: waiting up to ${waitMs / 1000} s for it to stop`);
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
    }
  }

  /** Throws LockedError. */
  static #take(stateDir: string, kind: Kind, options: LeaseOptions): Lease {
    const { own = OWN, silenceMs = SILENCE_MS } = options;
    refuseNetworkDisk(stateDir);
    for (let tries = 0; tries < TRIES; tries++) {
      const before = locks(stateDir, kind);
      const paused = before.filter((lock) => isPaused(lock, stateDir, own, silenceMs));
      const highest = before.reduce((most, lock) => Math.max(most, lock.number), 0);
      if (highest === LAST) throw new Error(`${pathOf(stateDir, kind, highest)} is not a lock: remove it`);
      const number = highest + 1;
      const server = listen(stateDir, kind, number);
      if (server === "taken") continue;
      const lease = new Lease(stateDir, kind, number, own, server);
      if (!server) return lease;
      try {
        // Since the look, others may have taken the directory and removed this name.
        if (lease.holds()) {
          lease.#begin(before, paused.length > 0);
          if (paused.length > 0) options.tell?.(`${stateDir}: replaced a process that does not answer`);
          return lease;
        }
      } catch (error) {
        lease.release();
        throw error;
      }
      lease.release();
    }
    throw new LockedError(`${stateDir} is in use: other processes take it again and again`);
  }

  /** False on a disk that cannot store files. Other processes are not locked out then. */
  get held(): boolean {
    return this.#server !== undefined;
  }

  /** Aborted when another process took the directory over. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  holds(): boolean {
    try {
      return !this.#server || this.#isHighest();
    } catch {
      return false;
    }
  }

  release(): void {
    clearInterval(this.#timer);
    this.#server?.close();
    this.#own.delete(this.#path);
    try {
      if (this.#server) renameSync(this.#path, `${this.#path}.free`);
    } catch (error) {
      if (codeOf(error) !== "ENOENT" && !isDiskTrouble(error)) throw error;
    }
  }

  /** Throws. */
  #isHighest(): boolean {
    const found = locks(this.#stateDir, this.#kind);
    const isHere = found.some(({ path }) => path === this.#path);
    return isHere && found.every(({ number }) => number <= this.#number);
  }

  #look(): void {
    try {
      if (this.#isHighest()) return;
    } catch {
      // A failing disk, or a removed directory, says nothing about the lease.
      return;
    }
    clearInterval(this.#timer);
    this.#lost.abort();
  }

  /** Ensures that late actions of old holders have no effect. Throws. */
  #begin(before: readonly Lock[], isPaused: boolean): void {
    removeTemporaryFiles(this.#stateDir);
    if (isPaused) this.#copyQueue();
    // Only now: a process that takes over meanwhile must also copy the queue.
    for (const { path } of before) unlinkIfThere(path);
  }

  /** Replaces the queue file by a copy. An old holder that resumes writes to the old file. */
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
  }
}

interface Lock {
  readonly number: number;
  readonly isFree: boolean;
  readonly path: string;
}

const pathOf = (stateDir: string, kind: Kind, number: number): string =>
  join(stateDir, `${kind}.lock.${number}`);

function locks(stateDir: string, kind: Kind): Lock[] {
  return readdirSync(stateDir).flatMap((name) => {
    const [, its, number, free] = /^(host|run)\.lock\.(\d{1,15})(\.free)?$/.exec(name) ?? [];
    if (its !== kind) return [];
    return [{ number: Number(number), isFree: free !== undefined, path: join(stateDir, name) }];
  });
}

/** True if the holder does not answer, false if there is none. Throws LockedError if it answers. */
function isPaused({ path, isFree }: Lock, stateDir: string, own: Set<string>, silenceMs: number): boolean {
  if (isFree) return false;
  if (own.has(path)) throw new LockedError(`${stateDir} is in use by another host of this process`);
  const answer = ask(path, silenceMs);
  if (answer === "denied") throw new LockedError(`${stateDir} is in use by another user`);
  if (typeof answer === "string") return answer === "silent";
  const whose = answer === process.pid ? " of another container" : "";
  throw new LockedError(`${stateDir} is in use by process ${answer}${whose}`);
}

/**
 * Creates the name and listens. "taken": another process was faster. Undefined on a disk that
 * cannot store files. Throws if the file system has no Unix sockets.
 */
function listen(stateDir: string, kind: Kind, number: number): Server | "taken" | undefined {
  const path = pathOf(stateDir, kind, number);
  // Listens before it has its name: under that name, a refusal must mean that the holder is dead.
  const aside = temporaryPath(join(stateDir, randomBytes(4).toString("hex")), `${kind}${number}`);
  const server = createServer((socket) =>
    socket
      .on("error", () => {})
      .unref()
      .end(`${process.pid}`),
  );
  // The error comes too late for this call.
  server.on("error", () => {}).unref();
  try {
    atAddress(IS_WINDOWS ? path : aside, (address) => server.listen({ path: address, exclusive: true }));
    if (IS_WINDOWS) {
      // A pipe is not a file, and no other process can listen on its name.
      if (server.listening) closeSync(openSync(path, "wx"));
      return server.listening ? server : "taken";
    }
    if (!server.listening) refuseSocketless(stateDir, aside);
    linkSync(aside, path);
    return server;
  } catch (error) {
    server.close();
    // ENOENT: a faster process removed all temporary files.
    if (["EEXIST", "ENOENT"].includes(codeOf(error))) return "taken";
    if (isDiskTrouble(error)) return undefined;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Throws the disk's error if it can store no file either. */
function refuseSocketless(stateDir: string, aside: string): never {
  closeSync(createFile(aside));
  throw new Error(`${stateDir} cannot be locked: use a file system with Unix sockets, such as ext4`);
}

/** By the type that Linux reports. Their sockets seem to be dead on every other machine. */
const NETWORK_DISKS: { readonly [type: number]: string } = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "SMB",
  4266872130: "SMB",
  12805120: "Ceph",
};

function refuseNetworkDisk(stateDir: string): void {
  if (process.platform !== "linux") return;
  const name = NETWORK_DISKS[statfsSync(stateDir).type >>> 0];
  if (name) throw new Error(`${stateDir} is on ${name}, which cannot lock it: use a local file system`);
}
