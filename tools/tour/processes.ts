import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { eachLine } from "../run/each-line.js";

const CLI = fileURLToPath(new URL("../cli/cli.js", import.meta.url));
/** Longest line of a child, in characters. */
const LONGEST_LINE = 64 * 1024;
/** How long a child may take to stop before it is killed. */
const PATIENCE_MS = 8_000;

export interface Ended {
  code: number | null;
  signal: string | null;
}

/** A `mote` command as a child process. */
export class Child {
  readonly name: string;
  /** Resolves when it is gone. */
  readonly ended: Promise<Ended>;
  /** The last line it wrote to stderr. */
  lastStderrLine = "";
  readonly #process: ChildProcess;
  #over = false;

  /**
   * Starts `mote <args>`; `onEvent` gets each JSON line of its output that holds an `event`.
   * Secrets go by `env`.
   * The child has a process group of its own, so that a Ctrl-C reaches this process alone, and a
   * channel to this process, at whose end it stops: no child outlives this process, however that
   * one ends.
   */
  constructor(args: readonly string[], env: Record<string, string>, onEvent: (event: ChildEvent) => void) {
    this.name = args[0] ?? "";
    this.#process = spawn(process.execPath, [CLI, ...args], {
      detached: true,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        this.#over = true;
        resolve({ code, signal });
      };
      this.#process.once("error", (error) => {
        this.lastStderrLine = error.message;
        if (this.#process.pid === undefined) end(null, null);
      });
      this.#process.once("close", end);
    });
    const read = (line: string): void => {
      const event = parseEvent(line);
      if (event) onEvent(event);
    };
    eachLine(this.#process.stdout, read, LONGEST_LINE);
    eachLine(this.#process.stderr, (line) => {
      this.lastStderrLine = line;
    });
  }

  get over(): boolean {
    return this.#over;
  }

  /** Asks it to stop, kills it if it does not within 8 s. */
  async stop(): Promise<Ended> {
    if (!this.#over) this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), PATIENCE_MS);
    const ended = await this.ended;
    clearTimeout(timer);
    return ended;
  }
}

/** One line of `--json`: what it is, and its members. */
export type ChildEvent = { event: string } & Record<string, unknown>;

function parseEvent(line: string): ChildEvent | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value = JSON.parse(line) as ChildEvent;
    return typeof value.event === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
