// The supervisor: starts the worker, restarts it, and rolls back an image that fails.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { eventLine } from "../../hosts/device/event-lines.js";
import { setDamagedAside } from "../../hosts/node/boot-record.js";
import { codeOf, isDiskTrouble, makeDirectory } from "../../hosts/node/files.js";
import { StateLock } from "../../hosts/node/state-lock.js";
import type { LastRun } from "../../src/port.js";
import { pause } from "../cli/stop.js";
import { FAILED, IN_USE, QUEUE, REFUSED, STOPPED, USAGE } from "../exit-codes.js";
import { builtFile } from "../project.js";
import { forgetStart, prepareStart, type Start } from "./boot-loader.js";
import { PATIENCE, type Patience, runWorker, type WorkerEnd } from "./child.js";
import type { Lines } from "./lines.js";
import type { Event, WorkerConfig } from "./messages.js";
import type { ServiceManager } from "./service-manager.js";
import { flash } from "./slot-images.js";

export interface SuperviseOptions {
  config: WorkerConfig;
  /** Of the state directory. Default: taken here, and released at the end. */
  lock?: StateLock | undefined;
  /** The image of `--app`. Default: the slot's, or the minimal image. */
  app?: Uint8Array | undefined;
  lines: Lines;
  /** Ends it all in good order. */
  stop: AbortSignal;
  /** Ends it at once. */
  kill: AbortSignal;
  /** The worker's module. Default: worker.js beside this file. */
  worker?: string;
  /** The device restarts after a reset: nobody pulled a plug. */
  afterReset?: boolean;
  patience?: Patience;
  /** Who started this process and waits for its signs of life. */
  manager?: ServiceManager | undefined;
  /** After a crash: the first and the longest wait, in milliseconds. Default 1,000 and 60,000. */
  delays?: { first: number; longest: number };
}

const MINIMAL = builtFile("tools/run/minimal.js");
const WORKER = fileURLToPath(new URL("./worker.js", import.meta.url));
/** A worker that ran for so long was well: the next crash is a first one again. */
const WELL_MS = 60_000;
/** Crashes longer ago than this are forgotten. */
const RECENT_MS = 600_000;

/** The exit code of `mote run`; "reset": the device starts again with its settings of now. */
export type Outcome = number | "reset";

/**
 * Rejects with LockedError if the state directory is in use, and with an Error if it cannot be
 * used.
 */
export async function supervise(options: SuperviseOptions): Promise<Outcome> {
  if (options.lock) return new Supervisor(options, options.lock).run();
  const { config, stop } = options;
  makeDirectory(config.stateDir);
  const lock = await StateLock.ofRun(config.stateDir, { stop });
  try {
    return await new Supervisor(options, lock).run();
  } finally {
    lock.release();
  }
}

class Supervisor {
  readonly #options: SuperviseOptions;
  readonly #stateDir: string;
  readonly #lock: StateLock;
  readonly #delays: { first: number; longest: number };
  #delay: number;
  #flashed = false;
  /** Why the worker before crashed. */
  #crash: string | false = false;
  /** Times of recent crashes, in memory: works with a full disk, too. */
  #crashes: number[] = [];
  /** No worker came before. */
  #first: boolean;

  constructor(options: SuperviseOptions, lock: StateLock) {
    this.#options = options;
    this.#stateDir = options.config.stateDir;
    this.#lock = lock;
    this.#delays = options.delays ?? { first: 1000, longest: 60_000 };
    this.#delay = this.#delays.first;
    this.#first = options.afterReset !== true;
    options.manager?.warnBy((line) => options.lines.tell({ event: "log", level: "warn", line }));
  }

