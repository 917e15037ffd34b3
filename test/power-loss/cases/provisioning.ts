// Getting an access token, with the power going at any write and any word to or from the platform.

import { rootCertificates } from "node:tls";
import { nameOf } from "../../../extras/commissioning/authorities.js";
import {
  finishInterrupted,
  readStoredSettings,
  storeSettings,
} from "../../../extras/commissioning/stored-settings.js";
import { Agent } from "../../../src/index.js";
import type { Host } from "../../../src/port.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import type { Power } from "../../fakes/power.js";
import { storedBytes } from "../../fakes/stored.js";
import { type Case, multiply } from "../runner.js";
import { NAME, requestsTo, WAYS, type Way, World } from "../world.js";

const PROVISION = /\/provision$/;
const SOON_MS = 60_000;

const isOnlineAndStored = (world: World, agent: Agent) =>
  agent.state === "online" && world.stored("token") !== undefined && world.stored("proposed") === undefined;

/** Old or new: whatever the platform has, the device can still prove that it is it. */
function look(world: World): void {
  const { platform } = world;
  const devices = platform.core.devices.list();
  const kept = ["token", "proposed"].flatMap((key) => world.stored(key)?.token ?? []);
  if (devices.length > 1) throw new Error("two devices were made");
  const [device] = devices;
  if (!device && world.stored("token")) throw new Error("a token is kept that nobody gave");
  if (device && !kept.includes(device.credentials.credentialsId))
    throw new Error("the platform has a device, and nobody its token");
}

const provisioned = (values: { way: Way }): Case<World> => ({
  name: `provisioning/${values.way}`,
  begin: () => new World(values.way, ({ path }) => PROVISION.test(path)),
  resume: async (world, power) => {
    look(world);
    const { agent } = world.boot(power);
    agent.start();
    await world.until(power, "online", () => isOnlineAndStored(world, agent), SOON_MS);
    look(world);
  },
  check: (world) => {
    const tokens = new Set(requestsTo(world, PROVISION).map(({ body }) => JSON.parse(body).token));
    if (tokens.size !== 1) throw new Error(`${tokens.size} tokens were proposed`);
    if (world.refused > 0) throw new Error("the device was refused");
  },
});

/**
 * The token is refused for a while, by a platform that lost the device and got it back. Recording
 * goes on.
 */
interface Refused extends World {
  phase: "new" | "lost" | "back";
  recorded: number;
}

const AWAY_MS = 3 * 60_000;

const unauthorized = (): Case<Refused> => ({
  name: `provisioning/refused`,
  begin: () => Object.assign(new World(), { phase: "new" as const, recorded: 0 }),
  resume: async (world, power) => {
    const { agent } = world.boot(power);
    agent.start();
    if (world.phase === "new") {
      await world.until(power, "online", () => isOnlineAndStored(world, agent), SOON_MS);
      world.platform.core.deleteDevice(world.device);
      world.phase = "lost";
    }
    if (world.phase === "lost") {
      agent.telemetry.record({ n: world.recorded });
      world.recorded++;
      await world.body.clock.advance(AWAY_MS);
      power.check();
      world.platform.create(NAME, String(world.stored("token")?.token));
      world.phase = "back";
    }
    const arrived = () => world.platform.points(world.device, "n").length >= world.recorded;
    await world.until(power, "delivered", arrived, 30 * 60_000);
  },
  check: (world) => {
    if (requestsTo(world, PROVISION).length > 1) throw new Error("it provisioned itself again");
  },
});

/** The base URL changes: there the device is new, and all it published is published again. */
interface Moved extends World {
  readonly other: FakePlatform;
  /** What the other side was sent. */
  readonly net: FakeNet;
  moved: boolean;
}

const CLIENT = { serial: "A-113" };

async function move(world: Moved, power: Power): Promise<void> {
  if (!world.moved) {
    const { agent } = world.boot(power);
    agent.attributes.publish(CLIENT);
    agent.start();
    const published = () =>
      isOnlineAndStored(world, agent) && world.platform.attributes(world.device).serial === CLIENT.serial;
    await world.until(power, "published", published, SOON_MS);
    await world.body.clock.advance(1000);
    power.check();
    await agent.stop();
    world.moved = true;
  }
  const { agent } = world.boot(power, { baseUrl: "http://elsewhere.test" });
  agent.attributes.publish(CLIENT);
  agent.start();
  const there = () => world.other.core.devices.byName(NAME);
  const published = () => {
    const device = there();
    return device !== undefined && world.other.attributes(device).serial === CLIENT.serial;
  };
  await world.until(
    power,
    "published again",
    () => isOnlineAndStored(world, agent) && published(),
    2 * SOON_MS,
  );
}

