import { isLoopback, parseUrl, type Target } from "../../http/target.js";
import { random01 } from "../../platform/backoff.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { openDigest } from "../../wire/crypto/checksum.js";
import { type Point, type Signature, toPublicKey } from "../../wire/crypto/p256.js";
import type { Assigned, Assignment } from "../../wire/firmware.js";
import { characters, DIGITS, isMadeOf } from "../../wire/text/characters.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import type { UpdateJournal, UpdateRecord } from "./update-journal.js";

const LABEL = characters("09azAZ-.");

// Rules that can reject an update before a byte is downloaded.

/** An image that was admitted. */
export interface Image {
  /** Size in bytes; 0: known only to the file's server. */
  readonly size: number;
  /**
   * Checksum of the package or, if it has none and needs none, of the downloaded bytes; empty
   * before that.
   */
  readonly checksum: string;
  /** The assignment has no checksum. */
  readonly unverified: boolean;
  /** URL of the file; undefined: the image is on the platform. */
  readonly url: string | undefined;
  readonly algorithm: NonNullable<Assignment["algorithm"]>;
  /** Key and signature to verify its SHA-256 with; undefined if no signature is required. */
  readonly signed: { readonly key: Point; readonly signature: Signature } | undefined;
}

export type Admission =
  | { readonly ok: true; readonly image: Image }
  | { readonly ok: false; readonly failure: Failure; readonly detail: string };

/** `known`: values learned from the image itself. */
export const admit = (
  assigned: Assigned,
  options: FirmwareOptions,
  session: PlatformSession,
  known: Pick<UpdateRecord, "size" | "checksum"> | undefined,
): Admission => {
  if (assigned.kind === "torn") return rejected("torn", `${assigned.missing} is missing`);
  if (assigned.kind === "malformed") return rejected("malformed", assigned.reason);
  if (assigned.kind === "absent") return rejected("withdrawn");
  const { title, version, url, signature, algorithm = "SHA256" } = assigned.assignment;
  if (title !== options.title) return rejected("title");
  const unverified = assigned.assignment.checksum === undefined;
  if (unverified && options.allowUnverified !== true) return rejected("unverified");
  const checksum = assigned.assignment.checksum ?? known?.checksum ?? "";
  const size = assigned.assignment.size ?? known?.size ?? 0;
  if (size > session.host.slot.size)
    return rejected("slotSize", `${size} of ${session.host.slot.size} bytes`);
  const key = options.publicKey === undefined ? undefined : toPublicKey(options.publicKey);
  if (options.publicKey !== undefined && !(key && signature)) return rejected("unsigned");
  const problem = originProblem(url, session.target, options);
  if (problem) return rejected(problem);
  if (options.minimumVersion !== undefined) {
    const newer = compareVersions(version, options.minimumVersion);
    if (newer === undefined || newer < 0) return rejected("downgrade");
  }
  if (!openDigest(algorithm, (name) => session.host.digest(name))) return rejected("algorithm", algorithm);
  const signed = key && signature && { key, signature };
  return { ok: true, image: { size, algorithm, checksum, unverified, url, signed } };
};

const rejected = (failure: Failure, detail = ""): Admission => {
  return { ok: false, failure, detail };
};

// Allowed origins of an image.

/** True if an attacker on the network could replace an image unnoticed. */
export const canBeTampered = (target: Target, options: FirmwareOptions): boolean => {
  return (
    !target.secure && !isLoopback(target) && options.publicKey === undefined && options.allowHttp !== true
  );
};

/** Why a file must not be downloaded from `target`; undefined if it may be. */
export const fileTargetProblem = (
  target: Target,
  options: FirmwareOptions,
): "urlHost" | "insecure" | undefined => {
  if (!options.urlHosts?.includes(target.authority)) return "urlHost";
  return canBeTampered(target, options) ? "insecure" : undefined;
};

/** The same for an image at `url` or, without one, on the platform. */
const originProblem = (
  url: string | undefined,
  platform: Target,
  options: FirmwareOptions,
): Failure | undefined => {
  if (url === undefined) return canBeTampered(platform, options) ? "insecure" : undefined;
  const file = parseUrl(url);
  return file ? fileTargetProblem(file.target, options) : "urlHost";
};

// When a device of a fleet starts a new update.

/**
 * ms until the update may start: random from 0 to `spreadMs`, chosen once and kept over restarts. 0
 * for an update that started before.
 */
export const spreadWait = (host: Host, spreadMs: number | undefined, journal: UpdateJournal): number => {
  const { state, record } = journal;
  if (!spreadMs || !record || state !== "idle") return 0;
  const now = Math.floor(host.clock.wall() ?? host.clock.now());
  // A longer wait means that the clock was set back or counts from this start.
  if (record.at > 0 && record.at - now <= spreadMs) return Math.max(0, record.at - now);
  const wait = Math.floor(spreadMs * random01(host));
  journal.save({ at: now + wait });
  return wait;
};

const MAX_PARTS = 8;

/**
 * Compares versions: below zero if `a` is older than `b`, above zero if newer, 0 if equal.
 * Undefined if either is not a version.
 * Parts between dots are numbers, missing parts are 0. A suffix after a hyphen makes a version
 * older and is compared as text. A suffix after a plus is ignored.
 */
export const compareVersions = (a: unknown, b: unknown): number | undefined => {
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  const left = read(a);
  const right = read(b);
  if (!left || !right) return undefined;
  for (let i = 0; i < MAX_PARTS; i++) {
    const difference = Number(left.parts[i] ?? 0) - Number(right.parts[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.before === right.before) return 0;
  if (left.before === undefined) return 1;
  if (right.before === undefined) return -1;
  return left.before < right.before ? -1 : 1;
};

/** `before`: the suffix after the hyphen. */
const read = (version: string): { parts: string[]; before: string | undefined } | undefined => {
  const text = (version.startsWith("v") ? version.slice(1) : version).split("+")[0] as string;
  const hyphen = text.indexOf("-");
  const parts = (hyphen < 0 ? text : text.slice(0, hyphen)).split(".");
  const before = hyphen < 0 ? undefined : text.slice(hyphen + 1);
  const isRead = parts.length <= MAX_PARTS && parts.every((part) => isMadeOf(part, DIGITS, 9));
  return isRead && (before === undefined || isMadeOf(before, LABEL)) ? { parts, before } : undefined;
};
