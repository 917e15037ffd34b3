// What the end-to-end tests leave on a platform, and how it goes away again. All of it bears a name
// of their own.
import { randomBytes } from "node:crypto";
import type { Operator } from "../../tools/operator/operator.js";
import type {
  Device,
  DeviceProfile,
  EntityId,
  OtaPackage,
  Page,
  PageQuery,
} from "../../tools/operator/shapes.js";

const PREFIX = "mote-e2e-";
/** A run that was killed could not clean up; an hour later nobody needs what it left. */
const OLD_MS = 3_600_000;
const TRY_MS = 30_000;

/** `mote-e2e-1760000000000-5f1c09ab` */
export function newName(now = Date.now()): string {
  return `${PREFIX}${now}-${randomBytes(4).toString("hex")}`;
}

export interface Inventory {
  devices: Device[];
  profiles: DeviceProfile[];
  packages: OtaPackage[];
}

/** All that the tenant has, or all whose name holds a text. */
export async function inventory(operator: Operator, textSearch = ""): Promise<Inventory> {
  const some = textSearch === "" ? {} : { textSearch };
  return {
    devices: await all((query) => operator.devices.list({ ...query, ...some })),
    profiles: await all((query) => operator.profiles.list({ ...query, ...some })),
    packages: await all((query) => operator.ota.list({ ...query, ...some })),
  };
}

async function all<T>(list: (query: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let page = 0; ; page++) {
    const { data, hasNext } = await list({ page, pageSize: 100 });
    found.push(...data);
    if (!hasNext) return found;
  }
}

/** Deletes the profile of this name with all that belongs to it. Rejects if it does not go. */
export async function remove(operator: Operator, name: string): Promise<void> {
  const end = Date.now() + TRY_MS;
  for (;;) {
    try {
      await removeOnce(operator, name);
      return;
    } catch (error) {
      // A request that was still under way may have made a device once more.
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function removeOnce(operator: Operator, name: string): Promise<void> {
  const { devices, profiles, packages } = await inventory(operator, name);
  const profile = profiles.find((one) => one.name === name);
  if (!profile) return;
  const isOurs = ({ deviceProfileId }: Device | OtaPackage): boolean =>
    (deviceProfileId as EntityId | null | undefined)?.id === profile.id.id;
  for (const { id } of devices.filter(isOurs)) await operator.devices.delete(id.id);
  // A package goes only when nothing refers to it.
  if (profile.firmwareId) await operator.ota.assignToProfile(profile.id.id, undefined);
  for (const { id } of packages.filter(isOurs)) await operator.ota.delete(id.id);
  await operator.profiles.delete(profile.id.id);
}

/** Deletes what killed runs left more than an hour ago. */
export async function sweep(operator: Operator, now = Date.now()): Promise<void> {
  const { profiles } = await inventory(operator, PREFIX);
  for (const { name } of profiles) {
    const [, made = ""] = new RegExp(`^${PREFIX}(\\d{13})-`).exec(name) ?? [];
    if (made !== "" && Number(made) < now - OLD_MS) await remove(operator, name);
  }
}
