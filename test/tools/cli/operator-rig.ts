import { join } from "node:path";
import type { ExecutionContext } from "ava";
import type { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";
import { scratch } from "../scratch.js";
import { ScriptedDevice } from "../scripted-device.js";
import { mote, type Result } from "./commands.js";

const USER = "tenant@thingsboard.org";
const PASSWORD = { MOTE_PLATFORM_PASSWORD: "tenant" };
export const PROFILE = { key: "checked-key", secret: "checked-secret" };

export interface Rig {
  platform: Platform;
  operator: Operator;
  home: string;
  env: Record<string, string>;
  /** Of each run: the command, its exit code, and the members of its JSON. */
  readonly runs: unknown[];
  run(args: string[], env?: Record<string, string>): Promise<Result>;
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
  const runs: unknown[] = [];
  const run: Rig["run"] = async (args, more = {}) => {
    const result = await mote(args, { ...env, ...more });
    // Neither colour nor a move of the cursor where there is no terminal.
    t.false((result.out + result.err).includes("\u001b"));
    const said = `${args.slice(0, 2).join(" ")}: exit ${result.code}`;
    runs.push(args.includes("--json") && result.code === 0 ? { [said]: shapeOf(result.out) } : said);
    return result;
  };
  const device: Rig["device"] = (name, options) => {
    const one = new ScriptedDevice(platform, name, options);
    devices.push(one);
    return one;
  };
  return { platform, operator, home, env, runs, run, device };
}

/**
 * Of JSON, or of the first of several lines: the names of its members and the types of their
 * values.
 */
function shapeOf(out: string): unknown {
  const shape = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.slice(0, 1).map(shape);
    if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]));
  };
  const first = /^[[{]$/m.test(out) ? out : out.split("\n")[0]!;
  return shape(JSON.parse(first));
}
