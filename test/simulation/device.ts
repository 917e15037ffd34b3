// A simulated device: one agent after the other on what the one before stored. The power may go at any instant, also in the middle of a
// write: from then on nothing that its agent calls has an effect, and nothing calls it.
import type { Blocks, Clock, Host, Store } from "../../src/port.js";
import { FakeFlash, FakeSlot } from "../fakes/flash.js";
import { FakeStore, fakeHost } from "../fakes/host.js";
import type { World } from "./world.js";

/** What is around a device. */
export type Around = Pick<World, "clock" | "net" | "seed" | "dice"> & { powerCycles: number };

export interface PowerCycle {
  readonly host: Host;
  /** Timers not yet due nor cancelled. */
  readonly timers: number;
  readonly powered: boolean;
  /** Nothing has an effect any more. `silent`: the platform does not learn that the connections are gone. */
  powerOff(silent: boolean): void;
}

export interface Observer {
  log(line: string): void;
  /** What is against a promise. */
  problem(what: string): void;
  /** The power went in the middle of a change of storage. */
  powerLost(): void;
}

/** Connections at a time, by mode; second polls and a client-side RPC have their own. */
const MOST_SOCKETS = [0, 1, 4, 6];
const MOST_TIMERS = 250;
const MOST_VALUES = 20;
/** Head, interim answers and what one read brings beyond the body's limit. */
const READ_BEYOND = 3 * 8192 + 4096;

export class Body {
  readonly store = new FakeStore();
  readonly blocks: FakeFlash;
  readonly slot = new FakeSlot(64 * 4096, 4096);
  /** What the device takes for the time of day, minus the true one. */
  wallOffsetMs = 0;
  /** False: the host does not know the time of day. */
  wallKnown = true;
  /** The power goes in the middle of this change of storage, counted from now. */
  powerLossAtChange: number | undefined;
  /** When the store failed last, or began to. */
  storeFailedAt = Number.NEGATIVE_INFINITY;
  /** The longest answer that the options let pass. */
  limit = 8192;
  readonly connections: 1 | 2 | 3;

  constructor(sectors: number, connections: 1 | 2 | 3) {
    this.connections = connections;
    this.blocks = new FakeFlash(sectors * 4096, 4096);
  }

  powerOn(world: Around, observer: Observer): PowerCycle {
    return new RunningPowerCycle(this, world, observer);
  }
}

class RunningPowerCycle implements PowerCycle {
  readonly host: Host;
  powered = true;
  readonly #body: Body;
  readonly #world: Around;
  readonly #observer: Observer;
  readonly #pending = new Set<object>();
  readonly #sockets = new Set<{ close(): void }>();

  constructor(body: Body, world: Around, observer: Observer) {
    this.#body = body;
    this.#world = world;
    this.#observer = observer;
    const base = fakeHost({
      clock: world.clock,
      network: world.net,
      slot: body.slot,
      seed: world.seed + 7919 * ++world.powerCycles,
    });
    this.host = {
      ...base,
      clock: this.#clock(),
      store: this.#store(),
      blocks: this.#blocks(),
      open: (...address) => this.#open(...address),
      log: (level, line) => this.powered && observer.log(`${level}: ${line}`),
    };
  }

  get timers(): number {
    return this.#pending.size;
  }

