// What commissioning stores: all of it or nothing, and each token bound to the server it is for.
import { rootCertificates } from "node:tls";
import test from "ava";
import { nameOf } from "../../../extras/commissioning/authorities.js";
import {
  CheckStore,
  discardOtherCheckedToken,
  finishInterrupted,
  readStoredSettings,
  storeSettings,
} from "../../../extras/commissioning/stored-settings.js";
import { mergeSettings } from "../../../extras/commissioning/values.js";
import { Agent } from "../../../src/agent/agent.js";
import { TokenStore } from "../../../src/agent/provisioning/token-store.js";
import { type FakeHost, FakeStore, fakeHost } from "../../fakes/host.js";
import { secretOf } from "../../fakes/secret.js";
import { storedBytes, storedJson } from "../../fakes/stored.js";
import { defined, GOOD, TOKEN } from "./rig.js";

const none = () => {};
const [ONE = "", OTHER_CA = ""] = rootCertificates;
const URL = "https://platform.test";
const SECURE = { ...GOOD, url: URL };

const put = ({ store }: FakeHost, key: string, value: unknown): unknown =>
  store.set(key, storedBytes(JSON.stringify(value)));
const read = ({ store }: FakeHost, key: string): Record<string, unknown> | undefined => {
  const bytes = store.values.get(key);
  return bytes && storedJson(bytes);
};

test("cut at each write, a change of everything is the old or the new after the next start, never between", (t) => {
  const before = { ...SECURE, token: TOKEN, label: "label-of-before" };
  const next = {
    ...{ ssid: "garden", password: "another horse", url: "https://other.test", token: "T2" },
    label: "label-of-now",
  };
  const seen: string[] = [];
  for (let cut = 0; cut <= 9; cut++) {
    const host = { ...fakeHost(), own: new FakeStore() };
    t.true(storeSettings(host, before, false));
    put(host, "refused", "the delay of the old token");
    let done = 0;
    host.store.fails = () => done++ >= cut;
    host.own.fails = host.store.fails;
    storeSettings(host, next, false);
    host.store.fails = undefined;
    host.own.fails = undefined;
    finishInterrupted(host, none);
    const kept = defined(readStoredSettings(host));
    const isNew = kept.ssid === "garden";
    t.deepEqual(kept, isNew ? next : before, `cut ${cut}`);
    t.deepEqual(read(host, "token"), isNew ? { url: next.url, token: "T2" } : { url: URL, token: TOKEN });
    t.is(read(host, "refused") === undefined, isNew, "a new token is tried at once");
    t.false([...host.store.values.keys()].some((key) => key === "commission" || key.startsWith("new-")));
    seen.push(isNew ? "new" : "old");
  }
  t.deepEqual([seen[0], seen.at(-1)], ["old", "new"]);
  t.is(seen.lastIndexOf("old") + 1, seen.indexOf("new"));
});

test("settings that do not fit one value of the store are refused; damaged ones are ignored", (t) => {
  const host = fakeHost();
  storeSettings(host, GOOD, false);
  const { set } = host.store;
  // As a real one: it refuses, it does not throw.
  host.store.set = (key, value) => value.length <= 4000 && set.call(host.store, key, value);
  t.false(storeSettings(host, { ...GOOD, ca: "A".repeat(4000) }, true));
  t.deepEqual(defined(readStoredSettings(host)), GOOD);
  for (const damaged of ["[", '{"ssid":7,"password":null}', "[]", ""]) {
    const other = fakeHost();
    for (const key of ["wifi", "platform", "token", "commission"]) other.store.set(key, storedBytes(damaged));
    t.notThrows(() => finishInterrupted(other, none));
    t.deepEqual(defined(readStoredSettings(other)), {}, damaged);
  }
});

test("checking another platform keeps the device's token, and its own over a power loss", (t) => {
  const host = fakeHost();
  host.store.set("token", Buffer.from("own"));
  const check = new CheckStore(host.store, false);
  t.is(check.get("token"), undefined);
  for (const key of ["proposed", "token", "snapshot"]) check.set(key, Buffer.from(`new ${key}`));
  t.truthy(check.get("snapshot"));
  t.is(Buffer.from(host.store.get("token")!).toString(), "own");
  const next = new CheckStore(host.store, false);
  const found = ["token", "proposed", "snapshot"].map((key) => next.get(key)?.length);
  t.deepEqual(found, ["new token".length, "new proposed".length, undefined]);
  t.true(next.delete("proposed"));
  t.is(host.store.get("new-proposed"), undefined);
});

