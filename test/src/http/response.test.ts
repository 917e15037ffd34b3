import { gzipSync } from "node:zlib";
import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { decode } from "../../../hosts/node/text.js";
import { parseDate } from "../../../src/http/date.js";
import type { FileHead } from "../../../src/http/file-head.js";
import { classify } from "../../../src/http/outcome.js";
import { ResponseReader } from "../../../src/http/response.js";
import type { Peer } from "../../fakes/net.js";
import { answer, serve } from "../../fakes/server.js";
import { LAWFUL, type Lawful, UNLAWFUL, type Unlawful } from "./answers.js";
import { bodyOf, GET, isLost, POST, rig, sendOn } from "./rig.js";

const LIMIT = 64;

/** What became of an answer that came in these pieces. */
function read(testCase: Lawful | Unlawful, pieces: Uint8Array[]): { reader: ResponseReader; rest: number } {
  const reader = new ResponseReader({ decode });
  reader.expect(testCase.limit ?? LIMIT);
  // As on a connection: one buffer, with what was there before still behind the new bytes.
  const buffer = new Uint8Array(9000).fill(0x0a);
  let rest = 0;
  for (const piece of pieces) {
    buffer.set(piece, 5);
    const end = 5 + piece.length;
    rest += end - reader.feed(buffer, 5, end);
  }
  if (testCase.end) reader.peerClosed();
  return { reader, rest };
}

function isLawful(t: ExecutionContext, testCase: Lawful, pieces: Uint8Array[], how: string): void {
  const { reader, rest } = read(testCase, pieces);
  const answer = reader.answer;
  const seen = {
    problem: reader.problem,
    ...answer,
    location: undefined,
    body: Buffer.from(answer?.body ?? []).toString(),
  };
  const { status = 200, body = "[12]", whole = true, reusable = true, retryAfterMs, date } = testCase;
  t.deepEqual(
    seen,
    { problem: "", status, body, whole, reusable, retryAfterMs, date, location: undefined },
    `${testCase.name}, ${how}`,
  );
  if (whole) t.is(rest, 0);
}

function isUnlawful(t: ExecutionContext, testCase: Unlawful, pieces: Uint8Array[], how: string): void {
  const { reader } = read(testCase, pieces);
  t.is(reader.answer, undefined, `${testCase.name}, ${how}`);
  t.is(reader.problem, testCase.problem, `${testCase.name}, ${how}`);
}

/** The same in one piece, in two pieces for every place to cut, and byte by byte. */
function inEveryCut(bytes: string, look: (pieces: Uint8Array[], how: string) => void): void {
  const whole = Buffer.from(bytes);
  look([whole], "whole");
  look(
    Array.from(whole, (byte) => Uint8Array.of(byte)),
    "byte by byte",
  );
  // Some are long only to be too long: every 37th place shows as much.
  const step = whole.length > 2000 ? 37 : 1;
  for (let at = 1; at < whole.length; at += step)
    look([whole.subarray(0, at), whole.subarray(at)], `cut at ${at}`);
}

for (const testCase of LAWFUL)
  test(`lawful, however it is cut: ${testCase.name}`, (t) => {
    inEveryCut(testCase.bytes, (pieces, how) => isLawful(t, testCase, pieces, how));
  });

for (const testCase of UNLAWFUL)
  test(`refused or unfinished, however it is cut: ${testCase.name}`, (t) => {
    inEveryCut(testCase.bytes, (pieces, how) => isUnlawful(t, testCase, pieces, how));
  });

test("a reader keeps no long head for the next answers", (t) => {
  for (const [bytes, most] of [
    [400, 1500],
    [8000, 500],
  ] as const) {
    const reader = new ResponseReader({ decode });
    const head = `HTTP/1.1 200\r\nContent-Length: 0\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nX: ${"y".repeat(bytes)}\r\n\r\n`;
    for (let n = 0; n < 3; n++) {
      reader.expect(LIMIT);
      reader.feed(Buffer.from(head), 0, head.length);
      t.is(reader.answer?.date, Date.UTC(1994, 10, 6, 8, 49, 37));
    }
    const { length } = JSON.stringify(reader);
    t.true(length < most, `${bytes} bytes: ${length}`);
  }
});

test("a length that the peer only claims sets no memory aside", (t) => {
  const sizes: number[] = [];
  const Real = globalThis.Uint8Array;
  globalThis.Uint8Array = class extends Real {
    constructor(...given: unknown[]) {
      super(...(given as [number]));
      if (typeof given[0] === "number") sizes.push(given[0]);
    }
  } as typeof Uint8Array;
  try {
    const reader = new ResponseReader({ decode });
    reader.expect(1_000_000);
    const text = "HTTP/1.1 200\r\nContent-Length: 999999\r\n\r\n[";
    reader.feed(Buffer.from(text), 0, text.length);
  } finally {
    globalThis.Uint8Array = Real;
  }
  t.true(sizes.length > 0 && Math.max(...sizes) <= 1024, `${sizes}`);
});

