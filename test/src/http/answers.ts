// Answers of servers, each with what the reader is to make of it: lawful ones, and those that are
// refused or never over.

/** `end`: the peer closes in good order behind it. `limit`: default 64. */
export interface Base {
  readonly name: string;
  readonly bytes: string;
  readonly end?: true;
  readonly limit?: number;
}

export interface Lawful extends Base {
  /** Default 200. */
  readonly status?: number;
  /** Default "[12]". */
  readonly body?: string;
  /** Default true. */
  readonly whole?: boolean;
  /** Default true. */
  readonly reusable?: boolean;
  readonly retryAfterMs?: number;
  readonly date?: number;
}

export interface Unlawful extends Base {
  /** Empty: it is not over, more would have to come. */
  readonly problem: string;
}

export const OK = "HTTP/1.1 200 OK\r\n";
export const BODY = "Content-Length: 4\r\n\r\n[12]";
export const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

const DATE = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
const THEN = Date.UTC(1994, 10, 6, 8, 49, 37);

export const LAWFUL: readonly Lawful[] = [
  { name: "with length", bytes: `${OK}${BODY}` },
  { name: "no reason phrase", bytes: `HTTP/1.1 200 \r\n${BODY}` },
  { name: "bare status line", bytes: `HTTP/1.1 200\r\n${BODY}` },
  { name: "reason of 300 bytes", bytes: `HTTP/1.1 200 ${"x".repeat(300)}\r\n${BODY}` },
  {
    name: "a date and a length of 0",
    bytes: `${OK}${DATE}Content-Length: 0\r\n\r\n`,
    date: THEN,
    body: "",
  },
  { name: "LF alone", bytes: "HTTP/1.1 200 OK\nContent-Length: 4\n\n[12]" },
  { name: "names in any case", bytes: `${OK}cONTENT-lENGTH:4\r\n\r\n[12]` },
  { name: "blanks around a value", bytes: `${OK}Content-Length: \t 4\t \r\n\r\n[12]` },
  { name: "lengths that agree", bytes: `${OK}Content-Length: 4\r\n${BODY}` },
  { name: "a list of equal lengths", bytes: `${OK}Content-Length: 4, 4 ,04\r\n\r\n[12]` },
  { name: "a folded header", bytes: `${OK}Via: 1.1 a\r\n\t1.1 b\r\n \r\n${BODY}` },
  { name: "a folded length", bytes: `${OK}Content-Length:\r\n 4,\r\n\t4\r\n\r\n[12]` },
  { name: "a folded coding", bytes: `${OK}Transfer-Encoding:\r\n chunked\r\n\r\n4\r\n[12]\r\n0\r\n\r\n` },
  { name: "a folded close", bytes: `${OK}Connection: a,\r\n close\r\n${BODY}`, reusable: false },
  { name: "a folded date", bytes: `${OK}Date:\r\n ${DATE.slice(6)}${BODY}`, date: THEN },
  { name: "a length in a folded line", bytes: `${OK}X: 1\r\n Content-Length: 3\r\n${BODY}` },
  { name: "length with zeros", bytes: `${OK}Content-Length: 0004\r\n\r\n[12]` },
  { name: "empty header", bytes: `${OK}X-Empty:\r\n${BODY}` },
  { name: "a name of 200 bytes", bytes: `${OK}${"n".repeat(200)}: 4\r\n${BODY}` },
  { name: "100 headers", bytes: `${OK}${"a:\r\n".repeat(99)}${BODY}` },
  { name: "long header", bytes: `${OK}X-Long: ${"y".repeat(1000)}\r\n${BODY}` },

  { name: "204", bytes: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, reusable: false, body: "" },
  { name: "after 100", bytes: `HTTP/1.1 100 Continue\r\n\r\n${OK}${BODY}` },

  { name: "chunks", bytes: `${CHUNKED}2\r\n[1\r\n2\r\n2]\r\n0\r\n\r\n` },
  {
    name: "chunk sizes",
    bytes: `${CHUNKED}0000a\r\n0123456789\r\nB\r\n01234567890\r\n000\r\n\r\n`,
    body: "012345678901234567890",
  },
  { name: "chunk extensions", bytes: `${CHUNKED}4;a=1;b="\t"\r\n[12]\r\n0 ;c\r\n\r\n` },
  { name: "a chunk extension of 600 bytes", bytes: `${CHUNKED}4;${"e".repeat(600)}\r\n[12]\r\n0\r\n\r\n` },
  { name: "trailers", bytes: `${CHUNKED}4\r\n[12]\r\n0\r\nX-Sum: 1\r\nContent-Length: 77\r\n\r\n` },
  { name: "chunks with LF alone", bytes: `${CHUNKED}4\n[12]\n0\n\n` },

  { name: "until the end", bytes: `${OK}\r\n[12]`, end: true, reusable: false },
  { name: "HTTP/1.0", bytes: `HTTP/1.0 200 OK\r\n${BODY}`, reusable: false },
  { name: "HTTP/1.0 kept", bytes: `HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n${BODY}` },
  { name: "to be closed", bytes: `${OK}Connection: close\r\n${BODY}`, reusable: false },
  { name: "to be closed, in a list", bytes: `${OK}connection: a,\tCLOSE , b\r\n${BODY}`, reusable: false },
  {
    name: "close beats keep-alive",
    bytes: `${OK}Connection: keep-alive\r\nConnection: close\r\n${BODY}`,
    reusable: false,
  },
  { name: "no close in a name", bytes: `${OK}Connection: closed\r\n${BODY}` },

  { name: "beyond the limit", bytes: `${OK}${BODY}`, limit: 3, body: "[12", whole: false, reusable: false },
  { name: "limit 0", bytes: `${OK}${BODY}`, limit: 0, whole: false, reusable: false, body: "" },
  { name: "chunks just the limit", bytes: `${CHUNKED}4\r\n[12]\r\n0\r\n\r\n`, limit: 4 },
  {
    name: "chunks beyond the limit",
    bytes: `${CHUNKED}3\r\n[12\r\n3\r\n345\r\n`,
    limit: 5,
    body: "[1234",
    whole: false,
    reusable: false,
  },

  ...(
    [
      ["in seconds", "Retry-After: 7\r\n", 7000],
      ["for ever", "Retry-After: 999999999\r\n", 3_600_000],
      ["of words", "Retry-After: soon\r\n", undefined],
      ["by date", `Retry-After: Sun, 06 Nov 1994 08:50:00 GMT\r\n${DATE}`, 23_000],
      ["in the past", `${DATE}Retry-After: Sun, 06 Nov 1994 08:00:00 GMT\r\n`, 0],
      ["by date without a Date", "Retry-After: Sun, 06 Nov 1994 08:50:00 GMT\r\n", undefined],
    ] as const
  ).map(([how, lines, retryAfterMs]) => ({
    name: `Retry-After ${how}`,
    bytes: `HTTP/1.1 503\r\n${lines}Content-Length: 0\r\n\r\n`,
    status: 503,
    body: "",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(lines.includes(DATE) && { date: THEN }),
  })),
];

