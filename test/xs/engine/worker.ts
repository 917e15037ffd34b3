// Runs the XS engine of @agoric/xsnap (npm run setup:xs), with the stack of a board. Its JavaScript
// is never imported: that locks down the realm.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { root } from "../../architecture/tree.js";
import { Netstrings, netstring } from "./netstrings.js";
import { boardSnapshot, chunkBytes } from "./snapshot.js";

const PLATFORM: Record<string, string> = { linux: "lin", darwin: "mac" };

function workerPath(): string | undefined {
  const platform = PLATFORM[process.platform];
  const path = join(
    root,
    `test/xs/node_modules/@agoric/xsnap/xsnap-native/xsnap/build/bin/${platform}/release/xsnap-worker`,
  );
  return existsSync(path) ? path : undefined;
}

/** Why there is no engine on this machine, or undefined if there is one. */
export function unavailable(): string | undefined {
  if (workerPath() !== undefined) return undefined;
  return "no XS engine: npm run setup:xs";
}

export const available = (): boolean => unavailable() === undefined;

/**
 * What one evaluation or command cost: steps of the engine (the same in every run), and slots in
 * use after it.
 */
export interface Reply {
  readonly bytes: Uint8Array;
  readonly compute: number;
  readonly heap: number;
}

/** The engine is gone, took too long or threw. */
export class EngineError extends Error {
  override name = "EngineError";
}

interface EngineOptions {
  /**
   * Slots of stack beyond a board's, for an entry whose constants lie on it. Default: as many as it
   * has.
   */
  entrySlots?: number;
  /** Answers `issueCommand` of the script, which waits for it. */
  answer?: (question: Uint8Array) => Uint8Array;
  /** What the script printed, and what the engine itself complains of. */
  output?: (text: string) => void;
  /**
   * Steps of one evaluation or command, after which the engine ends. Steps, as a busy machine makes
   * time no measure.
   */
  limitSteps?: number;
}

interface Turn {
  readonly message: Buffer;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

// How the worker ends when the engine gives up.
const ENDS: Record<number, string> = {
  11: "ran out of memory",
  12: "overflowed its stack",
  15: "ended by an exception that nobody caught",
  16: "ran out of keys",
  17: "computed for too long: one turn took more steps than its limit",
};

const NOTHING = new Uint8Array(0);
/** Some ten seconds of a core. */
const LIMIT_STEPS = 2_000_000_000;
const LAST_OUTPUT = 2_000;

export class Engine {
  /** Steps since the start. */
  compute = 0;
  /** Slots in use after the last turn (16 bytes each on an ESP32). */
  heap = 0;
  readonly #child: ChildProcess;
  readonly #options: EngineOptions;
  readonly #turns: Turn[] = [];
  /** Resolves with the reason once the engine is gone, however it ended. */
  readonly ended: Promise<EngineError>;
  #lastOutput = "";
  #running: Turn | undefined;
  #end: string | undefined;

  constructor(options: EngineOptions = {}) {
    const path = workerPath();
    if (path === undefined) throw new EngineError(unavailable());
    this.#options = options;
    const limit = String(options.limitSteps ?? LIMIT_STEPS);
    this.#child = spawn(path, ["-l", limit, "-r", boardSnapshot(path, options.entrySlots), "mote"], {
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#lastOutput = (this.#lastOutput + text).slice(-LAST_OUTPUT);
        this.#options.output?.(text);
      });
    }
    const incoming = new Netstrings((message) => this.#receive(message));
    const from = this.#child.stdio[4] as Readable;
    from.on("data", (chunk: Buffer) => incoming.push(chunk));
    // A worker that dies in the middle of a write shows it by its exit; the pipes' own errors add
    // nothing.
    for (const stream of [from, this.#to]) stream.on("error", () => {});
    this.#keepProcess(false);
    this.ended = new Promise((resolve) => {
      this.#child.once("error", (error) => this.#ended(error.message, resolve));
      this.#child.once("close", (code, signal) =>
        this.#ended(ENDS[code ?? -1] ?? `ended (${signal ?? code})`, resolve),
      );
    });
  }

  /**
   * Evaluates a script and drains its promise jobs. The reply holds the bytes of the script's value
   * if that is an ArrayBuffer.
   */
  evaluate(source: string): Promise<Reply> {
    return this.#turn(netstring("e", Buffer.from(source)));
  }

  /**
   * Calls `globalThis.handleCommand` of the script with these bytes and drains its promise jobs.
   */
  command(bytes: Uint8Array): Promise<Reply> {
    return this.#turn(netstring("?", bytes));
  }

  /** Collects garbage and says how many bytes of chunks are in use. */
  chunks(): Promise<number> {
    return chunkBytes(async (path) => void (await this.#turn(netstring("w", Buffer.from(path)))));
  }

  /** Ends the engine at once. Idempotent. */
  async close(): Promise<void> {
    this.#end ??= "was closed";
    this.#child.kill("SIGKILL");
    this.#keepProcess(true);
    await this.ended;
  }

  get #to(): Writable {
    return this.#child.stdio[3] as Writable;
  }

  /**
   * An engine that has nothing to do keeps no process alive: a test that failed ends without
   * closing it.
   */
  #keepProcess(keep: boolean): void {
    for (const handle of [this.#child, ...this.#child.stdio] as ({ ref?(): void; unref?(): void } | null)[]) {
      if (keep) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  #turn(message: Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#error());
      this.#turns.push({ message, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== undefined || this.#end !== undefined) return;
    this.#running = this.#turns.shift();
    this.#keepProcess(this.#running !== undefined);
    if (this.#running === undefined) return;
    this.#to.write(this.#running.message);
  }

  #receive(message: Buffer): void {
    const kind = String.fromCharCode(message[0] ?? 0);
    const rest = message.subarray(1);
    if (kind === "?") this.#question(rest);
    else this.#finish(kind, rest);
  }

  #finish(kind: string, rest: Buffer): void {
    const turn = this.#running;
    if (turn === undefined) {
      this.#kill("spoke out of turn");
      return;
    }
    this.#running = undefined;
    if (kind === "!") turn.reject(new EngineError(rest.toString()));
    else turn.resolve(this.#reply(rest));
    this.#next();
  }

  #question(bytes: Uint8Array): void {
    try {
      this.#to.write(netstring("/", this.#options.answer?.(bytes) ?? NOTHING));
    } catch (error) {
      this.#kill(
        `was killed: its question could not be answered: ${error instanceof Error ? error.stack : error}`,
      );
    }
  }

  #reply(rest: Buffer): Reply {
    const split = rest.indexOf(1);
    const meter = JSON.parse(rest.toString("latin1", 0, split)) as {
      compute: number;
      currentHeapCount: number;
    };
    this.compute += meter.compute;
    this.heap = meter.currentHeapCount;
    return { bytes: rest.subarray(split + 1), compute: meter.compute, heap: meter.currentHeapCount };
  }

  #kill(reason: string): void {
    this.#end ??= reason;
    this.#child.kill("SIGKILL");
  }

  #error(): EngineError {
    const output = this.#lastOutput.trim();
    return new EngineError(`the engine ${this.#end}${output && `; its last output:\n${output}`}`);
  }

  #ended(reason: string, resolve: (error: EngineError) => void): void {
    this.#end ??= reason;
    const error = this.#error();
    this.#running?.reject(error);
    for (const turn of this.#turns.splice(0)) turn.reject(error);
    this.#running = undefined;
    resolve(error);
  }
}
