import type { Value } from "./values.js";

/** What is kept as one record each. */
export type Kind = "profile" | "device" | "package" | "rpc";

/** Hears of every change of what outlasts a restart, in order. */
export interface Journal {
  /** A record was added or changed. */
  save(kind: Kind, id: string, record: object): void;
  /** A record is gone, and all that belongs to it. */
  remove(kind: Kind, id: string): void;
  /** Undefined: it was deleted. */
  attribute(
    deviceId: string,
    scope: string,
    key: string,
    attribute: { readonly value: Value; readonly ts: number } | undefined,
  ): void;
  point(deviceId: string, key: string, ts: number, value: Value): void;
  /** Points from `startTs` on, before `endTs`, are gone. */
  pointsGone(deviceId: string, key: string, startTs: number, endTs: number): void;
  /** The file of a package has come. */
  file(packageId: string, bytes: Uint8Array): void;
}

/** State in memory alone. */
export const NO_JOURNAL: Journal = {
  save: () => {},
  remove: () => {},
  attribute: () => {},
  point: () => {},
  pointsGone: () => {},
  file: () => {},
};
