// What a query over devices asks for: all of them or a list of ids, filtered by texts and switches.
// The other filters of a real server are refused rather than answered wrong.
import type { Device } from "../core/devices.js";
import { type Value, valueText } from "../core/values.js";
import { RestError } from "./error.js";
import { type Fields, isFields, textField, uuid } from "./input.js";

const KEY_TYPES = [
  ...(["ENTITY_FIELD", "TIME_SERIES", "ATTRIBUTE"] as const),
  ...(["CLIENT_ATTRIBUTE", "SHARED_ATTRIBUTE", "SERVER_ATTRIBUTE"] as const),
] as const;

export interface Key {
  type: (typeof KEY_TYPES)[number];
  key: string;
}

/** Undefined: the device has none of that key. */
export type Latest = { ts: number; value: Value } | undefined;
export type Read = (device: Device, key: Key) => Latest;
type Fits = (device: Device) => boolean;

interface EntityQuery {
  page: number;
  pageSize: number;
  /** In small letters. */
  search: string;
  sort: { key: Key; descending: boolean } | undefined;
  entityFields: Key[];
  latestValues: Key[];
  filter: Fits;
}

/** Throws RestError 400. */
export function readQuery(body: Fields, read: Read): EntityQuery {
  const link = objectField(body, "pageLink");
  const { page, pageSize } = link;
  const isCount = (value: unknown, least: number): value is number =>
    Number.isSafeInteger(value) && (value as number) >= least;
  if (!isCount(pageSize, 1) || !isCount(page, 0)) throw new RestError(400, "Invalid entity data page link");
  const isChosen = entityFilter(objectField(body, "entityFilter"));
  const filters = list(body, "keyFilters").map((one) => keyFilter(one, read));
  const { sortOrder } = link;
  const order = isFields(sortOrder) ? sortOrder : undefined;
  return {
    page,
    pageSize,
    search: (textField(link, "textSearch") ?? "").toLowerCase(),
    sort: order && { key: readKey(order.key), descending: order.direction === "DESC" },
    entityFields: list(body, "entityFields").map(readKey),
    latestValues: list(body, "latestValues").map(readKey),
    filter: (device) => isChosen(device) && filters.every((fits) => fits(device)),
  };
}

/** As the answer shows it; empty if there is none. */
export function latestText(latest: Latest): string {
  if (!latest) return "";
  return typeof latest.value === "number" ? String(latest.value) : valueText(latest.value);
}

/** Numbers and switches by size, then texts; what is absent is the least. */
export function compareLatest(one: Latest, other: Latest): number {
  const size = sizeOf(one) - sizeOf(other);
  if (size !== 0) return size;
  const [left, right] = [textOf(one), textOf(other)];
  return left === right ? 0 : left < right ? -1 : 1;
}

function sizeOf(latest: Latest): number {
  const value = latest?.value;
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    ? Number(value)
    : 0;
}

const textOf = (latest: Latest): string =>
  typeof latest?.value === "string" ? latest.value.toLowerCase() : "";

function entityFilter(filter: Fields): Fits {
  const type = textField(filter, "type");
  const entityType = textField(filter, "entityType") ?? "DEVICE";
  if (entityType !== "DEVICE")
    throw new RestError(400, "The local platform supports queries for devices only");
  if (type === "entityType") return () => true;
  if (type === "entityList") {
    const ids = new Set(list(filter, "entityList").map((id) => uuid(String(id), "entityId")));
    return (device) => ids.has(device.id);
  }
  throw new RestError(400, "The local platform does not support this entity filter");
}

function keyFilter(json: unknown, read: Read): Fits {
  if (!isFields(json)) throw new RestError(400, "A key filter must be an object");
  const key = readKey(json.key);
  const holds = predicate(json.predicate);
  return (device) => holds(read(device, key)?.value);
}

type Holds = (value: Value | undefined) => boolean;

function predicate(json: unknown): Holds {
  if (!isFields(json)) throw new RestError(400, "A predicate must be an object");
  const { type, operation, value, ignoreCase } = json;
  const wanted = isFields(value) ? value.defaultValue : undefined;
  if (type === "STRING" && typeof wanted === "string") {
    const spelt = (text: string): string => (ignoreCase === true ? text.toLowerCase() : text);
    // An absent value counts as empty, as the server's database does for most of these.
    const text = (found: Value | undefined): string => spelt(typeof found === "string" ? found : "");
    if (operation === "EQUAL") return (found) => text(found) === spelt(wanted);
    if (operation === "CONTAINS") return (found) => text(found).includes(spelt(wanted));
  }
  if (type === "BOOLEAN" && typeof wanted === "boolean" && operation === "EQUAL")
    return (found) => found === wanted;
  throw new RestError(400, "The local platform does not support this predicate");
}

function readKey(json: unknown): Key {
  const { type, key } = isFields(json) ? json : {};
  const known = KEY_TYPES.find((name) => name === type);
  if (!known || typeof key !== "string") throw new RestError(400, "An entity key must have a type and a key");
  return { type: known, key };
}

function objectField(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (!isFields(value)) throw new RestError(400, `'${name}' is not an object`);
  return value;
}

function list(fields: Fields, name: string): unknown[] {
  const value = fields[name] ?? [];
  if (!Array.isArray(value)) throw new RestError(400, `'${name}' is not a list`);
  return value;
}
