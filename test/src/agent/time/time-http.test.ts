import { NAME, startRig, test } from "../rig.js";

const DATE = "Sun, 06 Nov 1994 08:49:37 GMT".replace("1994", "2022");
const MS = Date.UTC(2022, 10, 6, 8, 49, 37);

for (const baseUrl of ["http://platform.test", "https://platform.test"]) {
  test(`${baseUrl}: without a clock points wait for the first answer with a Date, and are stamped with when they were recorded`, async (t) => {
    const rig = startRig(t);
    rig.clock.setWall(undefined);
    const agent = rig.agent({ baseUrl });
    agent.telemetry.record({ n: 0 });
    await rig.clock.advance(4000);
    agent.telemetry.record({ n: 1 });
    agent.start();
    await rig.clock.advance(60_000);
    t.deepEqual(rig.platform.points(rig.platform.device(NAME), "n"), []);
    t.true(rig.host.lines.some((line) => line.includes("the time is not known yet")));
    const learnt = rig.clock.now();
    rig.platform.fault = (request) => {
      if (request.method !== "POST" || !request.path.endsWith("/rpc")) return undefined;
      request.reply(200, "{}", { Date: DATE });
      return "hang";
    };
    const answer = agent.rpc.call("time", {}, { timeoutMs: 5000 });
    await rig.clock.advance(5000);
    await answer;
    const points = rig.platform.points(rig.platform.device(NAME), "n");
    t.deepEqual(
      points.map(({ value }) => value),
      [0, 1],
    );
    t.is(points[1]!.ts - points[0]!.ts, 4000);
    t.true(Math.abs(points[0]!.ts - (MS - learnt)) < 2000, `${points[0]!.ts}`);
  });
}

test("a wake of an agent that knows the time does not forget it, though the host never knew", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.telemetry.record({ n: 0 });
  agent.start();
  await rig.clock.advance(5000);
  rig.clock.setWall(undefined);
  const stopped = agent.stop();
  await rig.clock.advance(1000);
  await stopped;
  const wake = agent.runOnce({ connect: true, sample: () => ({ n: 1 }) });
  await rig.clock.advance(31_000);
  await wake;
  agent.start();
  agent.telemetry.record({ n: 2 });
  await rig.clock.advance(60_000);
  const points = rig.platform.points(rig.platform.device(NAME), "n");
  t.deepEqual(
    points.map(({ value }) => value),
    [0, 1, 2],
  );
});

for (const year of ["2287", "9999", "2100"])
  test(`a Date of the year ${year} is not taken for the time: points wait for a Date that can be right`, async (t) => {
    const rig = startRig(t);
    rig.clock.setWall(undefined);
    let date = "Wed, 01 Jun 2022 00:00:00 GMT".replace("2022", year);
    rig.platform.fault = (request) => {
      if (request.method !== "POST" || !request.path.endsWith("/rpc")) return undefined;
      request.reply(200, "{}", { Date: date });
      return "hang";
    };
    const agent = rig.agent();
    const call = async () => {
      const answer = agent.rpc.call("time", {}, { timeoutMs: 5000 });
      await rig.clock.advance(5000);
      await answer;
    };
    agent.start();
    for (let n = 0; n < 50; n++) agent.telemetry.record({ n });
    await call();
    const { points, device } = rig.platform;
    const stored = () => points.call(rig.platform, device.call(rig.platform, NAME), "n");
    t.deepEqual(stored(), []);
    t.is(agent.platformTime, undefined);
    date = "Wed, 01 Jun 2022 00:00:00 GMT";
    await call();
    await rig.clock.advance(60_000);
    t.deepEqual(
      stored().map(({ value }) => value),
      Array.from({ length: 50 }, (_, n) => n),
    );
    t.true(stored().every(({ ts }) => Math.abs(ts - Date.UTC(2022, 5, 1)) < 60_000));
    t.deepEqual(agent.telemetry.dropped, { full: 0, refused: 0, unreadable: 0 });
  });
