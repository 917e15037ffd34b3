import { join } from "node:path";
import type { ExecutionContext } from "ava";
import type { Operator } from "../../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../../tools/platform/server.js";
import { operatorOf } from "../../operator-of.js";
import { scratch } from "../../scratch.js";
import { ScriptedDevice } from "../../scripted-device.js";
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
  device(name: string, options?: ConstructorParameters<typeof ScriptedDevice>[2]): ScriptedDevice;
}

export async function startRig(t: ExecutionContext): Promise<Rig> {
  const home = scratch();
  const platform = await startPlatform({ port: 0, profile: PROFILE });
  const devices: ScriptedDevice[] = [];
  t.teardown(async () => {
    for (const one of devices) one.end();
    await platform.close();
  });
  const operator = await operatorOf(platform);
  const env = { MOTE_LOGIN: join(home, "login.json") };
  await mote(["login", "--url", platform.url, "--username", USER], { ...env, ...PASSWORD });
  const recording = new Recording(env);
  recording.mask(home, "/home/operator");
  const device: Rig["device"] = (name, options) => {
    const one = new ScriptedDevice(platform, name, options);
    devices.push(one);
    return one;
  };
  return { platform, operator, home, env, recording, device };
}
