// A program for the simulator that does what its test asks for, over a connection to it.
import files from "embedded:storage/files";
import { createHost, type SimulatorHost } from "mote-simulator";
import type { Message } from "../../xs/guest/protocol.js";
import { texts } from "../../xs/guest/texts.js";
import { FRAME, Frames, frame } from "../frames.js";
import { Peers } from "./peers.js";
import { visit } from "./visit.js";

const SECTORS = 16 * 4096;
const PIECE = 4096;

interface Setup {
  readonly control: number;
  readonly authorities: readonly string[];
}

class Guest {
  readonly #setup: Setup;
  #host: SimulatorHost;
  readonly #frames: Frames;
  readonly #waiting: Uint8Array[] = [];
  readonly #peers: Peers;
  readonly #line;

  constructor(setup: Setup) {
    this.#setup = setup;
    this.#host = this.#make();
    const host = this.#host;
    this.#frames = new Frames({ decode: (bytes) => host.decode(bytes) ?? "" });
    this.#peers = new Peers(host, (what, id, bytes) => this.#say(FRAME.peer, id, 0, what, bytes));
    const into = new Uint8Array(PIECE);
    this.#line = host.open("127.0.0.1", setup.control, false, (what) => {
      for (let count = this.#line.read(into); count > 0; count = this.#line.read(into)) {
        for (const message of this.#frames.read(into.subarray(0, count))) this.#heard(message);
      }
      if (what === "writable" || what === "opened") this.#flush();
    });
  }

  #make(): SimulatorHost {
    const authorities = this.#setup.authorities.map((text) => Uint8Array.fromBase64(text));
    return createHost(files, { authorities, blocksBytes: SECTORS, slotBytes: SECTORS, log: () => {} });
  }

  #heard({ op, id, text, bytes }: Message): void {
    if (op === FRAME.peer) this.#peers.heard(text, id, bytes);
    else this.#call(id, text, JSON.parse(this.#host.decode(bytes) ?? "[]"));
  }

  #call(id: number, what: string, given: [string, never]): void {
    new Promise((resolve) => resolve(this.#do(what, given))).then(
      (value) => this.#say(FRAME.answer, id, 1, "", this.#host.encode(JSON.stringify(value ?? null))),
      (error) => this.#say(FRAME.answer, id, 0, "", this.#host.encode(`${error?.message}\n${error?.stack}`)),
    );
  }

  async #do(what: string, [first, second]: [string, never]): Promise<unknown> {
    if (what === "promise") return this.#peers.keeps(first, this.#host, second, () => this.#restart());
    if (what === "visit") return visit(this.#host, first, second);
    if (what === "texts") return texts();
    if (what === "restart") return void (await this.#restart());
    throw new Error(`what is "${what}"?`);
  }

  async #restart(): Promise<SimulatorHost> {
    this.#host.close();
    await this.#peers.restarted();
    this.#host = this.#make();
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

const file = files.openFile({ path: "guest.json" });
const bytes = new Uint8Array(file.status().size);
file.read(bytes, 0);
file.close();
new Guest(JSON.parse(String.fromArrayBuffer(bytes.buffer)));