const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ..."HTTP/1.1 200\r\n|\r\n|\n|\r|: |Content-Length|Transfer-Encoding: chunked|\t|;|0|5|f|close".split(
            "|",
          ),
        ),
        fc.constantFrom("HTTP/1.1 200 \r\n", "Content-Length: 5\r\n", "\r\n\r\n"),
        fc.string({ maxLength: 10 }),
      ),
      { maxLength: 40 },
    )
    .map((parts) => new Uint8Array(Buffer.from(parts.join("")))),
);

function readBy(reader: ResponseReader, pieces: readonly Uint8Array[]) {
  reader.expect(64);
  for (const piece of pieces) reader.feed(piece, 0, piece.length);
  reader.peerClosed();
  return {
    problem: reader.problem,
    answer: reader.answer && { ...reader.answer, body: [...reader.answer.body] },
  };
}

test("an answer means the same whatever came before it on the connection", (t) => {
  const whole = fc
    .constantFrom(...LAWFUL, ...UNLAWFUL)
    .map(({ bytes }) => new Uint8Array(Buffer.from(bytes)));
  const damaged = fc.tuple(whole, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    const changed = Uint8Array.from(bytes);
    if (changed.length > 0) changed[at % changed.length] = byte;
    return changed;
  });
  const answer = fc.oneof({ weight: 5, arbitrary: whole }, damaged, garbage);
  const cuts = fc.array(fc.nat(200), { maxLength: 2 });
  fc.assert(
    fc.property(fc.array(fc.tuple(answer, cuts), { minLength: 2, maxLength: 8 }), (answers) => {
      const reader = new ResponseReader({ decode });
      for (const [bytes, at] of answers) {
        const ends = [
          ...at.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other),
          bytes.length,
        ];
        const pieces = ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
        t.deepEqual(readBy(reader, pieces), readBy(new ResponseReader({ decode }), [bytes]));
      }
    }),
    { numRuns: 1500 },
  );
});

test("takes an answer before the request was fully sent, and closes the connection", async (t) => {
  const { host, connection } = rig({ writeBytes: 50, latencyMs: 10 });
  let sent = 0;
  host.net.onConnect = (peer: Peer) => {
    peer.onData = () => {
      if (peer.writes.length === 2) peer.send(answer(413, '"Payload size exceeds the limit of 65536 bytes"'));
    };
  };
  const outcome = await sendOn(host, connection, {
    ...POST,
    body: new Uint8Array(5000).fill(32),
    sent: () => sent++,
  });
  t.is(outcome.kind === "refused" && outcome.status, 413);
  t.is(sent, 0);
  await host.clock.advance(100);
  t.true(host.net.last.closed);
});

test("a request that was not fully sent is not confirmed by a 200", async (t) => {
  const { host, connection } = rig({ writeBytes: 50, latencyMs: 10 });
  host.net.onConnect = (peer: Peer) => {
    peer.onData = () => {
      if (peer.writes.length === 2) peer.send(answer(200));
    };
  };
  const outcome = await sendOn(host, connection, { ...POST, body: new Uint8Array(5000).fill(32) });
  isLost(t, outcome, "unlawful answer: before the request");
  await host.clock.advance(100);
  t.true(host.net.last.closed);
});

for (const [what, bytes, end, outcome] of [
  ["without length whose peer closed in good order is whole", "\r\n\r\n[1,2]", "end", "[1,2]"],
  ["without length whose connection broke is lost", "\r\n\r\n[1,2]", "reset", "connection reset"],
  [
    "cut before its length is lost",
    "\r\nContent-Length: 9\r\n\r\n[1,2]",
    "end",
    "connection closed by the peer",
  ],
  ["with an unlawful status line is lost", "x\r\n\r\n", undefined, "unlawful answer: bad status"],
] as const)
  test(`an answer ${what}, and ends the connection`, async (t) => {
    const { host, connection } = rig();
    serve(host.net, ({ peer }) => {
      peer.send(`HTTP/1.1 200${bytes}`);
      if (end) peer[end]();
    });
    const answered = await sendOn(host, connection, GET);
    if (outcome === "[1,2]") t.is(bodyOf(answered), outcome);
    else isLost(t, answered, outcome);
    await host.clock.advance(10);
    t.true(host.net.last.closed);
  });

