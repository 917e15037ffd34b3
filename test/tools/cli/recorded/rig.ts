import { join } from "node:path";
import type { ExecutionContext } from "ava";
import type { Operator } from "../../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../../tools/platform/server.js";
import { operatorOf } from "../../operator-of.js";
import { scratch } from "../../scratch.js";
import { mote } from "../commands.js";
import { Recording } from "./recording.js";

const USER = "tenant@thingsboard.org";
const PASSWORD = { MOTE_PLATFORM_PASSWORD: "tenant" };
export const PROFILE = { key: "recorded-key", secret: "recorded-secret" };

export interface Rig {
  platform: Platform;
  operator: Operator;
  home: string;
  env: Record<string, string>;
  recording: Recording;
}

export async function startRig(t: ExecutionContext): Promise<Rig> {
  const home = scratch();
  const platform = await startPlatform({ port: 0, profile: PROFILE });
  t.teardown(async () => {
    await platform.close();
  });
  const operator = await operatorOf(platform);
  const env = { MOTE_LOGIN: join(home, "login.json") };
  await mote(["login", "--url", platform.url, "--username", USER], { ...env, ...PASSWORD });
  const recording = new Recording(env);
  recording.mask(home, "/home/operator");
  return { platform, operator, home, env, recording };
}

/** Makes a device whose token is its name and `-token`. Returns its id. */
export async function makeDevice({ operator }: Rig, name: string): Promise<string> {
  return (await operator.devices.create({ name }, `${name}-token`)).id.id;
}

/** A request of that device. */
export async function ask(
  { platform }: Rig,
  name: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<string> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  return (await fetch(`${platform.url}/api/v1/${name}-token/${path}`, init)).text();
}

/** Answers so many RPCs of that device; `false` for one that is fetched and not answered. */
export async function answer(rig: Rig, name: string, answers: readonly unknown[]): Promise<void> {
  for (const one of answers) {
    const { id } = JSON.parse(await ask(rig, name, "GET", "rpc?timeout=20000"));
    if (one !== false) await ask(rig, name, "POST", `rpc/${id}`, one);
  }
}

/** Has these devices take what they are assigned, each at once, until `stop`; those that are to fail report that they did. */
export function plays(
  rig: Rig,
  names: readonly string[],
  fails: (name: string, version: string) => boolean,
): { stop(): void } {
  let isOver = false;
  const ran = new Map<string, string>();
  const look = async (name: string): Promise<void> => {
    const { shared = {} } = JSON.parse(await ask(rig, name, "GET", "attributes?sharedKeys=fw_version"));
    const version: string | undefined = shared.fw_version;
    if (version === undefined || version === ran.get(name)) return;
    const isBad = fails(name, version);
    await ask(rig, name, "POST", "telemetry", {
      ...{ fw_state: isBad ? "FAILED" : "UPDATED", fw_error: isBad ? "wrong checksum" : "" },
      ...(!isBad && { current_fw_title: "pump", current_fw_version: version }),
    });
    // Not before it was reported: a request that breaks is made again with the next look.
    ran.set(name, version);
  };
  void (async () => {
    while (!isOver) {
      for (const name of names) if (!isOver) await look(name).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return {
    stop: () => {
      isOver = true;
    },
  };
}
