// A head that comes again is known by its text, whatever its date.
import test from "ava";
import { Head } from "../../../src/http/head.js";
import { HeadCache } from "../../../src/http/head-cache.js";
import { fakeHost } from "../../fakes/host.js";

const of = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const dated = (second: number) =>
  `HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:${String(second).padStart(2, "0")} GMT\r\nContent-Length: 2\r\n\r\n`;
const AT = Date.UTC(1994, 10, 6, 8, 49);

/** Where `text` ends by what was learnt of `first`, and the date that the head has then. */
function known(first: string, text: string, status = 200): [number, number | undefined] {
  const head = Object.assign(new Head(), { status, date: first.includes("Date: Sun, 06") ? AT : undefined });
  const one = new HeadCache(fakeHost());
  one.learn(of(`--${first}`), 2, first.length + 2, head);
  return [one.end(of(`-${text}{}`), 1, text.length + 3, head), head.date];
}

test("the same head is known, and with another date, which it takes over", (t) => {
  const { length } = dated(0);
  t.deepEqual(known(dated(0), dated(0)), [length + 1, AT]);
  t.deepEqual(known(dated(0), dated(37)), [length + 1, AT + 37_000]);
  const bare = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
  t.deepEqual(known(bare, bare), [bare.length + 1, undefined]);
});

test("another head is not, nor one that says another length, came in part, or has no date where one was", (t) => {
  const [first] = [dated(0)];
  for (const text of [
    first.replace("200", "201"),
    first.replace("Length: 2", "Length: 3"),
    first.replace("06 Nov", "96 Nov"),
    first.replace("GMT", "CET"),
    first.slice(0, -10),
    "",
  ])
    t.is(known(first, text)[0], -1, text);
});

test("nothing is learnt of a 1xx, nor of what is not ASCII, and what was learnt can be forgotten", (t) => {
  t.is(known("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", 100)[0], -1);
  t.is(known("HTTP/1.1 200 \xe9\r\n\r\n", "HTTP/1.1 200 \xe9\r\n\r\n")[0], -1);
  const text = "HTTP/1.1 200 \xc3\xa9\r\n\r\n";
  t.is(known(text, text)[0], -1);
  const head = Object.assign(new Head(), { status: 200, date: AT });
  const one = new HeadCache(fakeHost());
  one.learn(of(dated(0)), 0, dated(0).length, head);
  one.forget();
  t.is(one.end(of(dated(0)), 0, dated(0).length, head), -1);
});
