// Whoever has the page for a moment can name a platform of his own: nothing that proves the device to another may go there.
import { rootCertificates } from "node:tls";
import test from "ava";
import { isIncomplete, withStoredSettings } from "../../../extras/commissioning/built-in-configuration.js";
import { mergeSettings } from "../../../extras/commissioning/values.js";
import { rig } from "./rig.js";

const BEFORE = { ssid: "home", url: "https://platform.test", token: "T", key: "K", secret: "S" };

test("another platform gets neither token nor provisioning key and secret that were there before", (t) => {
  for (const url of ["https://other.test", "http://platform.test", "https://platform.test:444"]) {
    const { token, key, secret } = mergeSettings(BEFORE, { url });
    t.deepEqual([token, key, secret], [undefined, undefined, undefined], url);
  }
  t.is(mergeSettings(BEFORE, { url: "https://other.test", key: "K2" }).secret, undefined);
  t.deepEqual(mergeSettings(BEFORE, { url: "https://PLATFORM.test:443/" }).secret, "S");
});

test("secrets that were built in for no platform go to none that is entered", (t) => {
  const { token, key, secret } = mergeSettings(
    { token: "T", key: "K", secret: "S" },
    { url: "https://any.test" },
  );
  t.deepEqual([token, key, secret], [undefined, undefined, undefined]);
});

test("another certificate gets nothing either, the same one in other letters does", (t) => {
  const [one = "", other = ""] = rootCertificates;
  const bare = one.replace(/-----.*-----|\s/g, "");
  for (const [before, ca] of [
    [undefined, one],
    [one, other],
    [one, "none"],
    [one, `${one}${other}`],
  ] as const) {
    const { token, key, secret } = mergeSettings({ ...BEFORE, ca: before }, { ca });
    t.deepEqual([token, key, secret], [undefined, undefined, undefined]);
  }
  t.is(mergeSettings({ ...BEFORE, ca: one }, { ca: bare }).token, "T");
  t.is(mergeSettings({ ...BEFORE, ca: one }, { ssid: "garden" }).token, "T");
});

test("over http another Wi-Fi gets nothing; the first one that a device is given does", (t) => {
  const http = { ...BEFORE, url: "http://platform.test", password: "correct horse" };
  for (const typed of [{ ssid: "garden" }, { password: "another horse" }, { ssid: "cafe", password: "" }])
    t.is(mergeSettings(http, typed).token, undefined, JSON.stringify(typed));
  t.is(mergeSettings(http, { ssid: "home", password: "correct horse" }).token, "T");
  t.is(mergeSettings({ ...http, ssid: undefined, password: undefined }, { ssid: "home" }).token, "T");
  // One that can't have been joined was never known.
  t.is(mergeSettings({ ...http, password: "123" }, { ssid: "home", password: "correct horse" }).token, "T");
});

test("the page asks for them, and connects to nobody", (t) => {
  const { entry, joined } = rig({ before: BEFORE });
  entry.give({ url: "http://other.test" });
  t.deepEqual(
    entry.view.findings.map(({ field }) => field),
    ["token"],
  );
  t.is(joined.length, 0);
});

test("what is built in for one platform is not used with another that was kept", (t) => {
  const built = { wifi: { ssid: "home" }, baseUrl: "https://platform.test", token: "T" };
  const provisioning = { key: "K", secret: "S", deviceName: "lamp" };
  const elsewhere = withStoredSettings({ ...built, provisioning }, { url: "https://other.test" });
  t.false(/"[TKS]"/.test(JSON.stringify(elsewhere)));
  t.true(isIncomplete(elsewhere));
  const own = withStoredSettings(
    { ...built, provisioning },
    { url: "https://other.test", key: "K2", secret: "S2" },
  );
  t.deepEqual(own.provisioning, { key: "K2", secret: "S2", deviceName: "lamp" });
  t.is(own.token, undefined);
  const typed = withStoredSettings({ ...built, provisioning }, { url: "https://other.test", token: "T2" });
  t.is(typed.token, "T2");
  t.is(typed.provisioning, undefined);
  const there = withStoredSettings({ ...built, provisioning }, { url: "https://platform.test/" });
  t.deepEqual([there.token, there.provisioning], ["T", provisioning]);
  t.deepEqual(withStoredSettings({ provisioning }, { url: "https://any.test" }).provisioning, provisioning);
});
