import { rootCertificates } from "node:tls";
import test from "ava";
import { readAuthorities, toPem } from "../../../extras/commissioning/authorities.js";
import { checkNetwork, checkValues } from "../../../extras/commissioning/values.js";
import { fromBase64 } from "../../../src/wire/text/base64.js";
import { GOOD } from "./rig.js";

const bare = (pem: string): string => pem.replace(/\s/g, "");

test("every authority that Node brings is taken, as PEM and as base64, and comes out as the same bytes", (t) => {
  t.true(rootCertificates.length > 100);
  for (const pem of rootCertificates) {
    const [base64 = ""] = readAuthorities(pem) as string[];
    t.deepEqual(Buffer.from(fromBase64(base64)!), Buffer.from(base64, "base64"));
    t.is(bare(toPem(base64)), bare(pem));
    t.deepEqual(readAuthorities(base64), [base64]);
  }
});

test("what is no certificate is refused without a word of it, a private key above all", (t) => {
  const [root = ""] = rootCertificates;
  const key = root.replaceAll("CERTIFICATE", "PRIVATE KEY");
  t.regex(readAuthorities(key) as string, /private key/);
  t.regex(readAuthorities(root + key) as string, /private key/);
  for (const text of [
    "",
    "hello",
    "-----BEGIN CERTIFICATE-----",
    root.replace("MII", "AAA"),
    `${root}x`,
    "QUJD",
  ])
    t.is(readAuthorities(text), "that is no certificate (PEM)", text);
  t.regex(readAuthorities(rootCertificates.slice(0, 6).join("\n")) as string, /too long/);
  t.regex(readAuthorities("A".repeat(100_000)) as string, /too long/);
});

test("a network's name has 1 to 32 bytes, its password 8 to 64 or none, neither a control character", (t) => {
  const field = (ssid: unknown, password?: unknown) => checkNetwork(ssid, password)?.field;
  t.is(field("h"), undefined);
  t.is(field("ä".repeat(16), "8 bytes!"), undefined);
  t.is(field("ä".repeat(17)), "ssid");
  for (const ssid of ["", undefined, 7, "a\u0000b"]) t.is(field(ssid), "ssid");
  for (const password of ["1234567", "x".repeat(65), "line\nbreak", 12_345_678])
    t.is(field("home", password), "password");
});

test("without a radio no network is asked for", (t) => {
  const { ssid, password, ...rest } = GOOD;
  t.deepEqual(checkValues(rest, false), []);
  t.deepEqual(
    checkValues({}, false).map((finding) => finding.field),
    ["url", "token"],
  );
});

test("no finding quotes a value", (t) => {
  const values = {
    ssid: "quoted".repeat(9),
    password: "quoted",
    url: "quoted",
    ca: "quoted",
    token: "quo/ted",
    key: "quoted\u0000",
  };
  const findings = checkValues(values, true);
  t.is(findings.length, 4);
  t.false(JSON.stringify(findings).includes("quo"));
});
