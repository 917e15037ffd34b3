// Diagnostics and reset on the XS engine: as many slots after ten thousand errors as after a hundred, and a reset as on Node.
import { FakeClock, settle } from "../fakes/clock.js";
import { FakeFlash } from "../fakes/flash.js";
import { fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";
import { FakePlatform, KEY, SECRET } from "../fakes/platform.js";
import { Bridge } from "./engine/bridge.js";
import { testOnXs } from "./engine/on-xs.js";

const NAME = "greenhouse-7";
const HOUR = 3_600_000;
const ENTRY = `import { Agent } from "./src/index.ts";
  import { Diagnostics } from "./extras/diagnostics/index.ts";
  globalThis.begin = () => {
    globalThis.agent = new Agent(host, {
      baseUrl: "http://platform.test",
      provisioning: { key: "${KEY}", secret: "${SECRET}", deviceName: "${NAME}" },
    });
    globalThis.diagnostics = new Diagnostics(agent, { ...host, lastRun: { reset: "panic", crash: "any" } }, {
      freeMemory: () => 4711,
    });
    agent.start();
  };
  globalThis.wrong = (times) => { for (let n = 0; n < times; n++) { try { agent.telemetry.record({ "": n % 7 }); } catch {} } };`;

async function begin() {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const restarts: string[] = [];
  const blocks = new FakeFlash(4 * 4096, 4096);
  const host = {
    ...fakeHost({ clock, network: net, blocks }),
    restart: (why: string) => void restarts.push(why),
  };
  const bridge = await Bridge.start(host, { entry: ENTRY });
  await bridge.run("begin()");
  clock.settled = async () => {
    await settle();
    await bridge.idle();
  };
  await clock.advance(5000);
  return { clock, platform, bridge, restarts, host };
}

testOnXs(
  "diagnostics hold as many slots and chunks after 10,000 errors as after 100, and answer mote.health",
  async (t) => {
    const { clock, platform, bridge } = await begin();
    await bridge.run("wrong(100); undefined");
    await clock.advance(2 * HOUR);
    const before = [await bridge.slots(), await bridge.chunks()] as const;
    await bridge.run("wrong(10000); undefined");
    await clock.advance(2 * HOUR);
    const grown = [(await bridge.slots()) - before[0], (await bridge.chunks()) - before[1]] as const;
    t.log(`${grown[0]} slots and ${grown[1]} bytes of chunks more`);
    // Each run of a script keeps one; a longer count takes a digit more.
    t.true(grown[0] <= 4 && grown[1] <= 128, `${grown}`);
    const device = platform.device(NAME);
    const results = platform.rpc(device, "mote.health", null);
    await clock.advance(5000);
    const health = JSON.parse((results[0] as { text: string }).text);
    t.like(health, { state: "online", leastFree: 4711, resets: { panic: 1 }, queueDepth: 0 });
    t.is(health.errors.at(-1).code, "BAD_VALUE");
    t.is(health.errors.at(-1).times, 10_100);
    t.is(platform.attributes(device).moteErrors, "10100x BAD_VALUE");
    await bridge.close();
  },
);

testOnXs("mote.reset on XS forgets who it is once it has answered, and restarts", async (t) => {
  const { clock, platform, bridge, restarts, host } = await begin();
  t.truthy(host.store.get("token"));
  const refused = platform.rpc(platform.device(NAME), "mote.reset", {});
  await clock.advance(2000);
  t.regex((refused[0] as { text: string }).text, /BAD_PARAMS/);
  const results = platform.rpc(platform.device(NAME), "mote.reset", { confirm: true });
  await clock.advance(5000);
  t.deepEqual(results, [{ kind: "answer", text: '{"reset":true}' }]);
  t.deepEqual(restarts, ["reset"]);
  for (const key of ["token", "proposed", "pending", "rpc0", "reset"])
    t.is(host.store.get(key), undefined, key);
  await bridge.close();
});
