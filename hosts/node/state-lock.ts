// The lock of a state directory: one process uses it at a time.
//
// A holder listens on a Unix socket in the directory, `host.lock.<random>`. The kernel closes a
// socket with its process, in whatever container, so a refused connection proves that its holder is
// dead. Anything else, such as the silence of a paused process, counts as alive. A new holder first
// takes a name of its own and then asks all others, so of two that start at once none overlooks the
// other.
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, renameSync, rmSync, statfsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import {
  codeOf,
  createFile,
  isDiskTrouble,
  removeTemporaryFiles,
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

export interface WaitOptions {
  /** Receives a line about a holder that is waited for. */
  tell?: ((line: string) => void) | undefined;
  /** Time to wait for a holder to stop, in ms. Default 0. */
  waitMs?: number;
  /** Aborts the waiting. */
  stop?: AbortSignal | undefined;
}

/** Between two questions to a holder that is waited for. */
const WAIT_MS = 1000;
/** Paths of this process's locks: it cannot answer while it asks. */
const OWN = new Set<string>();
const IS_WINDOWS = process.platform === "win32";

export class StateLock {
  readonly #path: string;
  readonly #server: Server | undefined;

  private constructor(path: string, server: Server | undefined) {
    this.#path = path;
    this.#server = server;
    if (server) OWN.add(path);
  }

  /** Locks the directory for an open host. Throws LockedError if another process uses it. */
  static ofHost(stateDir: string): StateLock {
    return StateLock.#take(resolve(stateDir), "host");
  }

  /**
   * Locks the directory for a supervisor, and ensures that no host is open. Rejects with
   * LockedError if another process uses it, at once or after `waitMs`.
   */
  static async ofRun(stateDir: string, { waitMs = 0, stop, tell }: WaitOptions = {}): Promise<StateLock> {
    for (let waited = 0; ; waited += WAIT_MS) {
      let lock: StateLock | undefined;
      try {
        lock = StateLock.#take(resolve(stateDir), "run");
        StateLock.#take(resolve(stateDir), "host").release();
        return lock;
      } catch (error) {
        lock?.release();
        if (!(error instanceof LockedError) || waited >= waitMs || stop?.aborted) throw error;
        if (waited === 0) tell?.(`${error.message}: waiting up to ${waitMs / 1000} s for it to stop`);
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
    }
  }

  /** Throws LockedError. */
  static #take(stateDir: string, kind: Kind): StateLock {
    refuseNetworkDisk(stateDir);
    const path = join(stateDir, `${kind}.lock.${randomBytes(8).toString("hex")}`);
    const lock = new StateLock(path, listen(stateDir, path));
    try {
      for (const other of othersOf(stateDir, kind, path)) {
        refuseAlive(other, stateDir);
        unlinkIfThere(other);
      }
      if (lock.held) removeTemporaryFiles(stateDir);
      return lock;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** False on a disk that cannot store files. Other processes are not locked out then. */
  get held(): boolean {
    return this.#server !== undefined;
  }

  release(): void {
    this.#server?.close();
    OWN.delete(this.#path);
    try {
      if (this.#server) unlinkIfThere(this.#path);
    } catch (error) {
      if (!isDiskTrouble(error)) throw error;
    }
  }
}

function othersOf(stateDir: string, kind: Kind, own: string): string[] {
  return readdirSync(stateDir)
    .filter((name) => name.startsWith(`${kind}.lock.`))
    .map((name) => join(stateDir, name))
    .filter((path) => path !== own);
}

function refuseAlive(path: string, stateDir: string): void {
  if (OWN.has(path)) throw new LockedError(`${stateDir} is in use by another host of this process`);
  const answer = ask(path);
  if (answer === "dead") return;
  if (answer === "denied") throw new LockedError(`${stateDir} is in use by another user`);
  if (answer === "silent")
    throw new LockedError(`${stateDir} is in use by a process that does not answer: resume or end it`);
  const whose = answer === process.pid ? " of another container" : "";
  throw new LockedError(`${stateDir} is in use by process ${answer}${whose}`);
}

/**
 * Creates the name and listens. Undefined on a disk that cannot store files. Throws
 * LockedError, and an Error if the file system has no Unix sockets.
 */
function listen(stateDir: string, path: string): Server | undefined {
  // Listens before it has its name: under that name, a refusal must mean that the holder is dead.
  const aside = temporaryPath(path);
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
    if (!server.listening) refuseSocketless(stateDir, aside);
    // On Windows, a pipe is not a file.
    if (IS_WINDOWS) closeSync(openSync(path, "wx"));
    else renameSync(aside, path);
    return server;
  } catch (error) {
    server.close();
    if (isDiskTrouble(error)) return undefined;
    // A process that took the directory meanwhile removed all temporary files.
    if (codeOf(error) === "ENOENT") throw new LockedError(`${stateDir} was just taken by another process`);
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
