// What was kept comes back into memory.
import type { Database } from "libsql";
import type { Scope } from "../core/attributes.js";
import type { DeviceRecord } from "../core/devices.js";
import type { Kind } from "../core/journal.js";
import type { PackageRecord } from "../core/ota/packages.js";
import type { PlatformCore } from "../core/platform.js";
import type { Profile } from "../core/profiles.js";
import type { PersistentRpcRecord } from "../core/rpc/rpc-records.js";
import { StateError, unreadable } from "./database.js";
import type { State } from "./state.js";
import { valueFromText } from "./value-text.js";

/** Of profiles the core must know when it begins. Throws StateError. */
export function keptProfiles({ database }: State): Profile[] {
  return guarded(() => records(database, "profile") as Profile[]);
}

/** All else. Throws StateError. */
export function restore(state: State, core: PlatformCore): void {
  guarded(() => {
    const { database } = state;
    for (const record of records(database, "package") as PackageRecord[])
      restorePackage(database, core, record);
    for (const record of records(database, "device") as DeviceRecord[]) core.devices.restore(record);
    state.quietly(() => {
      restoreAttributes(database, core);
      restorePoints(database, core);
    });
    for (const rpc of records(database, "rpc") as PersistentRpcRecord[]) {
      const device = core.devices.get(rpc.deviceId);
      if (device) core.rpcRecords.restore(rpc, device);
    }
    core.resume();
  });
}

/** In the order in which they were made. */
function records(database: Database, kind: Kind): unknown[] {
  const rows = database.prepare("SELECT json FROM record WHERE kind = ? ORDER BY place").all(kind);
  return (rows as { json: string }[]).map(({ json }) => JSON.parse(json) as unknown);
}

function restorePackage(database: Database, core: PlatformCore, record: PackageRecord): void {
  const row = database.prepare("SELECT bytes FROM file WHERE package = ?").get(record.id) as
    | { bytes: ArrayBuffer }
    | undefined;
  if (!core.packages.restore(record, row && new Uint8Array(row.bytes)))
    throw unreadable(`the file of package ${record.title} ${record.version} does not match its checksum`);
}

function restoreAttributes(database: Database, core: PlatformCore): void {
  interface Row {
    device: string;
    scope: Scope;
    key: string;
    ts: number;
    value: string;
  }
  for (const row of database.prepare("SELECT * FROM attribute").iterate()) {
    const { device, scope, key, ts, value } = row as Row;
    core.devices.get(device)?.attributes.set(scope, key, valueFromText(value), ts);
  }
}

function restorePoints(database: Database, core: PlatformCore): void {
  const all = database.prepare(
    "SELECT device, key, ts, value FROM series JOIN point ON series = id ORDER BY series, ts",
  );
  for (const row of all.iterate()) {
    const { device, key, ts, value } = row as { device: string; key: string; ts: number; value: string };
    core.devices.get(device)?.series.save(key, ts, valueFromText(value));
  }
}

/** What can't be read any more says so in a sentence. */
function guarded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof StateError
      ? error
      : unreadable(error instanceof Error ? error.message : "unknown");
  }
}
