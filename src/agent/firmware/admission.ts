// Rules that can reject an update before a byte is downloaded.
import type { Target } from "../../http/target.js";
import type { Host } from "../../port.js";
import { type Point, type Signature, toPublicKey } from "../../wire/crypto/p256.js";
import type { Assigned, Assignment } from "../../wire/firmware.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import { originProblem } from "./origins.js";
import type { UpdateRecord } from "./update-record.js";
import { isAtLeast } from "./versions.js";

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

/** What the device brings to a decision: its options, its slot and digests, and the platform. */
export interface Rules {
  readonly host: Pick<Host, "slot" | "digest">;
  readonly target: Target;
  readonly options: FirmwareOptions;
}

type Admission =
  | { readonly act: "proceed"; readonly image: Image }
  | { readonly act: "fail"; readonly failure: Failure; readonly detail: string };

/** `known`: values learned from the image itself. */
export const admit = (
  assigned: Assigned,
  { host, target, options }: Rules,
  known: Pick<UpdateRecord, "size" | "checksum">,
): Admission => {
  if (assigned.kind === "torn") return rejected("torn", `${assigned.missing} is missing`);
  if (assigned.kind === "malformed") return rejected("malformed", assigned.reason);
  if (assigned.kind === "absent") return rejected("withdrawn");
  const { title, version, url, signature, algorithm = "SHA256" } = assigned.assignment;
  if (title !== options.title) return rejected("title");
  const unverified = assigned.assignment.checksum === undefined;
  if (unverified && options.allowUnverified !== true) return rejected("unverified");
  const { checksum = known.checksum, size = known.size } = assigned.assignment;
  if (size > host.slot.size) return rejected("slotSize", `${size} of ${host.slot.size} bytes`);
  const key = options.publicKey === undefined ? undefined : toPublicKey(options.publicKey);
  if (options.publicKey !== undefined && !(key && signature)) return rejected("unsigned");
  const problem = originProblem(url, target, options);
  if (problem) return rejected(problem.failure, problem.detail);
  const { minimumVersion } = options;
  if (minimumVersion !== undefined && !isAtLeast(version, minimumVersion)) return rejected("downgrade");
  if (!host.digest(algorithm)) return rejected("algorithm", algorithm);
  const signed = key && signature && { key, signature };
  return { act: "proceed", image: { size, algorithm, checksum, unverified, url, signed } };
};

const rejected = (failure: Failure, detail = ""): Admission => {
  return { act: "fail", failure, detail };
};
