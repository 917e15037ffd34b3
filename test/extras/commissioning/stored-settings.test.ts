import test from "ava";
import {
  CheckStore,
  finishInterrupted,
  readStoredSettings,
  storeSettings,
} from "../../../extras/commissioning/stored-settings.js";
import { type FakeStore, fakeHost } from "../../fakes/host.js";
import { defined, GOOD, TOKEN, URL } from "./rig.js";

const none = () => {};
const OTHER = { ssid: "garden", password: "another horse", url: "https://other.test", token: "T2" };
const token = (store: FakeStore): unknown => {
  const bytes = store.values.get("token");
  return bytes && JSON.parse(Buffer.from(bytes.subarray(1)).toString());
};

test("cut at each write, a change of everything is the old or the new after the next start, never between", (t) => {
  const writes = 8;
  const seen: string[] = [];
  for (let cut = 0; cut <= writes; cut++) {
    const host = fakeHost();
    t.true(storeSettings(host, { ...GOOD, token: TOKEN }, false));
    let done = 0;
    host.store.fails = () => done++ >= cut;
    storeSettings(host, OTHER, false);
    host.store.fails = undefined;
    finishInterrupted(host, none);
    const kept = defined(readStoredSettings(host));
    const isNew = kept.ssid === "garden";
    t.deepEqual(kept, isNew ? OTHER : { ...GOOD, token: TOKEN }, `cut ${cut}`);
    t.deepEqual(token(host.store), isNew ? { url: OTHER.url, token: "T2" } : { url: URL, token: TOKEN });
    t.false([...host.store.values.keys()].some((key) => key === "commission" || key.startsWith("new-")));
    seen.push(isNew ? "new" : "old");
  }
  t.deepEqual([seen[0], seen.at(-1)], ["old", "new"]);
  t.is(seen.lastIndexOf("old") + 1, seen.indexOf("new"));
});

test("what would not fit one value of the store is refused, and what was there stays", (t) => {
  const host = fakeHost();
  storeSettings(host, GOOD, false);
  const { set } = host.store;
  // As a real one: it refuses, it does not throw.
  host.store.set = (key, value) => value.length <= 4000 && set.call(host.store, key, value);
  t.false(storeSettings(host, { ...GOOD, ca: "A".repeat(4000) }, true));
  t.deepEqual(defined(readStoredSettings(host)), GOOD);
});

test("a token is read only for the base URL that it was got from", (t) => {
  const host = fakeHost();
  host.store.set("token", Buffer.from(`\u0001{"url":"${URL}","token":"${TOKEN}"}`));
  t.is(readStoredSettings(host).token, undefined);
  t.is(readStoredSettings(host, `${URL}/`).token, TOKEN);
  t.is(readStoredSettings(host, "http://other.test").token, undefined);
});

test("what was kept by another version, or damaged, is taken for nothing", (t) => {
  for (const damaged of ["\u0002{}", "\u0001[", '\u0001{"ssid":7,"password":null}', "\u0001[]", ""]) {
    const host = fakeHost();
    for (const key of ["wifi", "site", "token", "commission"]) host.store.set(key, Buffer.from(damaged));
    t.notThrows(() => finishInterrupted(host, none));
    t.deepEqual(defined(readStoredSettings(host)), {}, damaged);
  }
});

test("an agent that checks another platform leaves the device's own token alone, and its own outlives a power loss", (t) => {
  const host = fakeHost();
  host.store.set("token", Buffer.from("own"));
  const check = new CheckStore(host.store, false);
  t.is(check.get("token"), undefined);
  check.set("proposed", Buffer.from("asked for"));
  check.set("token", Buffer.from("got"));
  check.set("snapshot", Buffer.from("gone with it"));
  t.is(Buffer.from(check.get("snapshot")!).toString(), "gone with it");
  t.is(Buffer.from(host.store.get("token")!).toString(), "own");
  const next = new CheckStore(host.store, false);
  t.deepEqual(
    ["token", "proposed", "snapshot"].map((key) => next.get(key) && Buffer.from(next.get(key)!).toString()),
    ["got", "asked for", undefined],
  );
  t.true(next.delete("proposed"));
  t.is(host.store.get("new-proposed"), undefined);
});

test("a reset under way is completed before a change is, and a token that it did not reach yet is not read", (t) => {
  const host = fakeHost();
  storeSettings(host, { ...GOOD, token: TOKEN }, false);
  host.store.set("reset", Buffer.from("\u0001true"));
  t.is(readStoredSettings(host).token, undefined);
  let begun = 0;
  host.store.set("commission", Buffer.from('\u0001{"wifi":{"ssid":"garden"}}'));
  finishInterrupted(host, () => {
    begun++;
    t.is(readStoredSettings(host).ssid, GOOD.ssid);
    for (const key of ["commission", "wifi", "wifi-old", "token", "token-old", "reset"])
      host.store.delete(key);
  });
  t.is(begun, 1);
  t.is(readStoredSettings(host).ssid, undefined);
  finishInterrupted(host, () => t.fail());
});
