// The judge of certificates, on Node: signatures by Node's crypto, certificates by openssl.
import { X509Certificate } from "node:crypto";
import test from "ava";
import fc from "fast-check";
import { readCertificate, readEnd } from "../../../../hosts/shared/x509/certificate.js";
import { refusal, type Trust } from "../../../../hosts/shared/x509/chain.js";
import { DerError } from "../../../../hosts/shared/x509/der.js";
import { Authorities } from "./authority.js";
import { cases } from "./cases.js";

const made = new Authorities();
const { root, cases: all } = cases(made);
test.after.always(() => made.remove());

const der = (pem: string): Uint8Array => new Uint8Array(new X509Certificate(pem).raw);
const trust: Trust = {
  authorities: [der(root.cert)],
  now: Date.now(),
  signedBy: (certificate, issuer) =>
    new X509Certificate(certificate.der).verify(new X509Certificate(issuer.der).publicKey),
};

for (const { title, chain, refused } of all) {
  test(`a certificate ${title} is ${refused ? "refused" : "taken"}`, (t) => {
    const presented = chain.map(({ cert }) => der(cert));
    t.is(refusal(presented, "localhost", trust), refused);
  });
}

test("a time or a name of any length costs no stack", (t) => {
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

test("an address is looked for among the addresses, a name among the names", (t) => {
  const [good] = all;
  const presented = good!.chain.map(({ cert }) => der(cert));
  t.is(refusal(presented, "127.0.0.1", trust), undefined);
  t.is(refusal(presented, "127.0.0.2", trust), "certificate: for another name");
  t.is(refusal(presented, "LOCALHOST", trust), undefined);
});

test("without an authority nothing is trusted, and no certificate is none", (t) => {
  const presented = all[1]!.chain.map(({ cert }) => der(cert));
  t.is(refusal(presented, "localhost", { ...trust, authorities: [] }), "certificate: unknown issuer");
  t.is(refusal([], "localhost", trust), "certificate: none");
  t.is(refusal(Array(9).fill(presented[0]), "localhost", trust), "certificate: too many of them");
});

test("a certificate of which a byte was changed, cut off or added is refused and throws nothing else", (t) => {
  const whole = der(all[0]!.chain[0]!.cert);
  const at = fc.nat(whole.length - 1);
  fc.assert(
    fc.property(
      at,
      fc.integer({ min: 1, max: 255 }),
      fc.constantFrom("change", "cut", "add"),
      (i, by, how) => {
        const bytes =
          how === "cut" ? whole.slice(0, i) : Uint8Array.from([...whole, ...(how === "add" ? [by] : [])]);
        if (how === "change") bytes[i] = bytes[i]! ^ by;
        return refusal([bytes], "localhost", { ...trust, signedBy: honest }) !== undefined;
      },
    ),
    { numRuns: 3000 },
  );
  t.pass();
});

/** As the SDK would: over the bytes that were read. */
const honest: Trust["signedBy"] = (certificate, issuer) => {
  const known = new X509Certificate(issuer.der).publicKey;
  return new X509Certificate(certificate.der).verify(known);
};

test("the end of a certificate alone is that of the whole reader, and what is damaged has none or another", (t) => {
  for (const { chain } of all)
    for (const { cert } of chain) {
      const whole = der(cert);
      t.is(readEnd(whole), readCertificate(whole).to);
    }
  const whole = der(all[0]!.chain[0]!.cert);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const bytes = whole.slice();
      bytes[at]! ^= by;
      try {
        return Number.isFinite(readEnd(bytes));
      } catch (error) {
        return error instanceof DerError;
      }
    }),
    { numRuns: 2000 },
  );
});

test("bytes at random are no certificate", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        readCertificate(bytes);
        return false;
      } catch (error) {
        return error instanceof DerError;
      }
    }),
    { numRuns: 2000 },
  );
  t.pass();
});
