// A platform that takes less than is recorded: what the device says of it.
import test from "ava";
import { TelemetryRig } from "./rig.js";

const lines = (rig: TelemetryRig) => rig.host.lines.filter((line) => line.includes("delivery"));

/** A platform that takes a batch every `everyMs`, and answers `status` to all others. */
function limited(rig: TelemetryRig, everyMs: () => number, status = 429): void {
  let next = 0;
  rig.answer = () => {
    const now = rig.host.clock.now();
    if (now < next) return { status };
    next = now + everyMs();
    return { status: 200 };
  };
}

for (const status of [429, 500, 503])
  test(`limits (${status}) that let less through than comes: said once after a minute, and once when it has caught up`, async (t) => {
    const rig = new TelemetryRig({ batchPoints: 4 }).start();
    let everyMs = 30_000;
    limited(rig, () => everyMs, status);
    let n = 0;
    const record = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        rig.record(n, ++n);
        await rig.host.clock.advance(1000);
      }
    };
    await record(50);
    t.deepEqual(rig.pace, []);
    await record(70);
    t.is(rig.pace.length, 1);
    t.true(rig.pace[0]?.behind);
    t.true((rig.pace[0]?.points ?? 0) > 20);
    await record(600);
    t.is(rig.pace.length, 1);
    everyMs = 0;
    await record(400);
    t.deepEqual(
      rig.pace.map(({ behind }) => behind),
      [true, false],
    );
    t.is(lines(rig).length, 2);
    everyMs = 30_000;
    await record(300);
    t.is(rig.pace.length, 3);
  });

test("a limit now and then that slows nothing down for a minute is not worth a word", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  let requests = 0;
  rig.answer = () => ({ status: ++requests % 10 === 0 ? 429 : 200 });
  for (let n = 0; n < 600; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(1000);
  }
  t.true(rig.log.some((line) => line.includes("429")));
  t.deepEqual(rig.pace, []);
  t.deepEqual(lines(rig), []);
});

test("points that were dropped meanwhile are not taken for delivered: it has not caught up by losing them", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4, bufferBytes: 2048, batchBytes: 1024 }).start();
  limited(rig, () => 20_000);
  for (let n = 0; n < 1200; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(500);
  }
  t.true(rig.drops.length > 0);
  t.deepEqual(
    rig.pace.map(({ behind }) => behind),
    [true],
  );
});

test("an outage is reported as an outage, and a stop ends the wait", async (t) => {
  const rig = new TelemetryRig().start();
  let busy = true;
  rig.answer = () => (busy ? { status: 429 } : undefined);
  rig.record(0, 1);
  await rig.host.clock.runUntil(() => rig.log.length > 0);
  busy = false;
  await rig.host.clock.advance(300_000);
  t.deepEqual(rig.pace, []);
  t.false(rig.session.online);
  busy = true;
  await rig.host.clock.runUntil(() => rig.log.at(-1)?.includes("429") === true, 600_000);
  rig.session.stop();
  await rig.ended();
  await rig.host.clock.advance(120_000);
  t.deepEqual(rig.pace, []);
});

test("a stop between the two: that it has caught up is said by the next start", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  limited(rig, () => 30_000);
  for (let n = 0; n < 120; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(1000);
  }
  t.is(rig.pace.length, 1);
  rig.session.stop();
  await rig.ended();
  rig.answer = () => ({ status: 200 });
  rig.start();
  await rig.empty();
  await rig.host.clock.advance(0);
  t.deepEqual(
    rig.pace.map(({ behind }) => behind),
    [true, false],
  );
});

test("once nothing waits any more delivery has caught up, however late the last of it came", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  rig.answer = () => ({ status: 503 });
  rig.record(0, 4);
  await rig.host.clock.advance(100_000);
  t.deepEqual(
    rig.pace.map(({ behind }) => behind),
    [true],
  );
  rig.answer = () => ({ status: 200 });
  await rig.empty();
  t.deepEqual(rig.pace.at(-1), { behind: false, points: 0 });
});
