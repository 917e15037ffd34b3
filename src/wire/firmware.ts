// Assigned firmware, as shared attributes:
//
//   {"fw_title":"greenhouse","fw_version":"2.0.0","fw_tag":"greenhouse 2.0.0","fw_size":123456,
//    "fw_checksum_algorithm":"SHA256","fw_checksum":"..."}
//   {"fw_title":"greenhouse","fw_version":"2.0.0","fw_url":"https://files.example.com/2.0.0.bin"}
//
// fw_signature is set by the signer (ECDSA P-256 of the image's SHA-256, DER in hexadecimal
// digits); the platform does not know it.
//
// A package with fw_url may lack size, algorithm and checksum; the platform does not serve such a
// package itself. fw_tag is optional. Without any key, nothing is assigned. The keys are written
// one after the other, so a read may see only some.
import { type Algorithm, isChecksum, toAlgorithm } from "./crypto/checksum.js";
import { type Signature, toSignature } from "./crypto/p256.js";
import { lowerCase } from "./text/characters.js";
import type { Json, JsonObject } from "./text/json.js";

/** The keys to request. */
export const FIRMWARE_KEYS = [
  "fw_title",
  "fw_version",
  "fw_tag",
  "fw_url",
  "fw_size",
  "fw_checksum_algorithm",
  "fw_checksum",
] as const;
/** Requested too if images are signed. The platform does not delete it with the others. */
export const SIGNATURE_KEY = "fw_signature";
export const ALL_KEYS = [...FIRMWARE_KEYS, SIGNATURE_KEY] as const;
type FirmwareKey = (typeof ALL_KEYS)[number];

export interface Assignment {
  readonly title: string;
  readonly version: string;
  readonly tag: string | undefined;
  /**
   * Set only for a package on an external host; otherwise size, algorithm and checksum are known.
   */
  readonly url: string | undefined;
  /** Size in bytes, 1 to 2^31 - 1. */
  readonly size: number | undefined;
  readonly algorithm: Algorithm | undefined;
  /** Lower-case hexadecimal digits, as many as the algorithm has. */
  readonly checksum: string | undefined;
  readonly signature: Signature | undefined;
}

export type Assigned =
  | { readonly kind: "absent" }
  | { readonly kind: "assigned"; readonly assignment: Assignment }
  /** Some keys are missing: read during a change, or set by hand. */
  | { readonly kind: "torn"; readonly missing: string }
  | { readonly kind: "malformed"; readonly reason: string };

const MAX_SIZE = 2 ** 31 - 1;
const MAX_TEXT = 255;
const MAX_URL = 2048;

/** Parses the fw_* keys of shared attributes. */
export const parseAssignment = (shared: JsonObject): Assigned => {
  if (FIRMWARE_KEYS.every((key) => memberOf(shared, key) === undefined)) return { kind: "absent" };
  const problem = ALL_KEYS.map((key) => problemOf(key, memberOf(shared, key))).find(
    (reason) => reason !== undefined,
  );
  if (problem !== undefined) return { kind: "malformed", reason: problem };
  const missing = missingOf(shared);
  if (missing !== undefined) return { kind: "torn", missing };
  const algorithmName = memberOf(shared, "fw_checksum_algorithm") as string | undefined;
  const algorithm = algorithmName === undefined ? undefined : toAlgorithm(algorithmName);
  const checksum = memberOf(shared, "fw_checksum") as string | undefined;
  if (algorithm !== undefined && checksum !== undefined && !isChecksum(algorithm, checksum)) {
    return { kind: "malformed", reason: `fw_checksum is not a valid ${algorithm}` };
  }
  const assignment: Assignment = {
    title: memberOf(shared, "fw_title") as string,
    version: memberOf(shared, "fw_version") as string,
    tag: memberOf(shared, "fw_tag") as string | undefined,
    url: memberOf(shared, "fw_url") as string | undefined,
    size: memberOf(shared, "fw_size") as number | undefined,
    algorithm,
    checksum: checksum && lowerCase(checksum),
    signature: toSignature((memberOf(shared, SIGNATURE_KEY) as string | undefined) ?? ""),
  };
  return { kind: "assigned", assignment };
};

const memberOf = (shared: JsonObject, key: FirmwareKey): Json | undefined =>
  Object.hasOwn(shared, key) ? shared[key] : undefined;

const problemOf = (key: FirmwareKey, value: Json | undefined): string | undefined => {
  if (value === undefined) return undefined;
  if (key === "fw_size") {
    const right = typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_SIZE;
    return right ? undefined : `fw_size must be an integer from 1 to ${MAX_SIZE}`;
  }
  // A version set by hand as 2 is a number on the platform, so its text is lost.
  if (typeof value !== "string" || value === "") return `${key} is empty or not a string`;
  if (value.length > (key === "fw_url" ? MAX_URL : MAX_TEXT)) return `${key} is too long`;
  if (key === SIGNATURE_KEY && !toSignature(value)) return "fw_signature is not a valid signature";
  if (key === "fw_checksum_algorithm" && toAlgorithm(value) === undefined)
    return "fw_checksum_algorithm must be SHA256, SHA384, SHA512 or MD5";
  return undefined;
};

const missingOf = (shared: JsonObject): FirmwareKey | undefined => {
  const needed: FirmwareKey[] = ["fw_title", "fw_version"];
  if (memberOf(shared, "fw_url") === undefined)
    needed.push("fw_size", "fw_checksum_algorithm", "fw_checksum");
  else if (memberOf(shared, "fw_checksum") !== undefined) needed.push("fw_checksum_algorithm");
  else if (memberOf(shared, "fw_checksum_algorithm") !== undefined) needed.push("fw_checksum");
  return needed.find((key) => memberOf(shared, key) === undefined);
};

/** Identifies the image for counting failures: equal for the same image, whatever its tag. */
export const imageKey = (assignment: Assignment): string => {
  const { title, version, checksum, algorithm, size, signature, url } = assignment;
  const image = [title, version, checksum ?? null, algorithm ?? null, size ?? null];
  if (signature) image.push(`${signature.r}`, `${signature.s}`);
  // The address is included, because it may be the only mistake.
  if (url !== undefined) image.push(url);
  return JSON.stringify(image);
};
