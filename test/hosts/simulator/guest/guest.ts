// A program on a machine that does what its test asks for, over a connection to it.
import type { Host } from "../../../../src/port.js";
import type { Message } from "../../../xs/guest/protocol.js";
import { texts } from "../../../xs/guest/texts.js";
import { FRAME, Frames, frame } from "../frames.js";
import { type Limits, Peers } from "./peers.js";
import { abandon, fetchAll } from "./visit.js";

const PIECE = 4096;

export interface Machine {
  readonly host: Host;
  /** Where the test listens. */
  readonly control: { readonly name: string; readonly port: number };
  /** Closes the host; what it returns makes another, as after a restart. */
  stop(): () => Host;
  /** Of the machine, by name. */
  figures?(): unknown;
}

type Given = [string, never, Limits];

export class Guest {
  readonly #machine: Machine;
  #host: Host;
  readonly #frames: Frames;
  readonly #waiting: Uint8Array[] = [];
  readonly #peers: Peers;
  readonly #line;

  constructor(machine: Machine) {
    this.#machine = machine;
    const { host, control } = machine;
    this.#host = host;
    this.#frames = new Frames({ decode: (bytes) => host.decode(bytes) ?? "" });
    this.#peers = new Peers(host, (what, id, bytes) => this.#say(FRAME.peer, id, 0, what, bytes));
    const into = new Uint8Array(PIECE);
    this.#line = host.open(control.name, control.port, false, (what) => {
      for (let count = this.#line.read(into); count > 0; count = this.#line.read(into)) {
        for (const message of this.#frames.read(into.subarray(0, count))) this.#heard(message);
      }
      if (what === "writable" || what === "opened") this.#flush();
    });
  }

  #heard({ op, id, text, bytes }: Message): void {
    if (op === FRAME.peer) this.#peers.heard(text, id, bytes);
    else this.#call(id, text, JSON.parse(this.#host.decode(bytes) ?? "[]"));
  }

  #call(id: number, what: string, given: Given): void {
    new Promise((resolve) => resolve(this.#do(what, given))).then(
      (value) => this.#say(FRAME.answer, id, 1, "", this.#host.encode(JSON.stringify(value ?? null))),
      (error) => this.#say(FRAME.answer, id, 0, "", this.#host.encode(`${error?.message}\n${error?.stack}`)),
    );
  }

  async #do(what: string, [first, second, limits]: Given): Promise<unknown> {
    if (what === "promise")
      return this.#peers.keeps(first, this.#host, second, limits, () => this.#restart());
    if (what === "fetch") return fetchAll(this.#host, first, second);
    if (what === "abandon") return abandon(this.#host, first, second, Number(limits));
    if (what === "figures") return this.#machine.figures?.();
    if (what === "texts") return texts().slice(Number(first), second);
    if (what === "wall") return this.#host.clock.wall();
    if (what === "set") return this.#host.store.set(first, this.#host.encode(second));
    if (what === "get") return this.#host.decode(this.#host.store.get(first) ?? Uint8Array.of());
    if (what === "restart") return void (await this.#restart());
    throw new Error(`what is "${what}"?`);
  }

  async #restart(): Promise<Host> {
    const make = this.#machine.stop();
    await this.#peers.restarted();
    this.#host = make();
    return this.#host;
  }

  #say(op: number, id: number, a: number, text: string, bytes?: Uint8Array): void {
    this.#waiting.push(frame(this.#host, op, id, a, text, bytes));
    this.#flush();
  }

  #flush(): void {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      const count = this.#line.write(first);
      if (count < first.length) {
        this.#waiting[0] = first.subarray(count);
        return;
      }
      this.#waiting.shift();
    }
  }
}
