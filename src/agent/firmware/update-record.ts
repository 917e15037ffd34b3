// The stored record of an update, and of the image that runs.
import type { Host } from "../../port.js";
import { readOwn, readStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import { STATES, type State } from "./states.js";

export const KEY = "firmware";

/** The stored record of one update. All of it belongs to the image `key`, except the last two. */
export interface UpdateRecord {
  readonly state: State;
  /** Identifies title, version, checksum, algorithm and size; "": no update. */
  readonly key: string;
  readonly title: string;
  readonly version: string;
  /** The version that ran when the update began. */
  readonly from: string;
  /** Bytes in the slot that need no download, except sector 0; all bytes once `downloaded`. */
  readonly offset: number;
  /** Number of failures that lead to condemnation, and of those that never do. */
  readonly failures: number;
  readonly spared: number;
  /** Not retried until the fw_* keys disappear or change, or until `retry()`. */
  readonly condemned: boolean;
  /** Value of `fw_error`. */
  readonly error: string;
  /**
   * Learned from a file on an external host if the assignment lacks it: its length (0: unknown),
   * the checksum of the downloaded bytes, and its ETag.
   */
  readonly size: number;
  readonly checksum: string;
  readonly etag: string;
  /** Algorithm and checksum of the image, once it was verified and activated. */
  readonly verified: string;
  /**
   * Time stamp of the state, so that a repeated report replaces the first; 0: unknown. For `idle`:
   * the start time.
   */
  readonly at: number;
  /** The last confirmed image: as `slot.image` knows it, and its algorithm and checksum. */
  readonly image: string;
  readonly runs: string;
}

/** Nothing is known about a file, and none of it is in the slot. */
export const NO_FILE = { offset: 0, size: 0, checksum: "", etag: "" } as const;
export const NEW: UpdateRecord = {
  ...{ state: "idle", key: "", title: "", version: "", from: "" },
  ...NO_FILE,
  ...{ failures: 0, spared: 0, condemned: false, error: "", verified: "", at: 0 },
  ...{ image: "", runs: "" },
};

/** The stored record; an empty one if there is none that can be read. */
export const readRecord = (host: Host): UpdateRecord => {
  // A new image that failed may have left a record that only it can read; then use this image's own
  // earlier record, unless on trial.
  const kept = host.slot.state() === "pending" ? readStored(host, KEY) : readOwn(host, KEY);
  if (!isObject(kept)) return NEW;
  const record = { ...NEW } as Record<string, unknown>;
  for (const name of Object.keys(NEW)) {
    const value = kept[name];
    const isCount = typeof value !== "number" || (Number.isInteger(value) && value > 0);
    if (typeof value === typeof record[name] && isCount) record[name] = value;
  }
  const read = record as unknown as UpdateRecord;
  return Object.hasOwn(STATES, read.state) ? read : NEW;
};

/**
 * Algorithm and checksum of the running image; empty if unknown. Only an update teaches it: an
 * image that was flashed has none.
 */
export const runningImage = ({ slot }: Pick<Host, "slot">, { image, runs }: UpdateRecord): string =>
  image !== "" && image === slot.image?.() ? runs : "";
