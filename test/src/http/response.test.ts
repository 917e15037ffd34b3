import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { decimal, hexDigit, isText, word } from "../../../src/http/bytes.js";
import { parseDate, parseUsualDate } from "../../../src/http/date.js";
import type { FileHead } from "../../../src/http/head.js";
import { classify, isSilence } from "../../../src/http/outcome.js";
import { ResponseReader } from "../../../src/http/response.js";
import type { Peer } from "../../fakes/net.js";
import { answer, serve } from "../../fakes/server.js";
import type { Lawful, Unlawful } from "./answers.js";
import { LAWFUL } from "./lawful.js";
import { bodyOf, GET, isLost, POST, rig, sendOn } from "./rig.js";
import { UNLAWFUL } from "./unlawful.js";

const LIMIT = 64;

/** What became of an answer that came in these pieces. */
function read(testCase: Lawful | Unlawful, pieces: Uint8Array[]): { reader: ResponseReader; rest: number } {
  const reader = new ResponseReader();
  reader.begin(testCase.limit ?? LIMIT);
  // As on a connection: one buffer, with what was there before still behind the new bytes.
  const buffer = new Uint8Array(9000).fill(0x0a);
  let rest = 0;
  for (const piece of pieces) {
    buffer.set(piece, 5);
    const end = 5 + piece.length;
    rest += end - reader.feed(buffer, 5, end);
  }
  if (testCase.end) reader.end();
  return { reader, rest };
}

