// A device for the firmware tests: two slots with a boot loader, a store, and power that can go at
// any durable operation and at any event of the network.
import { createHash } from "node:crypto";
import type { Host, Socket } from "../../../../src/port.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeFlash, FakeSlot } from "../../../fakes/flash.js";
import { type FakeHost, FakeStore, fakeHost } from "../../../fakes/host.js";
import { FakeNet } from "../../../fakes/net.js";
import { Power, PowerLossError, poweredBlocks, poweredStore } from "../../../fakes/power.js";

export const SECTOR = 4096;

/** An image of `size` bytes that begins with its version. */
export function imageOf(version: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 7 + (i >> 8) * 13 + version.length) & 0xff;
  bytes.set(new TextEncoder().encode(`${version}\n`));
  return bytes;
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const REQUEST = /^GET \S+(?:\/firmware|\.bin)\?/;
const HANDED = /^HTTP\/1\.1 20[06] /;
const END_OF_HEAD = "\r\n\r\n";

/**
 * Counts the bytes of images that a device read from its connections, whatever became of the rest
 * of the answer.
 */
class Fetched {
  bytes = 0;

  /** For one connection: notified of what is written to it and read from it. */
  connection(): { wrote(bytes: Uint8Array): void; read(bytes: Uint8Array): void } {
    let head: string | undefined;
    let body = false;
    return {
      wrote: (bytes) => {
        body = false;
        head = REQUEST.test(Buffer.from(bytes).toString("latin1")) ? "" : undefined;
      },
      read: (bytes) => {
        if (body) this.bytes += bytes.length;
        if (head === undefined || body) return;
        head += Buffer.from(bytes).toString("latin1");
        const end = head.indexOf(END_OF_HEAD);
        if (end < 0) return;
        body = HANDED.test(head);
        if (body) this.bytes += head.length - end - END_OF_HEAD.length;
        head = undefined;
      },
    };
  }
}

type IsCurrent = () => boolean;

/**
 * What outlives a power loss, and the boot loader: an image that was started once and not confirmed
 * is given up at the next start.
 */
export class Machine {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly net = new FakeNet(this.clock, { segmentBytes: 1460 });
  readonly store = new FakeStore();
  readonly slots: [FakeFlash, FakeFlash];
  /** Written, and not sure to outlive a power loss. */
  #loose: { readonly slot: FakeFlash; readonly from: number; readonly to: number } | undefined;
  readonly lengths: [number, number];
  active: 0 | 1 = 0;
  state: "confirmed" | "pending" = "confirmed";
  #started = true;
  /** Starts so far; what belongs to an earlier one is dead. */
  starts = 0;
  powered = false;
  /** The agent asked for the restart that ended the last start. */
  asked = false;
  /** Another one is another start, whose power may go again. */
  power = new Power();
  /** Durable operations and events of the network so far, by name. */
  readonly operations: string[] = [];
  /** Called before each of them: `false` makes it fail, `off()` is a power loss just before it. */
  onOperation: ((name: string) => unknown) | undefined;
  /** What the boot loader makes of an image that shall be activated. */
  fit: (image: Uint8Array) => boolean = () => true;
  /** Of the image, what came over its sockets. */
  readonly fetched = new Fetched();
  lines: string[] = [];

  constructor(image: Uint8Array, slotSize: number) {
    this.slots = [new FakeFlash(slotSize, SECTOR), new FakeFlash(slotSize, SECTOR)];
    this.slots[0].bytes.set(image);
    this.lengths = [image.length, 0];
  }

  /** Starts the machine: returns its host and the image that runs, as it lies in its slot. */
  start(): { host: Host; image: Uint8Array } {
    if (this.state === "pending" && this.#started) this.#swap();
    this.#started = true;
    this.starts++;
    this.powered = true;
    this.asked = false;
    // What the flash knows of its writes is forgotten with the power.
    for (const i of [0, 1] as const) {
      this.slots[i] = new FakeFlash(this.slots[i].size, SECTOR, this.slots[i].bytes);
    }
    return {
      host: this.#host(),
      image: this.slots[this.active].bytes.subarray(0, this.lengths[this.active]),
    };
  }

  /**
   * The power goes, or the application crashes. At every second start the platform never learns
   * that the connections are gone.
   */
  off(): void {
    this.powered = false;
    this.#lose();
    const silent = this.starts % 2 === 0;
    for (const peer of this.net.peers.splice(0)) if (!peer.closed && !silent) peer.onClose?.();
  }

  /** A slot need not keep what was written to a sector that was not finished. */
  #lose(): void {
    const loose = this.#loose;
    this.#loose = undefined;
    loose?.slot.bytes.fill(0xff, loose.from, loose.to);
  }

