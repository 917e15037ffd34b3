// Resolves names from the command line.

import { UNANSWERED } from "../../exit-codes.js";
import { unlessMissing } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { allPages } from "../../operator/pages.js";
import type { Device, DeviceProfile } from "../../operator/shapes.js";
import { ExitError } from "../exit-error.js";
import { plain, some } from "../output/table.js";
import { UsageError } from "../usage.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => UUID.test(text);

/** The device of that name or id. */
export async function findDevice({ devices }: Operator, named: string): Promise<Device> {
  const byName = await devices.byName(named);
  if (byName) return byName;
  const byId = isId(named) ? await unlessMissing(devices.get(named)) : undefined;
  if (byId) return byId;
  throw new ExitError(UNANSWERED, `no device "${plain(named)}" (list all: mote devices)`);
}

/** Throws ExitError 4 for a key that was asked for and is not there. */
export function refuseMissing(
  asked: readonly string[],
  found: readonly string[],
  all: readonly string[],
): void {
  const missing = asked.filter((key) => !found.includes(key));
  if (missing.length === 0) return;
  const there = all.length > 0 ? `there are: ${some([...all].sort())}` : "there are none";
  throw new ExitError(UNANSWERED, `no value of ${some(missing)} (${there})`);
}

/** The device profile of that name. */
export async function findProfile({ profiles }: Operator, name: string): Promise<DeviceProfile> {
  const all = await allPages((page) => profiles.list({ page }));
  const found = all.find((one) => one.name === name);
  if (found) return found;
  const names = all.map((one) => one.name);
  throw new ExitError(UNANSWERED, `no device profile "${plain(name)}" (there are: ${some(names)})`);
}

/** All devices whose name starts with `prefix`. */
export async function devicesBeginning({ devices }: Operator, prefix: string): Promise<Device[]> {
  const all = await allPages((page) => devices.list({ textSearch: prefix, page }));
  return all.filter(({ name }) => name.startsWith(prefix));
}

/** The options of a command for one device, or for those of a profile. */
export interface TargetFlags {
  device?: string;
  profile?: string;
}

export function checkTarget({ device, profile }: TargetFlags): void {
  if (device === undefined && profile === undefined)
    throw new UsageError("specify a target: --device NAME or --profile NAME");
}
