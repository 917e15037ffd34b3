// An outbox on fake blocks whose points are numbered, and a power supply that can be cut.
import { Outbox } from "../../src/agent/outbox.js";
import { eraOf, kindOf, POINT_HEAD, timeOf } from "../../src/agent/record.js";
import type { TelemetryOptions } from "../../src/agent/telemetry-options.js";
import { Time } from "../../src/agent/time.js";
import { FakeFlash, FakeSlot } from "../fakes/flash.js";
import { type FakeHost, type FakeStore, fakeHost } from "../fakes/host.js";

export class PowerCut extends Error {}

/** What a write or erase that was cut leaves: nothing, all, or some of it. */
export type Tear = "none" | "all" | "prefix" | "random";
export const TEARS: readonly Tear[] = ["none", "all", "prefix", "random"];

/** Flash whose power fails in the middle of a change; from then on every call throws. */
export class CutFlash extends FakeFlash {
  /** Changes that still go through. */
  left = Number.POSITIVE_INFINITY;
  tear: Tear = "none";
  /** 0 to 255. */
  random: () => number = () => 0;
  #dead = false;

  override read(at: number, into: Uint8Array): boolean {
    if (this.#dead) throw new PowerCut();
    return super.read(at, into);
  }

  override write(at: number, bytes: Uint8Array): boolean {
    this.#count(() => this.#torn(at, bytes));
    return super.write(at, bytes);
  }

  override erase(at: number): boolean {
    this.#count(() => this.#torn(at, new Uint8Array(this.sectorSize).fill(0xff)));
    return super.erase(at);
  }

  /** The flash as it is after the power came back. */
  survivor(): CutFlash {
    return new CutFlash(this.size, this.sectorSize, this.bytes.slice());
  }

  #count(tear: () => void): void {
    if (this.#dead) throw new PowerCut();
    if (this.left-- > 0) return;
    this.#dead = true;
    tear();
    throw new PowerCut();
  }

  #torn(at: number, bytes: Uint8Array): void {
    const prefix = Math.floor((this.random() / 256) * bytes.length);
    for (let i = 0; i < bytes.length; i++) {
      const done = { none: false, all: true, prefix: i < prefix, random: this.random() < 128 }[this.tear];
      if (done) this.bytes[at + i] = bytes[i]!;
    }
  }
}

export interface Rig {
  readonly host: FakeHost;
  readonly time: Time;
  readonly outbox: Outbox;
}

export function rig(
  blocks: FakeFlash,
  options: TelemetryOptions = {},
  store?: FakeStore,
  wall?: number | null,
): Rig {
  const host = fakeHost({
    blocks,
    slot: new FakeSlot(4096, 4096),
    ...(store ? { store } : {}),
    ...(wall === undefined ? {} : { wall: wall ?? undefined }),
  });
  const time = new Time(host);
  return { host, time, outbox: new Outbox(host, time, options) };
}

/** The text of point `n`, of a length that varies with it. */
export function textOf(n: number): Uint8Array {
  return new TextEncoder().encode(`{"n":${n},"s":"${"x".repeat((n * 7) % 41)}"}`);
}

/** The numbers in the points waiting, in order. */
export function waitingNumbers(outbox: Outbox, most = Number.POSITIVE_INFINITY): number[] {
  const numbers: number[] = [];
  outbox.rewind();
  while (numbers.length < most && outbox.step()) numbers.push(valuesAt(outbox).n);
  return numbers;
}

/** The time stamps of the points waiting, in order. */
export function waitingStamps({ outbox, time }: Rig): (number | undefined)[] {
  const stamps: (number | undefined)[] = [];
  outbox.rewind();
  while (outbox.step()) {
    const { bytes, at } = outbox;
    stamps.push(time.resolve(kindOf(bytes, at), eraOf(bytes, at), timeOf(bytes, at)));
  }
  return stamps;
}

function valuesAt(outbox: Outbox): { n: number } {
  return JSON.parse(Buffer.from(outbox.bytes.subarray(outbox.at + POINT_HEAD, outbox.end)).toString());
}
