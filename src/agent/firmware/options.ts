import { parseUrl } from "../../http/target.js";
import { toPublicKey } from "../../wire/crypto/p256.js";
import { isCall, isText, type Rules } from "../options/rules.js";
import { compareVersions } from "./admission.js";

/** An update that the platform assigned. */
export interface FirmwareUpdate {
  readonly title: string;
  readonly version: string;
  /** Bytes. */
  readonly size: number;
}

/** The running firmware, and which updates of it are taken. */
export interface FirmwareOptions {
  /** The firmware's title, as that of the packages on the platform (compared exactly). 1 to 255 characters. */
  title: string;
  /** The running version (compared exactly with the assigned one). 1 to 255 characters. The platform stores `2` or `1.10` as numbers. */
  version: string;
  /**
   * Asked before a byte is fetched: true: go on; false: refused until assigned again, reported FAILED; `"later"`: asked again after 1 min.
   * An exception, and no answer within 1 min, count as `"later"`. Default: every update is allowed.
   */
  allow?: ((update: FirmwareUpdate) => boolean | "later" | Promise<boolean | "later">) | undefined;
  /**
   * Asked once by a new image, after it reached the platform: true: keep it; false, an exception or no answer within 5 min: the image
   * before it returns. Default: to have reached the platform is enough.
   */
  selfTest?: (() => boolean | Promise<boolean>) | undefined;
  /** Called with the share of the download that is done, 0 to 100: every 5 percent, or every 5 s if slower. */
  onProgress?: ((percent: number) => void) | undefined;
  /**
   * Take only images that were signed: an ECDSA signature over P-256 of the image's SHA-256, DER in hexadecimal digits, in the shared attribute
   * `fw_signature` (`mote sign` makes it, or `openssl dgst -sha256 -sign key.pem -hex FILE`). This is the key to check it with: the point's
   * 130 hexadecimal digits, 04 and both coordinates. Default: none is asked for.
   */
  publicKey?: string | undefined;
  /**
   * Hosts from which packages that are not on the platform (`fw_url`) are taken, redirects included: `files.example.com`, or with a port that is not the
   * scheme's own `files.example.com:8443`. The access token is sent to none of them. Such a download has a connection of its own. Default: none.
   */
  urlHosts?: readonly string[] | undefined;
  /** Take packages with `fw_url` that have no checksum, as they come: what is read back from the slot is still compared with that. Default false. */
  allowUnverified?: boolean | undefined;
  /** Take unsigned updates over http from a platform that is not on this machine: whoever is on the way can then replace the image. Default false. */
  allowHttp?: boolean | undefined;
  /** Refuse versions older than this one: parts between dots are compared as numbers, `1.0.0-rc` is older than `1.0.0`. Default: none. */
  minimumVersion?: string | undefined;
  /**
   * A new update begins after a wait drawn from 0 to so many ms, so that a fleet does not fetch it all at once. A restart or a sleep does not begin
   * the wait again, as long as the host knows the time. Failed updates are tried again without one. 0 to 604,800,000, default 0.
   */
  spreadMs?: number | undefined;
  /**
   * Bytes per request, with one or two connections (with three the image comes as one stream). A power of two, 1,024 to 65,536,
   * default 16,384; 4,096 where TLS records must stay small.
   */
  chunkBytes?: number | undefined;
}

/** What each may be. */
export const FIRMWARE: Rules = {
  title: isText,
  version: isText,
  allow: isCall,
  selfTest: isCall,
  onProgress: isCall,
  publicKey: (key) =>
    key === undefined || (typeof key === "string" && toPublicKey(key))
      ? undefined
      : "is a point of P-256: 130 hexadecimal digits that begin with 04",
  urlHosts: (hosts) =>
    hosts === undefined || (Array.isArray(hosts) && hosts.every(isAuthority))
      ? undefined
      : "lists hosts in lower case, with a port where it is not the scheme's own",
  allowUnverified: [false, true],
  allowHttp: [false, true],
  minimumVersion: (version) =>
    version === undefined || compareVersions(version as string, version as string) === 0
      ? undefined
      : "is a version such as 1.2.0",
  spreadMs: [0, 0, 604_800_000],
  chunkBytes: (bytes) =>
    bytes === undefined || isChunk(bytes) ? undefined : "is a power of two from 1,024 to 65,536",
};

/** As a Target has it. */
const isAuthority = (value: unknown): boolean => {
  const isOf = (scheme: string) => parseUrl(scheme + value)?.target.authority === value;
  return isOf("https://") || isOf("http://");
};

const isChunk = (value: unknown): boolean => {
  return typeof value === "number" && value >= 1024 && value <= 65_536 && (value & (value - 1)) === 0;
};
