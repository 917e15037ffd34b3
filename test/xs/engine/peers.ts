// The peers of a script on XS: it says what they do, they do it here.
import type { Listeners } from "../../hosts/port/node-peers.js";
import type { Peer, Place } from "../../hosts/port/promised.js";

type Notify = (what: string, id: number, bytes?: Uint8Array) => void;

const DEEDS = ["end", "reset", "hold", "release"] as const;

/** Answers what test/xs/guest/promises.ts asks of its parent. */
export class Peers {
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
