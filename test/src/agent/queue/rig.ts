// An outbox on fake blocks whose points are numbered.

import type { TelemetryOptions } from "../../../../src/agent/queue/options.js";
import { BATCH_FRONT, Outbox } from "../../../../src/agent/queue/outbox.js";
import {
  epochOf,
  GIVEN,
  kindOf,
  lengthOf,
  POINT_HEAD,
  padded,
  readValue,
} from "../../../../src/agent/queue/record.js";
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

/** The offsets of the points waiting, in order; each is valid until the next. */
function* places(outbox: Outbox): Generator<number> {
  outbox.rewind();
  for (let isFirst = true; ; isFirst = false) {
    const at = outbox.step(outbox.front + padded(BATCH_FRONT), isFirst);
    if (at < 0) return;
    yield at;
  }
}

/** The texts of the points waiting, in order. */
export function waitingTexts(outbox: Outbox, most = Number.POSITIVE_INFINITY): string[] {
  const texts: string[] = [];
  for (const at of places(outbox)) {
    if (texts.length === most) {
      outbox.back(at);
      break;
    }
    const { bytes, words } = outbox;
    texts.push(Buffer.from(bytes.subarray(at + POINT_HEAD, at + lengthOf(words, at))).toString());
  }
  return texts;
}

/** The numbers in the points waiting, in order. */
export function waitingNumbers(outbox: Outbox, most = Number.POSITIVE_INFINITY): number[] {
  return waitingTexts(outbox, most).map((text) => JSON.parse(text).n);
}

/** The time stamps of the points waiting, in order, and which are guesses. */
export function waitingStamps({ outbox }: Rig, isGuess?: boolean[]): (number | undefined)[] {
  const { stamps, words } = outbox;
  const points: [kind: number, epoch: number, value: number][] = [];
  for (const at of places(outbox)) points.push([kindOf(words, at), epochOf(words, at), readValue(words, at)]);
  return points.map(([kind, epoch, value], i) => {
    if (kind === GIVEN) return value;
    if (i === 0 || epoch !== points[i - 1]?.[1]) stamps.prepare(epoch, value);
    const time = stamps.timeOf(epoch, value);
    if (time) stamps.use(epoch, value);
    isGuess?.push(time !== undefined && value < time.exactFrom);
    return time && time.start + value;
  });
}
