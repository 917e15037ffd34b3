// A serial port that disappears at a reset and returns, as on chips with native USB.
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { SdkError } from "../sdk.js";
import { isAddress, listPorts, type Port } from "./ports.js";

const WAIT_MS = 10_000;
const LOOK_MS = 250;
/** The system needs it to let go of a port, and to hand over one that is new. */
const SETTLE_MS = 500;

/** What is asked of this machine. */
export interface PortSystem {
  list(): readonly Port[];
  exists(path: string): boolean;
  pause(ms: number): Promise<unknown>;
}

const THIS_MACHINE: PortSystem = {
  list: () => listPorts() ?? [],
  exists: existsSync,
  pause: (ms) => wait(ms),
};

/** The port was there, and is not any more. */
export class PortAwayError extends SdkError {
  override name = "PortAwayError";
}

export class ReturningPort {
  readonly #system: PortSystem;
  readonly #say: (line: string) => void;
  /** The ports that were there at first. */
  readonly #others: ReadonlySet<string>;
  /** What the system calls the board, with its serial number where it has one. */
  readonly #title: string | undefined;
  #path: string;
  /** Called after the port got another name. Rejects if it is another board. */
  onRenamed: (path: string) => Promise<void> = async () => {};

  constructor(path: string, say: (line: string) => void, system: PortSystem = THIS_MACHINE) {
    this.#path = path;
    this.#say = say;
    this.#system = system;
    const ports = system.list();
    this.#others = new Set(ports.map((port) => port.path));
    this.#title = ports.find((port) => port.path === path)?.title;
  }

  get path(): string {
    return this.#path;
  }

  get isThere(): boolean {
    return isAddress(this.#path) || this.#system.exists(this.#path);
  }

  /** `step` at the port, once more if it went away meanwhile and came back. */
  async ask<T>(step: (path: string) => Promise<T>): Promise<T> {
    await this.back();
    try {
      return await step(this.#path);
    } catch (error) {
      // It may be back already, or be gone and esptool says that it is busy.
      if (isAddress(this.#path) || (this.isThere && !(error instanceof PortAwayError))) throw error;
      await this.#system.pause(SETTLE_MS);
      await this.back();
      return step(this.#path);
    }
  }

  /** Resolves once it is there. Throws SdkError with the way on if it stays away. */
  async back(): Promise<void> {
    if (this.isThere) return;
    const gone = this.#path;
    this.#say(`port      ${gone} went away: a chip with USB of its own takes it along at a reset. Waiting`);
    for (let waited = 0; !this.look(); waited += LOOK_MS) {
      if (waited >= WAIT_MS)
        throw new SdkError(
          `${gone} went away and did not come back in ${WAIT_MS / 1000} s. Plug the board in again, or hold BOOT, press RESET and release both. Then try again with the port that appears`,
        );
      await this.#system.pause(LOOK_MS);
    }
    this.#say(`port      it is back${this.#path === gone ? "" : `, as ${this.#path}`}`);
    await this.#system.pause(SETTLE_MS);
    if (this.#path !== gone) await this.onRenamed(this.#path);
  }

  /** Finds the port by name, by board, or as the only new one. Undefined: away. */
  look(): string | undefined {
    if (this.isThere) return this.#path;
    const ports = this.#system.list();
    const same = ports.filter(({ title }) => title !== undefined && title === this.#title);
    const fresh = ports.filter(({ path }) => !this.#others.has(path));
    const [found, second] = same.length > 0 ? same : fresh;
    if (found === undefined || second !== undefined) return undefined;
    this.#path = found.path;
    return found.path;
  }
}