test("a body beyond the limit is cut there, and the rest is not read", async (t) => {
  const { host, connection } = rig({ segmentBytes: 100 });
  serve(host.net, ({ peer }) => peer.send(answer(200, `"${"x".repeat(10_000)}"`)));
  const outcome = await sendOn(host, connection, { ...GET, limit: 10 });
  t.like(outcome, { kind: "done", whole: false });
  t.is(bodyOf(outcome), '"xxxxxxxxx');
  await host.clock.advance(10);
  t.true(host.net.last.closed);
});

test("an error with a text is refused though no byte of it is kept, and the sink hears nothing", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(500, "com.google.gson..."));
  const sink = { announced: () => t.fail() as never, fragment: () => t.fail() as never };
  t.is((await sendOn(host, connection, { ...GET, limit: 0, sink })).kind, "refused");
});

test("a sink that gives up, or throws, ends the exchange and the connection", async (t) => {
  const yes = () => true;
  const no = () => false;
  const fail = () => {
    throw new Error("no");
  };
  for (const sink of [
    { announced: no, fragment: yes },
    { announced: yes, fragment: no },
    { announced: fail, fragment: yes },
    { announced: yes, fragment: fail },
  ]) {
    const { host, connection } = rig();
    serve(host.net, (request) => request.reply(200, "abc"));
    isLost(t, await sendOn(host, connection, { ...GET, sink }), "given up");
    await host.clock.advance(10);
    t.true(host.net.last.closed);
  }
});

// What is read of an answer's head where a file is fetched.

type Seen = Pick<FileHead, "status" | "length" | "location" | "etag" | "from" | "total">;

/** The head and the body of an answer that comes in pieces of `step` bytes. */
function readHead(
  text: string,
  step: number,
  wants = true,
): { head: Seen | undefined; body: string; problem: string } {
  const reader = new ResponseReader({ decode });
  let head: Seen | undefined;
  let body = "";
  reader.expect(0, {
    head: ({ status, length, location, etag, from, total }) => {
      head = { status, length, location, etag, from, total };
      return wants;
    },
    announced: () => true,
    fragment: (bytes) => {
      body += Buffer.from(bytes).toString("latin1");
      return true;
    },
  });
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length && !reader.answer && !reader.problem; at += step)
    reader.feed(bytes, at, Math.min(at + step, bytes.length));
  return { head, body, problem: reader.problem };
}

test("the head of a file says where a part belongs and where a redirect leads, however it is cut", (t) => {
  const location = `https://files.test/${"x".repeat(2000)}?a=b`;
  const part =
    'HTTP/1.1 206 \r\nETag: "a-1"\r\ncontent-range: bytes 4-7/1000\r\nContent-Length: 4\r\n\r\nabcd';
  const redirect = `HTTP/1.1 302 \r\nLOCATION:  ${location} \r\nContent-Length: 3\r\n\r\nabc`;
  for (const step of [1, 7, 64, 5000]) {
    const { head, body } = readHead(part, step);
    t.deepEqual(head, { status: 206, length: 4, location: undefined, etag: '"a-1"', from: 4, total: 1000 });
    t.is(body, "abcd");
    t.like(readHead(redirect, step), {
      head: { status: 302, length: 3, location, etag: undefined },
      body: "",
    });
  }
});

test("what a head states wrongly is as good as not stated", (t) => {
  for (const line of [
    ...['ETag: W/"weak"', "ETag: bare", 'ETag: "a b"', `ETag: "${"x".repeat(80)}"`],
    ...["Location: /a\tb", `Location: /${"x".repeat(4000)}`],
    ...["Content-Range: bytes */1000", "Content-Range: items 0-1/2", "Content-Range: bytes 0-1"],
    "Content-Range: bytes -1-2/3x",
  ]) {
    const { head } = readHead(`HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 0\r\n\r\n`, 5000);
    t.like(head, { status: 200, length: 0, location: undefined, etag: undefined }, line);
    t.true(head!.from < 0 || head!.total < 0, line);
  }
});

test("a head that is not wanted ends the answer", (t) => {
  t.is(readHead("HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nabcd", 5000, false).problem, "given up");
});

