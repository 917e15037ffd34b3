// The power of a device, which goes in the middle of a change, and what it leaves of that change.
import type { Blocks, Store } from "../../src/port.js";
import type { FakeFlash } from "./flash.js";
import { type FakeStore, randomBytes } from "./host.js";

/**
 * Thrown by every call that could have an effect on a device without power: a careless `catch`
 * can't complete the work.
 */
export class PowerLossError extends Error {}

/**
 * What is left of the change under way when the power goes:
 * - `before`: nothing; `after`: all of it, but whoever asked for it never learns that;
 * - `prefix`: its first bytes; `garbage`: its first bytes, and behind them what nobody wrote;
 * - `bits`: of each bit that it changes, chance says whether it did; `reordered`: some of its words, whichever.
 */
export const KINDS = ["before", "after", "prefix", "garbage", "bits", "reordered"] as const;
export type Kind = (typeof KINDS)[number];

/** The power goes at change number `at` of a start. */
export interface PowerLoss {
  readonly at: number;
  readonly kind: Kind;
}

/** One change that lasts, or another instant at which the power may go. */
export interface Change {
  readonly name: string;
  /** The kinds of power losses that differ at it. */
  readonly kinds: readonly Kind[];
}

/** A write of `content` to flash; without content an erase of the sector at `at`. */
export interface FlashChange {
  readonly flash: FakeFlash;
  readonly at: number;
  readonly content?: Uint8Array;
}

/** Leaves a change half done in its own way; `random` gives 0 to 255. */
type Tear = (kind: Kind, random: () => number) => void;

/** The power of one start as the device's host uses it. */
export type PowerSupply = Pick<Power, "on" | "onOff" | "check" | "change" | "send" | "instant">;

const WORD = 4;
const WHOLE: readonly Kind[] = ["before", "after"];
const INSTANT: readonly Kind[] = ["before"];

/** The power of one start of a device. Everything that outlives its loss is changed through it. */
export class Power {
  /** Of this start, the one under way when the power goes included. */
  readonly changes: Change[] = [];
  /** Called when it goes. `silent`: the platform does not learn that the connections are gone. */
  onOff: ((silent?: boolean) => void) | undefined;
  readonly #loss: PowerLoss | undefined;
  readonly #random: () => number;
  #on = true;

  constructor(loss?: PowerLoss) {
    this.#loss = loss;
    this.#random = randomBytes(loss ? loss.at * KINDS.length + KINDS.indexOf(loss.kind) : 0);
  }

  get on(): boolean {
    return this.#on;
  }

  /** Throws if it is gone. */
  check(): void {
    if (!this.#on) throw new PowerLossError();
  }

  /**
   * Does what lasts, unless the power goes at it. `half`: what may be left half done, or what
   * leaves it so.
   */
  change<T>(name: string, act: () => T, half?: FlashChange | Tear): T {
    const kind = this.#begin(name, half ? KINDS : WHOLE);
    if (!kind) return act();
    if (kind === "after") act();
    else if (kind !== "before" && typeof half === "function") half(kind, this.#random);
    else if (kind !== "before" && typeof half === "object") this.#tear(kind, half);
    return this.#lose();
  }

  /** Sends `length` bytes to the network; returns how many were taken. */
  send(length: number, act: () => number): number {
    return this.change(`send ${length}`, act);
  }

  /**
   * An instant at which the power may go though nothing lasting happens: something comes from the
   * network, say.
   */
  instant(name: string): void {
    if (this.#begin(name, INSTANT)) this.#lose();
  }

  /** How the power goes at what begins now; undefined if it stays. */
  #begin(name: string, kinds: readonly Kind[]): Kind | undefined {
    this.check();
    const at = this.changes.push({ name, kinds }) - 1;
    return at === this.#loss?.at ? this.#loss.kind : undefined;
  }

  /** The power goes now, between two changes. */
  off(): void {
    this.#on = false;
    this.onOff?.();
  }

  #lose(): never {
    this.off();
    throw new PowerLossError();
  }

  #tear(kind: Kind, { flash, at, content = new Uint8Array(flash.sectorSize).fill(0xff) }: FlashChange): void {
    const random = this.#random;
    const { bytes } = flash;
    const prefix = Math.floor((random() / 256) * content.length);
    let word = 0;
    for (let i = 0; i < content.length; i++) {
      if (i % WORD === 0) word = random();
      const old = bytes[at + i]!;
      const other = content[i]!;
      if (kind === "bits") bytes[at + i] = old ^ ((old ^ other) & random());
      else if (kind === "reordered") bytes[at + i] = word < 128 ? other : old;
      else if (i < prefix) bytes[at + i] = other;
      else if (kind === "garbage") bytes[at + i] = random();
    }
  }
}

/** Sectors that keep what they hold when the power goes. */
export function poweredBlocks(flash: FakeFlash, power: Pick<PowerSupply, "check" | "change">): Blocks {
  const { size, sectorSize } = flash;
  return {
    size,
    sectorSize,
    read: (at, into) => {
      power.check();
      return flash.read(at, into);
    },
    write: (at, content) =>
      power.change(`write ${at}+${content.length}`, () => flash.write(at, content), { flash, at, content }),
    erase: (at) => power.change(`erase ${at}`, () => flash.erase(at), { flash, at }),
  };
}

/** A store whose values are old or new, as the port promises. */
export function poweredStore(store: FakeStore, power: Pick<PowerSupply, "check" | "change">): Store {
  return {
    get: (key) => {
      power.check();
      return store.get(key);
    },
    set: (key, value) => power.change(`store ${key}`, () => store.set(key, value)),
    delete: (key) => power.change(`forget ${key}`, () => store.delete(key)),
  };
}
