// Answers as the wire may bring them: made of the bytes of a real one, some lawful and seldom seen,
// some unlawful.
import type { FakeClock } from "../fakes/clock.js";
import type { Peer } from "../fakes/net.js";
import type { Dice } from "./dice.js";

export interface Blow {
  readonly peer: Peer;
  readonly dice: Dice;
  readonly clock: Pick<FakeClock, "timer">;
  /**
   * What is sent arrives in pieces: behind the answer, and behind the next request, which a device
   * with more to say sends at once.
   */
  readonly inPieces?: boolean;
  /** Sends an answer twice, as far as that can be judged. */
  readonly twice?: (answer: Uint8Array) => void;
}

type Spoil = (answer: Uint8Array, blow: Blow) => void;

const LENGTH = /^content-length:/i;
const utf8 = new TextEncoder();

interface Parts {
  /** The status line and the headers, without line ends. */
  readonly head: string[];
  readonly body: Buffer;
}

function partsOf(answer: Uint8Array): Parts {
  const bytes = Buffer.from(answer);
  const end = bytes.indexOf("\r\n\r\n");
  return { head: bytes.subarray(0, end).toString("latin1").split("\r\n"), body: bytes.subarray(end + 4) };
}

/** Sends an answer put together again, and closes if the platform would have. */
function send({ peer }: Blow, head: readonly string[], body: Uint8Array, lineEnd = "\r\n"): void {
  const lines = [...head, "", ""].join(lineEnd);
  peer.send(Buffer.concat([Buffer.from(lines, "latin1"), body]));
  if (head.includes("Connection: close")) peer.end();
}

/** With other lines in place of the content's length. */
function sendSized(answer: Uint8Array, blow: Blow, lines: (length: number) => string[]): void {
  const { head, body } = partsOf(answer);
  send(blow, [...head.filter((line) => !LENGTH.test(line)), ...lines(body.length)], body);
}

function chunks(body: Uint8Array, { dice }: Blow): string {
  let text = "";
  for (let at = 0; at < body.length; ) {
    const size = Math.min(body.length - at, dice.pick([1, 16, 200, 5000]));
    const piece = Buffer.from(body.subarray(at, at + size)).toString("latin1");
    text += `${size.toString(16)}${dice.chance(0.3) ? ";name=value" : ""}\r\n${piece}\r\n`;
    at += size;
  }
  return text;
}

function sendChunked(answer: Uint8Array, blow: Blow, end: (text: string) => string): void {
  const { head, body } = partsOf(answer);
  const lines = [...head.filter((line) => !LENGTH.test(line)), "Transfer-Encoding: chunked"];
  send(blow, lines, Buffer.from(end(chunks(body, blow)), "latin1"));
}

/** `pieces` one by one, `everyMs` apart, for as long as the device listens. */
export function drip({ peer, clock }: Blow, everyMs: number, next: () => Uint8Array | undefined): void {
  const step = () => {
    const piece = peer.closed ? undefined : next();
    if (!piece) return;
    peer.send(piece);
    clock.timer(everyMs, step);
  };
  step();
}

/** More bytes in one instant, to each of two polls, would be taken for a circle by the clock. */
const AT_ONCE = 20_000;

function byteByByte(answer: Uint8Array, blow: Blow): void {
  const closes = partsOf(answer).head.includes("Connection: close");
  let at = 0;
  const apartMs = blow.dice.pick([0, 1, 1, 200]);
  drip(blow, answer.length > AT_ONCE ? Math.max(1, apartMs) : apartMs, () => {
    if (at === answer.length && closes) blow.peer.end();
    return at < answer.length ? answer.subarray(at, ++at) : undefined;
  });
}

const upTo = (answer: Uint8Array, { dice }: Blow) => answer.subarray(0, dice.below(answer.length));

