// Random platforms: whatever they answer, each point arrives in order or is counted.
import test from "ava";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore, randomBytes } from "../../../fakes/host.js";
import { type Answer, type Element, TelemetryRig, upTo } from "./rig.js";

const SEEDS = 40;
const POINTS = 120;
const BUSY: readonly Answer[] = [
  { status: 500 },
  { status: 503 },
  { status: 429, headers: { "Retry-After": "3" } },
  { status: 502 },
  { status: 401 },
  { status: 404 },
];

/** What the platform will not have, whoever asks. */
const isPoison = (element: Element) => Number(element.values.n) % 29 === 7;

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`each point arrives in order or is counted, whatever the platform answers (seed ${seed})`, async (t) => {
    const random = randomBytes(seed);
    const blocks = new FakeFlash(16 * 4096, 4096);
    const store = new FakeStore();
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const taken: Element[] = [];
    let rig: TelemetryRig | undefined;
    let recorded = 0;
    for (let start = 0; start < 3; start++) {
      const flash = new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes);
      rig = new TelemetryRig(
        { durable: start !== 1 || seed % 2 === 0 },
        { blocks: flash, store, seed, clock },
      );
      rig.answer = (elements) => answer(elements, random, taken);
      rig.start();
      for (; recorded < (POINTS / 3) * (start + 1); recorded++) {
        rig.record(recorded, recorded + 1);
        await rig.host.clock.advance(random() * 4);
      }
      rig.session.stop();
      await rig.ended();
    }
    rig!.start();
    await rig!.empty(24 * 3_600_000);
    const { refused } = rig!.outbox.dropped;
    const firsts = [...new Set(taken.map((element) => element.values.n as number))].filter(
      (n) => n !== undefined,
    );
    t.deepEqual(
      firsts,
      upTo(POINTS).filter((n) => n % 29 !== 7),
    );
    t.is(refused, upTo(POINTS).filter((n) => n % 29 === 7).length);
    t.is(rig!.outbox.drops, refused);
    // The same point always has the same time stamp, and the order of time stamps is that of the points.
    const stamps = new Map<unknown, number>();
    for (const { ts, values } of taken) {
      if (values.n === undefined) continue;
      t.is(stamps.get(values.n) ?? ts, ts);
      stamps.set(values.n, ts!);
    }
    const inOrder = [...stamps.values()];
    t.deepEqual(
      inOrder,
      inOrder.toSorted((a, b) => a - b),
    );
  });
}

/** Takes the points or not; the answer gets lost at times. */
function answer(elements: Element[], random: () => number, taken: Element[]): Answer | undefined {
  const chance = random();
  if (chance < 80) return BUSY[chance % BUSY.length];
  if (chance < 90) return undefined;
  if (elements.some(isPoison)) return { status: chance % 2 ? 400 : 500, body: "Can't parse value" };
  taken.push(...elements);
  return chance < 100 ? undefined : { status: 200 };
}
