// The test's side of the connection to a guest: test/hosts/simulator/guest/guest.ts.
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Listeners } from "../port/node-peers.js";
import type { Peer, Place } from "../port/promised.js";
import { FRAME, Frames, frame } from "./frames.js";

export class GuestLine {
  /** Called when the guest stopped its host; `restarted` lets it make another. */
  onStopped: () => void = () => {};
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #encoder = new TextEncoder();
  readonly #server = createServer((socket) => this.#serve(socket));
  readonly #peers: Peers;
  #socket: Socket | undefined;
  #connected: () => void = () => {};
  #ids = 0;

  constructor(listeners: Listeners) {
    this.#peers = new Peers(listeners, (what, id, bytes) => this.#say(FRAME.peer, id, what, bytes));
  }

  /** Resolves with the port. 0: any that is free. */
  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when a guest connects that had not when this was called. */
  connected(): Promise<void> {
    return new Promise((resolve) => {
      this.#connected = resolve;
    });
  }

  call(what: string, ...given: unknown[]): Promise<unknown> {
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#say(FRAME.call, id, what, this.#encoder.encode(JSON.stringify(given)));
    });
  }

  restarted(): void {
    this.#say(FRAME.peer, 0, "restarted");
  }

  /** Nothing under way is answered any more. */
  lost(why: string): void {
    for (const { reject } of this.#calls.values()) reject(new Error(why));
    this.#calls.clear();
  }

  close(): void {
    this.#socket?.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    // A machine that restarted ends its connection without a word.
    this.lost("the guest started again");
    this.#socket = socket;
    const frames = new Frames(new TextDecoder());
    socket.on("error", () => {});
    socket.on("close", () => {
      if (socket === this.#socket) this.lost("the guest's connection is over");
    });
    socket.on("data", (bytes: Buffer) => {
      for (const { op, id, a, text, bytes: rest } of frames.read(bytes)) {
        if (op === FRAME.answer) this.#answered(id, a === 1, new TextDecoder().decode(rest));
        else if (text === "restart") this.onStopped();
        else this.#peers.asked(text, id, rest);
      }
    });
    this.#connected();
  }

  #answered(id: number, good: boolean, text: string): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (good) call?.resolve(JSON.parse(text));
    else call?.reject(new Error(text));
  }

  #say(op: number, id: number, text: string, bytes?: Uint8Array): void {
    this.#socket?.write(frame(this.#encoder, op, id, 0, text, bytes));
  }
}

type Notify = (what: string, id: number, bytes?: Uint8Array) => void;

const DEEDS = ["end", "reset", "hold", "release"] as const;

/** The peers of a guest: it says what they do, and they do it here. */
class Peers {
  readonly #listeners: Listeners;
  readonly #notify: Notify;
  readonly #peers = new Map<number, Peer>();
  #ids = 0;

  constructor(listeners: Listeners, notify: Notify) {
    this.#listeners = listeners;
    this.#notify = notify;
  }

  asked(what: string, id: number, bytes: Uint8Array): void {
    const deed = DEEDS.find((name) => name === what);
    if (what === "listen") void this.#listen(id).then((place) => this.#place(id, place));
    else if (what === "nowhere") void this.#listeners.nowhere().then((place) => this.#place(id, place));
    else if (what === "write") this.#peers.get(id)?.write(bytes.slice());
    else if (deed !== undefined) this.#peers.get(id)?.[deed]();
  }

  #place(id: number, place: Place): void {
    this.#notify("place", id, new TextEncoder().encode(JSON.stringify(place)));
  }

  #listen(script: number): Promise<Place> {
    const ids = new Map<Peer, number>();
    return this.#listeners.listen({
      opened: (peer) => {
        const id = ++this.#ids;
        ids.set(peer, id);
        this.#peers.set(id, peer);
        this.#notify("opened", id, new Uint8Array(new Uint32Array([script]).buffer).reverse());
      },
      bytes: (peer, bytes) => this.#notify("bytes", ids.get(peer)!, bytes),
      closed: () => this.#notify("closed", script),
    });
  }
}
