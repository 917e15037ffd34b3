import test from "ava";
import fc from "fast-check";
import * as paths from "../../../src/wire/paths.js";
import { decodeStart, fits, utf8Length } from "../../../src/wire/text/text.js";
import { ascii } from "./support.js";

test("every request has its documented target", (t) => {
  const target = (path: string) => paths.devicePrefix("tok") + path;
  t.is(paths.API_PREFIX + paths.PROVISION_PATH, "/api/v1/provision");
  t.is(target(paths.TELEMETRY_PATH), "/api/v1/tok/telemetry");
  t.is(target(paths.attributesPath()), "/api/v1/tok/attributes");
  t.is(target(paths.attributesPath("?sharedKeys=a")), "/api/v1/tok/attributes?sharedKeys=a");
  t.is(target(paths.updatesPath(25_000)), "/api/v1/tok/attributes/updates?timeout=25000");
  t.is(target(paths.rpcPollPath(25_000)), "/api/v1/tok/rpc?timeout=25000");
  t.is(target(paths.rpcAnswerPath(0)), "/api/v1/tok/rpc/0");
  t.is(target(paths.rpcAnswerPath(-5)), "/api/v1/tok/rpc/-5");
  t.is(target(paths.RPC_CALL_PATH), "/api/v1/tok/rpc");
  t.is(target(paths.CLAIM_PATH), "/api/v1/tok/claim");
  t.is(
    target(paths.firmwarePath("green house", "1.0+b")),
    "/api/v1/tok/firmware?title=green%20house&version=1.0%2Bb",
  );
  t.is(
    target(paths.firmwarePath("t", "v", { size: 16_384, chunk: 0 })),
    "/api/v1/tok/firmware?title=t&version=v&size=16384&chunk=0",
  );
  t.is(paths.devicePrefix("with space"), "/api/v1/with%20space/");
});

test("any text becomes a part of an address that is plain ASCII and reads back as the same", (t) => {
  t.is(paths.escapeText("a b/ü😀&=?#"), "a%20b%2F%C3%BC%F0%9F%98%80%26%3D%3F%23");
  t.is(paths.escapeText("a\ud800"), "a%EF%BF%BD");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const escaped = paths.escapeText(text);
      return /^[\w.!~*'()%-]*$/.test(escaped) && decodeURIComponent(escaped) === text;
    }),
  );
});

test("a token that the platform would refuse in an address is refused without being shown", (t) => {
  for (const token of ["A1_TEST_TOKEN", "a.b-c~d", "with space", "ünï", "a".repeat(255)])
    t.is(paths.checkToken(token), undefined);
  const refused = [
    "",
    "a/b",
    "a\\b",
    "a;b",
    "a%b",
    "a\n",
    "\u0000",
    " a",
    "a ",
    ".",
    "..",
    "hush;",
    "a".repeat(256),
    5,
    null,
    undefined,
  ];
  for (const token of refused) {
    const reason = paths.checkToken(token);
    t.is(typeof reason, "string", String(token));
    t.notRegex(reason ?? "", /hush/);
  }
});

test("the bytes of a text are counted as UTF-8", (t) => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => utf8Length(text) === ascii(text).length));
  t.true(fits("ü".repeat(25), 50));
  t.false(fits("ü".repeat(26), 50));
  t.false(fits("温".repeat(17), 50));
});

test("the beginning of a body is read whatever it holds", (t) => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => decodeStart(ascii(text)) === text),
  );
  t.is(
    decodeStart(Uint8Array.of(0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f)),
    "a\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd\ufffd",
  );
  t.is(decodeStart(Uint8Array.of(0xc0, 0x80)), "\ufffd\ufffd");
  t.is(decodeStart(Uint8Array.of(0xe0, 0x80, 0x80)), "\ufffd\ufffd\ufffd");
  t.is(decodeStart(Uint8Array.of(0xf4, 0x90, 0x80, 0x80)), "\ufffd\ufffd\ufffd\ufffd");
  t.is(decodeStart(ascii("abcdef"), 3), "abc");
});
