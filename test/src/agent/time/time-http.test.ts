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
