import test from "ava";
import {
  attributesQuery,
  parseAttributes,
  parseNotification,
  splitKeys,
} from "../../../src/wire/attributes.js";
import { fixture } from "./support.js";

test("both groups of attributes are read", (t) => {
  t.deepEqual(parseAttributes(fixture("attributes-both")), {
    ok: true,
    client: { serial: "A-113", uptime: 42, ratio: 0.5 },
    shared: { interval: 30, mode: "auto", limits: { low: 1, high: [2, null] }, open: true },
  });
});

test("a group that is absent is empty", (t) => {
  t.deepEqual(parseAttributes(fixture("attributes-none")), { ok: true, client: {}, shared: {} });
  t.deepEqual(parseAttributes('{"client":{"a":1}}'), { ok: true, client: { a: 1 }, shared: {} });
});

test("attributes of another shape are malformed", (t) => {
  for (const text of [
    "",
    "[]",
    "null",
    '"x"',
    '{"client":5}',
    '{"shared":[1]}',
    '{"shared":null}',
    '{"client":{"a"',
  ]) {
    t.false(parseAttributes(text).ok, text);
  }
});

test("a change is distinguished from a deletion", (t) => {
  t.deepEqual(parseNotification(fixture("notification-updated")), {
    kind: "updated",
    values: { k1: 1, k2: "x" },
  });
  t.deepEqual(parseNotification(fixture("notification-deleted")), {
    kind: "deleted",
    keys: ["fw_tag", "fw_url"],
  });
});

test("an attribute that is named deleted is a change unless it is an array of strings", (t) => {
  t.deepEqual(parseNotification(fixture("notification-named-deleted")), {
    kind: "updated",
    values: { deleted: true },
  });
  for (const text of [
    '{"deleted":[1]}',
    '{"deleted":["a",null]}',
    '{"deleted":"a"}',
    '{"deleted":["a"],"b":1}',
  ]) {
    t.is(parseNotification(text).kind, "updated", text);
  }
  t.deepEqual(parseNotification('{"deleted":[]}'), { kind: "deleted", keys: [] });
});

test("a notification of another shape is malformed", (t) => {
  for (const text of ["", "[]", "null", "5", '{"a":1', "[".repeat(40)])
    t.is(parseNotification(text).kind, "malformed", text);
});

test("a query names the keys of either group, escaped", (t) => {
  t.deepEqual(attributesQuery({ clientKeys: ["serial"], sharedKeys: ["a b", "größe&x", "{1}"] }), {
    ok: true,
    query: "?clientKeys=serial&sharedKeys=a%20b,gr%C3%B6%C3%9Fe%26x,%7B1%7D",
  });
  t.deepEqual(attributesQuery({ sharedKeys: ["a"], clientKeys: [] }), { ok: true, query: "?sharedKeys=a" });
});

test("keys that can't be asked for are refused, and so is a query of none", (t) => {
  for (const ask of [
    { sharedKeys: [""] },
    { clientKeys: ["a,b"] },
    { sharedKeys: ["a", ","] },
    {},
    { clientKeys: [], sharedKeys: [] },
  ]) {
    t.false(attributesQuery(ask).ok, JSON.stringify(ask));
  }
});

test("a list of keys is split in order so that each part stays within its room", (t) => {
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 5), [["aa", "bb"], ["cc"]]);
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 7), [["aa", "bb"], ["cc"]]);
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 8), [["aa", "bb", "cc"]]);
  t.deepEqual(splitKeys(["much too long", "b", "ü", "c"], 8), [["much too long"], ["b", "ü"], ["c"]]);
  t.deepEqual(splitKeys([], 8), []);
});
