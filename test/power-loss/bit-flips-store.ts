// A bit of any value in the store of a whole agent changes while it does not run: it must come
// online again as the same device, and deliver.

import { Power } from "../fakes/power.js";
import type { Dice } from "../simulation/dice.js";
import type { Flipped } from "./bit-flips.js";
import { World } from "./world.js";

const MINUTE_MS = 60_000;

interface Left {
  readonly world: World;
  readonly store: ReadonlyMap<string, Uint8Array>;
  recorded: number;
}

/** A device that used every value of the store that it can. */
async function left(): Promise<Left> {
  const world = new World();
  const { body } = world;
  body.knowsTime = false;
  const { agent } = world.boot(new Power(), { telemetry: { durable: true } });
  agent.telemetry.record({ n: 0 });
  agent.rpc.handle("once", () => 1);
  agent.attributes.publish({ serial: "A-113" });
  agent.attributes.subscribe("interval", () => {});
  agent.start();
  await body.clock.advance(MINUTE_MS);
  body.knowsTime = true;
  world.platform.setShared(world.device, { interval: 5 });
  void world.platform.rpc(world.device, "once", {});
  await body.clock.advance(MINUTE_MS);
  await Promise.all([agent.stop(), body.clock.advance(MINUTE_MS)]);
  return { world, store: new Map(body.store.values), recorded: 1 };
}

async function survives(one: Left, key: string, damaged: Uint8Array): Promise<void> {
  const { world, store } = one;
  const { body, device } = world;
  body.store.values.clear();
  for (const [name, value] of store) body.store.values.set(name, name === key ? damaged : value.slice());
  const { agent } = world.boot(new Power(), { telemetry: { durable: true } });
  const n = one.recorded++;
  agent.attributes.subscribe("interval", () => {});
  agent.start();
  agent.telemetry.record({ n });
  await body.clock.advance(MINUTE_MS);
  const { state } = agent;
  const last = Number(world.platform.latest(device, "n"));
  await Promise.all([agent.stop(), body.clock.advance(1000)]);
  if (state !== "online" || last !== n || world.device !== device)
    throw new Error(`it is ${state}, and the last point is ${last}, not ${n}`);
}

/** `dice` picks one bit of every eighth byte; without it a bit of each byte is damaged. */
export async function flipStore(dice?: Dice): Promise<Flipped & { readonly keys: string[] }> {
  const one = await left();
  const flipped = { runs: 0, over: 0, problems: [] as string[], keys: [...one.store.keys()] };
  for (const [key, value] of one.store)
    for (let at = dice ? dice.below(8) : 0; at < value.length; at += dice ? 8 : 1) {
      const bit = dice ? dice.below(8) : at % 8;
      const damaged = value.slice();
      damaged[at]! ^= 1 << bit;
      flipped.runs++;
      try {
        await survives(one, key, damaged);
      } catch (error) {
        flipped.problems.push(`${key}, bit ${bit} of byte ${at}: ${(error as Error).message}`);
      }
    }
  return flipped;
}
