import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { ResponseReader } from "../../../src/http/response.js";
import type { Lawful, Unlawful } from "./answers.js";
import { LAWFUL } from "./lawful.js";
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
  const { status, body = "", whole = true, reusable = true, retryAfterMs, date } = testCase;
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
  for (const { bytes, body } of LAWFUL.filter(({ status, limit }) => status === 200 && limit === undefined)) {
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
      t.is(Buffer.concat(got).toString(), body ?? "");
      t.is(begun.length, 1);
      t.true(begun[0] === undefined || begun[0] === (body ?? "").length);
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
