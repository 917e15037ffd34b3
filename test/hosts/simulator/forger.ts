// A server that shows the certificates of another and does not have their key, byte by byte.
import { createECDH, X509Certificate } from "node:crypto";
import { createServer, type Server } from "node:net";

const HANDSHAKE = 22;
const [HELLO, CERTIFICATE, KEY_EXCHANGE, DONE] = [2, 11, 12, 14];
/** ECDHE with ECDSA, AES-128-GCM and SHA-256. */
const SUITE = [0xc0, 0x2b];
/** A named curve: secp256r1. */
const CURVE = [3, 0, 23];
const SHA256 = 4;
/** An ECDSA signature whose two numbers are 0, as DER. */
const ZEROS = [0x30, 6, 2, 1, 0, 2, 1, 0];

/** What stands behind the keys of the key exchange: the hash, the algorithm, and the signature behind its length. */
export const UNSIGNED = {
  "of no algorithm, and empty": [0, 0, 0, 0],
  "of a hash and no algorithm": [SHA256, 0, 0, 0],
  "of an algorithm and no hash": [0, 3, 0, ZEROS.length, ...ZEROS],
  "by ECDSA, with zeros": [SHA256, 3, 0, ZEROS.length, ...ZEROS],
} as const;

const sized = (bytes: Uint8Array, width: number): Buffer => {
  const size = Buffer.alloc(width);
  size.writeUIntBE(bytes.length, 0, width);
  return Buffer.concat([size, bytes]);
};
const message = (kind: number, body: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from([HANDSHAKE, 3, 3]),
    sized(Buffer.concat([Buffer.from([kind]), sized(body, 3)]), 2),
  ]);

const derOf = (pem: string): Buffer => new X509Certificate(pem).raw;

/** Answers a hello with `chain` (PEM) and keys of its own, "signed" by `signature`. */
export function forger(chain: readonly string[], signature: readonly number[]): Server {
  const point = createECDH("prime256v1").generateKeys();
  const certificates = Buffer.concat(chain.map((pem) => sized(derOf(pem), 3)));
  const bytes = Buffer.concat([
    message(HELLO, Buffer.from([3, 3, ...Buffer.alloc(32, 7), 0, ...SUITE, 0])),
    message(CERTIFICATE, sized(certificates, 3)),
    message(KEY_EXCHANGE, Buffer.from([...CURVE, ...sized(point, 1), ...signature])),
    message(DONE, Buffer.alloc(0)),
  ]);
  return createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => void socket.write(bytes));
  });
}

/** The certificate with zeros in place of its signature, as PEM. */
export function unsigned(pem: string): string {
  const der = derOf(pem);
  const [body, algorithm] = parts(contents(der));
  const zeros = Buffer.from([3, ZEROS.length + 1, 0, ...ZEROS]);
  const all = Buffer.concat([body!, algorithm!, zeros]);
  const forged = Buffer.concat([Buffer.from([0x30, 0x82]), sized(all, 2)]);
  return `-----BEGIN CERTIFICATE-----\n${forged.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

/** Bytes of a DER element's tag and length. */
const head = (der: Buffer): number => (der[1]! < 0x80 ? 2 : 2 + (der[1]! & 0x7f));
const sizeOf = (der: Buffer): number => (der[1]! < 0x80 ? der[1]! : der.readUIntBE(2, der[1]! & 0x7f));
const contents = (der: Buffer): Buffer => der.subarray(head(der), head(der) + sizeOf(der));

function parts(der: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let rest = der; rest.length > 0; ) {
    const length = head(rest) + sizeOf(rest);
    found.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return found;
}
