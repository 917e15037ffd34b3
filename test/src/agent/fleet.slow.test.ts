// What a platform gets of 10,000 devices that it refuses.
import test from "ava";
import { RefusalBackoff } from "../../../src/agent/provisioning/refusal-backoff.js";
import { Agent, type AgentOptions } from "../../../src/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform } from "../../fakes/platform.js";

/** Attempts of `devices` in each second of `hours`, each refused as soon as it comes. */
function attempts(devices: number, spreadMs: number, hours: number): number[] {
  const seconds = new Array<number>(hours * 3600).fill(0);
  for (let n = 0; n < devices; n++) {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const host = fakeHost({ clock, seed: n + 1, store: new FakeStore() });
    const gate = new RefusalBackoff(host, "http://platform.test");
    gate.identify("token");
    let at = (spreadMs * n) / devices;
    while (at < hours * 3_600_000) {
      seconds[Math.floor(at / 1000)]!++;
      at += gate.noteRefusal("unknown");
    }
  }
  return seconds;
}

test("10,000 refused devices: the busiest second", (t) => {
  for (const [how, spreadMs] of [
    ["started together", 0],
    ["spread over 60 s", 60_000],
  ] as const) {
    const seconds = attempts(10_000, spreadMs, 2);
    const most = (from: number) => Math.max(...seconds.slice(from));
    t.log(
      `${how}: ${most(0)} in the busiest second, ${most(60)} after 1 min, ${most(600)} after 10 min, ${most(3600)} after 1 h`,
    );
    t.true(most(0) <= (spreadMs === 0 ? 26_000 : 1500), `${most(0)}`);
    t.true(most(3600) < 100, `${most(3600)}`);
  }
});

// `firmware.spreadMs` of a fleet: how many begin a download in one second.

const MINUTE = 60_000;
const SPREAD_MS = 10 * MINUTE;
const DEVICES = 1000;

/**
 * Of a fleet that is assigned one image at one instant: when each asks for its first byte, in ms.
 */
async function fleetBegins(connections: 1 | 2, spreadMs: number): Promise<number[]> {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const network = new FakeNet(clock);
  const platform = new FakePlatform(clock, network);
  const agents: Agent[] = [];
  const begins = new Map<string, number>();
  platform.fault = ({ path }) => {
    const [, , , token = "", rest = ""] = path.split("/");
    if (!rest.startsWith("firmware")) return undefined;
    if (!begins.has(token)) begins.set(token, clock.now());
    // What is of interest is over: it is not installed.
    return { status: 503, body: "" };
  };
  for (let n = 0; n < DEVICES; n++) {
    const device = platform.create(`lamp-${n}`, `token-${n}`);
    platform.setShared(device, {
      ...{ fw_title: "lamp", fw_version: "2.0.0", fw_size: 20_000 },
      ...{ fw_checksum_algorithm: "SHA256", fw_checksum: "a".repeat(64) },
    });
    const host = fakeHost({ clock, network, store: new FakeStore(), seed: n + 1 });
    const options: AgentOptions = {
      ...{ baseUrl: "https://platform.test", token: `token-${n}`, connections },
      firmware: { title: "lamp", version: "1.0.0", spreadMs },
    };
    const agent = new Agent(host, options);
    agents.push(agent);
    // Polls of one connection hold it for 25 s, and devices were not switched on together.
    clock.timer(n * 25, () => agent.start());
  }
  await clock.runUntil(() => begins.size === DEVICES, spreadMs + 2 * MINUTE);
  const stopped = Promise.all(agents.map((agent) => agent.stop()));
  await clock.advance(0);
  await stopped;
  return [...begins.values()];
}

function busiestSecond(times: readonly number[]): number {
  const seconds = new Map<number, number>();
  for (const ms of times) {
    const second = Math.floor(ms / 1000);
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  return Math.max(...seconds.values());
}

test("with a spread of ten minutes no second begins more than 1 % of 1,000 downloads", async (t) => {
  const spread = busiestSecond(await fleetBegins(1, SPREAD_MS));
  t.true(spread <= DEVICES / 100, `${spread} in the busiest second`);
  t.log(`${spread} in the busiest second`);
});

test("without a spread all begin with the same poll", async (t) => {
  const together = busiestSecond(await fleetBegins(2, 0));
  t.log(`${together} in the busiest second`);
  t.true(together > DEVICES / 50);
});
