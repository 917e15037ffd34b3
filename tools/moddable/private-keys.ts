// Refuses a build that would put a private key into an image, which others can read.
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { SdkError } from "./sdk.js";

/** The makefile's rules for resources: target, and source file. */
const RULE = /^\$\((?:DATA|RESOURCES)_DIR\)\/.+?: (.+)$/gm;
const NAME = /\.(?:key|p12|pfx|jks)$/i;
const PEM = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/;
/** The first byte of every DER. */
const SEQUENCE = 0x30;

/** Throws SdkError listing the private keys among a project's resources and data. */
export function refusePrivateKeys(makefile: string): void {
  const sources = new Set(
    [...readFileSync(makefile, "utf8").matchAll(RULE)].map(([, source = ""]) => source),
  );
  const keys = [...sources].filter(isPrivateKey);
  if (keys.length === 0) return;
  throw new SdkError(
    `private keys would end up in the image, where anyone can read them:\n  ${keys.join("\n  ")}\n` +
      `Remove them from "data" and "resources" of the manifest. A name without an extension, or "*", includes every matching file.`,
  );
}

/** By name or content: PEM, or DER of PKCS #8, PKCS #1 or SEC 1, also encrypted. */
function isPrivateKey(path: string): boolean {
  if (NAME.test(path)) return true;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    // A header, or what the build makes itself.
    return false;
  }
  return PEM.test(bytes.toString("latin1")) || (bytes[0] === SEQUENCE && isDer(bytes));
}

function isDer(key: Buffer): boolean {
  return (["pkcs8", "pkcs1", "sec1"] as const).some((type) => {
    try {
      createPrivateKey({ key, format: "der", type });
      return true;
    } catch (error) {
      return (error as { code?: string }).code === "ERR_MISSING_PASSPHRASE";
    }
  });
}
