// The parent's side of the bridge: gives the port of any host to a script that runs on the XS
// engine.
import type { Host } from "../../../src/port.js";
import { NOTIFY, pack, unpack } from "../guest/protocol.js";
import { Answers } from "./answers.js";
import { bundle, constantsOf } from "./bundle.js";
import { Engine } from "./worker.js";

export interface BridgeOptions {
  /**
   * TypeScript, imports relative to the root; it finds the port as `globalThis.host`. While it is
   * evaluated its constants, and those of what it imports, lie on the stack, which a module's do
   * not: let it define functions, and call them by `run`.
   */
  readonly entry?: string;
  /** A file that is evaluated in place of test/xs/guest/host.ts, which it imports. */
  readonly guest?: string;
  /** Called by `tellParent` of the script: what a test wants beyond the port. */
  readonly parent?: (what: string, id: number) => void;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A run of the XS engine on `host`. Every callback of the host is one turn of the engine, promise
 * jobs included, in the order in which they came; the time that the script sees stands still during
 * a turn.
 */
export class Bridge {
  /**
   * What the script threw where nobody caught it, rejections included. `close` rejects if there is
   * any.
   */
  readonly failures: string[] = [];
  readonly #host: Host;
  readonly #engine: Engine;
  readonly #answers: Answers;
  readonly #pending = new Map<number, Pending>();
  readonly #settling: (() => void)[] = [];
  #runs = 0;
  #turns = 0;
  #idle: (() => void)[] = [];
  #closed = false;

  private constructor(host: Host, entrySlots: number, parent: BridgeOptions["parent"]) {
    this.#host = host;
    this.#answers = new Answers(host, {
      notify: (op, id, text, bytes) => void this.#notify(op, id, text, bytes),
      settled: (id, good, text) => this.#settled(id, good, text),
      failed: (text) => void this.failures.push(text),
      told: (what, id) => parent?.(what, id),
    });
    this.#engine = new Engine({
      answer: (question) =>
        this.#answers.answer(unpack(decoder, question.buffer, question.byteOffset, question.length)),
      output: (text) => process.stderr.write(text),
      entrySlots,
    });
    // A run waits for the script's promise, which a dead engine never settles.
    void this.#engine.ended.then((error) => {
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    });
  }

  /**
   * Starts an engine, gives it the port and evaluates the entry. Rejects with what the entry threw.
   */
  static async start(host: Host, options: BridgeOptions = {}): Promise<Bridge> {
    const guest = await bundle(`import "${options.guest ?? "./test/xs/guest/host.ts"}";`);
    const entry = options.entry === undefined ? undefined : await bundle(options.entry);
    const bridge = new Bridge(host, entry === undefined ? 0 : constantsOf(entry), options.parent);
    try {
      await bridge.#engine.evaluate(guest);
      if (entry !== undefined) await bridge.run(`${entry};undefined`);
    } catch (error) {
      await bridge.#engine.close();
      throw error;
    }
    return bridge;
  }

  /** Steps of the engine since the start; the same in every run with the same events. */
  get compute(): number {
    return this.#engine.compute;
  }

  /** Evaluates a script. Its value, once settled if it is a promise, comes back through JSON. */
  run(source: string): Promise<unknown> {
    const id = ++this.#runs;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#notify(NOTIFY.run, id, "", encoder.encode(source)).catch((error) => {
        this.#pending.delete(id);
        reject(error);
      });
    });
  }

  /**
   * Calls `globalThis.fromParent` of the script, as one turn. Nothing happens once the bridge is
   * closed.
   */
  notify(what: string, id: number, bytes?: Uint8Array): void {
    if (!this.#closed) void this.#notify(NOTIFY.guest, id, what, bytes);
  }

  /**
   * Collects garbage and says how many slots are in use (16 bytes each on an ESP32). Each `run`
   * keeps one for good: the engine's own doing.
   */
  slots(): Promise<number> {
    return this.#notify(NOTIFY.collect, 0, "");
  }

  /**
   * Collects garbage and says how many bytes of chunks (texts, buffers) are in use; on an ESP32
   * each has a smaller head.
   */
  chunks(): Promise<number> {
    return this.#engine.chunks();
  }

  /**
   * Resolves when the engine has nothing to do: every event was delivered, every promise job done.
   */
  idle(): Promise<void> {
    return this.#turns === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Ends the engine as a power loss would: sockets closed, timers gone, the rest of the host left
   * as it is.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#answers.close();
    await this.#engine.close();
    const failures = this.failures.splice(0);
    if (failures.length > 0) throw new Error(`on XS nobody caught:\n${failures.join("\n")}`);
  }

  /** One turn of the engine. Resolves with the slots in use after it. */
  async #notify(op: number, id: number, text: string, bytes?: Uint8Array): Promise<number> {
    if (this.#closed) throw new Error("the bridge is closed");
    const { clock } = this.#host;
    this.#turns += 1;
    try {
      // The time is the event's own, also if the engine is still busy with the one before.
      const event = pack(encoder, op, id, clock.now(), clock.wall() ?? Number.NaN, text, bytes);
      return (await this.#engine.command(new Uint8Array(event))).heap;
    } catch (error) {
      if (op === NOTIFY.run || op === NOTIFY.collect) throw error;
      if (!this.#closed) this.failures.push(String(error));
      return 0;
    } finally {
      for (const settle of this.#settling.splice(0)) settle();
      this.#turns -= 1;
      if (this.#turns === 0) for (const waiting of this.#idle.splice(0)) waiting();
    }
  }

  /** Notified at the end of the turn, so that the meter has all of it by then. */
  #settled(id: number, good: boolean, text: string): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.#settling.push(() => {
      if (good) pending?.resolve(text === "" ? undefined : JSON.parse(text));
      else pending?.reject(new Error(`on XS: ${text}`));
    });
  }
}
