// What the parent answers to the guest's questions: each is one call of a member of the host.
import type { Blocks, Digest, Host, Socket } from "../../../src/port.js";
import { ASK, type Message, NOTIFY } from "../guest/protocol.js";

export interface Parent {
  /** An event for the guest. */
  notify(op: number, id: number, text: string, bytes?: Uint8Array): void;
  settled(id: number, good: boolean, text: string): void;
  failed(text: string): void;
  /** A word beyond the port. */
  told(what: string, id: number): void;
}

type Handler = (message: Message) => Uint8Array;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

function answer(value: number | boolean, bytes?: Uint8Array): Uint8Array {
  const whole = new Uint8Array(8 + (bytes?.length ?? 0));
  new DataView(whole.buffer).setFloat64(0, Number(value));
  if (bytes !== undefined) whole.set(bytes, 8);
  return whole;
}

const DONE = answer(1);

export class Answers {
  readonly #host: Host;
  readonly #parent: Parent;
  readonly #timers = new Map<number, () => void>();
  readonly #sockets = new Map<number, Socket>();
  readonly #digests = new Map<number, Digest>();
  readonly #handlers: Map<number, Handler>;
  #closed = false;

  constructor(host: Host, parent: Parent) {
    this.#host = host;
    this.#parent = parent;
    this.#handlers = new Map([
      ...this.#ofEngine(),
      ...this.#ofStorage(),
      ...this.#ofNet(),
      ...this.#ofRest(),
    ]);
  }

  answer(message: Message): Uint8Array {
    const handler = this.#handlers.get(message.op);
    if (handler === undefined) throw new Error(`the guest asked what nobody knows: ${message.op}`);
    return handler(message);
  }

  /** No event from now on: sockets closed, timers gone. */
  close(): void {
    this.#closed = true;
    for (const cancel of this.#timers.values()) cancel();
    for (const socket of this.#sockets.values()) socket.close();
    this.#timers.clear();
    this.#sockets.clear();
  }

  #notify(op: number, id: number, text = "", bytes?: Uint8Array): void {
    if (!this.#closed) this.#parent.notify(op, id, text, bytes);
  }

  #ofEngine(): [number, Handler][] {
    return [
      [ASK.settled, (m) => this.#only(this.#parent.settled(m.id, m.a === 1, decoder.decode(m.bytes)))],
      [ASK.parent, (m) => this.#only(this.#parent.told(m.text, m.id))],
      [ASK.failed, (m) => this.#only(this.#parent.failed(decoder.decode(m.bytes)))],
      [ASK.facts, () => answer(1, encoder.encode(JSON.stringify(this.#facts())))],
      [ASK.timer, (m) => this.#timer(m)],
      [
        ASK.cancel,
        (m) => {
          this.#timers.get(m.id)?.();
          this.#timers.delete(m.id);
          return DONE;
        },
      ],
    ];
  }

  #ofStorage(): [number, Handler][] {
    const host = this.#host;
    return [
      [
        ASK.get,
        (m) => {
          const value = host.store.get(m.text);
          return answer(value !== undefined, value);
        },
      ],
      [ASK.set, (m) => answer(host.store.set(m.text, m.bytes.slice()))],
      [ASK.delete, (m) => answer(host.store.delete(m.text))],
      [ASK.read, (m) => this.#read(m)],
      [ASK.write, (m) => answer(this.#area(m.text).write(m.a, m.bytes))],
      [ASK.erase, (m) => answer(this.#area(m.text).erase(m.a))],
      [ASK.pending, () => answer(host.slot.state() === "pending")],
      [ASK.activate, (m) => answer(host.slot.activate(m.a))],
      [ASK.confirm, () => answer(host.slot.confirm())],
      [ASK.revert, () => answer(host.slot.revert())],
    ];
  }

  #ofNet(): [number, Handler][] {
    return [
      [ASK.open, (m) => this.#open(m)],
      [ASK.send, (m) => answer(this.#sockets.get(m.id)?.write(m.bytes) ?? 0)],
      [ASK.receive, (m) => this.#receive(m)],
      [
        ASK.close,
        (m) => {
          this.#sockets.get(m.id)?.close();
          this.#sockets.delete(m.id);
          return DONE;
        },
      ],
    ];
  }

  #ofRest(): [number, Handler][] {
    return [
      [ASK.digest, (m) => this.#digest(m)],
      [ASK.update, (m) => this.#only(this.#digests.get(m.id)?.write(m.bytes))],
      [ASK.final, (m) => this.#final(m)],
      [
        ASK.random,
        (m) => {
          const bytes = new Uint8Array(m.a);
          this.#host.random(bytes);
          return answer(1, bytes);
        },
      ],
      [ASK.log, (m) => this.#only(this.#host.log(m.text as "info", decoder.decode(m.bytes)))],
      [ASK.restart, (m) => this.#only(this.#host.restart(decoder.decode(m.bytes)))],
    ];
  }

  /** For a call that answers nothing. */
  #only(_nothing: unknown): Uint8Array {
    return DONE;
  }

  #facts() {
    const { hardwareId, blocks, slot } = this.#host;
    return { hardwareId, blocks: [blocks.size, blocks.sectorSize], slot: [slot.size, slot.sectorSize] };
  }

  #area(name: string): Blocks {
    return name === "slot" ? this.#host.slot : this.#host.blocks;
  }

  #timer({ id, a }: Message): Uint8Array {
    const cancel = this.#host.clock.timer(a, () => {
      this.#timers.delete(id);
      this.#notify(NOTIFY.due, id);
    });
    this.#timers.set(id, cancel);
    return DONE;
  }

  #read({ text, a, b }: Message): Uint8Array {
    const whole = answer(0, new Uint8Array(b));
    if (!this.#area(text).read(a, whole.subarray(8))) return answer(0);
    new DataView(whole.buffer).setFloat64(0, 1);
    return whole;
  }

  #open({ id, text, a, b }: Message): Uint8Array {
    const socket = this.#host.open(text, a, b === 1, (what, reason) =>
      this.#notify(NOTIFY.socket, id, what, reason === undefined ? undefined : encoder.encode(reason)),
    );
    this.#sockets.set(id, socket);
    return DONE;
  }

  #receive({ id, a }: Message): Uint8Array {
    const whole = new Uint8Array(8 + a);
    const length = this.#sockets.get(id)?.read(whole.subarray(8)) ?? 0;
    new DataView(whole.buffer).setFloat64(0, length);
    return whole.subarray(0, 8 + length);
  }

  #digest({ id, text }: Message): Uint8Array {
    const digest = this.#host.digest(text);
    if (digest !== undefined) this.#digests.set(id, digest);
    return answer(digest !== undefined);
  }

  #final({ id }: Message): Uint8Array {
    const bytes = this.#digests.get(id)?.close() ?? new Uint8Array(0);
    this.#digests.delete(id);
    return answer(1, bytes);
  }
}
