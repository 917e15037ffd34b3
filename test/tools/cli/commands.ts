// `mote` in processes of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EventLog } from "../run/session.js";

export const CLI = fileURLToPath(new URL("../../../tools/cli/cli.js", import.meta.url));

const launched: ChildProcess[] = [];
/** Whatever a failed test left. */
export function killAll(): void {
  for (const child of launched) child.kill("SIGKILL");
}

/**
 * Sends the signal. Resolves with the exit code: null if the signal ended it. Rejects if the
 * process had ended before.
 */
export async function end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null)
    throw new Error("the process ended before the signal");
  const closed = once(child, "close");
  child.kill(signal);
  await closed;
  return child.exitCode;
}

export interface Launched {
  readonly stdin?: "ignore" | "pipe";
  /** A pipe, or the descriptor of an open file. */
  readonly stdout?: "pipe" | number;
  /** In a process group of its own. */
  readonly detached?: boolean;
}

export function launch(
  args: string[],
  env: Record<string, string> = {},
  { stdin = "ignore", stdout = "pipe", detached = false }: Launched = {},
): ChildProcess {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MOTE_")));
  const child = spawn(process.execPath, [CLI, ...args], {
    // The cache of tsx would lie in a temporary directory that the test looks at.
    env: { ...clean, ...(env.TMPDIR !== undefined && { TSX_DISABLE_CACHE: "1" }), ...env },
    stdio: [stdin, stdout, "pipe"],
    detached,
  });
  launched.push(child);
  return child;
}

export interface Result {
  code: number | null;
  out: string;
  err: string;
}

/** The environment of a tenant's operator at that platform, without a stored login. */
export const asTenant = (url: string): Record<string, string> => ({
  MOTE_LOGIN: "none.json",
  MOTE_PLATFORM_URL: url,
  MOTE_PLATFORM_USERNAME: "tenant@thingsboard.org",
  MOTE_PLATFORM_PASSWORD: "tenant",
});

/** `input`: standard input, otherwise none. */
export async function mote(
  args: string[],
  env: Record<string, string> = {},
  input?: string,
): Promise<Result> {
  const child = launch(args, env, { stdin: input === undefined ? "ignore" : "pipe" });
  child.stdin?.end(input);
  const result: Result = { code: null, out: "", err: "" };
  child.stdout?.on("data", (text) => {
    result.out += text;
  });
  child.stderr?.on("data", (text) => {
    result.err += text;
  });
  [result.code] = await once(child, "close");
  return result;
}

/** Runs until `isDue` of what it said, then gets the signal; what it said to its end. */
export async function interrupt(
  args: string[],
  env: Record<string, string>,
  isDue: (said: Result) => boolean | Promise<boolean>,
  signal: "SIGINT" | "SIGTERM" = "SIGINT",
): Promise<Result> {
  const child = launch(args, env);
  const said: Result = { code: null, out: "", err: "" };
  child.stdout?.on("data", (text) => (said.out += text));
  child.stderr?.on("data", (text) => (said.err += text));
  const closed = once(child, "close");
  while (!(await isDue(said)) && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill(signal);
  [said.code] = await closed;
  return said;
}

export function processOutput(child: ChildProcess): EventLog {
  const eventLog = new EventLog();
  if (child.stdout) createInterface(child.stdout).on("line", (line) => eventLog.add(JSON.parse(line)));
  return eventLog;
}
