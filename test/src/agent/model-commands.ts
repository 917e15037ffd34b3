// What the models of the agent have in common: time passes, the device and the platform start again, requests go wrong for a while.
import fc from "fast-check";
import type { Agent } from "../../../src/index.js";
import { RpcActor } from "../../../tools/platform/core/rpc/rpc.js";
import type { Fault } from "../../fakes/platform.js";
import type { SeenRequest } from "../../fakes/server.js";
import { NAME, type Rig } from "./rig.js";

export interface Real {
  readonly rig: Rig;
  /** A new agent with its handlers and subscribers, started. */
  readonly begin: () => Agent;
}

export type Command<Model extends object> = fc.AsyncCommand<Model, Real>;

/** A command that can always be given. */
export function command<Model extends object>(
  name: string,
  run: (model: Model, real: Real) => Promise<void> | void,
): Command<Model> {
  return { check: () => true, run: async (model, real) => run(model, real), toString: () => name };
}

export const wait = <Model extends object>(): fc.Arbitrary<Command<Model>> =>
  fc.nat(40_000).map((ms) => command(`wait ${ms} ms`, (_, { rig }) => rig.clock.advance(ms)));

/** The power fails, and is back. */
export function restartDevice<Model extends object>(
  onRestart: (model: Model) => void = () => {},
): Command<Model> {
  return command("restart the device", async (model, { rig, begin }) => {
    rig.powerOff();
    await rig.clock.advance(500);
    begin();
    onRestart(model);
  });
}

/** The platform forgets its polls and waiting RPCs; ids begin at 0 again. */
export function restartPlatform<Model extends object>(
  onRestart: (model: Model) => void = () => {},
): Command<Model> {
  return command("restart the platform", (model, { rig }) => {
    const device = rig.platform.device(NAME);
    for (const peer of rig.net.peers) if (!peer.closed) peer.reset();
    device.rpc.close();
    Object.assign(device, { rpc: new RpcActor(rig.platform.core.clock) });
    device.notifications.forgetSubscribers();
    onRestart(model);
  });
}

/** The next `count` of these requests go wrong so. */
export function faults<Model extends object>(
  name: string,
  which: (request: SeenRequest) => boolean,
  fault: Fault,
): fc.Arbitrary<Command<Model>> {
  return fc.integer({ min: 1, max: 4 }).map((count) =>
    command(`${name} ${count} times`, (_, { rig }) => {
      let left = count;
      rig.platform.fault = (request) => (which(request) && left-- > 0 ? fault : undefined);
    }),
  );
}

/** Lets all that was begun come to its end. */
export async function runUntilIdle({ rig }: Real, ms: number): Promise<void> {
  rig.platform.fault = undefined;
  await rig.clock.advance(ms);
}
