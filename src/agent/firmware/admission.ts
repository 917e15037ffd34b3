import { isLoopback, parseUrl, type Target } from "../../http/target.js";
import { share } from "../../platform/backoff.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { openDigest } from "../../wire/crypto/checksum.js";
import { type Point, type Signature, toPublicKey } from "../../wire/crypto/p256.js";
import type { Assigned, Assignment } from "../../wire/firmware.js";
import { isMadeOf } from "../../wire/text/characters.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import type { UpdateJournal, UpdateRecord } from "./update-journal.js";

// What is refused before a byte is fetched.

/** An image that was admitted. */
export interface Image {
  /** Bytes; 0: only the server that has the file knows. */
  readonly size: number;
  /** Of the package; of what came, if it has none and need not; empty until it came. */
  readonly checksum: string;
  /** Nobody said what the checksum is. */
  readonly unverified: boolean;
  /** Where it lies; undefined: on the platform. */
  readonly url: string | undefined;
  readonly algorithm: NonNullable<Assignment["algorithm"]>;
  /** What its SHA-256 must be signed with; undefined if no signature is asked for. */
  readonly signed: { readonly key: Point; readonly signature: Signature } | undefined;
}

export type Admission =
  | { readonly ok: true; readonly image: Image }
  | { readonly ok: false; readonly failure: Failure; readonly detail: string };

/** `known`: what was learnt of the image itself. */
export const admit = (
  assigned: Assigned,
  options: FirmwareOptions,
  session: PlatformSession,
  known: Pick<UpdateRecord, "size" | "checksum"> | undefined,
): Admission => {
  if (assigned.kind === "torn") return no("torn", `${assigned.missing} is missing`);
  if (assigned.kind === "malformed") return no("malformed", assigned.reason);
  if (assigned.kind === "absent") return no("withdrawn");
  const { title, version, url, signature, algorithm = "SHA256" } = assigned.assignment;
  if (title !== options.title) return no("title");
  const unverified = assigned.assignment.checksum === undefined;
  if (unverified && options.allowUnverified !== true) return no("unverified");
  const checksum = assigned.assignment.checksum ?? known?.checksum ?? "";
  const size = assigned.assignment.size ?? known?.size ?? 0;
  if (size > session.host.slot.size) return no("slotSize", `${size} of ${session.host.slot.size} bytes`);
  const key = options.publicKey === undefined ? undefined : toPublicKey(options.publicKey);
  if (options.publicKey !== undefined && !(key && signature)) return no("unsigned");
  const refused = url === undefined ? refusedPlatform(session, options) : refusedUrl(url, options);
  if (refused) return no(refused);
  if (options.minimumVersion !== undefined) {
    const newer = compareVersions(version, options.minimumVersion);
    if (newer === undefined || newer < 0) return no("downgrade");
  }
  if (!openDigest(algorithm, (name) => session.host.digest(name))) return no("algorithm", algorithm);
  const signed = key && signature && { key, signature };
  return { ok: true, image: { size, algorithm, checksum, unverified, url, signed } };
};

const refusedPlatform = ({ target }: PlatformSession, options: FirmwareOptions): Failure | undefined => {
  return isOpenTo(target, options) ? "insecure" : undefined;
};

const refusedUrl = (url: string, options: FirmwareOptions): Failure | undefined => {
  const file = parseUrl(url);
  return file ? refusedTarget(file.target, options) : "urlHost";
};

const no = (failure: Failure, detail = ""): Admission => {
  return { ok: false, failure, detail };
};

// From where an image may come.

/** True if somebody on the way could replace an image unnoticed. */
export const isOpenTo = (target: Target, options: FirmwareOptions): boolean => {
  return (
    !target.secure && !isLoopback(target) && options.publicKey === undefined && options.allowHttp !== true
  );
};

/** Why a file is not fetched from there; undefined if it may be. */
export const refusedTarget = (
  target: Target,
  options: FirmwareOptions,
): "urlHost" | "insecure" | undefined => {
  if (!options.urlHosts?.includes(target.authority)) return "urlHost";
  return isOpenTo(target, options) ? "insecure" : undefined;
};

// When a device of a fleet begins a new update.

/** ms until the update may begin: drawn once from 0 to `spreadMs`, and kept over restarts. 0 for one that began before. */
export const spreadWait = (host: Host, spreadMs: number | undefined, journal: UpdateJournal): number => {
  const { state, record } = journal;
  if (!spreadMs || !record || state !== "idle") return 0;
  const now = Math.floor(host.clock.wall() ?? host.clock.now());
  // It is too long for a clock that was set back, and for one that counts from this start on.
  if (record.at > 0 && record.at - now <= spreadMs) return Math.max(0, record.at - now);
  const wait = Math.floor(spreadMs * share(host));
  journal.save({ at: now + wait });
  return wait;
};

const MOST_PARTS = 8;

/**
 * Below zero if `a` is older than `b`, above if newer, 0 if neither; undefined if one of them is no version. Parts between dots are numbers, a missing
 * one is 0; what follows a hyphen makes it older than without, and is compared as text; what follows a plus does not count.
 */
export const compareVersions = (a: unknown, b: unknown): number | undefined => {
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  const left = read(a);
  const right = read(b);
  if (!left || !right) return undefined;
  for (let i = 0; i < MOST_PARTS; i++) {
    const difference = Number(left.parts[i] ?? 0) - Number(right.parts[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.before === right.before) return 0;
  if (left.before === undefined) return 1;
  if (right.before === undefined) return -1;
  return left.before < right.before ? -1 : 1;
};

/** `before`: what follows the hyphen. */
const read = (version: string): { parts: string[]; before: string | undefined } | undefined => {
  const text = (version.startsWith("v") ? version.slice(1) : version).split("+")[0] as string;
  const hyphen = text.indexOf("-");
  const parts = (hyphen < 0 ? text : text.slice(0, hyphen)).split(".");
  const before = hyphen < 0 ? undefined : text.slice(hyphen + 1);
  const isRead = parts.length <= MOST_PARTS && parts.every((part) => isMadeOf(part, "09", 9));
  return isRead && (before === undefined || isMadeOf(before, "09azAZ-.")) ? { parts, before } : undefined;
};
