// One run of a worker process, from its start to its end.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { CHANNEL_FD, LONGEST_MESSAGE } from "./channel.js";
import { cutLine, eachLine } from "./each-line.js";
import type { Ending, Event, FromWorker, ToWorker } from "./messages.js";

/** How the supervisor deals with a worker. Milliseconds. */
export interface Patience {
  /** From the request to stop, or from the worker's last message, to the kill. */
  stopMs: number;
  /** Between two looks whether the worker gave a sign of life (it does every 5 s). */
  lookMs: number;
  /** Missed checks before the kill; counted, so that a machine's sleep kills no worker. */
  looks: number;
  /** From the start to the agent's message that the image is set up. */
  startMs: number;
  /** From the start to the agent's message that it confirmed the image on trial. */
  trialMs: number;
}

export const PATIENCE: Patience = {
  stopMs: 4000,
  lookMs: 5000,
  looks: 12,
  startMs: 60_000,
  // Longer than the agent's own limits together: it knows the reason better.
  trialMs: 2 * 3_600_000,
};

export interface WorkerEnd {
  how: Ending;
  /** Why it ended, for people. */
  reason: string;
}

export interface WorkerRun {
  /** The module to start. */
  entry: string;
  start: Omit<Extract<ToWorker, { kind: "start" }>, "kind" | "secret">;
  emit: (event: Event) => void;
  /** The worker knows of a secret. */
  secret: (secret: string, isOwn: boolean) => void;
  /** Removes secrets. */
  clean: (text: string) => string;
  /** A heartbeat. `lives`: of the agent too. */
  beat?: ((lives: boolean) => void) | undefined;
  /** Asks it to stop. */
  stop: AbortSignal;
  /** Kills it. */
  kill: AbortSignal;
  patience: Patience;
}

/** Resolves once the process is gone. Never rejects. */
export async function runWorker(run: WorkerRun): Promise<WorkerEnd> {
  const secret = randomBytes(16).toString("hex");
  const child = spawn(process.execPath, [...process.execArgv, run.entry], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: environment(),
  });
  const ended = new Promise<WorkerEnd>((resolve) => follow(child, run, secret, resolve));
  if (child.pid !== undefined) send(child, { kind: "start", secret, ...run.start });
  return ended;
}

function follow(
  child: ChildProcess,
  run: WorkerRun,
  secret: string,
  resolve: (end: WorkerEnd) => void,
): void {
  let failure: string | undefined;
  let last: WorkerEnd | undefined;
  const watch = new Watch(child, run, (reason) => {
    failure = reason;
    child.kill("SIGKILL");
  });
  const read = (line: string): void => {
    const message = authentic(line, secret);
    if (!message) return;
    watch.sign(message.kind);
    if (message.kind === "event") run.emit(message.event);
    if (message.kind === "secret") run.secret(message.secret, message.isOwn);
    if (message.kind === "heartbeat") run.beat?.(message.lives);
    if (message.kind === "end") last ??= { how: message.how, reason: message.reason };
  };
  eachLine(channelOf(child), read, LONGEST_MESSAGE);
  const line = (level: string) => (text: string) =>
    afterMessages(() => run.emit({ event: "log", level, line: cutLine(text, run.clean) }));
  eachLine(child.stdout, line("info"));
  eachLine(child.stderr, line("error"));
  const end = (code: number | null, signal: string | null): void => {
    watch.close();
    const reason = failure ?? (signal ? `signal ${signal}` : `exit code ${code}`);
    // After its last lines.
    afterMessages(() => resolve(last ?? { how: "crash", reason }));
  };
  child.once("error", () => {
    if (child.pid === undefined) end(null, "the process could not be started");
  });
  // After "exit" there may be last lines; a grandchild that holds the pipe must not hold us.
  child.once("exit", (code, signal) => {
    const timer = setTimeout(() => end(code, signal), 1000);
    child.once("close", () => {
      clearTimeout(timer);
      end(code, signal);
    });
  });
}

const channelOf = (child: ChildProcess) =>
  (child.stdio[CHANNEL_FD] ?? null) as (Writable & NodeJS.ReadableStream) | null;

/** Undefined unless the line begins with the secret of this start: the image may write here too. */
function authentic(line: string, secret: string): FromWorker | undefined {
  if (!line.startsWith(`${secret} `)) return undefined;
  try {
    return JSON.parse(line.slice(secret.length + 1));
  } catch {
    return undefined;
  }
}

/**
 * Calls back after the next look at the message channel: a program names a secret there before it
 * prints it. One turn is too short, because a read also returns lines written since this look.
 */
function afterMessages(call: () => void): void {
  setImmediate(() => setImmediate(call));
}

/** Stop, kill, and the deadlines that only messages of the agent end. */
class Watch {
  readonly #run: WorkerRun;
  readonly #kill: (reason: string) => void;
  readonly #look: NodeJS.Timeout;
  readonly #start: NodeJS.Timeout;
  readonly #trial: NodeJS.Timeout | undefined;
  readonly #onStop: () => void;
  readonly #onKill: () => void;
  #silent = 0;
  #grace: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, run: WorkerRun, kill: (reason: string) => void) {
    const { patience, start } = run;
    const { startMs, trialMs, lookMs, looks } = patience;
    this.#run = run;
    this.#kill = kill;
    this.#look = setInterval(() => {
      this.#silent++;
      if (this.#silent > looks) kill("no sign of life");
    }, lookMs);
    this.#start = setTimeout(() => kill(`it did not start in ${startMs / 1000} s`), startMs);
    if (start.state === "pending")
      this.#trial = setTimeout(() => kill(`its trial did not end in ${trialMs / 1000} s`), trialMs);
    this.#onStop = () => {
      send(child, { kind: "stop" });
      this.#endsSoon("it did not stop");
    };
    this.#onKill = () => kill("killed");
    run.stop.addEventListener("abort", this.#onStop, { once: true });
    run.kill.addEventListener("abort", this.#onKill, { once: true });
  }

  /** The agent sent a message. Only a heartbeat proves that its event loop turns. */
  sign(kind: FromWorker["kind"]): void {
    if (kind === "heartbeat") this.#silent = 0;
    if (kind === "ready") clearTimeout(this.#start);
    if (kind === "confirmed") clearTimeout(this.#trial);
    // The image may hinder the process from ending.
    if (kind === "end") this.#endsSoon("it did not end");
  }

  close(): void {
    clearInterval(this.#look);
    for (const timer of [this.#start, this.#trial, this.#grace]) clearTimeout(timer);
    this.#run.stop.removeEventListener("abort", this.#onStop);
    this.#run.kill.removeEventListener("abort", this.#onKill);
  }

  #endsSoon(reason: string): void {
    this.#grace ??= setTimeout(() => this.#kill(reason), this.#run.patience.stopMs);
  }
}

function send(child: ChildProcess, message: ToWorker): void {
  // A worker that is going has closed the channel: nothing is lost.
  const channel = channelOf(child);
  if (channel?.writable) channel.write(`${JSON.stringify(message)}\n`);
}

/** The environment without secrets and without systemd's socket. */
function environment(): NodeJS.ProcessEnv {
  const { MOTE_TOKEN, MOTE_PROVISION_KEY, MOTE_PROVISION_SECRET, ...rest } = process.env;
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, ...own } = rest;
  return own;
}
