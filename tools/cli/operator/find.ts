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

/** How many similar names a message suggests. */
const NEAR = 3;

export const isId = (text: string): boolean => UUID.test(text);

/** The device of that name or id. */
export async function findDevice({ devices }: Operator, named: string): Promise<Device> {
  const byName = await devices.byName(named);
  if (byName) return byName;
  const byId = isId(named) ? await unlessMissing(devices.get(named)) : undefined;
  if (byId) return byId;
  const third = Math.ceil(named.length / 3);
  const texts = [named.slice(0, third), named.slice(-third)].filter((text) => text.trim() !== "");
  const found = await Promise.all(texts.map((textSearch) => devices.list({ textSearch })));
  const names = new Set(found.flatMap(({ data }) => data.map(({ name }) => name)));
  const near = mostLike(named, [...names]);
  throw new ExitError(
    UNANSWERED,
    `no device "${plain(named)}" (${near.length > 0 ? `similar: ${some(near)}` : "list all: mote devices"})`,
  );
}

function mostLike(named: string, names: readonly string[]): string[] {
  return [...names].sort((one, other) => likeness(other, named) - likeness(one, named)).slice(0, NEAR);
}

/** Characters that two names share at their beginnings and ends. */
function likeness(one: string, other: string): number {
  const shared = (from: (text: string, at: number) => string | undefined): number => {
    let at = 0;
    while (at < other.length && from(one, at) === from(other, at)) at++;
    return at;
  };
  return shared((text, at) => text.at(at)) + shared((text, at) => text.at(-1 - at));
}

/** Throws ExitError 4 for a key that was asked for and is not there. */
export function refuseMissing(
  asked: readonly string[],
  found: readonly string[],
  all: readonly string[],
): void {
  const missing = asked.filter((key) => !found.includes(key));
  const [first] = missing;
  if (first === undefined) return;
  const order = all.length > NEAR && missing.length === 1 ? mostLike(first, all) : [...all].sort();
  const word = order.length < all.length ? "similar" : "there are";
  const there = all.length > 0 ? `${word}: ${some(order)}` : "there are none";
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
