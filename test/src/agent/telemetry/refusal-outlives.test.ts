// Who is to blame for a refused point, over what interrupts the verdict: a sleep, a power loss.

import { NAME, type Rig, startRig, test } from "../rig.js";
import { Sleeper } from "../sleeper.js";

const isTelemetry = (path: string) => path.endsWith("/telemetry");
const isPoisoned = (body: string) => body.includes('"n":0');
const isProbe = (body: string) => body.includes("moteDroppedRefused") && !body.includes('"n":');
const pointsIn = (body: string) => body.split('"n":').length - 1;

function arrived(rig: Rig): unknown[] {
  return rig.platform.points(rig.platform.device(NAME), "n").map(({ value }) => value);
}

/** What the platform has of the drops that the device reported. */
const refused = (rig: Rig) => rig.platform.latest(rig.platform.device(NAME), "moteDroppedRefused");

test("a wake that ends before the probe is answered: the next goes on with that point alone, and condemns it", async (t) => {
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
  t.deepEqual(arrived(rig), [1, 2, 3, 4, 5, 6]);
  t.is(refused(rig), 1);
});

test("an outage of all that is written, over wakes: a probe a minute at most, nothing is condemned, and all arrives", async (t) => {
  const sleeper = new Sleeper(t, { cycle: { everyMs: 10_000, connectEvery: 1 } });
  const { rig } = sleeper;
  let fails = true;
  const probes: number[] = [];
  rig.platform.fault = ({ path, body }) => {
    if (!isTelemetry(path) || !fails) return undefined;
    if (isProbe(body)) probes.push(rig.clock.now());
    return { status: 400, body: "no" };
  };
  await sleeper.wakes(60, { connect: true });
  t.true(probes.length >= 3, `${probes.length}`);
  for (let i = 1; i < probes.length; i++)
    t.true(probes[i]! - probes[i - 1]! >= 60_000, `${probes[i]! - probes[i - 1]!}`);
  fails = false;
  await sleeper.wakes(60, { connect: true });
  t.deepEqual(
    arrived(rig),
    Array.from({ length: 120 }, (_, n) => n),
  );
  t.is(refused(rig), undefined);
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
    t.deepEqual(arrived(rig), [1, 2, 3, 4, 5, 6, 7]);
    t.is(refused(rig), 1);
  });
