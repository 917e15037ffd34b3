// `mote sign`: what a device with `firmware.publicKey` asks of an image, made on the machine that holds the private key.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { MARK } from "../../../extras/trust/announcement.js";
import { codeOf } from "../../../hosts/node/files.js";
import { outJson } from "../output/table.js";
import { UsageError } from "../usage.js";

const HELP = `
Prints two lines: the signature, for the device's shared attribute fw_signature (set it before the image is assigned), and the public key, for the
option firmware.publicKey. The key is made by: openssl ecparam -name prime256v1 -genkey -noout -out key.pem

The same by openssl alone:
  openssl dgst -sha256 -sign key.pem -hex FILE
  openssl pkey -in key.pem -pubout -outform DER | tail -c 65 | od -An -v -tx1 | tr -d ' \\n'`;

/** Bytes at the end of a public key's DER: the point, uncompressed. */
const POINT = 65;

export function signCommand(program: Command): void {
  program
    .command("sign")
    .description("sign a firmware image for devices that take only signed ones")
    .requiredOption("--key <file>", "the private key (PEM, P-256)")
    .argument("<file>", "the image")
    .option("--json", "JSON on the standard output, for programs")
    .addHelpText("after", HELP)
    .action((file: string, { key, json }: { key: string; json?: boolean }) => {
      const { signature, publicKey } = signImage(privateKey(read(key)), read(file));
      if (json) outJson({ signature, publicKey });
      else process.stdout.write(`fw_signature ${signature}\npublicKey    ${publicKey}\n`);
    });
}

/** Both in hexadecimal digits: the signature in DER, the key as a point. Throws UsageError for what begins like an announcement of `mote trust`. */
export function signImage(key: KeyObject, image: Uint8Array): { signature: string; publicKey: string } {
  if (Buffer.from(image.subarray(0, MARK.length)).equals(Buffer.from(MARK)))
    throw new UsageError("that is no image, but an announcement of authorities: mote trust push signs those");
  const point = createPublicKey(key).export({ type: "spki", format: "der" }).subarray(-POINT);
  return { signature: sign("sha256", image, key).toString("hex"), publicKey: point.toString("hex") };
}

/** Of P-256; throws UsageError for anything else, and quotes nothing of it. */
export function privateKey(pem: Buffer): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // What is wrong with it may quote it.
  }
  if (key?.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new UsageError("--key holds no private key of P-256 (PEM)");
  return key;
}

export function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`${path} can't be read (${codeOf(error)})`);
  }
}
