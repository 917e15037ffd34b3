// One run of a worker process, from its start to its end.
import { type ChildProcess, fork } from "node:child_process";
import type { Event, FromWorker, ToWorker } from "./messages.js";

/** How the supervisor deals with a worker. Milliseconds. */
export interface Patience {
  /** From the request to stop to the kill. */
  stopMs: number;
  /** Between two looks whether the worker gave a sign of life (it does every 5 s). */
  lookMs: number;
  /** Missed checks before the kill; counted, so that a machine's sleep kills no worker. */
  looks: number;
}

export const PATIENCE: Patience = { stopMs: 4000, lookMs: 5000, looks: 12 };

export interface WorkerEnd {
  code: number | null;
  /** Why it ended, for people. */
  reason: string;
  /** The worker found the image to be none. */
  unfit: boolean;
}

export interface WorkerRun {
  /** The module to start. */
  entry: string;
  start: Extract<ToWorker, { kind: "start" }>;
  emit: (event: Event) => void;
  /** The worker knows of a secret. */
  secret: (secret: string, isOwn: boolean) => void;
  /** A heartbeat. `lives`: of the agent too. */
  beat?: ((lives: boolean) => void) | undefined;
  /** Called with the process id before the worker gets any message. */
  born: (pid: number) => void;
  /** Asks it to stop. */
  stop: AbortSignal;
  /** Kills it. */
  kill: AbortSignal;
  patience: Patience;
}

/** Resolves once the process is gone. Never rejects, but for what `born` throws. */
export async function runWorker(run: WorkerRun): Promise<WorkerEnd> {
  const child = fork(run.entry, [], { stdio: ["ignore", "pipe", "pipe", "ipc"], env: environment() });
  const ended = new Promise<WorkerEnd>((resolve) => follow(child, run, resolve));
  if (child.pid === undefined) return ended;
  try {
    run.born(child.pid);
  } catch (error) {
    child.kill("SIGKILL");
    await ended;
    throw error;
  }
  send(child, run.start);
  return ended;
}

function follow(child: ChildProcess, run: WorkerRun, resolve: (end: WorkerEnd) => void): void {
  let failure: string | undefined;
  let unfit = false;
  const clearWatch = watch(child, run, (reason) => {
    failure = reason;
    child.kill("SIGKILL");
  });
  child.on("message", (message: FromWorker) => {
    if (message.kind === "event") run.emit(message.event);
    if (message.kind === "secret") run.secret(message.secret, message.isOwn);
    if (message.kind === "heartbeat") run.beat?.(message.lives);
    if (message.kind !== "failed") return;
    failure = message.reason;
    unfit = message.unfit;
  });
  const line = (level: string) => (text: string) =>
    afterMessages(() => run.emit({ event: "log", level, line: text }));
  eachLine(child.stdout, line("info"));
  eachLine(child.stderr, line("error"));
  const end = (code: number | null, signal: string | null): void => {
    clearWatch();
    const reason = failure ?? (signal ? `signal ${signal}` : `exit code ${code}`);
    // After its last lines.
    afterMessages(() => resolve({ code, reason, unfit }));
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

/**
 * Calls back after the next look at the message channel: a program names a secret there before it
 * prints it. One turn is too short, because a read also returns lines written since this look.
 */
function afterMessages(call: () => void): void {
  setImmediate(() => setImmediate(call));
}

/** Stop, kill and signs of life. Returns what ends the watch. */
function watch(child: ChildProcess, run: WorkerRun, kill: (reason: string) => void): () => void {
  let silent = 0;
  let grace: NodeJS.Timeout | undefined;
  child.on("message", () => {
    silent = 0;
  });
  const look = setInterval(() => {
    silent++;
    if (silent > run.patience.looks) kill("no sign of life");
  }, run.patience.lookMs);
  const onStop = (): void => {
    send(child, { kind: "stop" });
    grace = setTimeout(() => kill("it did not stop"), run.patience.stopMs);
  };
  const onKill = (): void => kill("killed");
  run.stop.addEventListener("abort", onStop, { once: true });
  run.kill.addEventListener("abort", onKill, { once: true });
  return () => {
    clearInterval(look);
    clearTimeout(grace);
    run.stop.removeEventListener("abort", onStop);
    run.kill.removeEventListener("abort", onKill);
  };
}

function send(child: ChildProcess, message: ToWorker): void {
  // A worker that is going has closed the channel: nothing is lost.
  if (child.connected) child.send(message, () => {});
}

/** The environment without secrets and without systemd's socket. */
function environment(): NodeJS.ProcessEnv {
  const { MOTE_TOKEN, MOTE_PROVISION_KEY, MOTE_PROVISION_SECRET, ...rest } = process.env;
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, ...own } = rest;
  return own;
}

const LONGEST_LINE = 2000;

/** Calls back with each line that is not blank, cut after `longest` characters. */
export function eachLine(
  stream: NodeJS.ReadableStream | null,
  take: (line: string) => void,
  longest = LONGEST_LINE,
): void {
  let rest = "";
  const end = (lines: readonly string[]): void => {
    for (const line of lines) if (line.trim() !== "") take(line.slice(0, longest));
  };
  stream?.setEncoding("utf8");
  stream?.on("error", () => {});
  stream?.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(0, longest);
    end(lines);
  });
  stream?.on("end", () => end([rest]));
}
