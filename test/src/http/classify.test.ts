import test from "ava";
import { classify, isSilence } from "../../../src/http/outcome.js";

const answer = (status: number, body = "", whole = true) => ({
  status,
  body: Buffer.from(body),
  whole,
  date: 1_700_000_000_000,
  retryAfterMs: 7,
  reusable: true,
});
const kind = (status: number, body = "", whole = true) => classify(answer(status, body, whole), false).kind;

test("200 and 204 are done", (t) => {
  t.deepEqual(classify(answer(200, "{}"), false), {
    kind: "done",
    status: 200,
    body: Buffer.from("{}"),
    whole: true,
    date: 1_700_000_000_000,
  });
  t.like(classify(answer(200, "[1", false), false), { kind: "done", whole: false });
  t.is(kind(200), "done");
  t.is(kind(204), "done");
});

test("a 200 that is no JSON is not the platform's", (t) => {
  for (const json of ['{"a":1}', "[1]", ' \r\n\t"x"', "-1", "0", "9", "true", "false", "null", "t"])
    t.is(kind(200, json), "done", json);
  for (const other of ["<html>", "Welcome", " ", "this way", "never", "False", "+1", "\ufeff{}"]) {
    t.deepEqual(classify(answer(200, other), false), { kind: "lost", reason: "foreign answer" }, other);
  }
  t.is(classify(answer(200, "<html>"), true).kind, "done", "to a sink anything may go");
});

test("redirects, other successes and captive portals are lost", (t) => {
  for (const status of [201, 202, 206, 301, 302, 304, 307, 308, 511])
    t.is(kind(status, "{}"), "lost", `${status}`);
});

test("what the platform will not have is refused", (t) => {
  for (const status of [400, 401, 403, 404, 405, 406, 411, 413, 415, 422])
    t.is(kind(status), "refused", `${status}`);
  t.is(kind(500, "com.google.gson..."), "refused");
  t.is(kind(500, "", false), "refused", "a text of which nothing is kept");
});

test("what may pass later is busy, with the time that the platform asked for", (t) => {
  for (const status of [408, 429, 501, 502, 503, 504, 505, 599]) {
    t.deepEqual(classify(answer(status, "text"), false), { kind: "busy", status, retryAfterMs: 7 });
  }
  t.is(kind(500), "busy");
});

test("silence is distinguished from other losses", (t) => {
  t.true(isSilence({ kind: "lost", reason: "no answer in time" }));
  t.false(isSilence({ kind: "lost", reason: "no connection in time" }));
  t.false(isSilence({ kind: "busy", status: 408, retryAfterMs: undefined }));
});