  /** A host for this start. Once it is over, every call that could have an effect throws. */
  #host(): Host {
    const start = this.starts;
    const isCurrent: IsCurrent = () => this.powered && start === this.starts;
    const base: FakeHost = fakeHost({
      clock: this.clock,
      network: this.net,
      store: this.store,
      seed: this.starts,
      slot: new FakeSlot(0, SECTOR),
    });
    this.lines = base.lines;
    const power = this.#power(isCurrent);
    return {
      ...base,
      log: (level, line) => {
        // The loop starts again, so no assertion would see the exception. After a power loss, the
        // exception is the rig's own.
        if (isCurrent() && line.includes("loop failed")) void Promise.reject(new Error(line));
        base.log(level, line);
      },
      open: this.#opener(isCurrent, power, base.open),
      clock: {
        now: () => this.clock.now(),
        wall: () => this.clock.wall(),
        timer: (ms, due) => this.clock.timer(ms, () => isCurrent() && guarded(isCurrent, due)),
      },
      store: poweredStore(this.store, power),
      slot: this.#slot(power),
      restart: () => {
        if (!isCurrent()) return;
        this.off();
        this.asked = true;
      },
    };
  }

  /** The machine's power as this start sees it. */
  #power(isCurrent: IsCurrent): Power {
    const { operations, power } = this;
    power.onOff = () => this.off();
    const check = () => {
      if (!isCurrent()) throw new PowerLossError();
    };
    const change: Power["change"] = (name, act, piece) => {
      check();
      operations.push(name);
      if (this.onOperation?.(name) === false) return false as ReturnType<typeof act>;
      check();
      return power.change(name, act, piece);
    };
    return Object.assign(Object.create(power) as Power, { check, change });
  }

  /**
   * Each event of a connection and each write of the device's own is an instant at which the power
   * may go.
   */
  #opener(isCurrent: IsCurrent, power: Power, open: Host["open"]): Host["open"] {
    return (name, port, secure, event) => {
      power.check();
      const socket: Socket = open(name, port, secure, (what, reason) => {
        if (isCurrent()) guarded(isCurrent, () => power.change(`net ${what}`, () => event(what, reason)));
      });
      const meter = this.fetched.connection();
      return {
        write: (bytes) => {
          const taken = power.change("net write", () => socket.write(bytes));
          meter.wrote(bytes);
          return taken;
        },
        read: (into) => {
          power.check();
          const count = socket.read(into);
          meter.read(into.subarray(0, count));
          return count;
        },
        close: () => socket.close(),
      };
    };
  }

  #slot(power: Power): Host["slot"] {
    const other = this.slots[this.active === 0 ? 1 : 0];
    const blocks = poweredBlocks(other, power);
    const unlessPending = (): void => {
      if (this.state === "pending") throw new Error("the way back was touched");
    };
    return {
      ...blocks,
      read: (at, into) => {
        this.#loose = undefined;
        return blocks.read(at, into);
      },
      write: (at, bytes) => {
        unlessPending();
        const to = at + bytes.length;
        const from = this.#loose?.to === at ? this.#loose.from : at;
        const written = blocks.write(at, bytes);
        this.#loose = to % SECTOR === 0 ? undefined : { slot: other, from, to };
        return written;
      },
      erase: (at) => {
        unlessPending();
        this.#loose = undefined;
        return blocks.erase(at);
      },
      state: () => this.state,
      image: () => sha256(this.slots[this.active].bytes.subarray(0, this.lengths[this.active])),
      activate: (length) => {
        this.#loose = undefined;
        return power.change("activate", () => this.#activate(other, length));
      },
      confirm: () =>
        power.change("confirm", () => {
          this.state = "confirmed";
          return true;
        }),
      revert: () =>
        power.change("revert", () => {
          if (this.state !== "pending") return false;
          this.#swap();
          return true;
        }),
    };
  }

  #activate(other: FakeFlash, length: number): boolean {
    if (!this.fit(other.bytes.subarray(0, length))) return false;
    this.#swap();
    this.lengths[this.active] = length;
    this.state = "pending";
    this.#started = false;
    return true;
  }

  #swap(): void {
    this.active = this.active === 0 ? 1 : 0;
    this.state = "confirmed";
  }
}

/** Calls back; that the power goes meanwhile ends the callback and nothing else. */
function guarded(isCurrent: IsCurrent, call: () => void): void {
  try {
    call();
  } catch (error) {
    if (isCurrent() || !(error instanceof PowerLossError)) throw error;
  }
}
