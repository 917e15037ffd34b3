// Time in proportion to size: documents that are made to be slow, in two sizes. What is quadratic
// takes 64 times the time for 8 times the bytes.
import test from "ava";
import { PARSERS } from "./documents.js";

const SMALL = 4096;
const TIMES = 8;
/** Time in proportion would be 8 times; timers and collections take their part. */
const MOST = 24;
/** Less is noise of the clock. */
const LEAST_MS = 0.5;
const RUNS = 3;

/** A document of about `size` bytes: a beginning, a piece over and over, an end. */
type Shape = readonly [begin: string, piece: string, end: string];

const SHAPES: { readonly [name: string]: Shape } = {
  brackets: ["", "[", ""],
  "brackets that close": ["", "[]", ""],
  "objects in each other": ["", '{"a":', ""],
  "items of an array": ["[", "1,", "1]"],
  members: ["{", '"a":1,', '"b":2}'],
  quotes: ["", '"', ""],
  backslashes: ['{"id":"', "\\", ""],
  "escaped code units": ['["', "\\ud800", '"]'],
  "a long text": ['{"method":"', "x", '","id":1}'],
  "a long name": ['{"', "n", '":1,"id":1}'],
  "a long number": ['{"id":', "9", "}"],
  blanks: ["", " ", "{}"],
  "bytes that are no UTF-8": ["", "\u00ff", ""],
  "code points of four bytes": ['{"a":"', "😀", '"}'],
  commas: ["", ",", ""],
  slashes: ["http://a", "/b", "/"],
  "percent signs": ["http://a/", "%20", "b"],
  colons: ["http://[", ":", "]"],
  "a head without end": ["HTTP/1.1 200 OK\r\n", "X: 1\r\n", "\r\n"],
  "a line without end": ["HTTP/1.1 200 OK\r\nX: ", "y", "\r\n\r\n"],
  "chunks of one byte": ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", "0\r\n\r\n"],
  "interim answers": ["", "HTTP/1.1 100\r\n\r\n", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"],
  "a body": ["HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "z", ""],
};

function documentOf([begin, piece, end]: Shape, size: number): Uint8Array {
  const latin = piece === "\u00ff";
  const bytes = Buffer.from(piece, latin ? "latin1" : "utf8");
  const middle = Buffer.alloc(Math.floor(size / bytes.length) * bytes.length, bytes);
  return Buffer.concat([Buffer.from(begin), middle, Buffer.from(end)]);
}

/** Of this process's own: what else the machine does is not counted. */
function cpuMsOf(read: () => unknown): number {
  const began = process.cpuUsage().user;
  read();
  return (process.cpuUsage().user - began) / 1000;
}

/** The least of some runs: collections and the like only add. */
function leastOf(read: () => unknown): number {
  return Math.min(...Array.from({ length: RUNS }, () => cpuMsOf(read)));
}

for (const parser of PARSERS) {
  test.serial(
    `${parser.name}: eight times the bytes take no more than in proportion, whatever they are`,
    (t) => {
      for (const [name, shape] of Object.entries(SHAPES)) {
        const [small, large] = [documentOf(shape, SMALL), documentOf(shape, SMALL * TIMES)];
        const cut = (bytes: Uint8Array) =>
          parser.incremental ? Array.from(bytes, (byte) => Uint8Array.of(byte)) : [bytes];
        const [few, many] = [cut(small), cut(large)];
        const ratio = () =>
          leastOf(() => parser.read(many)) /
          Math.max(
            LEAST_MS,
            leastOf(() => parser.read(few)),
          );
        const first = ratio();
        const found = first < MOST ? first : Math.min(first, ratio(), ratio(), ratio());
        t.true(found < MOST, `${name}: ${found.toFixed(1)} times`);
      }
    },
  );
}