  powerOff(silent: boolean): void {
    this.powered = false;
    // What it left open nobody closes.
    this.#world.powerCycles++;
    if (!silent) for (const socket of this.#sockets) socket.close();
  }

  #clock(): Clock {
    const { clock } = this.#world;
    const body = this.#body;
    const bootedAt = clock.now();
    return {
      now: () => clock.now() - bootedAt,
      wall: () => (body.wallKnown ? (clock.wall() ?? 0) + body.wallOffsetMs : undefined),
      timer: (ms, due) => {
        if (!this.powered) return () => {};
        const mine = {};
        this.#pending.add(mine);
        if (this.#pending.size > MOST_TIMERS)
          this.#observer.problem(`${this.#pending.size} timers at a time`);
        const cancel = clock.timer(ms, () => {
          if (this.#pending.delete(mine) && this.powered) due();
        });
        return () => {
          this.#pending.delete(mine);
          cancel();
        };
      },
    };
  }

  /** True if the power goes now. */
  #losesPower(): boolean {
    const body = this.#body;
    if (body.powerLossAtChange === undefined || --body.powerLossAtChange > 0) return false;
    body.powerLossAtChange = undefined;
    return true;
  }

  #losePower(): false {
    this.powerOff(this.#world.dice.chance(0.5));
    this.#observer.powerLost();
    return false;
  }

  #store(): Store {
    const { store } = this.#body;
    const change = (key: string, make: () => boolean): boolean => {
      if (!this.powered) return false;
      // Old or new, never between.
      if (this.#losesPower()) {
        if (this.#world.dice.chance(0.5)) make();
        return this.#losePower();
      }
      const done = make();
      if (!done) this.#body.storeFailedAt = this.#world.clock.now();
      if (store.values.size > MOST_VALUES)
        this.#observer.problem(`${store.values.size} values stored, ${key} last`);
      return done;
    };
    return {
      get: (key) => store.get(key),
      set: (key, value) => change(key, () => store.set(key, value)),
      delete: (key) => change(key, () => store.delete(key)),
    };
  }

  #blocks(): Blocks {
    const { blocks } = this.#body;
    return {
      size: blocks.size,
      sectorSize: blocks.sectorSize,
      read: (at, into) => blocks.read(at, into),
      write: (at, bytes) => {
        if (!this.powered) return false;
        if (!this.#losesPower()) return blocks.write(at, bytes);
        this.#program(at, this.#torn(bytes));
        return this.#losePower();
      },
      erase: (at) => {
        if (!this.powered) return false;
        if (!this.#losesPower()) return blocks.erase(at);
        const old = blocks.bytes.slice(at, at + blocks.sectorSize);
        const erases = blocks.erase(at);
        const { dice } = this.#world;
        const [from, to] = [dice.below(old.length), dice.below(old.length + 1)];
        if (dice.chance(0.7) && from < to && erases) this.#program(at + from, old.subarray(from, to));
        return this.#losePower();
      },
    };
  }

  /** What reads 0xff is as good as erased. */
  #program(at: number, bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++)
      if (bytes[i] !== 0xff) this.#body.blocks.write(at + i, bytes.subarray(i, i + 1));
  }

  /** A part of what was to be written: the beginning, with its last bytes half programmed, or bytes here and there. */
  #torn(bytes: Uint8Array): Uint8Array {
    const { dice } = this.#world;
    const part = bytes.slice(0, dice.below(bytes.length + 1));
    const from = dice.chance(0.5) ? Math.max(0, part.length - 4) : dice.below(part.length + 1);
    const rough = dice.chance(0.5);
    for (let i = from; i < part.length; i++)
      if (rough) part[i]! |= dice.below(256);
      else if (dice.chance(0.3)) part[i] = 0xff;
    return part;
  }

  #open(...[name, port, secure, event]: Parameters<Host["open"]>): ReturnType<Host["open"]> {
    if (!this.powered) return { write: () => 0, read: () => 0, close: () => {} };
    const sockets = this.#sockets;
    const { problem } = this.#observer;
    const socket = this.#world.net.open(name, port, secure, (what, reason) => {
      if (what === "closed") sockets.delete(socket);
      if (this.powered) event(what, reason);
    });
    sockets.add(socket);
    if (sockets.size > MOST_SOCKETS[this.#body.connections]!)
      problem(`${sockets.size} connections at a time`);
    let readSince = 0;
    return {
      write: (bytes) => {
        readSince = 0;
        return this.powered ? socket.write(bytes) : 0;
      },
      read: (into) => {
        const count = socket.read(into);
        readSince += count;
        if (readSince > READ_BEYOND + 2 * this.#body.limit)
          problem(`${readSince} bytes of one answer were read`);
        return count;
      },
      close: () => {
        if (!this.powered) return;
        sockets.delete(socket);
        socket.close();
      },
    };
  }
}
