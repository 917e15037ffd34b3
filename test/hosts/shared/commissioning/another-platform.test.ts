// Whoever has the page for a moment can name a platform of his own: nothing that proves the device to another may go there.
import test from "ava";
import {
  isIncomplete,
  withStoredSettings,
} from "../../../../hosts/shared/commissioning/built-in-configuration.js";
import { merged } from "../../../../hosts/shared/commissioning/values.js";
import { rig } from "./rig.js";

const BEFORE = { ssid: "home", url: "https://platform.test", token: "T", key: "K", secret: "S" };

test("another platform gets neither token nor provisioning key and secret that were there before", (t) => {
  for (const url of ["https://other.test", "http://platform.test", "https://platform.test:444"]) {
    const { token, key, secret } = merged(BEFORE, { url });
    t.deepEqual([token, key, secret], [undefined, undefined, undefined], url);
  }
  t.is(merged(BEFORE, { url: "https://other.test", key: "K2" }).secret, undefined);
  t.deepEqual(merged(BEFORE, { url: "https://PLATFORM.test:443/" }).secret, "S");
  t.is(merged({ key: "K", secret: "S" }, { url: "https://any.test" }).secret, "S");
});

test("the page asks for them, and connects to nobody", (t) => {
  const { commissioning, joined } = rig({ before: BEFORE });
  commissioning.give({ url: "http://other.test" });
  t.deepEqual(
    commissioning.view.findings.map(({ field }) => field),
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
