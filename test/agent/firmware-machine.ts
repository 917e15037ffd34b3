// A device for the firmware tests: two slots with a boot loader, a store, and power that can be cut at any durable operation and at
// any event of the network.
import type { Host, Socket } from "../../src/port.js";
import { FakeClock } from "../fakes/clock.js";
import { FakeFlash } from "../fakes/flash.js";
import { type FakeHost, FakeStore, fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";

export const SECTOR = 4096;

/** What is left of the operation during which the power goes: nothing, half of it, all of it. */
export type Cut = "before" | "torn" | "after";

/** What outlives a power cut, and the boot loader: an image that was started once and not confirmed is given up at the next start. */
export class Machine {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly net = new FakeNet(this.clock, { segmentBytes: 1460 });
  readonly store = new FakeStore();
  readonly slots: [FakeFlash, FakeFlash];
  readonly lengths: [number, number];
  active: 0 | 1 = 0;
  state: "confirmed" | "pending" = "confirmed";
  #started = true;
  /** Starts so far; what belongs to an earlier one is dead. */
  starts = 0;
  alive = false;
  /** Durable operations and events of the network so far, by name. */
  readonly operations: string[] = [];
  /** The operation at which the power goes. */
  cutAt = -1;
  cut: Cut = "before";
  /** Called before each of them. Of a durable one `false` makes it fail. */
  onOperation: ((name: string) => unknown) | undefined;
  /** What the boot loader makes of an image that shall be activated. */
  fit: (image: Uint8Array) => boolean = () => true;
  lines: string[] = [];

  constructor(image: Uint8Array, slotSize: number) {
    this.slots = [new FakeFlash(slotSize, SECTOR), new FakeFlash(slotSize, SECTOR)];
    this.slots[0].bytes.set(image);
    this.lengths = [image.length, 0];
  }

  /** Starts the machine: returns its host and the image that runs. */
  start(): { host: Host; image: Uint8Array } {
    if (this.state === "pending" && this.#started) this.#swap();
    this.#started = true;
    this.starts++;
    this.alive = true;
    // What the flash knows of its writes is forgotten with the power.
    for (const i of [0, 1] as const) {
      this.slots[i] = new FakeFlash(this.slots[i].size, SECTOR, this.slots[i].bytes);
    }
    return { host: this.#host(), image: this.slots[this.active].bytes.slice(0, this.lengths[this.active]) };
  }

  /** The power goes, or the application crashes. */
  off(): void {
    this.alive = false;
    for (const peer of this.net.peers.splice(0)) if (!peer.closed) peer.onClose?.();
  }

  #host(): Host {
    const start = this.starts;
    const live = () => this.alive && start === this.starts;
    const base: FakeHost = fakeHost({
      clock: this.clock,
      network: this.net,
      store: this.store,
      seed: this.starts,
    });
    this.lines = base.lines;
    const durable = (name: string, act: () => unknown, half?: () => unknown) =>
      live() && this.#durable(name, act, half);
    return {
      ...base,
      open: this.#opener(live, base.open),
      clock: {
        now: () => this.clock.now(),
        wall: () => this.clock.wall(),
        timer: (ms, due) => this.clock.timer(ms, () => live() && due()),
      },
      store: {
        get: (key) => this.store.get(key),
        set: (key, value) => durable(`store ${key}`, () => this.store.set(key, value)),
        delete: (key) => durable(`forget ${key}`, () => this.store.delete(key)),
      },
      slot: this.#slot(durable),
      restart: () => {
        if (live()) this.off();
      },
    };
  }

  /** Connections of a device: each event and each write of its own is one at which the power may go. */
  #opener(live: () => boolean, open: Host["open"]): Host["open"] {
    return (name, port, secure, event) => {
      const socket: Socket = open(name, port, secure, (what, reason) => {
        if (live()) this.#durable(`net ${what}`, () => event(what, reason), undefined);
      });
      return {
        write: (bytes) => {
          let taken = 0;
          const send = (part: Uint8Array) => {
            taken = socket.write(part);
          };
          if (live())
            this.#durable(
              "net write",
              () => send(bytes),
              () => send(bytes.subarray(0, bytes.length >> 1)),
            );
          return taken;
        },
        read: (into) => (live() ? socket.read(into) : 0),
        close: () => socket.close(),
      };
    };
  }

  #slot(durable: (name: string, act: () => unknown, half?: () => unknown) => boolean): Host["slot"] {
    const other = () => this.slots[this.active === 0 ? 1 : 0];
    return {
      size: other().size,
      sectorSize: SECTOR,
      read: (at, into) => other().read(at, into),
      write: (at, bytes) =>
        durable(
          `write ${at}`,
          () => this.#unlessPending() && other().write(at, bytes),
          () => other().write(at, bytes.subarray(0, bytes.length >> 1)),
        ),
      erase: (at) =>
        durable(
          `erase ${at}`,
          () => this.#unlessPending() && other().erase(at),
          () => other().bytes.fill(0xff, at, at + SECTOR / 2),
        ),
      state: () => this.state,
      activate: (length) =>
        durable("activate", () => {
          if (!this.fit(other().bytes.subarray(0, length))) return false;
          this.#swap();
          this.lengths[this.active] = length;
          this.state = "pending";
          this.#started = false;
          return true;
        }),
      confirm: () =>
        durable("confirm", () => {
          this.state = "confirmed";
        }),
      revert: () => durable("revert", () => this.state === "pending" && this.#swap()),
    };
  }

  #unlessPending(): true {
    if (this.state === "pending") throw new Error("the way back was touched");
    return true;
  }

  #swap(): void {
    this.active = this.active === 0 ? 1 : 0;
    this.state = "confirmed";
  }

  #durable(name: string, act: () => unknown, half: (() => unknown) | undefined): boolean {
    this.operations.push(name);
    if (this.onOperation?.(name) === false) return false;
    if (this.operations.length - 1 !== this.cutAt) return act() !== false;
    if (this.cut === "after" || (this.cut === "torn" && !half)) act();
    else if (this.cut === "torn") half?.();
    this.off();
    return false;
  }
}
