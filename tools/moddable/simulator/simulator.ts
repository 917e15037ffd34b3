// One run of the simulator, from its start to its end.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Sdk } from "../sdk.js";
import { Debugger } from "./debugger.js";

/** The line by which a program asks for its restart. */
const RESTART = "@restart";
/** What the machine says before it ends itself. */
const ABORT = /^XS abort: (.+)$/;
const START_MS = 30_000;

export type End =
  | { readonly kind: "restart" }
  /** The machine gave up, or the process ended. */
  | { readonly kind: "crash"; readonly reason: string }
  /** `kill` ended it. */
  | { readonly kind: "stopped" };

export interface RunOptions {
  sdk: Sdk;
  /** The program, `mc.so` of a debug build. */
  program: string;
  /** What the program sees as the root of its files. */
  directory: string;
  display: string;
  line(line: string): void;
}

export class SimulatorRun {
  readonly ended: Promise<End>;
  readonly #process: ChildProcess;
  readonly #debugger: Debugger;
  #end: ((end: End) => void) | undefined;
  #abort: string | undefined;

  /** Resolves once the program runs, or with a run that has ended. */
  static async start(options: RunOptions): Promise<SimulatorRun> {
    const listening = await Debugger.listen();
    const run = new SimulatorRun(options, listening);
    const late = setTimeout(
      () => run.#over({ kind: "crash", reason: "the simulator did not start" }),
      START_MS,
    );
    await Promise.race([once(listening, "begun"), run.ended]);
    clearTimeout(late);
    return run;
  }

  private constructor(options: RunOptions, listening: Debugger) {
    this.#debugger = listening;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const { sdk, program, directory, display } = options;
    const env = {
      ...sdk.env,
      HOME: directory,
      DISPLAY: display,
      // Nothing of the computer's session is touched.
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      XSBUG_HOST: "127.0.0.1",
      XSBUG_PORT: `${listening.port}`,
    };
    // The simulator copies the program there, and fails silently if it can't.
    mkdirSync(join(directory, ".config", "tech.moddable.mcsim"), { recursive: true });
    this.#process = spawn(sdk.mcsim, [program], { stdio: "ignore", env });
    this.#process.on("error", (error) => this.#over({ kind: "crash", reason: error.message }));
    this.#process.on("exit", (code, signal) =>
      this.#over({ kind: "crash", reason: this.#abort ?? `the simulator ended (${signal ?? code})` }),
    );
    listening.on("line", (line) => this.#line(line, options.line));
    listening.on("broken", (reason) => this.#over({ kind: "crash", reason: this.#abort ?? reason }));
    listening.on("ended", () => this.#over({ kind: "crash", reason: this.#abort ?? "the machine is gone" }));
  }

  /** At once, as a power loss would. */
  async kill(): Promise<void> {
    this.#over({ kind: "stopped" });
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await once(this.#process, "exit");
  }

  #line(line: string, print: (line: string) => void): void {
    this.#abort = ABORT.exec(line)?.[1] ?? this.#abort;
    if (line === RESTART) this.#over({ kind: "restart" });
    else if (this.#end) print(line);
  }

  #over(end: End): void {
    const onEnd = this.#end;
    if (!onEnd) return;
    this.#end = undefined;
    this.#process.kill("SIGKILL");
    this.#debugger.close();
    onEnd(end);
  }
}
