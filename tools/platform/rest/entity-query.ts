// What a query over devices asks for. Of the real server's filters there are entityType,
// entityList, singleEntity and deviceType, for devices; what else it knows is refused rather than
// answered wrong.
import type { Device } from "../core/devices.js";
import { type Value, valueText } from "../core/values.js";
import { RestError } from "./error.js";
import { type Fields, idField, isFields, textField, uuid } from "./input.js";

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

/** Throws RestError 400. `typeOf`: a device's type is the name of its profile. */
export function readQuery(body: Fields, read: Read, typeOf: (device: Device) => string): EntityQuery {
  const link = objectField(body, "pageLink");
  const { page, pageSize } = link;
  const isCount = (value: unknown, least: number): value is number =>
    Number.isSafeInteger(value) && (value as number) >= least;
  if (!isCount(pageSize, 1) || !isCount(page, 0)) throw new RestError(400, "Invalid entity data page link");
  const isChosen = entityFilter(objectField(body, "entityFilter"), typeOf);
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

function entityFilter(filter: Fields, typeOf: (device: Device) => string): Fits {
  const type = textField(filter, "type");
  const entityType = textField(filter, "entityType") ?? "DEVICE";
  if (entityType !== "DEVICE")
    throw new RestError(400, "The local platform supports queries for devices only");
  if (type === "entityType") return () => true;
  if (type === "singleEntity") {
    const id = idField(filter, "singleEntity");
    return (device) => device.id === id;
  }
  if (type === "entityList") {
    const ids = new Set(list(filter, "entityList").map((id) => uuid(String(id), "entityId")));
    return (device) => ids.has(device.id);
  }
  if (type === "deviceType") {
    const types = new Set([
      ...list(filter, "deviceTypes"),
      ...(filter.deviceType ? [filter.deviceType] : []),
    ]);
    const start = (textField(filter, "deviceNameFilter") ?? "").toLowerCase();
    return (device) => types.has(typeOf(device)) && device.name.toLowerCase().startsWith(start);
  }
  throw new RestError(400, "The local platform does not support this entity filter");
}

function keyFilter(json: unknown, read: Read): Fits {
  if (!isFields(json)) throw new RestError(400, "A key filter must be an object");
  const key = readKey(json.key);
  const holds = predicate(json.predicate, DEEPEST);
  return (device) => holds(read(device, key)?.value);
}

type Holds = (value: Value | undefined) => boolean;
/** So deep may predicates lie in one another. */
const DEEPEST = 5;

function predicate(json: unknown, deepest: number): Holds {
  if (!isFields(json) || deepest === 0) throw new RestError(400, "A predicate must be an object");
  const { type, operation, predicates, value, ignoreCase } = json;
  if (type === "COMPLEX" && Array.isArray(predicates)) {
    const all = predicates.map((one) => predicate(one, deepest - 1));
    return operation === "OR"
      ? (found) => all.some((holds) => holds(found))
      : (found) => all.every((holds) => holds(found));
  }
  const wanted = isFields(value) ? value.defaultValue : undefined;
  if (type === "STRING" && typeof wanted === "string")
    return stringPredicate(String(operation), wanted, ignoreCase === true);
  if (type === "NUMERIC" && typeof wanted === "number") return numericPredicate(String(operation), wanted);
  if (type === "BOOLEAN" && typeof wanted === "boolean") {
    const equal = operation !== "NOT_EQUAL";
    return (found) => typeof found === "boolean" && (found === wanted) === equal;
  }
  throw new RestError(400, "The local platform does not support this predicate");
}

const STRING: Record<string, (text: string, wanted: string) => boolean> = {
  EQUAL: (text, wanted) => text === wanted,
  NOT_EQUAL: (text, wanted) => text !== wanted,
  STARTS_WITH: (text, wanted) => text.startsWith(wanted),
  ENDS_WITH: (text, wanted) => text.endsWith(wanted),
  CONTAINS: (text, wanted) => text.includes(wanted),
  NOT_CONTAINS: (text, wanted) => !text.includes(wanted),
};
const NUMERIC: Record<string, (value: number, wanted: number) => boolean> = {
  EQUAL: (value, wanted) => value === wanted,
  NOT_EQUAL: (value, wanted) => value !== wanted,
  GREATER: (value, wanted) => value > wanted,
  GREATER_OR_EQUAL: (value, wanted) => value >= wanted,
  LESS: (value, wanted) => value < wanted,
  LESS_OR_EQUAL: (value, wanted) => value <= wanted,
};

function stringPredicate(operation: string, wanted: string, ignoreCase: boolean): Holds {
  const holds = own(STRING, operation);
  const spelt = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  // What has no text is taken for the empty one, as the server's database does for most of these.
  return (found) => holds(spelt(typeof found === "string" ? found : ""), spelt(wanted));
}

function numericPredicate(operation: string, wanted: number): Holds {
  const holds = own(NUMERIC, operation);
  return (found) => (typeof found === "number" || typeof found === "bigint") && holds(Number(found), wanted);
}

function own<T>(table: Record<string, T>, name: string): T {
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  if (entry === undefined) throw new RestError(400, "The local platform does not support this operation");
  return entry;
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
