// `mote sign`: signs an image for devices with `firmware.publicKey`.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import type { Command } from "commander";
import { readInput, UsageError } from "../usage.js";

const HELP = `
Prints the signature and the public key. Set the shared attribute fw_signature to the signature before you assign the image, and the option
firmware.publicKey to the public key.

Create a key:
  openssl ecparam -name prime256v1 -genkey -noout -out key.pem
Sign with openssl instead:
  openssl dgst -sha256 -sign key.pem -hex FILE
  openssl pkey -in key.pem -pubout -outform DER | tail -c 65 | od -An -v -tx1 | tr -d ' \\n'`;

/** The uncompressed point: the last bytes of a public key's DER. */
const POINT = 65;

export function signCommand(program: Command): void {
  program
    .command("sign")
    .description("sign a firmware image")
    .requiredOption("--key <file>", "private key (PEM, P-256)")
    .argument("<file>", "firmware image")
    .addHelpText("after", HELP)
    .action((file: string, { key }: { key: string }) => {
      const { signature, publicKey } = signImage(privateKey(readInput(key)), readInput(file));
      process.stdout.write(`fw_signature ${signature}\npublicKey    ${publicKey}\n`);
    });
}

/** Signature (DER) and public point, hexadecimal digits. */
export function signImage(key: KeyObject, image: Uint8Array): { signature: string; publicKey: string } {
  const point = createPublicKey(key).export({ type: "spki", format: "der" }).subarray(-POINT);
  return { signature: sign("sha256", image, key).toString("hex"), publicKey: point.toString("hex") };
}

/** Reads a P-256 key. Throws UsageError without quoting the input. */
export function privateKey(pem: Buffer): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The error may quote the key.
  }
  if (key?.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new UsageError("--key is not a P-256 private key (PEM)");
  return key;
}