function isLawful(t: ExecutionContext, testCase: Lawful, pieces: Uint8Array[], how: string): void {
  const { reader, rest } = read(testCase, pieces);
  const answer = reader.answer;
  const seen = { problem: reader.problem, ...answer, body: Buffer.from(answer?.body ?? []).toString() };
  const { status = 200, body = "[12]", whole = true, reusable = true, retryAfterMs, date } = testCase;
  t.deepEqual(
    seen,
    { problem: "", status, body, whole, reusable, retryAfterMs, date },
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

test("a reader takes one answer after the other, and forgets the one before", (t) => {
  const reader = new ResponseReader();
  const feed = (text: string) => reader.feed(Buffer.from(text), 0, text.length);
  reader.begin(LIMIT);
  t.false(reader.started);
  feed(
    "HTTP/1.1 503\r\nConnection: close\r\nRetry-After: 3\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 1\r\n\r\nx",
  );
  t.true(reader.started);
  const first = reader.answer;
  reader.begin(LIMIT);
  t.is(reader.answer, undefined);
  t.false(reader.started);
  feed("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\ny");
  t.like(reader.answer, { status: 200, reusable: true, retryAfterMs: undefined, date: undefined });
  t.is(Buffer.from(first?.body ?? []).toString(), "x");
  reader.begin(LIMIT);
  feed("nonsense\n");
  reader.begin(LIMIT);
  t.is(reader.problem, "");
});

test("the reader stops where the answer ends", (t) => {
  const reader = new ResponseReader();
  const text = "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1";
  reader.begin(LIMIT);
  t.is(reader.feed(Buffer.from(text), 0, text.length), text.length - 8);
  t.is(reader.feed(Buffer.from(text), 0, text.length), 0);
});

test("a sink gets a 200 in fragments, and the length if there is one", (t) => {
  const isWhole = ({ status = 200, limit }: Lawful) => status === 200 && limit === undefined;
  for (const { bytes, body = "[12]" } of LAWFUL.filter(isWhole)) {
    inEveryCut(bytes, (pieces) => {
      const got: Buffer[] = [];
      const begun: (number | undefined)[] = [];
      const reader = new ResponseReader();
      reader.begin(0, {
        begin: (length) => begun.push(length) > 0,
        fragment: (fragment) => got.push(Buffer.from(fragment)) > 0,
      });
      for (const piece of pieces) reader.feed(piece, 0, piece.length);
      reader.end();
      t.is(Buffer.concat(got).toString(), body);
      t.is(begun.length, 1);
      t.true(begun[0] === undefined || begun[0] === body.length);
      t.like(reader.answer, { whole: true });
      t.is(reader.answer?.body.length, 0);
    });
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
    const reader = new ResponseReader();
    reader.begin(1_000_000);
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

test("garbage never throws, keeps no more than the limit, and means the same however it is cut", (t) => {
  const limit = 16;
  const result = (pieces: Uint8Array[]) => {
    const reader = new ResponseReader();
    reader.begin(limit);
    for (const piece of pieces) reader.feed(piece, 0, piece.length);
    reader.end();
    return {
      problem: reader.problem,
      answer: reader.answer && { ...reader.answer, body: [...reader.answer.body] },
    };
  };
  // fast-check prints the seed of a run that fails.
  fc.assert(
    fc.property(garbage, fc.array(fc.nat(40), { maxLength: 20 }), (bytes, cuts) => {
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      pieces.push(bytes.subarray(at));
      const whole = result([bytes]);
      t.deepEqual(result(pieces), whole);
      t.true((whole.answer?.body.length ?? 0) <= limit);
    }),
    { numRuns: 3000 },
  );
});

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
};

function readBy(
  reader: ResponseReader,
  pieces: readonly Uint8Array[],
  host?: { decode(bytes: Uint8Array): string | undefined },
) {
  reader.begin(64, undefined, host);
  for (const piece of pieces) reader.feed(piece, 0, piece.length);
  reader.end();
  return {
    problem: reader.problem,
    answer: reader.answer && { ...reader.answer, body: [...reader.answer.body] },
  };
}

const dated = (at: string, length: number): string =>
  `HTTP/1.1 200 \r\nVary: Origin\r\nContent-Length: ${length}\r\nDate: ${at}\r\nConnection: keep-alive\r\n\r\n[12]`;
const DATES = [
  "Sun, 06 Nov 1994 08:49:37 GMT",
  "Sun, 06 Nov 1994 08:49:38 GMT",
  "Sun, 06 Nox 1994 08:49:38 GMT",
  "Sun, 06 Nov\r\n994 08:49:38 GMT",
  "\n\r\n, 06 Nov 1994 08:49:38 GMT",
  "Su\n, 06 Nov 1994 08:49:38 GMT",
  "Sun, 06 Nov 1994 08:49:38 GMT\r\nX: y",
  "1",
];

test("an answer means the same whatever came before it on the connection, also with the head of the one before", (t) => {
  const known = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...DATES), fc.constantFrom(4, 4, 4, 3))
        .map(([at, length]) => dated(at, length)),
    },
    fc.constantFrom(...LAWFUL, ...UNLAWFUL).map(({ bytes }) => bytes),
    fc.constantFrom("HTTP/1.1 100 Continue\r\n\r\n").map((text) => text + dated(DATES[0]!, 4)),
    fc
      .constantFrom("\u00fc", "\ufeff", "\u0000")
      .map((text) => `HTTP/1.1 200 ${text}\r\nContent-Length: 4\r\n\r\n[12]`),
  );
  const whole = known.map((text) => new Uint8Array(Buffer.from(text)));
  const damaged = fc.tuple(whole, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    const changed = Uint8Array.from(bytes);
    if (changed.length > 0) changed[at % changed.length] = byte;
    return changed;
  });
  const answer = fc.oneof({ weight: 5, arbitrary: whole }, damaged, garbage);
  const cuts = fc.oneof(
    { weight: 3, arbitrary: fc.constant([] as number[]) },
    fc.array(fc.nat(200), { maxLength: 2 }),
  );
  let same = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(answer, cuts), { minLength: 2, maxLength: 8 }), (answers) => {
      let decoded = 0;
      const reader = new ResponseReader();
      const host = {
        decode: (bytes: Uint8Array) => {
          decoded++;
          return decode(bytes);
        },
      };
      for (const [bytes, at] of answers) {
        const ends = [
          ...at.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other),
          bytes.length,
        ];
        const pieces = ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
        const before = decoded;
        t.deepEqual(readBy(reader, pieces, host), readBy(new ResponseReader(), pieces));
        if (decoded === before + 1) same++;
      }
    }),
    { numRuns: 1500 },
  );
  t.true(same > 100, `${same}`);
});

test("a head that came before is not read line by line again, whatever its date", (t) => {
  const texts: string[] = [];
  const reader = new ResponseReader();
  const host = {
    decode: (bytes: Uint8Array) => {
      texts.push(decode(bytes) ?? "");
      return texts.at(-1);
    },
  };
  const seconds = [0, 1, 0, 0, 1];
  for (const second of seconds) {
    const { answer } = readBy(reader, [Buffer.from(dated(DATES[second]!, 4))], host);
    t.like(answer, { status: 200, date: Date.UTC(1994, 10, 6, 8, 49, 37 + second), reusable: true });
  }
  // Once to note it, then once to see that it is the same.
  t.is(texts.length, seconds.length);
});

