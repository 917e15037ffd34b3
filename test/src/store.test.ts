// Small values in the store, and those that another agent wrote.
import test from "ava";
import { forgetStored, readOwn, readStored, writeStored } from "../../src/store.js";
import { type FakeHost, fakeHost } from "../fakes/host.js";

const put = (host: FakeHost, key: string, format: number, text: string) =>
  host.store.values.set(key, new Uint8Array([format, ...new TextEncoder().encode(text)]));

test("what was written is read, over and over", (t) => {
  const host = fakeHost();
  for (const value of [{ a: [1, "ü", null] }, [], "x", 0, false, null]) {
    t.true(writeStored(host, "key", value));
    t.deepEqual(readStored(host, "key"), value);
  }
  t.deepEqual(host.lines, []);
  t.is(readStored(host, "other"), undefined);
  t.deepEqual(host.lines, []);
});

test("what is of another format, or no JSON, is taken for none and left alone, and that is said", (t) => {
  for (const [format, text] of [
    [2, "{}"],
    [0, "{}"],
    [1, "{"],
    [1, ""],
  ] as const) {
    const host = fakeHost();
    put(host, "key", format, text);
    t.is(readStored(host, "key"), undefined);
    t.deepEqual(host.lines, [
      'warn: stored value "key" has an unknown format and is left alone until it is replaced',
    ]);
    t.deepEqual(host.store.changes, []);
  }
  const host = fakeHost();
  host.store.values.set("key", new Uint8Array([1, 0xff]));
  t.is(readStored(host, "key"), undefined);
});

test("a value of another format is kept beside when it is replaced, and one of this format is not", (t) => {
  const host = fakeHost();
  put(host, "key", 2, "theirs");
  t.true(writeStored(host, "key", 1));
  t.deepEqual(host.store.changes, ["key-old", "key"]);
  t.is(host.store.get("key-old")?.[0], 2);
  t.true(writeStored(host, "key", 2));
  t.deepEqual(host.store.changes, ["key-old", "key", "key"]);
  t.is(readStored(host, "key"), 2);
});

test("an image that returns finds what it wrote before the other one did", (t) => {
  const host = fakeHost();
  t.is(readOwn(host, "key"), undefined);
  put(host, "key-old", 1, '"mine"');
  t.is(readOwn(host, "key"), undefined, "nothing was put in its place");
  put(host, "key", 2, "theirs");
  t.is(readOwn(host, "key"), "mine");
  put(host, "key", 1, "3");
  t.is(readOwn(host, "key"), 3);
});

test("a store that takes nothing is reported, unless that was said before", (t) => {
  const host = fakeHost();
  host.store.fails = () => true;
  t.false(writeStored(host, "key", 1));
  t.deepEqual(host.lines.splice(0), ['error: stored value "key" could not be written']);
  t.false(writeStored(host, "key", 1, true));
  t.deepEqual(host.lines, []);
});

test("what is forgotten is gone, with what is beside it, or it is said that it is not", (t) => {
  for (const [stays, gone] of [
    [undefined, true],
    ["key", false],
    ["key-old", false],
  ] as const) {
    const host = fakeHost();
    put(host, "key", 1, "1");
    put(host, "key-old", 2, "2");
    host.store.fails = (_call, key) => key === stays;
    t.is(forgetStored(host, "key"), gone);
    t.deepEqual([...host.store.values.keys()], stays ? [stays] : []);
  }
  t.true(forgetStored(fakeHost(), "key"));
});
