import { isAnything, isAttribute, isName, isReading, listOf, recordOf } from "./checks.js";
import { Calls } from "./rest.js";
import type { Reading, Scope } from "./shapes.js";

const part = encodeURIComponent;
const of = (deviceId: string): string => `/api/plugins/telemetry/DEVICE/${part(deviceId)}`;

/** Attributes of a device. Keys with a comma can't be asked for: the platform splits there. */
export class Attributes extends Calls {
  /** Values by key; all keys of the scope if none are named. Absent keys are absent. */
  async get(deviceId: string, scope: Scope, keys?: readonly string[]): Promise<Record<string, unknown>> {
    const latest = await this.latest(deviceId, scope, keys);
    return Object.fromEntries(Object.entries(latest).map(([key, { value }]) => [key, value]));
  }

  /** As `get`, with the times of the last change by the platform's clock. */
  async latest(deviceId: string, scope: Scope, keys?: readonly string[]): Promise<Record<string, Reading>> {
    const path = `${of(deviceId)}/values/attributes/${scope}`;
    const query = { keys: keys?.join(",") };
    const list = await this.rest.call("GET", path, listOf(isAttribute), { query });
    return Object.fromEntries(
      list.map(({ key, value, lastUpdateTs }) => [key, { ts: Number(lastUpdateTs), value }]),
    );
  }

  async set(
    deviceId: string,
    scope: "SHARED_SCOPE" | "SERVER_SCOPE",
    values: Record<string, unknown>,
  ): Promise<void> {
    await this.rest.call("POST", `${of(deviceId)}/attributes/${scope}`, isAnything, { body: values });
  }

  async delete(deviceId: string, scope: Scope, keys: readonly string[]): Promise<void> {
    await this.rest.call("DELETE", `${of(deviceId)}/${scope}`, isAnything, {
      query: { keys: keys.join(",") },
    });
  }
}

export interface Range {
  keys: readonly string[];
  /** Milliseconds since 1970; `startTs` is included. */
  startTs: number;
  endTs: number;
  /** Points per key. Default 100. */
  limit?: number;
  /** Default DESC: the newest first. */
  orderBy?: "ASC" | "DESC";
}

/** Time series of a device. Values come with their own types, not as text. */
export class TimeSeries extends Calls {
  async keys(deviceId: string): Promise<string[]> {
    return this.rest.call("GET", `${of(deviceId)}/keys/timeseries`, listOf(isName));
  }

  /**
   * The newest reading of each key, of all of the device's if none are named; absent if there is
   * none (the platform's
   * `{"ts":now,"value":null}` is none).
   */
  async latest(deviceId: string, keys?: readonly string[]): Promise<Record<string, Reading>> {
    const found = await this.#read(deviceId, keys, {});
    const latest: [string, Reading][] = [];
    for (const [key, [reading]] of Object.entries(found)) {
      if (reading && reading.value !== null) latest.push([key, reading]);
    }
    return Object.fromEntries(latest);
  }

  async range(deviceId: string, range: Range): Promise<Record<string, Reading[]>> {
    const { startTs, endTs, limit = 100, orderBy = "DESC" } = range;
    return this.#read(deviceId, range.keys, { startTs, endTs, limit, orderBy });
  }

  async #read(
    deviceId: string,
    keys: readonly string[] | undefined,
    rest: Record<string, string | number>,
  ): Promise<Record<string, Reading[]>> {
    const found: Record<string, Reading[]>[] = [];
    for (const some of keys === undefined ? [undefined] : inUrls(keys)) {
      const query = { keys: some, ...rest, useStrictDataTypes: true };
      const path = `${of(deviceId)}/values/timeseries`;
      found.push(await this.rest.call("GET", path, recordOf(listOf(isReading)), { query }));
    }
    return Object.fromEntries(found.flatMap((one) => Object.entries(one)));
  }
}

/** Maximum encoded bytes of keys in a URL: servers take 8 KiB of request line and headers. */
const KEYS_BYTES = 4_000;

/** The keys as lists for one URL each, parted by commas. */
function inUrls(keys: readonly string[]): string[] {
  const lists: string[][] = [];
  let room = 0;
  for (const key of keys) {
    const bytes = encodeURIComponent(`${key},`).length;
    if (bytes > room) {
      lists.push([]);
      room = KEYS_BYTES;
    }
    lists.at(-1)?.push(key);
    room -= bytes;
  }
  return lists.map((list) => list.join(","));
}