test("a reset under way is completed before a change is, and its token is not read any more", (t) => {
  const host = fakeHost();
  storeSettings(host, { ...GOOD, token: TOKEN }, false);
  put(host, "reset", true);
  t.is(readStoredSettings(host).token, undefined);
  let begun = 0;
  put(host, "commission", { wifi: { ssid: "garden" } });
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

// A token is bound to address, scheme and CAs.

const tokens = (host: FakeHost, ca: string | undefined, scheme: "http" | "https" = "https"): TokenStore =>
  new TokenStore(host, host.redactor, { scheme, address: "platform.test", authorities: nameOf(host, ca) });

test("a token is used only with its own address and CAs, however they are written", (t) => {
  const host = fakeHost();
  const binding = { scheme: "https", address: "platform.test", authorities: nameOf(host, ONE) } as const;
  t.true(tokens(host, ONE).save(secretOf(TOKEN, binding), "lamp"));
  for (const ca of [ONE, ONE.replace(/-----.*-----|\s/g, "")])
    t.is(tokens(host, ca).get("token")?.reveal(), TOKEN);
  for (const ca of [OTHER_CA, undefined, `${ONE}${OTHER_CA}`]) t.is(tokens(host, ca).get("token"), undefined);
  t.is(tokens(host, ONE, "http").get("token"), undefined);
  t.regex(host.lines.join(), /belongs to other certificates \(CA\)/);
  const entered = fakeHost();
  t.true(storeSettings(entered, { url: URL, ca: ONE, token: TOKEN }, false));
  finishInterrupted(entered, none);
  t.is(tokens(entered, ONE).get("token")?.reveal(), TOKEN);
  t.is(tokens(entered, OTHER_CA).get("token"), undefined);
  const bare = fakeHost();
  put(bare, "token", { url: URL, token: TOKEN });
  for (const [url, token] of [
    [undefined, undefined],
    [`${URL}/`, TOKEN],
    ["http://other.test", undefined],
  ] as const)
    t.is(readStoredSettings(bare, url).token, token);
});

const WIFI = { ssid: "home", password: "correct horse" };
const HTTP = { url: "http://platform.test", key: "K", secret: "S" };

test("over http, a reset keeps secrets bound to the Wi-Fi of before, also if it was interrupted", async (t) => {
  const cutBeforeTheMark = (host: FakeHost): void => {
    put(host, "wifi", WIFI);
    put(host, "platform", HTTP);
  };
  const reset = (host: FakeHost) => new Agent(host, { baseUrl: "http://none", token: "none" }).reset();
  for (const [store, erase] of [
    [(host: FakeHost) => void storeSettings(host, { ...WIFI, ...HTTP }, false), reset],
    [cutBeforeTheMark, reset],
    [cutBeforeTheMark, async (host: FakeHost) => put(host, "reset", true)],
  ] as const) {
    const host = fakeHost();
    store(host);
    finishInterrupted(host, none);
    await erase(host);
    finishInterrupted(host, () => void new Agent(host, { baseUrl: "http://none", token: "none" }));
    t.is(read(host, "wifi"), undefined);
    t.false(JSON.stringify(read(host, "platform")).includes("home"));
    const before = readStoredSettings(host);
    t.like(before, { ...HTTP, ssid: undefined });
    t.is(mergeSettings(before, { ssid: "visitor", password: "his own Wi-Fi" }).secret, undefined);
    t.is(mergeSettings(before, { ...WIFI, password: "his own Wi-Fi" }).key, undefined);
    t.is(mergeSettings(before, WIFI).secret, "S");
    t.is(mergeSettings(before, { ssid: "visitor", key: "K2", secret: "S2" }).secret, "S2");
  }
});

test("a token that a visitor's check was given is kept for exactly the same settings", (t) => {
  const settings = { ...WIFI, url: URL, ca: ONE, key: "K", secret: "S" };
  const checked = (): FakeHost => {
    const host = fakeHost();
    discardOtherCheckedToken(host, settings);
    put(host, "new-token", { url: URL, token: "TOKEN-of-a-check", name: "lamp" });
    put(host, "new-proposed", { url: URL, token: "TOKEN-of-a-check" });
    return host;
  };
  const same = checked();
  discardOtherCheckedToken(same, settings);
  t.true(storeSettings(same, settings, false));
  t.is(read(same, "token")?.token, "TOKEN-of-a-check");
  for (const other of [
    { url: "https://other.test" },
    { url: "http://platform.test" },
    { ca: OTHER_CA },
    { ca: undefined },
    { key: "K2" },
    { secret: "S2" },
    { ssid: "visitor" },
    { password: "his own Wi-Fi" },
  ]) {
    const host = checked();
    const name = JSON.stringify(other);
    discardOtherCheckedToken(host, { ...settings, ...other });
    t.deepEqual([read(host, "new-token"), read(host, "new-proposed")], [undefined, undefined], name);
    t.true(storeSettings(host, { ...settings, ...other }, false));
    t.is(read(host, "token"), undefined, name);
    discardOtherCheckedToken(host, settings);
    t.is(read(host, "new-token"), undefined, "nor does it come back");
  }
  const noDigest = checked();
  discardOtherCheckedToken({ ...noDigest, digest: () => undefined }, settings);
  t.is(read(noDigest, "new-token"), undefined);
});
