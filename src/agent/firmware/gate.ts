// What is refused before a byte is fetched.
import { isLoopback } from "../../net/target.js";
import { openDigest } from "../../wire/checksum.js";
import type { Assigned, Assignment } from "../../wire/firmware.js";
import { type Point, type Signature, toPublicKey } from "../../wire/p256.js";
import type { Link } from "../link.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import { compareVersions } from "./versions.js";

/** An image that the gate let pass. */
export interface Image {
  readonly size: number;
  readonly checksum: string;
  readonly algorithm: NonNullable<Assignment["algorithm"]>;
  /** What its SHA-256 must be signed with; undefined if no signature is asked for. */
  readonly signed: { readonly key: Point; readonly signature: Signature } | undefined;
}

export type Passed =
  | { readonly ok: true; readonly image: Image }
  | { readonly ok: false; readonly failure: Failure; readonly detail: string };

export function pass(assigned: Assigned, options: FirmwareOptions, link: Link): Passed {
  if (assigned.kind === "torn") return no("torn", `${assigned.missing} is missing`);
  if (assigned.kind === "malformed") return no("malformed", assigned.reason);
  if (assigned.kind === "absent") return no("withdrawn");
  const { title, version, url, size, algorithm, checksum, signature } = assigned.assignment;
  if (title !== options.title) return no("title");
  if (url !== undefined) return no("url");
  if (size === undefined || algorithm === undefined || checksum === undefined) return no("torn");
  if (size > link.host.slot.size) return no("slotSize", `${size} of ${link.host.slot.size} bytes`);
  const key = options.publicKey === undefined ? undefined : toPublicKey(options.publicKey);
  if (options.publicKey !== undefined && !(key && signature)) return no("unsigned");
  if (!link.target.secure && !isLoopback(link.target) && !key && options.allowHttp !== true)
    return no("insecure");
  if (options.minimumVersion !== undefined) {
    const newer = compareVersions(version, options.minimumVersion);
    if (newer === undefined || newer < 0) return no("downgrade");
  }
  if (!openDigest(algorithm, (name) => link.host.digest(name))) return no("algorithm", algorithm);
  const signed = key && signature && { key, signature };
  return { ok: true, image: { size, algorithm, checksum, signed } };
}

function no(failure: Failure, detail = ""): Passed {
  return { ok: false, failure, detail };
}
