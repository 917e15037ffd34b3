// A point that is refused alone is condemned only if the platform takes a probe right after it: a
// write outage with a content status costs no point.
import test from "ava";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore, randomBytes } from "../../../fakes/host.js";
import { type Rig, startRig } from "../rig.js";
import { Sleeper } from "../sleeper.js";
import { type Answer, type Element, TelemetryRig, upTo } from "./rig.js";

const isProbeBatch = (elements: Element[]) => elements.every(({ values }) => !("n" in values));
const probes = (rig: TelemetryRig) => rig.taken.filter((one) => !("n" in one.values));
const MINUTE = 60_000;

for (const [status, body] of [
  [400, ""],
  [403, "no"],
  [413, "too large"],
  [500, "Can't parse value"],
] as const)
  test(`every POST is answered ${status} for a minute while GET works: no point is dropped`, async (t) => {
    const rig = new TelemetryRig({ batchAgeMs: 100 }).start();
    rig.answer = () => ({ status, body });
    for (let n = 0; n < 240; n++) {
      rig.record(n, n + 1);
      await rig.host.clock.advance(250);
    }
    t.is(rig.outbox.dropped.refused, 0);
    rig.answer = () => ({ status: 200 });
    await rig.empty(11 * MINUTE);
    t.deepEqual(rig.numbers, upTo(240));
    t.is(rig.host.lines.filter((line) => line.startsWith("error")).length, 1);
  });

test("a poison point that is alone is condemned, though later ones are recorded while it is judged", async (t) => {
  const rig = new TelemetryRig({ batchAgeMs: 0 }).start();
  rig.answer = (elements) => {
    if (rig.outbox.next < 5) rig.record(rig.outbox.next, rig.outbox.next + 1);
    return { status: elements.some(({ values }) => values.n === 0) ? 400 : 200 };
  };
  rig.record(0, 1);
  await rig.host.clock.advance(20_000);
  t.deepEqual(rig.numbers, upTo(5, 1));
  t.is(rig.outbox.dropped.refused, 1);
  t.is(probes(rig).length, 2);
});

test("a probe that is accepted more than 10 s after the refusal condemns nothing: the point is sent again", async (t) => {
  const rig = new TelemetryRig().start();
  let slow = true;
  rig.answer = (elements) => {
    if (!isProbeBatch(elements)) return { status: slow ? 400 : 200 };
    if (!slow) return { status: 200 };
    slow = false;
    return { status: 503, headers: { "Retry-After": "11" } };
  };
  rig.record(0, 1);
  await rig.empty(MINUTE);
  t.deepEqual(rig.numbers, [0]);
  t.is(rig.outbox.dropped.refused, 0);
});

test("413 to everything is an outage", async (t) => {
  const rig = new TelemetryRig().start();
  rig.answer = () => ({ status: 413, body: "" });
  for (let n = 0; n < 5; n++) rig.telemetry.record({ n, a: 1, b: 2, c: 3 });
  await rig.host.clock.advance(10 * MINUTE);
  t.is(rig.outbox.waiting, 5);
  t.is(rig.outbox.dropped.refused, 0);
});

test("an outage is reported once, and the next not within an hour of it", async (t) => {
  const rig = new TelemetryRig({ batchAgeMs: 0 }).start();
  let n = 0;
  const outage = async (): Promise<number> => {
    rig.answer = () => ({ status: 404 });
    rig.record(n, ++n);
    await rig.host.clock.advance(MINUTE);
    rig.answer = () => ({ status: 200 });
    await rig.host.clock.advance(11 * MINUTE);
    return rig.host.lines.splice(0).filter((line) => line.includes("refuses telemetry")).length;
  };
  t.deepEqual([await outage(), await outage(), await outage()], [1, 0, 0]);
  await rig.host.clock.advance(25 * MINUTE);
  t.is(await outage(), 1);
});

// Who is to blame for a refused point, over what interrupts the verdict: a sleep, a power loss.

const isTelemetry = (path: string) => path.endsWith("/telemetry");
const isPoisoned = (body: string) => body.includes('"n":0');
const isProbe = (body: string) => body.includes("moteDroppedRefused") && !body.includes('"n":');
const pointsIn = (body: string) => body.split('"n":').length - 1;

/** What the platform has of the drops that the device reported. */
const refused = (rig: Rig) => rig.platform.latest(rig.device, "moteDroppedRefused");

test("after a wake without the probe's answer, the next probes that point and rejects it", async (t) => {
  const sleeper = new Sleeper(t, { cycle: { everyMs: 5000, connectEvery: 1 } });
  const { rig } = sleeper;
  let hangs = true;
  const sent: number[] = [];
  rig.platform.fault = ({ path, body }) => {
    if (!isTelemetry(path)) return undefined;
    if (pointsIn(body) > 0) sent.push(pointsIn(body));
    if (isPoisoned(body)) return { status: 400, body: "no" };
    return isProbe(body) && hangs ? "hang" : undefined;
  };
  await sleeper.wakes(1, { connect: false });
  await sleeper.wakes(4, { connect: false });
  await sleeper.wake({ connect: true, timeoutMs: 8000 });
  t.is(sent.at(-1), 1);
  t.is(refused(rig), undefined);
  hangs = false;
  const before = sent.length;
  await sleeper.wake({ connect: true });
  t.is(sent[before], 1, "the neighbours are not refused once more with it");
  t.deepEqual(rig.values("n"), [1, 2, 3, 4, 5, 6]);
  t.is(refused(rig), 1);
});

for (const when of ["before the probe's answer arrives", "once it is condemned"] as const)
  test(`a power loss ${when}: no good point is lost, and the bad one is counted once`, async (t) => {
    const rig = startRig(t);
    rig.platform.fault = ({ path, body }) =>
      isTelemetry(path) && isPoisoned(body) ? { status: 400, body: "no" } : undefined;
    const agent = rig.agent();
    for (let n = 0; n < 8; n++) agent.telemetry.record({ n });
    agent.start();
    const probed = () => rig.platform.seen.some(({ path, body }) => isTelemetry(path) && isProbe(body));
    await rig.clock.runUntil(when.startsWith("once") ? () => agent.telemetry.dropped.refused > 0 : probed);
    t.is(agent.telemetry.dropped.refused, when.startsWith("once") ? 1 : 0);
    rig.powerOff();
    const next = rig.agent();
    next.start();
    await rig.clock.advance(30_000);
    t.deepEqual(rig.values("n"), [1, 2, 3, 4, 5, 6, 7]);
    t.is(refused(rig), 1);
  });

// Random platforms: whatever they answer, each point arrives in order or is counted.

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
    // The same point always has the same time stamp, and the order of time stamps is that of the
    // points.
    const stamps = new Map<unknown, number>();
    for (const { ts, values } of taken) {
      if (values.n === undefined) continue;
      t.is(stamps.get(values.n) ?? ts, ts);
      stamps.set(values.n, ts!);
    }
    const good = upTo(POINTS).filter((n) => n % 29 !== 7);
    t.deepEqual([...stamps.keys()], good);
    const { drops, dropped } = rig!.outbox;
    t.deepEqual([drops, dropped.refused], [POINTS - good.length, POINTS - good.length]);
    const times = [...stamps.values()];
    const sorted = times.toSorted((a, b) => a - b);
    t.deepEqual(times, sorted);
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
