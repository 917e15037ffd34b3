// What the rows look at is looked at: a row that can't see a fault shows nothing.
import test from "ava";
import { read } from "../architecture/tree.js";
import { sharesOf } from "./rows/row-11-writes.js";
import { rows } from "./rows.js";

const HEAD = "POST /api/v1/t/telemetry HTTP/1.1\r\nContent-Length: 4\r\n\r\n";
const GET = "GET /api/v1/t/rpc HTTP/1.1\r\nHost: a\r\n\r\n";
const writes = (...texts: string[]) => texts.map((text) => Buffer.from(text));

test("a request in two writes, and a head that leaves alone, are seen", (t) => {
  const shares = (...texts: string[]) => sharesOf([writes(...texts)]);
  t.deepEqual(shares(`${HEAD}body`, GET), { requests: 2, whole: 2, notHeadAlone: 2 });
  t.deepEqual(shares(`${HEAD}bo`, "dy", GET), { requests: 2, whole: 1, notHeadAlone: 2 });
  t.deepEqual(shares(HEAD, "body", GET), { requests: 2, whole: 1, notHeadAlone: 1 });
  t.deepEqual(shares(HEAD.slice(0, 20), HEAD.slice(20), "body"), { requests: 1, whole: 0, notHeadAlone: 0 });
  t.deepEqual(shares(GET.slice(0, 20), GET.slice(20)), { requests: 1, whole: 0, notHeadAlone: 1 });
});

test("each row has a number of its own, and its name is one line", async (t) => {
  const all = await rows();
  t.is(new Set(all.map(({ id }) => id)).size, all.length);
  for (const { name } of all) t.regex(name, /^[^\n|]+$/);
});

test("docs/design.md explains the number of each row, and of no other", async (t) => {
  const [, section = ""] = read("docs/design.md").split("\n## The bench\n");
  const explained = Array.from((section.split("\n## ")[0] ?? "").matchAll(/^\| (\d+) \|/gm), ([, id]) =>
    Number(id),
  );
  t.deepEqual(
    explained,
    (await rows()).map(({ id }) => id),
  );
});
