// Small values in the store, and those that another agent wrote.
import test from "ava";
import { type AgentEvent, Events } from "../../src/events.js";
import { MoteError } from "../../src/index.js";
import { deleteStored, forgetStored, readOwn, readStored, writeStored } from "../../src/store.js";
import { type FakeHost, fakeHost } from "../fakes/host.js";
import { storedBytes } from "../fakes/stored.js";

const put = (host: FakeHost, key: string, format: number, text: string) =>
  host.store.values.set(key, storedBytes(text, format));

test("what was written is read, behind format and checksum, and not if any one bit changed", (t) => {
  for (const value of [{ a: [1, "ü", null], n: -1.5 }, [1, 2, 30, 165, 0, 0, 0], "ü", 7, true, null]) {
    const host = fakeHost();
    t.true(writeStored(host, "key", value));
    t.deepEqual(readStored(host, "key"), value);
    t.deepEqual(host.lines, []);
    const bytes = host.store.get("key")!;
    t.deepEqual(bytes, storedBytes(JSON.stringify(value)));
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      host.store.values.set("key", damaged);
      t.is(readStored(host, "key"), undefined, `${value}, bit ${bit}`);
    }
  }
  const host = fakeHost();
  t.is(readStored(host, "other"), undefined);
  host.store.fails = () => true;
  t.false(writeStored(host, "key", 1));
  t.false(writeStored(host, "key", 1));
  const line = 'error: could not store the value "key"';
  t.deepEqual(host.lines, [line], "said once");
  host.store.fails = undefined;
  t.true(writeStored(host, "key", 1));
  host.store.fails = () => true;
  t.false(writeStored(host, "key", 2));
  t.deepEqual(host.lines, [line, line], "and again after it worked");
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
      'warn: stored value "key" is damaged or has an unknown format: ignored until it is replaced',
    ]);
    t.deepEqual(host.store.changes, []);
  }
  const host = fakeHost();
  host.store.values.set("key", storedBytes(Uint8Array.of(0xff)));
  t.is(readStored(host, "key"), undefined);
});

test("a value of another format is kept beside when it is replaced, and one of this format is not", (t) => {
  const host = fakeHost();
  put(host, "key", 2, "theirs");
  t.true(writeStored(host, "key", 1));
  t.deepEqual(host.store.changes, ["key-old", "key"]);
  t.deepEqual(host.store.get("key-old"), storedBytes("theirs", 2));
  t.true(writeStored(host, "key", 2));
  t.deepEqual(host.store.changes, ["key-old", "key", "key"]);
  t.is(readStored(host, "key"), 2);
});

test("a value of another format is kept beside when it is deleted, and one of this format is not", (t) => {
  const host = fakeHost();
  put(host, "key", 2, "theirs");
  t.true(deleteStored(host, "key"));
  put(host, "other", 1, "1");
  t.true(deleteStored(host, "other"));
  t.deepEqual([...host.store.values], [["key-old", storedBytes("theirs", 2)]]);
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

test("keeps vital values twice: whichever copy is damaged or missing, the value is read", (t) => {
  for (const key of ["token", "wifi", "platform"]) {
    const host = fakeHost();
    writeStored(host, key, { secret: "a" });
    const places = [...host.store.values.keys()];
    t.deepEqual(places, [key, `${key}-old`]);
    for (const place of places) {
      const bytes = host.store.get(place)!;
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const damaged = bytes.slice();
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        host.store.values.set(place, damaged);
        t.deepEqual(readStored(host, key), { secret: "a" });
      }
      host.store.values.delete(place);
      t.deepEqual(readStored(host, key), { secret: "a" });
      host.store.values.set(place, bytes);
    }
    // A long one finds no room twice, and leaves no older copy.
    writeStored(host, key, { ca: "x".repeat(600) });
    t.deepEqual([...host.store.values.keys()], [key]);
    writeStored(host, key, { secret: "b" });
    t.true(forgetStored(host, key));
    t.is(host.store.values.size, 0);
  }
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

// Listeners of the application.

const ALL: readonly AgentEvent[] = [
  ...(["provisioned", "online", "offline", "delivered", "delivery", "drop"] as const),
  ...(["attributes", "rpc", "firmware", "refused", "restart", "error"] as const),
];

test("each event reaches its listeners in the order in which they came, and no others", (t) => {
  const events = new Events(fakeHost());
  const heard: string[] = [];
  for (const event of ALL) for (const n of [1, 2]) events.on(event, () => heard.push(`${event} ${n}`));
  for (const event of ALL) {
    events.emit(event, {} as never);
    t.deepEqual(heard.splice(0), [`${event} 1`, `${event} 2`]);
  }
});

test("what on() returns removes the listener, once, and no other", (t) => {
  const events = new Events(fakeHost());
  const heard: number[] = [];
  const removes = [1, 2, 3].map((n) => events.on("online", () => heard.push(n)));
  removes[1]?.();
  removes[1]?.();
  events.emit("online", {});
  t.deepEqual(heard, [1, 3]);
});

test("a listener that another one removes is not called any more", (t) => {
  const events = new Events(fakeHost());
  const heard: number[] = [];
  events.on("online", () => remove());
  const remove = events.on("online", () => heard.push(2));
  events.emit("online", {});
  t.deepEqual(heard, []);
});

test("a listener that removes itself, or adds another, takes nobody's turn", (t) => {
  const events = new Events(fakeHost());
  const heard: string[] = [];
  const remove = events.on("online", () => {
    heard.push("once");
    remove();
    events.on("online", () => heard.push("later"));
  });
  events.on("online", () => heard.push("always"));
  events.emit("online", {});
  t.deepEqual(heard.splice(0), ["once", "always"]);
  events.emit("online", {});
  t.deepEqual(heard, ["always", "later"]);
});

test("a listener that throws or rejects is logged by its event's name, and the others are called", async (t) => {
  const host = fakeHost();
  const events = new Events(host);
  let heard = 0;
  events.on("drop", () => {
    throw new Error("secret");
  });
  events.on("drop", () => Promise.reject(new Error("secret")) as never);
  events.on("drop", () => heard++);
  events.emit("drop", { points: 1, reason: "full" });
  await host.clock.advance(0);
  t.is(heard, 1);
  t.deepEqual(host.lines, Array(2).fill('error: a listener of "drop" threw'));
});

test("an event that does not exist and what is no function are refused", (t) => {
  const events = new Events(fakeHost());
  for (const [event, call] of [
    ["telemetry", () => {}],
    ["__proto__", () => {}],
    ["toString", () => {}],
    ["online", undefined],
    ["online", {}],
  ] as const) {
    const error = t.throws(() => events.on(event as never, call as never), { code: "BAD_VALUE" });
    t.true(error instanceof MoteError);
    t.regex(error?.message ?? "", /unknown event|must be a function/);
  }
});
