// The other ends of connections live in the test: here they are asked, and heard.
import type { Host } from "../../../../src/port.js";
import type { Peer, PeerScript, Place, Tools } from "../../port/promised.js";
import { PROMISES, SOCKET_PROMISES } from "../../port/promises.js";

type Ask = (what: string, id: number, bytes?: Uint8Array) => void;

/** What the machine has room and time for: see `Tools`. */
export type Limits = Required<Pick<Tools, "bytes" | "sockets">>;

export class Peers {
  readonly #host: Host;
  readonly #ask: Ask;
  readonly #scripts = new Map<number, PeerScript>();
  readonly #places = new Map<number, (place: Place) => void>();
  readonly #peers = new Map<number, { peer: Peer; script: PeerScript }>();
  #ids = 0;
  #restarted: (() => void) | undefined;

  constructor(host: Host, ask: Ask) {
    this.#host = host;
    this.#ask = ask;
  }

  /** Resolves when the test has done what a boot loader does. */
  restarted(): Promise<void> {
    return new Promise((resolve) => {
      this.#restarted = resolve;
      this.#ask("restart", 0);
    });
  }

  async keeps(
    title: string,
    host: Host,
    secure: boolean,
    limits: Limits,
    restart: () => Promise<Host>,
  ): Promise<void> {
    const tools: Required<Tools> = {
      listen: (script) => this.#place("listen", script),
      nowhere: () => this.#place("nowhere", {}),
      unknown: { name: "nobody.invalid", port: 80, secure },
      restart,
      ...limits,
    };
    const list = secure ? SOCKET_PROMISES : PROMISES;
    const promised = list.find((one) => one.title === title);
    if (!promised) throw new Error(`no such promise: ${title}`);
    await promised.run(host, tools);
  }

  heard(what: string, id: number, bytes: Uint8Array): void {
    if (what === "restarted") {
      this.#restarted?.();
    } else if (what === "place") {
      this.#places.get(id)?.(JSON.parse(this.#host.decode(bytes) ?? ""));
    } else if (what === "opened") {
      const script = this.#scripts.get(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0))!;
      const peer = this.#make(id);
      this.#peers.set(id, { peer, script });
      script.opened?.(peer);
    } else if (what === "bytes") {
      const { peer, script } = this.#peers.get(id)!;
      script.bytes?.(peer, bytes);
    } else {
      this.#scripts.get(id)?.closed?.();
    }
  }

  #make(id: number): Peer {
    return {
      write: (bytes) => this.#ask("write", id, bytes),
      end: () => this.#ask("end", id),
      reset: () => this.#ask("reset", id),
      hold: () => this.#ask("hold", id),
      release: () => this.#ask("release", id),
    };
  }

  #place(what: string, script: PeerScript): Promise<Place> {
    const id = ++this.#ids;
    this.#scripts.set(id, script);
    return new Promise((resolve) => {
      this.#places.set(id, resolve);
      this.#ask(what, id);
    });
  }
}
