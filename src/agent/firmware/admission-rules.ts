// What is refused before a byte is fetched.
import { parseUrl } from "../../http/target.js";
import type { PlatformSession } from "../../platform/index.js";
import { openDigest } from "../../wire/crypto/checksum.js";
import { type Point, type Signature, toPublicKey } from "../../wire/crypto/p256.js";
import type { Assigned, Assignment } from "../../wire/firmware.js";
import { isOpenTo, refusedTarget } from "./download/allowed-hosts.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import type { UpdateRecord } from "./states.js";
import { compareVersions } from "./versions.js";

/** An image that the gate let pass. */
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

export type Passed =
  | { readonly ok: true; readonly image: Image }
  | { readonly ok: false; readonly failure: Failure; readonly detail: string };

/** `known`: what was learnt of the image itself. */
export const pass = (
  assigned: Assigned,
  options: FirmwareOptions,
  session: PlatformSession,
  known: Pick<UpdateRecord, "size" | "checksum"> | undefined,
): Passed => {
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

const no = (failure: Failure, detail = ""): Passed => {
  return { ok: false, failure, detail };
};
