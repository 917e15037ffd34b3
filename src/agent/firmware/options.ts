import { parseUrl } from "../../http/target.js";
import { toPublicKey } from "../../wire/crypto/p256.js";
import { isCall, isText, type Rules } from "../rules.js";
import { versionNumbers } from "./versions.js";

/** An update that the platform assigned. */
export interface FirmwareUpdate {
  /** Title of the package, as on the platform. */
  readonly title: string;
  /** Version of the package, as on the platform. */
  readonly version: string;
  /** Size in bytes; 0 for a package with `fw_url` whose size only its server knows. */
  readonly size: number;
}

/** The running firmware, and the rules for updates. */
export interface FirmwareOptions {
  /** Title of the firmware, as on the platform (compared exactly). 1 to 255 characters. */
  title: string;
  /**
   * Running version (compared exactly with the assigned one). 1 to 255 characters. The platform
   * stores `2` or `1.10` as numbers.
   */
  version: string;
  /**
   * Called before an update is downloaded, to allow or refuse it.
   *
   * True: allow; false: refuse until assigned again, reported as FAILED; `"later"`: ask again after
   * 1 min. An exception, or no answer within 1 min, counts as `"later"`. Default: all updates are
   * allowed.
   */
  allow?: ((update: FirmwareUpdate) => boolean | "later" | Promise<boolean | "later">) | undefined;
  /**
   * Called once by a new image, after it reached the platform.
   *
   * True confirms the image once it ran for `trialMs`. False, an exception or no answer within 5
   * min rolls back. Default: no test.
   */
  selfTest?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * Minimum time that a new image must run before it is confirmed, in ms. An image that ends
   * earlier is rolled back. 1,000 to 3,600,000, default 60,000.
   */
  trialMs?: number | undefined;
  /**
   * Public key that images must be signed with: 130 hexadecimal digits, 04 and both coordinates.
   *
   * The shared attribute `fw_signature` must hold an ECDSA P-256 signature of the image's SHA-256,
   * as DER in hexadecimal digits. `mote sign` creates it, or `openssl dgst -sha256 -sign key.pem
   * -hex FILE`. Default: no signature is required.
   */
  publicKey?: string | undefined;
  /**
   * Hosts from which packages with `fw_url` may be downloaded, including redirects.
   *
   * For example `files.example.com`, or `files.example.com:8443` for a non-default port. The access
   * token is never sent to them. Such a download uses a connection of its own. Default: none.
   */
  urlHosts?: readonly string[] | undefined;
  /**
   * Accept packages with `fw_url` that have no checksum. The slot is still verified against the
   * downloaded bytes. Default false.
   */
  allowUnverified?: boolean | undefined;
  /**
   * Accept unsigned updates over http from a remote platform. An attacker on the network can then
   * replace the image. Default false.
   */
  allowHttp?: boolean | undefined;
  /**
   * Refuse versions older than this one: up to eight numbers between dots. They are compared as
   * numbers, and `1.0.0-rc` is older than `1.0.0`. Default: none.
   */
  minimumVersion?: string | undefined;
  /**
   * Start a new update after a random delay of 0 to this many ms, to spread the load of a fleet.
   *
   * A restart or sleep does not restart the delay if the host knows the time. Retries have no such
   * delay. 0 to 604,800,000, default 0.
   */
  spreadMs?: number | undefined;
  /**
   * Bytes per request with one or two connections; three connections stream the image.
   *
   * A power of two, 1,024 to 65,536, default 16,384; use 4,096 if TLS records must stay small.
   */
  chunkBytes?: number | undefined;
}

/** Validation rules of the options. */
export const FIRMWARE = {
  title: isText,
  version: isText,
  allow: isCall,
  selfTest: isCall,
  trialMs: [60_000, 1000, 3_600_000],
  publicKey: (key) =>
    key === undefined || (typeof key === "string" && toPublicKey(key))
      ? undefined
      : "must be a P-256 point: 130 hexadecimal digits that begin with 04",
  urlHosts: (hosts) =>
    hosts === undefined || (Array.isArray(hosts) && hosts.every(isAuthority))
      ? undefined
      : "must list hosts in lower case, with a port if it is not the scheme's default",
  allowUnverified: [false, true],
  allowHttp: [false, true],
  minimumVersion: (version) =>
    version === undefined || versionNumbers(version)
      ? undefined
      : "must be numbers between dots, such as 1.2.0",
  spreadMs: [0, 0, 604_800_000],
  chunkBytes: (bytes) =>
    bytes === undefined || isChunk(bytes) ? undefined : "must be a power of two from 1,024 to 65,536",
} as const satisfies Rules;

/** True for a host in the form that Target uses. */
const isAuthority = (value: unknown): boolean => {
  const isOf = (scheme: string) => parseUrl(scheme + value)?.target.authority === value;
  return isOf("https://") || isOf("http://");
};

const isChunk = (value: unknown): boolean => {
  return typeof value === "number" && value >= 1024 && value <= 65_536 && (value & (value - 1)) === 0;
};
