// Rules that can reject an update before a byte is downloaded.
import { isLoopback, readUrl, type Target } from "../../http/target.js";
import type { Host } from "../../port.js";
import { type Point, type Signature, toPublicKey } from "../../wire/crypto/p256.js";
import type { Assigned, Assignment } from "../../wire/firmware.js";
import { type Failed, failed } from "./failures.js";
import type { UpdateRecord } from "./journal.js";
import type { FirmwareOptions } from "./options.js";
import { isAtLeast } from "./versions.js";

/** An image that was admitted. */
export interface Image {
  /** Size in bytes; 0: known only to the server of `url`, until it answers. */
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

/** What the device brings to a decision: its options, its slot and digests, and the platform. */
export interface Rules {
  readonly host: Pick<Host, "slot" | "digest">;
  readonly target: Target;
  readonly options: FirmwareOptions;
}

/** `known`: values learned from the image itself. */
export const admit = (
  assigned: Assigned,
  { host, target, options }: Rules,
  known: Pick<UpdateRecord, "size" | "checksum">,
): Image | Failed => {
  if (assigned.kind === "torn") return failed("incomplete assignment", `${assigned.missing} is missing`);
  if (assigned.kind === "malformed") return failed("invalid assignment", assigned.reason);
  if (assigned.kind === "absent") return failed("withdrawn");
  const { title, version, url, signature, algorithm = "SHA256" } = assigned.assignment;
  if (title !== options.title) return failed("other title");
  const unverified = assigned.assignment.checksum === undefined;
  if (unverified && options.allowUnverified !== true) return failed("no checksum");
  const { checksum = known.checksum, size = known.size } = assigned.assignment;
  if (size > host.slot.size) return tooLarge(size, host.slot.size);
  const key = options.publicKey === undefined ? undefined : toPublicKey(options.publicKey);
  if (options.publicKey !== undefined && !(key && signature)) return failed("no signature");
  const problem = originProblem(url, target, options);
  if (problem) return problem;
  const { minimumVersion } = options;
  if (minimumVersion !== undefined && !isAtLeast(version, minimumVersion))
    return failed("older than minimumVersion");
  if (!host.digest(algorithm)) return failed("unknown checksum algorithm", algorithm);
  return { size, algorithm, checksum, unverified, url, signed: key && signature && { key, signature } };
};

export const tooLarge = (size: number, slotSize: number): Failed =>
  failed("too large", `${size} of ${slotSize} bytes`);

/** Why an image must not come from `url` or, without one, from the platform. */
const originProblem = (
  url: string | undefined,
  platform: Target,
  options: FirmwareOptions,
): Failed | undefined => {
  if (url === undefined) return canBeTampered(platform, options) ? failed("unsigned over http") : undefined;
  const file = readUrl(url);
  return file.ok ? fileProblem(file.target, options) : failed("invalid fw_url", `it ${file.reason}`);
};

/** Why a file must not be downloaded from `target`; undefined if it may be. */
export const fileProblem = (target: Target, options: FirmwareOptions): Failed | undefined => {
  if (!options.urlHosts?.includes(target.authority)) return failed("host not in urlHosts", target.authority);
  return canBeTampered(target, options) ? failed("unsigned over http") : undefined;
};

/** True if an attacker on the network could replace an image unnoticed. */
const canBeTampered = (target: Target, options: FirmwareOptions): boolean => {
  return (
    !target.secure && !isLoopback(target) && options.publicKey === undefined && options.allowHttp !== true
  );
};
