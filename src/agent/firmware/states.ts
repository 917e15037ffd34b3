// The states of an update, and what is kept of it over a restart.
import type { Host } from "../../port.js";
import { readOwn, readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";

/**
 * Each state is stored before it is acted on. `reported` is the value of `fw_state` (undefined: nothing is reported). A start that finds the
 * state stored goes on with `restarted`; `activated`: which image runs then shows how it went.
 */
export const STATES = {
  idle: { reported: undefined, restarted: "idle", activated: false },
  downloading: { reported: "DOWNLOADING", restarted: "downloading", activated: false },
  downloaded: { reported: "DOWNLOADED", restarted: "downloaded", activated: false },
  // What was read back before a restart is read back once more.
  verified: { reported: "VERIFIED", restarted: "downloaded", activated: false },
  updating: { reported: "UPDATING", restarted: "failed", activated: true },
  confirming: { reported: undefined, restarted: "failed", activated: true },
  updated: { reported: "UPDATED", restarted: "updated", activated: false },
  failed: { reported: "FAILED", restarted: "failed", activated: false },
} as const;
export type State = keyof typeof STATES;

/** What is kept of one update. All of it belongs to one image, named by `key`. */
export interface UpdateRecord {
  state: State;
  /** Stands for title, version, checksum, algorithm and size. */
  readonly key: string;
  readonly title: string;
  readonly version: string;
  /** The version that ran when the update began. */
  readonly from: string;
  /** Bytes in the slot that need not be fetched again, sector 0 apart; all of them once `downloaded`. */
  offset: number;
  /** Those that condemn in the end, and those that never do. */
  failures: number;
  spared: number;
  /** Not tried again until the fw_* keys were seen absent or different, or `retry()`. */
  condemned: boolean;
  /** As in `fw_error`. */
  error: string;
  /** Learnt of a file on an external host, as far as the assignment does not say it: its length (0: not known), the checksum of what came, and its ETag. */
  size: number;
  checksum: string;
  etag: string;
  /** The time stamp of the state, so that a report sent again replaces the first one; 0: not known. Of `idle`: when it may begin. */
  at: number;
}

/** Of a record that knows nothing of a file. */
export const UNKNOWN_FILE = { size: 0, checksum: "", etag: "" } as const;

const KEY = "firmware";

/** The record, or undefined if there is none that can be read. */
export const readRecord = (host: Host): UpdateRecord | undefined => {
  // A new image that gave up may have left a record that only it can read: what this image wrote before says enough. On trial such is of no use.
  const kept = host.slot.state() === "pending" ? readStored(host, KEY) : readOwn(host, KEY);
  if (!isObject(kept)) return undefined;
  const { state, key, title, version, from, offset, failures, spared, condemned, error, at } = kept;
  if (typeof state !== "string" || !Object.hasOwn(STATES, state)) return undefined;
  if (typeof key !== "string" || typeof title !== "string" || typeof version !== "string") return undefined;
  return {
    state: state as State,
    key,
    title,
    version,
    from: textOf(from),
    offset: count(offset),
    failures: count(failures),
    spared: count(spared),
    condemned: condemned === true,
    error: textOf(error),
    size: count(kept.size),
    checksum: textOf(kept.checksum),
    etag: textOf(kept.etag),
    at: count(at),
  };
};

export const writeRecord = (host: Host, record: UpdateRecord): boolean => {
  return writeStored(host, KEY, record);
};

export const deleteRecord = (host: Host): void => {
  host.store.delete(KEY);
};

const textOf = (value: unknown): string => {
  return typeof value === "string" ? value : "";
};

const count = (value: unknown): number => {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
};