const moved = (): Case<Moved> => ({
  name: `provisioning/moved`,
  begin: () => {
    const world = new World();
    const net = new FakeNet(world.body.clock);
    world.body.nets.set("elsewhere.test", net);
    return Object.assign(world, { net, other: new FakePlatform(world.body.clock, net), moved: false });
  },
  resume: move,
  check: ({ device, net, other, refused }) => {
    const token = device.credentials.credentialsId;
    if (net.peers.some((peer) => peer.received.includes(token)))
      throw new Error("the token was shown elsewhere");
    if (other.core.devices.list().length !== 1) throw new Error("not one device elsewhere");
    if (refused > 0) throw new Error("the device was refused");
  },
});

/**
 * An entered token that no start has bound yet, and its owner, who changes the CA and enters the
 * token again. It goes out only under the authorities that its record names.
 */
interface Bound extends World {
  phase: "unbound" | "bound" | "changed";
}

const SECURE = "https://platform.test";
const OWN = "TOKEN-of-the-owner";
const [FIRST = "", SECOND = ""] = rootCertificates;
const LEFT = { url: SECURE, key: KEY, secret: SECRET };

function beginBound(): Bound {
  const world = new World();
  world.platform.create(NAME, OWN);
  const put = (key: string, value: object): void =>
    void world.body.store.values.set(key, storedBytes(JSON.stringify(value)));
  put("token", { url: SECURE, token: OWN, name: NAME });
  put("platform", { ...LEFT, ca: FIRST });
  return Object.assign(world, { phase: "unbound" as const });
}

async function resumeBound(world: Bound, power: Power): Promise<void> {
  const { host, ca } = startBound(world, power);
  const record = (): unknown => world.stored("token")?.ca;
  const agent = new Agent(host, {
    baseUrl: SECURE,
    provisioning: { key: KEY, secret: SECRET, deviceName: NAME },
  });
  agent.on("refused", () => world.refused++);
  agent.start();
  await world.until(power, "online", () => agent.state === "online", SOON_MS);
  if (record() !== nameOf(host, ca)) throw new Error("the token in use is not bound");
  if (world.phase === "changed") return;
  world.phase = "bound";
  await agent.stop();
  if (!storeSettings(host, { ...LEFT, ca: SECOND, token: OWN }, false)) throw new Error("not kept");
  return resumeBound(world, power);
}

/** What a start reads is all old or all new. */
function startBound(world: Bound, power: Power): { host: Host; ca: string | undefined } {
  const made = world.body.start(power);
  finishInterrupted(made, () => {
    throw new Error("nothing was reset");
  });
  const { ca, key, secret } = readStoredSettings(made);
  if (key !== KEY || secret !== SECRET || (ca !== FIRST && ca !== SECOND))
    throw new Error("half of a change");
  if (ca === SECOND && world.phase === "unbound") throw new Error("a change that nobody made");
  if (ca === SECOND) world.phase = "changed";
  const authorities = nameOf(made, ca);
  const open: Host["open"] = (...to) => {
    const socket = made.open(...to);
    const write = (bytes: Uint8Array): number => {
      const isShown = Buffer.from(bytes).includes(OWN);
      if (isShown && world.stored("token")?.ca !== authorities)
        world.problems.push("the token was sent under authorities that its record does not name");
      return socket.write(bytes);
    };
    return { write, read: (into) => socket.read(into), close: () => socket.close() };
  };
  return { host: { ...made, open, ...(authorities !== undefined && { authorities }) }, ca };
}

const bound = (): Case<Bound> => ({
  name: "provisioning/authorities",
  begin: beginBound,
  resume: resumeBound,
  check: (world) => {
    if (world.phase !== "changed") throw new Error("the change was lost");
    if (requestsTo(world, PROVISION).length > 0 || world.refused > 0) throw new Error("the token was lost");
  },
});

export const provisioningCases: readonly Case[] = [
  ...multiply({ way: WAYS }, provisioned),
  unauthorized(),
  moved(),
  bound(),
];
