// A simulated device: one agent after the other on what the one before stored. The power may go at
// any instant, also in the middle of a write: from then on nothing that its agent calls has an
// effect, and nothing calls it.
import type { Host, Socket, Store } from "../../src/port.js";
import type { FlashChange, PowerSupply } from "../fakes/power.js";
import { PoweredDevice, type PoweredHost } from "../fakes/powered-device.js";
import type { Dice } from "./dice.js";
import type { World } from "./world.js";

/** The world around a device. */
type Around = Pick<World, "clock" | "net" | "seed" | "dice"> & { powerCycles: number };

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

export class SimulatedDevice extends PoweredDevice {
  readonly connections: 1 | 2 | 3;
  /** The power goes in the middle of this change of storage, counted from now. */
  powerLossAtChange: number | undefined;
  /** When the store failed last, or began to. */
  storeFailedAt = Number.NEGATIVE_INFINITY;
  /** The longest answer that the options let pass. */
  limit = 8192;
  readonly #world: Around;

  constructor(world: Around, sectors: number, connections: 1 | 2 | 3) {
    super({ clock: world.clock, net: world.net, sectors, slotBytes: 64 * 4096 });
    this.#world = world;
    this.connections = connections;
  }

  powerOn(observer: Observer): PowerCycle {
    return new PowerCycle(this, this.#world, observer);
  }
}

/**
 * One start of a device until its power goes. Without power its calls fail, as a call that throws
 * would stop the simulation.
 */
export class PowerCycle implements PowerSupply {
  readonly host: PoweredHost;
  on = true;
  onOff: PowerSupply["onOff"];
  readonly #device: SimulatedDevice;
  readonly #world: Around;
  readonly #dice: Dice;
  readonly #observer: Observer;

  constructor(device: SimulatedDevice, world: Around, observer: Observer) {
    this.#device = device;
    this.#world = world;
    this.#dice = world.dice;
    this.#observer = observer;
    const host = device.start(this, world.seed + 7919 * ++world.powerCycles);
    this.host = {
      ...host,
      clock: {
        ...host.clock,
        timer: (...timer) => {
          const cancel = host.clock.timer(...timer);
          if (host.timers.size > MOST_TIMERS) observer.problem(`${host.timers.size} timers at a time`);
          return cancel;
        },
      },
      store: this.#watchStore(host.store),
      open: (...address) => this.#watchSocket(host.open(...address), host.sockets.size),
      log: (level, line) => this.on && observer.log(`${level}: ${line}`),
    };
  }

  /**
   * Nothing has an effect any more. `silent`: the platform does not learn that the connections are
   * gone.
   */
  off(silent: boolean): void {
    this.on = false;
    // What it left open nobody closes.
    this.#world.powerCycles++;
    this.onOff?.(silent);
  }

  check(): void {}

  instant(): void {}

  send(_length: number, act: () => number): number {
    return this.on ? act() : 0;
  }

  change<T>(_name: string, act: () => T, half?: unknown): T {
    const device = this.#device;
    if (!this.on) return false as T;
    if (device.powerLossAtChange === undefined || --device.powerLossAtChange > 0) return act();
    device.powerLossAtChange = undefined;
    if (half) this.#tear(half as FlashChange);
    // A value is old or new, never between.
    else if (this.#dice.chance(0.5)) act();
    this.off(this.#dice.chance(0.5));
    this.#observer.powerLost();
    return false as T;
  }

  #tear({ flash, at, content }: FlashChange): void {
    if (content) {
      program(flash, at, torn(content, this.#dice));
      return;
    }
    const old = flash.bytes.slice(at, at + flash.sectorSize);
    const erases = flash.erase(at);
    const [from, to] = [this.#dice.below(old.length), this.#dice.below(old.length + 1)];
    if (this.#dice.chance(0.7) && from < to && erases) program(flash, at + from, old.subarray(from, to));
  }

  #watchStore(store: Store): Store {
    const { values } = this.#device.store;
    const watched = (key: string, isDone: boolean): boolean => {
      if (!this.on) return isDone;
      if (!isDone) this.#device.storeFailedAt = this.#world.clock.now();
      if (values.size > MOST_VALUES) this.#observer.problem(`${values.size} values stored, ${key} last`);
      return isDone;
    };
    return {
      get: (key) => store.get(key),
      set: (key, value) => watched(key, store.set(key, value)),
      delete: (key) => watched(key, store.delete(key)),
    };
  }

  #watchSocket(socket: Socket, open: number): ReturnType<Host["open"]> {
    const { connections, limit } = this.#device;
    const { problem } = this.#observer;
    if (open > MOST_SOCKETS[connections]!) problem(`${open} connections at a time`);
    let readSince = 0;
    return {
      write: (bytes) => {
        readSince = 0;
        return socket.write(bytes);
      },
      read: (into) => {
        const count = socket.read(into);
        readSince += count;
        if (readSince > READ_BEYOND + 2 * limit) problem(`${readSince} bytes of one answer were read`);
        return count;
      },
      close: () => socket.close(),
    };
  }
}

/** What reads 0xff is as good as erased. */
function program(flash: FlashChange["flash"], at: number, bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0xff) flash.write(at + i, bytes.subarray(i, i + 1));
}

/**
 * A part of a write: the beginning, with its last bytes half programmed, or bytes here and there.
 */
function torn(bytes: Uint8Array, dice: Dice): Uint8Array {
  const part = bytes.slice(0, dice.below(bytes.length + 1));
  const from = dice.chance(0.5) ? Math.max(0, part.length - 4) : dice.below(part.length + 1);
  const rough = dice.chance(0.5);
  for (let i = from; i < part.length; i++)
    if (rough) part[i]! |= dice.below(256);
    else if (dice.chance(0.3)) part[i] = 0xff;
  return part;
}
