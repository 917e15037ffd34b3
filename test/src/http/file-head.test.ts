// What is read of an answer's head where a file is fetched.
import test from "ava";
import type { FileHead } from "../../../src/http/head.js";
import { ResponseReader } from "../../../src/http/response.js";
import { parseUrl, resolveUrl } from "../../../src/http/target.js";

type Seen = Pick<FileHead, "status" | "length" | "location" | "etag" | "from" | "total">;

/** The head and the body of an answer that comes in pieces of `step` bytes. */
function read(
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
    const { head, body } = read(text, step);
    t.deepEqual(head, { status: 206, length: 4, location: undefined, etag: '"a-1"', from: 4, total: 1000 });
    t.is(body, "abcd");
  });

  test(`a long address is read whole, in pieces of ${step}`, (t) => {
    const location = `https://files.test/${"x".repeat(2000)}?a=b`;
    const { head, body } = read(
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
    const { head } = read(`HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 0\r\n\r\n`, 5000);
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
  t.is(read("HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nabcd", 5000, false).problem, "given up");
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

test("a file's URL gives where to connect, and what to ask for", (t) => {
  for (const [url, authority, path] of [
    ["https://files.test/a/b.bin?k=v&w=@:", "files.test", "/a/b.bin?k=v&w=@:"],
    ["HTTPS://Files.Test:443", "files.test", "/"],
    ["http://files.test:8080?x", "files.test:8080", "/?x"],
    ["https://files.test/a#part", "files.test", "/a"],
    ["https://[::1]:8443/a", "[::1]:8443", "/a"],
  ] as const) {
    const file = parseUrl(url);
    t.deepEqual([file?.target.authority, file?.path], [authority, path], url);
    t.is(file?.target.prefix, "");
  }
  for (const url of [
    "",
    "/a",
    "ftp://files.test/a",
    "https://a:b@files.test/",
    "https://files.test@evil.test/a",
    "https:///a",
    "https://files.test/a b",
    "https://files.test/\r\nX: y",
    "https://files.test\\@evil.test/",
    "https://files.test:0/",
  ])
    t.is(parseUrl(url), undefined, url);
});

test("a Location means what RFC 3986 says", (t) => {
  const from = "https://a.test/b/c/d?q#f";
  for (const [location, expected] of [
    ["https://x.test/y", "https://x.test/y"],
    ["//x.test/y", "https://x.test/y"],
    ["/y?z", "https://a.test/y?z"],
    ["y", "https://a.test/b/c/y"],
    ["./y", "https://a.test/b/c/y"],
    ["../y", "https://a.test/b/y"],
    ["../../../y", "https://a.test/y"],
    ["..", "https://a.test/b/"],
    ["?z", "https://a.test/b/c/d?z"],
    ["/x/../y/./z?a=../b", "https://a.test/y/z?a=../b"],
    ["mailto:x", "mailto:x"],
  ] as const)
    t.is(resolveUrl(from, location), expected, location);
  t.is(resolveUrl("https://a.test", "y"), "https://a.test/y");
});
