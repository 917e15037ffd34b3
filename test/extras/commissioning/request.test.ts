import test from "ava";
import { type PageRequest, RequestReader } from "../../../extras/commissioning/request.js";
import { fakeHost } from "../../fakes/host.js";

const host = fakeHost();

function read(text: string | Uint8Array): PageRequest | number | undefined {
  const reader = new RequestReader(host);
  reader.feed(Buffer.from(text as string));
  return reader.request ?? (reader.problem || undefined);
}

const FORM = "Content-Type: application/x-www-form-urlencoded";

test("a form's request is read whole, its query cut off, its host in lower case", (t) => {
  const text = `POST /?a=b HTTP/1.1\r\nHost: 192.168.4.1\r\nOrigin:http://192.168.4.1 \r\n${FORM}; charset=UTF-8\r\nContent-Length: 5\r\nUser-Agent: x\r\n\r\na=b&cmore`;
  t.deepEqual(read(text), {
    method: "POST",
    path: "/",
    host: "192.168.4.1",
    origin: "http://192.168.4.1",
    site: undefined,
    cookie: "",
    type: "application/x-www-form-urlencoded",
    body: "a=b&c",
  });
  t.like(read("GET /x HTTP/1.0\r\nHost: [::1]:80\r\n\r\n"), { host: "[::1]:80", body: "" });
});

const HOST = "Host: a\r\n";
const REFUSED: readonly (readonly [string, string, number])[] = [
  ["a line without a version", `GET /\r\n${HOST}\r\n`, 400],
  ["a version of its own", `GET / HTTP/2.0\r\n${HOST}\r\n`, 400],
  ["an absolute target", `GET http://evil/ HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["a target with a blank", `GET /a b HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["a target that is too long", `GET /${"a".repeat(1024)} HTTP/1.1\r\n${HOST}\r\n`, 414],
  ["a bare line feed", "GET / HTTP/1.1\nHost: a\n\n", 400],
  ["a bare carriage return", `GET / HTTP/1.1\r${HOST}\r\n`, 400],
  ["a folded header", `GET / HTTP/1.1\r\n${HOST} folded\r\n\r\n`, 400],
  ["a header without a name", `GET / HTTP/1.1\r\n: a\r\n${HOST}\r\n`, 400],
  ["a blank before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400],
  ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
  ["two Hosts", `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400],
  ["a Host that is none", "GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n", 400],
  ["a zero byte", `GET / HTTP/1.1\r\n${HOST}X: \u0000\r\n\r\n`, 400],
  ["a head that is no UTF-8", `GET / HTTP/1.1\r\n${HOST}X: \u00e9\r\n\r\n`, 400],
  ["a head without end", `GET / HTTP/1.1\r\n${"X: y\r\n".repeat(1000)}`, 431],
  [
    "a length and a coding",
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    501,
  ],
  ["two lengths", `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
  ["a length with a sign", `POST / HTTP/1.1\r\n${HOST}Content-Length: +1\r\n\r\n`, 400],
  ["a list of lengths", `POST / HTTP/1.1\r\n${HOST}Content-Length: 1, 1\r\n\r\n`, 400],
  ["a form without a length", `POST / HTTP/1.1\r\n${HOST}\r\n`, 411],
  ["a form that is too long", `POST / HTTP/1.1\r\n${HOST}Content-Length: 12289\r\n\r\n`, 413],
  [
    "who waits to be asked for the body",
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nExpect: 100-continue\r\n\r\n`,
    417,
  ],
];

for (const [what, text, status] of REFUSED)
  test(`${what} is refused with ${status}`, (t) => {
    const bytes = Buffer.from(text, "latin1");
    t.is(read(bytes), status);
    const reader = new RequestReader(host);
    for (const byte of bytes) reader.feed(Uint8Array.of(byte));
    t.is(reader.problem, status);
  });

test("a body that is no UTF-8 is refused", (t) => {
  const head = Buffer.from(`POST / HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n`);
  t.is(read(Buffer.concat([head, Buffer.from([0xc3, 0x28])])), 400);
});

test("no room is made for bytes that were only promised", (t) => {
  const before = process.memoryUsage().arrayBuffers;
  const readers = Array.from({ length: 500 }, () => {
    const reader = new RequestReader(host);
    reader.feed(Buffer.from(`POST / HTTP/1.1\r\n${HOST}Content-Length: 12288\r\n\r\n`));
    return reader;
  });
  t.true(readers.every(({ isOver }) => !isOver));
  t.true(process.memoryUsage().arrayBuffers - before < 500 * 4096);
});
