// A device of a story: one agent after the other on what the one before kept. A life may end at any instant, also in the middle of a
// write, as by a power cut: from then on nothing that its agent calls has an effect, and nothing calls it.
import type { Blocks, Clock, Host, Store } from "../../src/port.js";
import { FakeFlash, FakeSlot } from "../fakes/flash.js";
import { FakeStore, fakeHost } from "../fakes/host.js";
import type { World } from "./world.js";

/** What is around a device. */
export type Around = Pick<World, "clock" | "net" | "seed" | "dice"> & { lives: number };

export interface Life {
  readonly host: Host;
  /** Timers not yet due nor cancelled. */
  readonly timers: number;
  readonly alive: boolean;
  /** Nothing has an effect any more. `silent`: the platform is not told that the connections are gone. */
  cut(silent: boolean): void;
}

export interface Ears {
  log(line: string): void;
  /** What is against a promise. */
  problem(what: string): void;
  /** The power went in the middle of a change of storage. */
  died(): void;
}

/** Connections at a time, by mode; a second RPC poll and a client-side RPC have their own. */
const MOST_SOCKETS = [0, 1, 4, 5];
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
  cutAtChange: number | undefined;
  /** When the store failed last, or began to. */
  storeFailedAt = Number.NEGATIVE_INFINITY;
  /** The longest answer that the options let pass. */
  limit = 8192;
  readonly connections: 1 | 2 | 3;

  constructor(sectors: number, connections: 1 | 2 | 3) {
    this.connections = connections;
    this.blocks = new FakeFlash(sectors * 4096, 4096);
  }

  live(world: Around, ears: Ears): Life {
    return new RunningLife(this, world, ears);
  }
}

class RunningLife implements Life {
  readonly host: Host;
  alive = true;
  readonly #body: Body;
  readonly #world: Around;
  readonly #ears: Ears;
  readonly #pending = new Set<object>();
  readonly #sockets = new Set<{ close(): void }>();

  constructor(body: Body, world: Around, ears: Ears) {
    this.#body = body;
    this.#world = world;
    this.#ears = ears;
    const base = fakeHost({
      clock: world.clock,
      network: world.net,
      slot: body.slot,
      seed: world.seed + 7919 * ++world.lives,
    });
    this.host = {
      ...base,
      clock: this.#clock(),
      store: this.#store(),
      blocks: this.#blocks(),
      open: (...address) => this.#open(...address),
      log: (level, line) => this.alive && ears.log(`${level}: ${line}`),
    };
  }

  get timers(): number {
    return this.#pending.size;
  }

  cut(silent: boolean): void {
    this.alive = false;
    // What it left open nobody closes.
    this.#world.lives++;
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
        if (!this.alive) return () => {};
        const mine = {};
        this.#pending.add(mine);
        if (this.#pending.size > MOST_TIMERS) this.#ears.problem(`${this.#pending.size} timers at a time`);
        const cancel = clock.timer(ms, () => {
          if (this.#pending.delete(mine) && this.alive) due();
        });
        return () => {
          this.#pending.delete(mine);
          cancel();
        };
      },
    };
  }

  /** True if the power goes now. */
  #dies(): boolean {
    const body = this.#body;
    if (body.cutAtChange === undefined || --body.cutAtChange > 0) return false;
    body.cutAtChange = undefined;
    return true;
  }

  #die(): false {
    this.cut(this.#world.dice.chance(0.5));
    this.#ears.died();
    return false;
  }

  #store(): Store {
    const { store } = this.#body;
    const change = (key: string, make: () => boolean): boolean => {
      if (!this.alive) return false;
      // Old or new, never between.
      if (this.#dies()) {
        if (this.#world.dice.chance(0.5)) make();
        return this.#die();
      }
      const done = make();
      if (!done) this.#body.storeFailedAt = this.#world.clock.now();
      if (store.values.size > MOST_VALUES)
        this.#ears.problem(`${store.values.size} values stored, ${key} last`);
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
        if (!this.alive) return false;
        if (!this.#dies()) return blocks.write(at, bytes);
        this.#program(at, this.#torn(bytes));
        return this.#die();
      },
      erase: (at) => {
        if (!this.alive) return false;
        if (!this.#dies()) return blocks.erase(at);
        const old = blocks.bytes.slice(at, at + blocks.sectorSize);
        blocks.erase(at);
        const { dice } = this.#world;
        const [from, to] = [dice.below(old.length), dice.below(old.length + 1)];
        if (dice.chance(0.7) && from < to) this.#program(at + from, old.subarray(from, to));
        return this.#die();
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
    if (!this.alive) return { write: () => 0, read: () => 0, close: () => {} };
    const sockets = this.#sockets;
    const { problem } = this.#ears;
    const socket = this.#world.net.open(name, port, secure, (what, reason) => {
      if (what === "closed") sockets.delete(socket);
      if (this.alive) event(what, reason);
    });
    sockets.add(socket);
    if (sockets.size > MOST_SOCKETS[this.#body.connections]!)
      problem(`${sockets.size} connections at a time`);
    let readSince = 0;
    return {
      write: (bytes) => {
        readSince = 0;
        return this.alive ? socket.write(bytes) : 0;
      },
      read: (into) => {
        const count = socket.read(into);
        readSince += count;
        if (readSince > READ_BEYOND + 2 * this.#body.limit)
          problem(`${readSince} bytes of one answer were read`);
        return count;
      },
      close: () => {
        if (!this.alive) return;
        sockets.delete(socket);
        socket.close();
      },
    };
  }
}
