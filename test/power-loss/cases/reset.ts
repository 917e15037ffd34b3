// A device forgets who it is, by a call or by RPC, with the power going anywhere: it has not begun,
// or all of it comes to its end.

import type { Agent } from "../../../src/index.js";
import type { RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import type { Power } from "../../fakes/power.js";
import type { PoweredHost } from "../../fakes/powered-device.js";
import { storedBytes } from "../../fakes/stored.js";
import { type Case, multiply } from "../runner.js";
import { WAYS, type Way, World } from "../world.js";

interface Shape {
  readonly by: "call" | "rpc";
  readonly way: Way;
}

const ANSWER = /\/rpc\/\d+$/;
const HOUR_MS = 3_600_000;
const GONE = ["wifi", "token", "proposed", "client", "shared", "rpc"];
const STAYS = ["platform", "firmware"];
const text = (value: string) => storedBytes(`"${value}"`);

interface Resetting extends World {
  readonly shape: Shape;
  phase: "before" | "resetting" | "after" | "again";
  /** Of each time that the operator asked. */
  readonly results: RpcResult[][];
}

function begin(shape: Shape): Resetting {
  const world = new World(shape.way, ({ path }) => ANSWER.test(path));
  for (const key of ["wifi", ...STAYS]) world.body.store.values.set(key, text(key));
  return Object.assign(world, { shape, phase: "before" as const, results: [] });
}

const has = (world: World, key: string) => world.body.store.values.has(key);

/** What a start finds. */
function look(world: Resetting): void {
  const lost = STAYS.filter((key) => !has(world, key));
  if (lost.length > 0) throw new Error(`forgotten: ${lost.join()}`);
  const gone = !has(world, "wifi") || (world.phase === "resetting" && !has(world, "token"));
  const begun = has(world, "reset");
  const answered = world.results.some(([result]) => result?.kind === "answer");
  if (world.shape.by === "rpc" && (begun || gone) && !answered)
    throw new Error("begun before the operator had the answer");
  if (world.phase !== "resetting") return;
  if (gone && !begun && !isForgotten(world)) throw new Error("forgotten by half, and nothing goes on");
  if (gone && !begun) world.phase = "after";
}

const isForgotten = (world: World) =>
  !GONE.some((key) => has(world, key)) && world.body.blocks.bytes.every((byte) => byte === 0xff);

async function resume(world: Resetting, power: Power): Promise<void> {
  look(world);
  let { agent, host } = start(world, power);
  if (world.phase === "before") await furnish(world, power, agent);
  if (world.phase === "resetting") {
    await (world.shape.by === "rpc" ? byRpc(world, power, agent, host) : byCall(world, power, agent));
    world.phase = "after";
    look(world);
    if (!isForgotten(world)) throw new Error("not all was forgotten");
    ({ agent, host } = start(world, power));
  }
  await provisionAgain(world, power, agent);
}

/** The next start; a reset under way is over once it stands. */
function start(world: Resetting, power: Power): { agent: Agent; host: PoweredHost } {
  const begun = has(world, "reset");
  const { agent, host } = world.boot(power, { attributes: {} });
  if (begun) {
    if (has(world, "reset") || !isForgotten(world)) throw new Error("a reset under way was not completed");
    world.phase = "after";
  }
  return { agent, host };
}

async function furnish(world: Resetting, power: Power, agent: Agent): Promise<void> {
  agent.attributes.publish({ serial: "A-113" });
  agent.start();
  agent.attributes.subscribe("interval", () => {});
  await world.until(power, "online", () => agent.state === "online");
  world.platform.setShared(world.device, { interval: 30 });
  await world.until(power, "snapshot", () => has(world, "shared"));
  world.oldToken = world.device.credentials.credentialsId;
  agent.telemetry.record({ old: 1 });
  world.phase = "resetting";
}

async function byCall(world: Resetting, power: Power, agent: Agent): Promise<void> {
  let failure: unknown;
  let over = false;
  agent
    .reset()
    .catch((error) => {
      failure = error;
    })
    .finally(() => {
      over = true;
    });
  await world.until(power, "reset", () => over);
  if (failure) throw failure;
}

async function byRpc(world: Resetting, power: Power, agent: Agent, host: PoweredHost): Promise<void> {
  let restarts = false;
  Object.assign(host, { restart: () => (restarts = true) });
  agent.start();
  await world.until(power, "online", () => agent.state === "online");
  // An answer that the device gave before it lost the power, or one that says that nobody knows:
  // the operator asks again.
  const open = world.results.some((results) => results.length === 0);
  const ask = () =>
    world.results.push(
      world.platform.rpc(world.device, "mote.reset", { confirm: true }, { timeoutMs: HOUR_MS }),
    );
  if (!open) ask();
  const unknown = () =>
    world.results.at(-1)?.[0]?.kind === "answer" && !/reset/.test(textOf(world.results.at(-1)));
  await world.until(power, "restart", () => restarts || unknown(), 120_000);
  if (restarts) return;
  ask();
  await world.until(power, "restart", () => restarts, 120_000);
}

const textOf = (results: RpcResult[] | undefined) => (results?.[0]?.kind === "answer" ? results[0].text : "");

async function provisionAgain(world: Resetting, power: Power, agent: Agent): Promise<void> {
  if (world.phase === "after") {
    world.platform.core.deleteDevice(world.device);
    world.phase = "again";
  }
  agent.start();
  agent.telemetry.record({ fresh: 1 });
  const arrived = () =>
    world.platform.core.devices.list().length > 0 && world.platform.points(world.device, "fresh").length > 0;
  await world.until(power, "new device", arrived, 25 * 60_000);
}

function check(world: Resetting): void {
  const { device, platform, oldToken } = world;
  if (device.credentials.credentialsId === oldToken) throw new Error("it is the old device");
  if (platform.points(device, "old").length > 0) throw new Error("a point of before arrived");
  const asked = platform.seen.filter(({ path }) => path.includes(oldToken));
  const last = platform.seen.findLastIndex(({ path }) => path.endsWith("/provision"));
  if (asked.some((request) => platform.seen.indexOf(request) > last))
    throw new Error("the old token was sent");
}

const lists = { way: WAYS, by: ["call", "rpc"] as const };

const made = (shape: Shape): Case<Resetting> => ({
  name: `reset/${shape.by}${shape.by === "rpc" ? `-${shape.way}` : ""}`,
  begin: () => begin(shape),
  resume,
  check,
});

export const resetCases: readonly Case[] = multiply(lists, (shape) => made({ ...shape }));