test("an answer that comes before the request was fully sent is taken, and the connection is not used again", async (t) => {
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

test("an early answer counts even if the connection breaks right after it", async (t) => {
  const { host, connection } = rig({ writeBytes: 50, latencyMs: 10, readBytes: 3 });
  host.net.onConnect = (peer: Peer) => {
    peer.onData = () => {
      peer.onData = undefined;
      peer.send(answer(413));
      peer.reset();
    };
  };
  const outcome = await sendOn(host, connection, { ...POST, body: new Uint8Array(5000) });
  t.is(outcome.kind, "refused");
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
  ["with an unlawful status line is lost", "x\r\n", undefined, "unlawful answer: bad status"],
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
  const sink = { begin: () => t.fail() as never, fragment: () => t.fail() as never };
  t.is((await sendOn(host, connection, { ...GET, limit: 0, sink })).kind, "refused");
});

test("a sink that gives up, or throws, ends the exchange and the connection", async (t) => {
  const yes = () => true;
  const no = () => false;
  const fail = () => {
    throw new Error("no");
  };
  for (const sink of [
    { begin: no, fragment: yes },
    { begin: yes, fragment: no },
    { begin: fail, fragment: yes },
    { begin: yes, fragment: fail },
  ]) {
    const { host, connection } = rig();
    serve(host.net, (request) => request.reply(200, "abc"));
    isLost(t, await sendOn(host, connection, { ...GET, sink }), "given up");
    await host.clock.advance(10);
    t.true(host.net.last.closed);
  }
});

const of = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

// What is read of an answer's head where a file is fetched.

type Seen = Pick<FileHead, "status" | "length" | "location" | "etag" | "from" | "total">;

/** The head and the body of an answer that comes in pieces of `step` bytes. */
function readHead(
  text: string,
  step: number,
  wants = true,
): { head: Seen | undefined; body: string; problem: string } {
  const reader = new ResponseReader();
  let head: Seen | undefined;
  let body = "";
  reader.begin(0, {
    head: ({ status, length, location, etag, from, total }) => {
      head = { status, length, location, etag, from, total };
      return wants;
    },
    begin: () => true,
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

const NOTHING = { location: undefined, etag: undefined, from: -1, total: -1 };

for (const step of [1, 7, 64, 5000]) {
  test(`a part of a file says where it belongs, in pieces of ${step}`, (t) => {
    const text =
      'HTTP/1.1 206 \r\nETag: "a-1"\r\ncontent-range: bytes 4-7/1000\r\nContent-Length: 4\r\n\r\nabcd';
    const { head, body } = readHead(text, step);
    t.deepEqual(head, { status: 206, length: 4, location: undefined, etag: '"a-1"', from: 4, total: 1000 });
    t.is(body, "abcd");
  });

  test(`a long address is read whole, in pieces of ${step}`, (t) => {
    const location = `https://files.test/${"x".repeat(2000)}?a=b`;
    const { head, body } = readHead(
      `HTTP/1.1 302 \r\nLOCATION:  ${location} \r\nContent-Length: 3\r\n\r\nabc`,
      step,
    );
    t.deepEqual(head, { ...NOTHING, status: 302, length: 3, location });
    t.is(body, "", "the body of a redirect is no file");
  });
}

test("what a head states wrongly is as good as not stated", (t) => {
  for (const line of [
    'ETag: W/"weak"',
    "ETag: bare",
    'ETag: "a b"',
    `ETag: "${"x".repeat(80)}"`,
    "Location: /a b",
    "Location: /\u00e9",
    `Location: /${"x".repeat(3000)}`,
    "Content-Range: bytes */1000",
    "Content-Range: items 0-1/2",
    "Content-Range: bytes 0-1",
    "Content-Range: bytes -1-2/3x",
  ]) {
    const { head } = readHead(`HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 0\r\n\r\n`, 5000);
    const { from = 0, total = 0 } = head ?? {};
    t.deepEqual(
      { ...head, from: 0, total: 0 },
      { ...NOTHING, status: 200, length: 0, from: 0, total: 0 },
      line,
    );
    t.true(from < 0 || total < 0, line);
  }
});

test("a head that is not wanted ends the answer, and one that throws too", (t) => {
  t.is(readHead("HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nabcd", 5000, false).problem, "given up");
  const reader = new ResponseReader();
  const head = (): boolean => {
    throw new Error("x");
  };
  reader.begin(0, { head, begin: () => true, fragment: () => true });
  const bytes = Buffer.from("HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nabcd");
  reader.feed(bytes, 0, bytes.length);
  t.is(reader.problem, "given up");
});

test("of the answers of one connection each has a head of its own", (t) => {
  const reader = new ResponseReader();
  const seen: (string | undefined)[] = [];
  for (const line of ['ETag: "1"\r\n', ""]) {
    const head = (file: FileHead): boolean => seen.push(file.etag) > 0;
    reader.begin(0, { head, begin: () => true, fragment: () => true });
    const bytes = Buffer.from(`HTTP/1.1 200 \r\n${line}Content-Length: 0\r\n\r\n`);
    reader.feed(bytes, 0, bytes.length);
    t.truthy(reader.answer);
  }
  t.deepEqual(seen, ['"1"', undefined]);
});

const answered = (status: number, body = "", whole = true) => ({
  status,
  body: Buffer.from(body),
  whole,
  date: 1_700_000_000_000,
  retryAfterMs: 7,
  reusable: true,
});
const kind = (status: number, body = "", whole = true) => classify(answered(status, body, whole), false).kind;

test("200 and 204 are done", (t) => {
  t.deepEqual(classify(answered(200, "{}"), false), {
    kind: "done",
    status: 200,
    body: Buffer.from("{}"),
    whole: true,
    date: 1_700_000_000_000,
  });
  t.like(classify(answered(200, "[1", false), false), { kind: "done", whole: false });
  t.is(kind(200), "done");
  t.is(kind(204), "done");
});

test("a 200 that is no JSON is not the platform's", (t) => {
  for (const json of ['{"a":1}', "[1]", ' \r\n\t"x"', "-1", "0", "9", "true", "false", "null", "t"])
    t.is(kind(200, json), "done", json);
  for (const other of ["<html>", "Welcome", " ", "this way", "never", "False", "+1", "\ufeff{}"]) {
    t.deepEqual(classify(answered(200, other), false), { kind: "lost", reason: "foreign answer" }, other);
  }
  t.is(classify(answered(200, "<html>"), true).kind, "done", "to a sink anything may go");
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
    t.deepEqual(classify(answered(status, "text"), false), { kind: "busy", status, retryAfterMs: 7 });
  }
  t.is(kind(500), "busy");
});

test("silence is distinguished from other losses", (t) => {
  t.true(isSilence({ kind: "lost", reason: "no answer in time" }));
  t.false(isSilence({ kind: "lost", reason: "no connection in time" }));
  t.false(isSilence({ kind: "busy", status: 408, retryAfterMs: undefined }));
});

// Short ASCII texts, read where they lie.

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

test("a word is found whatever the case of its letters, and no other byte has a case", (t) => {
  for (const one of ASCII)
    for (const other of ASCII) {
      const wanted = other.toLowerCase();
      const bytes = of(`x${one}x`);
      t.is(
        isText(bytes, 1, 2, word(wanted)),
        one === wanted || one.toLowerCase() === wanted,
        `${one} ${wanted}`,
      );
    }
  t.true(isText(of("--Keep-ALIVE--"), 2, 12, word("keep-alive")));
  for (const [from, to] of [
    [2, 11],
    [3, 12],
    [2, 13],
  ] as const)
    t.false(isText(of("--keep-alive--"), from, to, word("keep-alive")));
});

test("a decimal number has 1 to 15 digits and nothing else", (t) => {
  for (const [text, value] of [
    ["0", 0],
    ["9", 9],
    ["0042", 42],
    ["999999999999999", 999_999_999_999_999],
    ["1000000000000000", -1],
    ["", -1],
    ["/", -1],
    [":", -1],
    ["1a", -1],
    [" 1", -1],
    ["-1", -1],
  ] as const)
    t.is(decimal(of(text), 0, text.length), value, text);
  t.is(decimal(of("12345"), 1, 3), 23);
  t.is(decimal(of("12345"), 3, 3), -1);
});

test("a hexadecimal digit has its value, and no other byte has one", (t) => {
  for (let byte = 0; byte < 256; byte++) {
    const digit = String.fromCharCode(byte);
    t.is(hexDigit(byte), /^[0-9a-fA-F]$/.test(digit) ? Number.parseInt(digit, 16) : -1, digit);
  }
});

const parse = (text: string) => {
  const bytes = Buffer.from(`..${text}..`);
  return parseDate(bytes, 2, bytes.length - 2);
};

test("every second from 1970 to 9999 is read as it is written", (t) => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: last }), (seconds) => {
      const text = new Date(seconds * 1000).toUTCString();
      t.is(parse(text), seconds * 1000);
      t.is(parseUsualDate(text), seconds * 1000);
    }),
  );
  t.is(parse("Sun, 06 Nov 1994 08:49:37 GMT"), 784_111_777_000);
  t.is(parse("Thu, 29 Feb 2024 00:00:00 GMT"), Date.UTC(2024, 1, 29));
  t.is(parse("Sat, 31 Dec 2016 23:59:60 GMT"), Date.UTC(2017, 0, 1));
});

test("what is no such date is undefined", (t) => {
  for (const text of [
    "",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 +0100",
    "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 29 Feb 2023 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nox 1994 08:49:37 GMT",
    "Sun, 06 Nov 1969 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 1994 08-49-37 GMT",
    "Sun, 06 Nov -994 08:49:37 GMT",
  ])
    t.is(parse(text), undefined, text);
});

test("a text is read as its bytes are, or not at all", (t) => {
  for (const text of [
    "",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Mon, 06 Nov 1994 08:49:37 GMT",
    "sun, 06 nov 1994 08:49:37 gmt",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Thu, 06 Nov 1969 08:49:37 GMT",
    "Sat, 31 Dec 2016 23:59:60 GMT",
    "1994-11-06T08:49:37Z",
    "784111777000",
  ])
    t.true([undefined, parse(text)].includes(parseUsualDate(text)), text);
});
