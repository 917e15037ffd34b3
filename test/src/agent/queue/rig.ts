// An outbox on fake blocks whose points are numbered.

import { Outbox, type PointStorage } from "../../../../src/agent/queue/outbox.js";
import { epochOf, kindOf, POINT_HEAD, timeOf } from "../../../../src/agent/queue/record.js";
import type { TelemetryOptions } from "../../../../src/agent/telemetry/options.js";
import { Time } from "../../../../src/agent/time/time.js";
import { type FakeFlash, FakeSlot } from "../../../fakes/flash.js";
import { type FakeStore, fakeHost } from "../../../fakes/host.js";

/** `wall` null: the host does not know the time. */
export function rig(
  blocks: FakeFlash,
  options: TelemetryOptions = {},
  store?: FakeStore,
  wall?: number | null,
  seed = 1,
) {
  const host = fakeHost({
    seed,
    blocks,
    slot: new FakeSlot(4096, 4096),
    ...(store ? { store } : {}),
    ...(wall === undefined ? {} : { wall: wall ?? undefined }),
  });
  const time = new Time(host);
  return { host, time, outbox: new Outbox(host, time, options) };
}

export type Rig = ReturnType<typeof rig>;

/** The text of point `n`, of a length that varies with it. */
export function textOf(n: number): Uint8Array {
  return new TextEncoder().encode(`{"n":${n},"s":"${"x".repeat((n * 7) % 41)}"}`);
}

/** The numbers in the points waiting, in order. */
export function waitingNumbers(outbox: Outbox, most = Number.POSITIVE_INFINITY): number[] {
  const numbers: number[] = [];
  outbox.rewind();
  while (numbers.length < most) {
    const place = outbox.step();
    if (!place) break;
    numbers.push(JSON.parse(textAt(place)).n);
  }
  return numbers;
}

/** The time stamps of the points waiting, in order. */
export function waitingStamps({ outbox, time }: Rig): (number | undefined)[] {
  const stamps: (number | undefined)[] = [];
  outbox.rewind();
  for (let place = outbox.step(); place; place = outbox.step()) {
    const { words, at } = place;
    stamps.push(time.resolve(kindOf(words, at), epochOf(words, at), timeOf(words, at)));
  }
  return stamps;
}

/** The text of a point's values. */
export function textAt({ bytes, at, end }: PointStorage): string {
  return Buffer.from(bytes.subarray(at + POINT_HEAD, end)).toString();
}