test("an answer is done, refused, busy or lost by its status and its first byte", (t) => {
  const date = 1_700_000_000_000;
  const judged = (status: number, text: string, toSink = false, whole = true) =>
    classify(
      { status, body: Buffer.from(text), whole, date, retryAfterMs: 7, location: undefined, reusable: true },
      toSink ? "streamed" : "value",
    );
  const done = { kind: "done", status: 200, body: Buffer.from("{}"), whole: true, date } as const;
  t.deepEqual(judged(200, "{}"), done);
  t.like(judged(200, "[1", false, false), { kind: "done", whole: false });
  for (const json of ["", '{"a":1}', "[1]", ' \r\n\t"x"', "-1", "9", "true", "null"])
    t.is(judged(200, json).kind, "done", json);
  for (const other of ["<html>", "Welcome", " ", "a", "ok", "+1", "\ufeff{}"])
    t.deepEqual(judged(200, other), { kind: "lost", reason: "foreign answer" }, other);
  t.is(judged(200, "<html>", true).kind, "done", "to a sink anything may go");
  for (const [kind, text, statuses] of [
    ["done", "", [204]],
    ["lost", "{}", [201, 206, 301, 302, 304, 308, 511]],
    ["refused", "", [400, 401, 403, 404, 405, 406, 411, 413, 415, 422]],
    ["refused", "com.google.gson...", [500]],
    ["busy", "", [408, 429, 500, 501, 502, 503, 504, 505, 599]],
  ] as const)
    for (const status of statuses) t.is(judged(status, text).kind, kind, `${status}`);
  t.deepEqual(judged(503, "text"), { kind: "busy", status: 503, retryAfterMs: 7 });
  t.is(judged(500, "", false, false).kind, "refused", "a text of which nothing is kept");
});

const receipt = (status: number, body: string | Uint8Array, whole = true) =>
  classify(
    {
      ...{ status, body: Buffer.from(body), whole, date: undefined, retryAfterMs: undefined },
      location: undefined,
      reusable: true,
    },
    "receipt",
  );

test("any 2xx with an empty body, or a text that reports no error, is a delivery", (t) => {
  for (const status of [200, 201, 202, 203, 204, 206, 299])
    for (const body of [
      ...[
        "",
        "OK",
        "Accepté",
        '"saved"',
        "[1]",
        "null",
        "{}",
        '{"ok":true}',
        "\ufeff{}",
        " \r\n",
        "+1",
        "{half",
      ],
      ...['{"status":200}', '{"status":"SUCCESS"}', '[{"error":1}]', '{"a":{"error":1}}', "a < b"],
    ])
      t.is(receipt(status, body).kind, "done", `${status} ${body}`);
  t.is(receipt(201, Buffer.from("Accept\xe9", "latin1")).kind, "done");
  t.like(receipt(200, `{"a":"${"x".repeat(1000)}`, false), { kind: "done", whole: false });
});

test("a 2xx with a page, an error or no text delivers nothing, and the reason says why", (t) => {
  for (const [body, reason] of [
    ["<!DOCTYPE html>", "foreign answer: a web page"],
    [" \r\n<script>", "foreign answer: a web page"],
    ["\ufeff<html>", "foreign answer: a web page"],
    ['{"status":401,"message":"no"}', "the answer reports an error"],
    ['{"status":"503"}', "the answer reports an error"],
    ['{"error":"full","id":1}', "the answer reports an error"],
    ['{"a":1,"error":{}', "the answer reports an error"],
    ['{"status": 500,"message":"', "the answer reports an error"],
    [gzipSync("{}"), "foreign answer: not text"],
    [Uint8Array.of(1, 2, 3), "foreign answer: not text"],
  ] as const)
    for (const status of [200, 201, 202, 204])
      t.deepEqual(receipt(status, body), { kind: "lost", reason }, `${status} ${body}`);
  for (const status of [301, 304, 511]) t.is(receipt(status, "").kind, "lost");
  t.is(receipt(400, "").kind, "refused");
});

test("a redirect names its target, without path and user", (t) => {
  const redirected = (status: number, location: string) => {
    const reader = new ResponseReader({ decode });
    reader.expect(64);
    const bytes = Buffer.from(`HTTP/1.1 ${status}\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    reader.feed(bytes, 0, bytes.length);
    const outcome = classify(reader.answer!, "receipt");
    return outcome.kind === "lost" ? outcome.reason : outcome.kind;
  };
  for (const status of [301, 302, 307, 308])
    for (const path of ["", "/api/v1/TOKEN/telemetry", "?a", `/${"x".repeat(3000)}`])
      t.is(
        redirected(status, `https://Platform.example.com:8443${path}`),
        `redirected to https://Platform.example.com:8443 (status ${status}): set the base URL to it`,
      );
  for (const location of ["/login", "https://user:pw@host/", "ftp://host/", "https://", "https://h\u00f6st/"])
    t.is(redirected(301, location), "foreign answer (status 301)", location);
});

test("every second from 1970 to 9999 is read as it is written", (t) => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: last }), (seconds) => {
      const text = new Date(seconds * 1000).toUTCString();
      t.is(parseDate(text), seconds * 1000);
    }),
  );
  for (const text of [
    "Sun Nov  6 08:49:37 1994",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1969 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:60 GMT",
    "Mon, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 gmt",
    "Sun, 31 Feb 2027 08:49:37 GMT",
  ])
    t.is(parseDate(text), undefined, text);
});