/** What becomes of the bytes of an answer, by name. */
export const SPOILED = {
  "reset at byte n": (answer, blow) => {
    blow.peer.send(upTo(answer, blow));
    blow.peer.reset();
  },
  "answer truncated": (answer, blow) => {
    blow.peer.send(upTo(answer, blow));
    blow.peer.end();
  },
  stalled: (answer, blow) => blow.peer.send(upTo(answer, blow)),
  "one byte at a time": byteByByte,
  "length too long": (answer, blow) => {
    sendSized(answer, blow, (length) => [`Content-Length: ${length + 1 + blow.dice.below(300)}`]);
    if (blow.dice.chance(0.5)) blow.peer.end();
  },
  "length too short": (answer, blow) =>
    sendSized(answer, blow, (length) => [`Content-Length: ${blow.dice.below(Math.max(1, length))}`]),
  "length wrong": (answer, blow) =>
    sendSized(answer, blow, (length) =>
      blow.dice.pick([
        [`Content-Length: ${length}`, `Content-Length: ${length + 1}`],
        ["Content-Length: -1"],
        ["Content-Length: 0x10"],
        [`Content-Length: ${"9".repeat(30)}`],
        [`Content-Length: ${length}`, "Transfer-Encoding: chunked"],
      ]),
    ),
  "length absent": (answer, blow) => {
    sendSized(answer, blow, () => []);
    blow.peer.end();
  },
  "length absent, no end": (answer, blow) => {
    const { head, body } = partsOf(answer);
    const kept = head.filter((line) => !LENGTH.test(line) && line !== "Connection: close");
    send(blow, kept, body);
  },
  chunked: (answer, blow) => sendChunked(answer, blow, (text) => `${text}0\r\n\r\n`),
  "chunk trailers": (answer, blow) =>
    sendChunked(answer, blow, (text) => `${text}0\r\nX-Sum: 1\r\nConnection: close\r\n\r\n`),
  "chunks truncated": (answer, blow) => {
    sendChunked(answer, blow, (text) => text.slice(0, blow.dice.below(text.length + 1)));
    if (blow.dice.chance(0.5)) blow.peer.end();
  },
  "chunks wrong": (answer, blow) =>
    sendChunked(
      answer,
      blow,
      (text) => blow.dice.pick(["ffffffffffff\r\n", "-1\r\n", "zz\r\n", "5 5\r\n", "\r\n"]) + text,
    ),
  "1xx": (answer, blow) => {
    blow.peer.send("HTTP/1.1 100 Continue\r\n\r\n");
    if (blow.dice.chance(0.5)) blow.peer.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    if (blow.dice.chance(0.1)) blow.peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n");
    const { head, body } = partsOf(answer);
    send(blow, head, body);
  },
  "LF only": (answer, blow) => {
    const { head, body } = partsOf(answer);
    send(blow, head, body, "\n");
  },
  "bare status line": (answer, blow) => {
    const [status = ""] = partsOf(answer).head;
    blow.peer.send(`${status.trim()}\r\n\r\n`);
    if (blow.dice.chance(0.7)) blow.peer.end();
  },
  "headers wrong": (answer, blow) => {
    const { head, body } = partsOf(answer);
    const [status = "", ...rest] = head;
    const wrong = blow.dice.pick([" folded: x", "Content-Length : 3", "no colon", "Transfer-Encoding: gzip"]);
    send(blow, [status, wrong, ...rest], body);
  },
  "status line wrong": (answer, blow) => {
    const { head, body } = partsOf(answer);
    const line = blow.dice.pick(["HTTP/2 200", "HTTP/1.1 99 ", "HTTP/1.1 2000", "ICY 200 OK", "HTTP/1.1"]);
    send(blow, [line, ...head.slice(1)], body);
  },
  "more than the answer": (answer, blow) => {
    const { head, body } = partsOf(answer);
    const picked = blow.dice.pick(["\r\n", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n{}", "garbage"]);
    // Behind the next request a whole answer is that request's: HTTP/1.1 has nothing else to go by.
    const more = utf8.encode(blow.inPieces && picked.startsWith("HTTP") ? "garbage" : picked);
    send(blow, head, Buffer.concat([body, more]));
  },
  late: (answer, blow) =>
    void blow.clock.timer(blow.dice.pick([500, 5000, 20_000]), () => blow.peer.send(answer)),
  reordered: (answer, blow) => void blow.clock.timer(blow.dice.below(3000), () => blow.peer.send(answer)),
  "twice the answer": (answer, blow) =>
    blow.twice ? blow.twice(answer) : blow.peer.send(Buffer.concat([answer, answer])),
  "answer lost": (_answer, blow) => blow.peer.reset(),
  "answer swallowed": () => {},
} satisfies Readonly<Record<string, Spoil>>;