  async run(): Promise<Outcome> {
    const { app, lines, stop } = this.#options;
    if (setDamagedAside(this.#stateDir)) {
      const line =
        "boot.json is damaged and was renamed to boot.json.damaged: installing the first image again";
      lines.tell({ event: "log", level: "error", line });
    }
    if (app) this.#flash(app, false);
    if (!this.#lock.held) {
      lines.tell({
        event: "log",
        level: "error",
        line: "cannot write to the state directory: running the stored image",
      });
    }
    while (!stop.aborted) {
      const start = this.#prepare();
      if (start === "wait") {
        await this.#pauseLonger();
        continue;
      }
      if (!start) {
        lines.tell({ event: "log", level: "error", line: "no firmware slot contains an intact image" });
        return FAILED;
      }
      const began = performance.now();
      const end = await this.#runOnce(start);
      const outcome = this.#judge(end);
      if (outcome !== undefined) {
        if (outcome !== "reset") lines.tell({ event: "stopped", code: outcome });
        return outcome;
      }
      await this.#rest(end, start, performance.now() - began);
    }
    lines.tell({ event: "stopped", code: STOPPED });
    return STOPPED;
  }

  #flash(bytes: Uint8Array, isForced: boolean): void {
    if (!flash(this.#stateDir, bytes, isForced)) return;
    this.#flashed = true;
    this.#options.lines.tell({ event: "firmware.flashed", bytes: bytes.length });
  }

  /**
   * With both slots empty or damaged, the image of `--app` or the minimal one is put in (again).
   * "wait": there is an image, and the disk does not take what must be stored before it starts.
   */
  #prepare(): Start | "wait" | undefined {
    const { lines } = this.#options;
    const reportFallback = (slot: string, why: string): void =>
      lines.tell({ event: "firmware.fallback", slot, reason: why });
    try {
      const start = prepareStart(this.#stateDir, reportFallback);
      if (start) return start;
    } catch (error) {
      if (!isDiskTrouble(error)) throw error;
      const line = `cannot store the start (${codeOf(error)}); retrying in ${this.#delay / 1000} s`;
      lines.tell({ event: "log", level: "error", line });
      return "wait";
    }
    this.#flash(this.#options.app ?? readFileSync(MINIMAL), true);
    return prepareStart(this.#stateDir, reportFallback);
  }

  async #runOnce(start: Start): Promise<WorkerEnd> {
    const { config, stop, kill, worker = WORKER, patience = PATIENCE, manager } = this.#options;
    const end = await runWorker({
      entry: worker,
      start: { config, lastRun: this.#lastRun, ...start },
      emit: (event) => this.#report(event),
      secret: (secret, isOwn) => this.#options.lines.redactor[isOwn ? "pin" : "conceal"](secret),
      clean: (text) => this.#options.lines.clean(text),
      beat: (lives) => manager?.beat(lives),
      stop,
      kill,
      patience,
    });
    return end;
  }

  get #lastRun(): LastRun {
    const crash = this.#crash;
    const interrupted = this.#first;
    const reset = crash !== false ? "crash" : interrupted ? "start" : "restart";
    return { reset, crash, interrupted, powered: interrupted, crashes: this.#crashes.length };
  }

  /** Undefined to go on. */
  #judge({ how, reason }: WorkerEnd): Outcome | undefined {
    const { stop, lines } = this.#options;
    if (how === "inUse") return this.#displaced();
    if (stop.aborted) {
      // An image that had to be killed has failed its trial.
      if (how === "stopped") this.#forget();
      return STOPPED;
    }
    if (how === "refused") return REFUSED;
    if (how === "reset") {
      this.#forget();
      return "reset";
    }
    // Not caused by the image; a new worker cannot help. The caller may retry later.
    if (how === "queue") {
      lines.tell({ event: "log", level: "error", line: reason });
      return QUEUE;
    }
    // A file that was never an image: trying it again and again helps nobody.
    if (how === "unfit" && this.#flashed) {
      lines.tell({ event: "log", level: "error", line: `--app is not a firmware image: ${reason}` });
      return USAGE;
    }
    this.#flashed = false;
    return undefined;
  }

  #displaced(): number {
    const line = `${this.#stateDir} is used by another process: this one ends`;
    this.#options.lines.tell({ event: "log", level: "error", line });
    return IN_USE;
  }

  #forget(): void {
    try {
      forgetStart(this.#stateDir);
    } catch (error) {
      // Not worth an end in disorder: the image has had its try then.
      if (!isDiskTrouble(error)) throw error;
    }
  }

  #report(event: Event): void {
    const { lines, manager } = this.#options;
    lines.tell(event);
    manager?.event(event, lines.clean(eventLine(event)));
  }

  #noteCrash(): void {
    const now = performance.now();
    this.#crashes = [...this.#crashes, now].filter((at) => now - at < RECENT_MS);
  }

  async #pauseLonger(): Promise<void> {
    const wait = this.#delay;
    this.#delay = Math.min(this.#delays.longest, this.#delay * 2);
    return pause(wait, this.#options.stop);
  }

  /** Waits before the next start: short after a restart, growing after crashes. */
  async #rest(end: WorkerEnd, start: Start, ranMs: number): Promise<void> {
    const { lines } = this.#options;
    this.#first = false;
    if (ranMs >= WELL_MS) this.#delay = this.#delays.first;
    const isRestart = end.how === "restart";
    this.#crash = isRestart ? false : lines.clean(end.reason);
    if (isRestart) return pause(Math.max(0, this.#delays.first - ranMs), this.#options.stop);
    const pending = start.state === "pending";
    if (!pending) this.#noteCrash();
    this.#report({ event: "crash", reason: end.reason, retryMs: pending ? 0 : this.#delay });
    if (!pending) await this.#pauseLonger();
  }
}