const LONG = "x".repeat(8200);

/** What is wrong with each; nothing: it is never over, more would have to come. */
const WRONG = [
  ["not HTTP/1", "not HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
  ["not HTTP/1", "an empty line first", `\r\n${OK}${BODY}`],
  ["not HTTP/1", "HTTP/2", "HTTP/2.0 200 OK\r\n\r\n"],
  ["bad status", "four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["bad status", "letters", "HTTP/1.1 2x0 OK\r\n\r\n"],
  ["bad status", "status 600", "HTTP/1.1 600 OK\r\n\r\n"],
  ["protocol switched", "101", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["too many headers", "2,600 headers of three bytes", `${OK}${"a:\n".repeat(2600)}${BODY}`],
  ["bad header", "no colon", `${OK}Content-Length 4\r\n\r\n[12]`],
  ["bad header", "a blank before the colon", `${OK}Content-Length : 4\r\n\r\n[12]`],
  ["folded header", "folded before the first header", `${OK} Content-Length: 4\r\n\r\n[12]`],
  ["bad Content-Length", "a length split by a fold", `${OK}Content-Length: 4\r\n 2\r\n\r\n[12]`],
  ["bad Content-Length", "a list that ends with a comma", `${OK}Content-Length: 4,\r\n\r\n[12]`],
  ["two lengths", "a list of other lengths", `${OK}Content-Length: 4, 5\r\n\r\n[12]`],
  ["two lengths", "another length in a fold", `${OK}Content-Length: 4,\r\n 5\r\n\r\n[12]`],
  ["bad Content-Length", "a length before a control character", `${OK}Content-Length: 4\x0b\r\n\r\n[12]`],
  ["bad Content-Length", "a control character in a list", `${OK}Content-Length: 4,\x0c4\r\nX: y\r\n\r\n[12]`],
  [
    "unknown Transfer-Encoding",
    "a control character before a coding",
    `${OK}Transfer-Encoding: \x0cchunked\r\n\r\n`,
  ],
  ["unknown Transfer-Encoding", "an empty coding", `${OK}Transfer-Encoding:\r\n\r\n[12]`],
  ["unknown Transfer-Encoding", "a coding and a fold", `${CHUNKED.slice(0, -2)} gzip\r\n\r\n`],
  ["two lengths", "lengths that disagree", `${OK}Content-Length: 5\r\n${BODY}`],
  ["bad Content-Length", "a signed length", `${OK}Content-Length: +4\r\n\r\n[12]`],
  ["bad Content-Length", "no length after its name", `${OK}Content-Length:\r\n\r\n`],
  ["bad Content-Length", "a length of 16 digits", `${OK}Content-Length: 1000000000000000\r\n\r\n`],
  ["bad Content-Length", "a length behind 200 blanks", `${OK}Content-Length: 4${" ".repeat(200)}5\r\n\r\n`],
  ["unknown Transfer-Encoding", "gzip and chunks", `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`],
  ["unknown Transfer-Encoding", "chunked twice", `${OK}${"Transfer-Encoding: chunked\r\n".repeat(2)}\r\n`],
  ["both length and chunks", "both", `${OK}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ["chunks in HTTP/1.0", "chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ["bad chunk", "no chunk size", `${CHUNKED}\r\n`],
  ["bad chunk", "a chunk size of letters", `${CHUNKED}xyz\r\n`],
  ["bad chunk", "a chunk of 2^64 bytes", `${CHUNKED}10000000000000004\r\n[12]\r\n`],
  ["bad chunk", "a chunk size of 200 zeros", `${CHUNKED}${"0".repeat(200)}4\r\n[12]\r\n`],
  ["bad chunk", "a chunk longer than it says", `${CHUNKED}3\r\n[12]\r\n`],
  ["bad chunk", "a chunk extension of 1,100 bytes", `${CHUNKED}4;${"e".repeat(1100)}\r\n`],
  ["head too long", "a status line without end", `HTTP/1.1 200 ${LONG}`],
  ["head too long", "headers without end", `${OK}${"X: 1\r\n".repeat(1400)}\r\n`],
  ["head too long", "trailers without end", `${CHUNKED}0\r\n${"X: 1\r\n".repeat(1400)}\r\n`],
  ["", "nothing", ""],
  ["", "half a body", `${OK}Content-Length: 4\r\n\r\n[1`],
  ["", "no last chunk", `${CHUNKED}4\r\n[12]\r\n`],
  ["", "no end of trailers", `${CHUNKED}4\r\n[12]\r\n0\r\n`],
  ["", "1xx only", "HTTP/1.1 100 Continue\r\n\r\n"],
] as const;

export const UNLAWFUL: readonly Unlawful[] = WRONG.map(([problem, name, bytes]) => ({
  ...{ name, bytes, problem },
  ...(problem === "" && { end: true as const }),
}));
