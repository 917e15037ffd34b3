// What a device reads of a certificate, against Node's reader: certificates by openssl.
import { X509Certificate } from "node:crypto";
import test from "ava";
import fc from "fast-check";
import { readEnd } from "../../../../extras/trust/certificate.js";
import { DerError } from "../../../../extras/trust/der.js";
import { Authorities } from "./authority.js";

const made = new Authorities();
const all = [
  made.issue("root", undefined, { constraints: "critical,CA:TRUE", days: [-1, 3650] }),
  // From 2050 on the time has another form.
  made.issue("late", undefined, { days: [-1, 15_000] }),
  made.issue("expired", undefined, { days: [-30, -1], names: "DNS:localhost" }),
];
test.after.always(() => made.remove());

const der = (pem: string): Uint8Array => new Uint8Array(new X509Certificate(pem).raw);

test("the end of a certificate is read as Node reads it", (t) => {
  for (const { cert } of all) t.is(readEnd(der(cert)), Date.parse(new X509Certificate(cert).validTo));
});

test("a time of any length costs no stack", (t) => {
  const element = (tag: number, contents: Uint8Array): Uint8Array =>
    Uint8Array.from([tag, 0x83, ...[16, 8, 0].map((bits) => (contents.length >> bits) & 0xff), ...contents]);
  // More than Node takes as arguments of a call; a board takes some hundred.
  const long = element(0x17, new Uint8Array(300_000).fill(0x30));
  const fields = Buffer.concat([
    Uint8Array.of(0x02, 1, 1, 0x30, 0, 0x30, 0),
    element(0x30, Uint8Array.from(Buffer.concat([long, long]))),
  ]);
  const whole = element(0x30, element(0x30, Uint8Array.from(fields)));
  const error = t.throws(() => readEnd(whole));
  t.true(error instanceof DerError, String(error));
});

/** A number, or a DerError. */
function isRead(bytes: Uint8Array): boolean {
  try {
    return Number.isFinite(readEnd(bytes));
  } catch (error) {
    return error instanceof DerError;
  }
}

test("a damaged certificate has an end or a DerError, and random bytes have no end", (t) => {
  const whole = der(all[0]!.cert);
  const at = fc.nat(whole.length - 1);
  fc.assert(
    fc.property(at, fc.integer({ min: 1, max: 255 }), fc.boolean(), (i, by, isCut) => {
      const bytes = isCut ? whole.slice(0, i) : whole.slice();
      if (!isCut) bytes[i]! ^= by;
      return isRead(bytes);
    }),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      t.throws(() => readEnd(bytes), { instanceOf: DerError });
    }),
    { numRuns: 2000 },
  );
});
