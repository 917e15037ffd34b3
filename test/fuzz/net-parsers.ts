// The answers of a connection as bytes, base URLs, dates.

import { decode } from "../../hosts/node/text.js";
import { parseDate } from "../../src/http/date.js";
import { classify } from "../../src/http/outcome.js";
import { type Answer, ResponseReader } from "../../src/http/response.js";
import { isLoopback, parseTarget } from "../../src/http/target.js";
import { LAWFUL } from "../src/http/answers.js";
import { must, ofText, type Parser, whole } from "./parser.js";

const LIMIT = 64;
/** As a connection reads: into one buffer, over what was there before. */
const BUFFER = 2048;

interface Read {
  readonly answer: Answer | undefined;
  readonly problem: string;
}

function feed(pieces: readonly Uint8Array[], reader: ResponseReader): Read {
  const buffer = new Uint8Array(BUFFER + 7).fill(0x0a);
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += BUFFER) {
      const part = piece.subarray(from, from + BUFFER);
      buffer.set(part, 7);
      const end = 7 + part.length;
      const at = reader.feed(buffer, 7, end);
      must(
        at === end || reader.answer !== undefined || reader.problem !== "",
        "it stops only where it is over",
      );
      must(reader.answer === undefined || reader.problem === "", "an answer has no problem");
    }
  }
  const before = reader.answer;
  reader.peerClosed();
  must(before === undefined || before === reader.answer, "an answer is not replaced by the end");
  return { answer: reader.answer, problem: reader.problem };
}

function kept(pieces: readonly Uint8Array[]): Read {
  const reader = new ResponseReader({ decode });
  reader.expect(LIMIT);
  const read = feed(pieces, reader);
  must((read.answer?.body.length ?? 0) <= LIMIT, "no more is kept than was wanted");
  must(read.answer?.whole !== false || !read.answer.reusable, "what is left unread ends the connection");
  return read;
}

/** The same into a sink: what was kept is the beginning of what the sink got. */
function streamed(pieces: readonly Uint8Array[], kept: Read): [Read, number] {
  const reader = new ResponseReader({ decode });
  let [bytes, begun] = [0, 0];
  let start = Buffer.alloc(0);
  reader.expect(LIMIT, {
    announced: () => ++begun === 1,
    fragment: (fragment) => {
      bytes += fragment.length;
      if (start.length < LIMIT) start = Buffer.concat([start, fragment.subarray(0, LIMIT)]);
      return true;
    },
  });
  const read = feed(pieces, reader);
  must(begun <= 1, "a sink begins once");
  if (kept.answer?.status !== 200) return [read, 0];
  const { body } = kept.answer;
  must(begun === 1 && Buffer.from(body).equals(start.subarray(0, body.length)), "a sink gets the body");
  must(!read.answer || !kept.answer.whole || bytes === body.length, "a sink gets all of it");
  return [read, read.answer ? bytes : 0];
}

const plain = ({ answer, problem }: Read) => ({
  problem,
  ...answer,
  body: Buffer.from(answer?.body ?? []).toString("hex"),
});

const HTTP: Parser = {
  name: "http",
  documents: LAWFUL.filter(({ bytes }) => bytes.length < 2000).map(({ bytes }) => Buffer.from(bytes)),
  incremental: true,
  read: (pieces) => {
    const one = kept(pieces);
    const [other, bytes] = streamed(pieces, one);
    const outcomes = one.answer
      ? (["value", "receipt", "streamed"] as const).map((use) => classify(one.answer!, use))
      : [];
    return [plain(one), plain(other), bytes, outcomes.map(({ kind }) => kind)];
  },
};

const DATE: Parser = {
  name: "date",
  documents: ["Sun, 06 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2024 23:59:59 GMT"].map((text) =>
    Buffer.from(text),
  ),
  read: (pieces) => {
    const text = Buffer.from(whole(pieces)).toString("latin1");
    const ms = parseDate(text);
    if (ms === undefined) return undefined;
    must(new Date(ms).toUTCString() === text, "a date is the date that is written");
    return ms;
  },
};

const URLS = [
  "https://platform.example.com",
  "http://127.0.0.1:8080/thingsboard/",
  "http://[::1]:9090/a%20b/c",
  "HTTPS://Name-1.local:443",
];

function readTarget(text: string): unknown {
  const parsed = parseTarget(text);
  if (!parsed.ok) {
    must(parsed.reason.length < 100, "a reason quotes nothing");
    return parsed;
  }
  const { name, port, prefix, authority } = parsed.target;
  must(port >= 1 && port <= 65_535, "a port is one");
  must(
    /^[!-~]+$/.test(name) && /^[!-~]*$/.test(prefix) && /^[!-~]+$/.test(authority),
    "nothing ends the request's line",
  );
  return [parsed, isLoopback(parsed.target)];
}

export const NET_PARSERS: readonly Parser[] = [HTTP, DATE, ofText("target", URLS, readTarget)];
