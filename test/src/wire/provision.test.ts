import test from "ava";
import { encodeClaim } from "../../../src/wire/claim.js";
import { encodeProvision, parseProvision } from "../../../src/wire/provision.js";
import { fixture } from "./support.js";

test("a request names the device, key and secret, and the token it proposes", (t) => {
  t.is(
    encodeProvision({ key: "k", secret: 's"', deviceName: "greenhouse-7" }),
    '{"deviceName":"greenhouse-7","provisionDeviceKey":"k","provisionDeviceSecret":"s\\""}',
  );
  t.is(
    encodeProvision({ key: "k", secret: "s", deviceName: "d", token: "abc" }),
    '{"deviceName":"d","provisionDeviceKey":"k","provisionDeviceSecret":"s","credentialsType":"ACCESS_TOKEN","token":"abc"}',
  );
});

test("the three outcomes are distinguished by their status", (t) => {
  t.deepEqual(parseProvision(fixture("provision-success")), {
    kind: "success",
    token: "Tok3nTok3nTok3nTok3n",
  });
  t.deepEqual(parseProvision(fixture("provision-not-found")), { kind: "not-found" });
  t.deepEqual(parseProvision(fixture("provision-failure")), { kind: "failure" });
});

test("a success without a usable access token is malformed, and its reason shows nothing of it", (t) => {
  const success = (value: string): string =>
    `{"status":"SUCCESS","credentialsType":"ACCESS_TOKEN","credentialsValue":${value}}`;
  for (const text of [
    fixture("provision-mqtt"),
    success("5"),
    success('""'),
    '{"status":"SUCCESS","credentialsType":"X509_CERTIFICATE","credentialsValue":"abc"}',
    success('"hush/hush"'),
    '{"status":"SUCCESS"}',
  ]) {
    const answer = parseProvision(text);
    t.is(answer.kind, "malformed", text);
    t.notRegex((answer as { reason: string }).reason, /hush/);
  }
  for (const text of ["", "[]", "null", '{"status":"success"}', '{"status":5}', "{}"])
    t.is(parseProvision(text).kind, "malformed");
});

test("a claim names only what is given", (t) => {
  t.deepEqual(encodeClaim({}), { ok: true, text: "{}" });
  t.deepEqual(encodeClaim({ secretKey: "", durationMs: 60_000 }), {
    ok: true,
    text: '{"secretKey":"","durationMs":60000}',
  });
});

test("a claim with a wrong secret or duration is refused without showing it", (t) => {
  for (const claim of [
    { durationMs: 0 },
    { durationMs: 1.5 },
    { durationMs: NaN },
    { durationMs: "1" },
    { secretKey: 5 },
    { secretKey: "hush\ud800" },
  ]) {
    const encoded = encodeClaim(claim as never);
    t.false(encoded.ok);
    t.notRegex((encoded as { reason: string }).reason, /hush/);
  }
});
