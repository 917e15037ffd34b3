// How soon a device that the platform refuses asks again: seconds at first, ten minutes at last, over restarts and wakes.
import { KEY } from "../../../fakes/platform.js";
import { NAME, startRig, test } from "../rig.js";

const MINUTE = 60_000;

test("a token refused for 2 s: the first point arrives within seconds, not after ten minutes", async (t) => {
  const rig = startRig(t);
  const device = rig.platform.create(NAME, "token");
  const { type, credentialsId, value } = device.credentials;
  const { devices } = rig.platform.core;
  devices.setCredentials(device, { type, value, credentialsId: "another" });
  const agent = rig.agent({ token: "token" });
  agent.telemetry.record({ a: 1 });
  agent.start();
  await rig.clock.advance(2000);
  devices.setCredentials(device, { type, value, credentialsId });
  const took = await rig.clock.runUntil(() => rig.platform.points(device, "a").length > 0, 20 * MINUTE);
  t.true(took < 15_000, `${took} ms`);
});

test("a device switched on 15 s before its operator creates it is there within a minute", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ token: "token" });
  agent.start();
  await rig.clock.advance(15_000);
  rig.platform.create(NAME, "token");
  const took = await rig.clock.runUntil(() => agent.state === "online", 20 * MINUTE);
  t.true(took < MINUTE, `${took} ms`);
});

test("a FAILURE caused by load is retried within seconds", async (t) => {
  const rig = startRig(t);
  let failures = 2;
  rig.platform.fault = (request) => {
    if (!request.path.endsWith("/provision") || failures-- <= 0) return undefined;
    request.reply(200, JSON.stringify({ errorMsg: "Error during device creation", status: "FAILURE" }));
    return "hang";
  };
  const agent = rig.agent();
  agent.start();
  const took = await rig.clock.runUntil(() => agent.state === "online", 20 * MINUTE);
  t.true(took < MINUTE, `${took} ms`);
});

test("the first FAILURE names both causes, and later ones are not reported again", async (t) => {
  const rig = startRig(t);
  rig.platform.create(NAME, "other");
  rig.agent().start();
  await rig.clock.advance(1_000);
  const lines = (): string[] => rig.host.lines.filter((one) => one.includes("provisioning refused"));
  t.regex(lines()[0] ?? "", /its name is taken .+, or the platform is overloaded/);
  await rig.clock.advance(30 * MINUTE);
  t.is(lines().length, 1);
});

test("restarted each minute, or woken each minute, a refused device asks ever more seldom", async (t) => {
  for (const wakes of [false, true]) {
    const rig = startRig(t);
    const options = { provisioning: { key: KEY, secret: "wrong", deviceName: NAME } };
    let kept: string | undefined;
    const asked: number[] = [];
    rig.platform.fault = () => void asked.push(rig.clock.now());
    for (let minute = 0; minute < 240; minute++) {
      const agent = rig.agent(options);
      if (wakes) {
        const wake = agent.runOnce({ timeoutMs: 20_000, connect: true, ...(kept && { kept }) });
        await rig.clock.advance(MINUTE);
        kept = (await wake).kept;
      } else {
        agent.start();
        await rig.clock.advance(MINUTE);
        void agent.stop();
        await rig.clock.advance(0);
      }
    }
    const last = asked.filter((at) => at >= 120 * MINUTE).length;
    t.true(asked.length > 5, `${wakes}: ${asked.length}`);
    t.true(last <= 60, `${wakes}: ${last} in the last two hours`);
  }
});

test("another token is tried at once, whatever was refused before", async (t) => {
  const rig = startRig(t);
  rig.platform.create(NAME, "token");
  const first = rig.agent({ token: "wrong" });
  first.start();
  await rig.clock.advance(60 * MINUTE);
  void first.stop();
  await rig.clock.advance(100);
  const agent = rig.agent({ token: "token" });
  agent.start();
  await rig.clock.advance(2000);
  t.is(agent.state, "online");
});
