import type { FastifyInstance } from "fastify";
import type { Attribute, Scope } from "../../core/attributes.js";
import type { Device } from "../../core/devices.js";
import { isVisible, type RestContext } from "../context.js";
import { compareLatest, type Key, type Latest, latestText, readQuery } from "../entity-query.js";
import { objectBody, slice } from "../input.js";
import { entityId } from "../views.js";
import { activityOf } from "./activity.js";

/** Devices with their latest values: filtered, sorted and paged. */
export function entityRoutes(app: FastifyInstance, context: RestContext): void {
  const { core } = context;
  const typeOf = (device: Device): string => core.profiles.get(device.profileId)?.name ?? "default";
  const read = (device: Device, key: Key): Latest =>
    key.type === "ENTITY_FIELD" ? field(device, key.key, typeOf) : latest(device, key, core.clock.now());

  app.post("/api/entitiesQuery/find", async (request) => {
    const query = readQuery(objectBody(request), read);
    const { page, pageSize, search, sort, entityFields, latestValues } = query;
    const keys = [...entityFields, ...latestValues];
    const hasText = (device: Device): boolean =>
      keys.some((key) => latestText(read(device, key)).toLowerCase().includes(search));
    const matching = core.devices
      .list()
      .filter((device) => isVisible(request, device) && query.filter(device))
      .filter((device) => search === "" || hasText(device));
    if (sort) {
      // What is equal stays in the order of its names, so that pages don't overlap.
      matching.sort((one, other) => compareLatest(named(one), named(other)));
      const sign = sort.descending ? -1 : 1;
      matching.sort((one, other) => sign * compareLatest(read(one, sort.key), read(other, sort.key)));
    }
    return slice(matching, page, pageSize, (device) => ({
      entityId: entityId("DEVICE", device.id),
      latest: valuesOf(keys, (key) => read(device, key)),
      timeseries: {},
    }));
  });
}

const named = ({ name }: Device): Latest => ({ ts: 0, value: name });

function field(device: Device, name: string, typeOf: (device: Device) => string): Latest {
  const { createdTime: ts } = device;
  if (name === "name") return { ts, value: device.name };
  if (name === "type") return { ts, value: typeOf(device) };
  if (name === "label") return { ts, value: device.label ?? "" };
  if (name === "createdTime") return { ts, value: BigInt(ts) };
  return name === "entityType" ? { ts, value: "DEVICE" } : undefined;
}

const SCOPES: Record<Exclude<Key["type"], "ENTITY_FIELD" | "TIME_SERIES">, readonly Scope[]> = {
  ATTRIBUTE: ["CLIENT_SCOPE", "SHARED_SCOPE", "SERVER_SCOPE"],
  CLIENT_ATTRIBUTE: ["CLIENT_SCOPE"],
  SHARED_ATTRIBUTE: ["SHARED_SCOPE"],
  SERVER_ATTRIBUTE: ["SERVER_SCOPE"],
};

function latest(device: Device, { type, key }: Key, now: number): Latest {
  if (type === "TIME_SERIES") return device.series.latest(key);
  if (type === "ENTITY_FIELD") return undefined;
  const found: (Attribute | undefined)[] = SCOPES[type].map((scope) => device.attributes.get(scope, key));
  if (SCOPES[type].includes("SERVER_SCOPE")) found.push(activity(device, key, now));
  return found
    .filter((attribute) => attribute !== undefined)
    .reduce<Latest>((newest, one) => (newest && newest.ts >= one.ts ? newest : one), undefined);
}

/** A real server stores that a new device is inactive. */
function activity(device: Device, name: string, now: number): Attribute | undefined {
  const known = activityOf(device, now).find(([key]) => key === name);
  if (known) return known[1];
  return name === "active" ? { value: false, ts: device.createdTime } : undefined;
}

function valuesOf(
  keys: readonly Key[],
  read: (key: Key) => Latest,
): Record<string, Record<string, { ts: number; value: string }>> {
  const values: ReturnType<typeof valuesOf> = {};
  for (const key of keys) {
    const found = read(key);
    values[key.type] ??= Object.create(null) as Record<string, { ts: number; value: string }>;
    (values[key.type] as Record<string, unknown>)[key.key] = { ts: found?.ts ?? 0, value: latestText(found) };
  }
  return values;
}
