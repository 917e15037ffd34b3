// What an owner enters is checked, kept only if it works, and never sent to another platform.
import { rootCertificates } from "node:tls";
import test from "ava";
import { readAuthorities } from "../../../extras/commissioning/authorities.js";
import { fromBase64 } from "../../../extras/commissioning/base64.js";
import { isIncomplete, withStoredSettings } from "../../../extras/commissioning/built-in-configuration.js";
import { readStoredSettings } from "../../../extras/commissioning/stored-settings.js";
import {
  type Before,
  checkNetwork,
  checkValues,
  mergeSettings,
} from "../../../extras/commissioning/values.js";
import type { FakeHost } from "../../fakes/host.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { storedJson } from "../../fakes/stored.js";
import { defined, GOOD, rig, TOKEN, URL } from "./rig.js";

const tokenOf = ({ store }: FakeHost): object => storedJson(store.get("token")!);
/** Over http another Wi-Fi would have all secrets entered again. */
const SECURE = { ...GOOD, url: "https://platform.test" };
const WRONG_PASSWORD = { field: "password", reason: "the password is wrong" } as const;

test("settings that connect are kept, with the token that the device got by them", async (t) => {
  const { entry, commissioning, host, platform, checked, closed, joined } = rig();
  t.true(entry.give(GOOD));
  t.is(commissioning.state, "checking");
  t.false(entry.give({ ssid: "another" }), "nothing is taken meanwhile");
  await checked();
  t.is(commissioning.state, "done");
  t.is(joined.length, 1);
  t.like(joined[0], { ssid: "home", password: "correct horse" });
  t.deepEqual(defined(readStoredSettings(host)), GOOD);
  t.like(tokenOf(host), { url: URL, name: "mote-fake-0001" });
  t.truthy(platform.device("mote-fake-0001"));
  await host.clock.advance(10_000);
  t.deepEqual([commissioning.state, closed], ["closed", [true]]);
});

test("each mistake comes back with its own reason, and nothing is kept", async (t) => {
  for (const [values, field, reason] of [
    [{ password: "wrong horse" }, "password", /password is wrong/],
    [{ ssid: "elsewhere" }, "ssid", /no such network/],
    [{ url: "http://nowhere.test" }, "url", /no server answers.*refused/],
    [{ url: "https://platform.test" }, "ca", /unknown issuer/],
    [{ token: "another", key: "", secret: "" }, "token", /401/],
    [{ secret: "wrong" }, "key", /wrong provisioning key or secret/],
  ] as const) {
    const { entry, host, checked } = rig({
      join: ({ ssid, password }) => {
        if (ssid !== "home") return { field: "ssid", reason: "no such network" };
        return password === "correct horse" ? undefined : WRONG_PASSWORD;
      },
    });
    const { onConnect } = host.net;
    host.net.onConnect = (peer) => {
      if (peer.name === "nowhere.test") peer.reset("connection refused");
      else if (peer.secure) peer.reset("certificate: unknown issuer");
      else return onConnect?.(peer);
      return false;
    };
    entry.give({ ...GOOD, ...values });
    await checked();
    const { state, findings } = entry.view;
    t.deepEqual([state, findings.map((one) => one.field)], ["open", [field]]);
    t.regex(findings[0]!.reason, reason);
    t.deepEqual(defined(readStoredSettings(host)), {});
    for (const secret of [KEY, SECRET, "correct horse", TOKEN])
      t.false(JSON.stringify(entry.view).includes(secret));
  }
});

test("it closes after 10 minutes, or at the end of a check that is under way then", async (t) => {
  const { entry, commissioning, host, closed } = rig();
  await host.clock.advance(599_999);
  t.is(commissioning.state, "open");
  await host.clock.advance(1);
  t.deepEqual([commissioning.state, closed], ["closed", [false]]);
  t.false(entry.give(GOOD));
  for (const isGood of [true, false]) {
    const late = rig({ join: () => (isGood ? undefined : WRONG_PASSWORD) });
    await late.host.clock.advance(599_000);
    late.entry.give(GOOD);
    await late.host.clock.advance(2000);
    t.is(late.commissioning.state, "checking");
    await late.checked();
    t.is(late.commissioning.state, isGood ? "done" : "closed");
  }
});

test("closed during a check it keeps nothing; storage that fails is reported, and nothing changes", async (t) => {
  const { entry, commissioning, host, closed } = rig();
  entry.give(GOOD);
  commissioning.close();
  await host.clock.advance(60_000);
  t.deepEqual(closed, [false]);
  t.deepEqual(defined(readStoredSettings(host)), {});
  const failing = rig();
  failing.host.store.fails = (call, key) => call === "set" && key === "commission";
  failing.entry.give(GOOD);
  await failing.checked();
  t.regex(failing.entry.view.findings[0]!.reason, /cannot be stored/);
  t.deepEqual(defined(readStoredSettings(failing.host)), {});
});

test("another Wi-Fi keeps the token; an empty password means an open network if the name is new", async (t) => {
  const first = rig();
  first.entry.give(SECURE);
  await first.checked();
  const { token } = tokenOf(first.host) as { token: string };
  const { store, clock } = first.host;
  const again = rig({ store, clock, network: first.host.net });
  again.entry.give({ ssid: "garden", password: "another horse" });
  // The same platform goes on: `again` made a new one, which does not know the device.
  again.platform.create("moved", token);
  await again.checked();
  t.like(readStoredSettings(again.host), { ssid: "garden", password: "another horse" });
  t.like(tokenOf(again.host), { token });
  for (const [ssid, password] of [
    ["cafe", undefined],
    ["home", "correct horse"],
  ] as const) {
    const { entry, checked, joined } = rig({ before: SECURE });
    entry.give({ ssid });
    await checked();
    t.is(joined[0]!.password, password);
  }
});

// What can't be right is found before anything connects.

test("all invalid values are reported at once, by field, and no finding quotes a value", (t) => {
  const { entry, commissioning, joined } = rig();
  entry.give({ ssid: "s".repeat(33), password: "short", url: "ftp://x", key: "only" });
  const fields = entry.view.findings.map(({ field }) => field);
  t.deepEqual(fields, ["ssid", "url", "secret"]);
  t.deepEqual([commissioning.state, joined.length], ["open", 0]);
  const quoted = { ssid: "quoted".repeat(9), password: "quoted", url: "quoted", ca: "quoted" };
  const findings = checkValues({ ...quoted, token: "quo/ted", key: "quoted\u0000" }, true);
  t.is(findings.length, 4);
  t.false(JSON.stringify(findings).includes("quo"));
  const { ssid, password, ...rest } = GOOD;
  t.deepEqual(checkValues(rest, false), [], "without a radio");
});

test("a network's name has 1 to 32 bytes, its password 8 to 63, 64 hexadecimal digits or none", (t) => {
  const field = (ssid: unknown, password?: unknown) => checkNetwork(ssid, password)?.field;
  t.is(field("h"), undefined);
  t.is(field("ä".repeat(16), "8 bytes!"), undefined);
  for (const ssid of ["ä".repeat(17), "", undefined, 7, "a\u0000b"]) t.is(field(ssid), "ssid");
  for (const password of ["", "8 bytes!", "g".repeat(63), "0aF9".repeat(16)])
    t.is(field("home", password), undefined);
  for (const password of [
    "1234567",
    "g".repeat(64),
    "ä".repeat(32),
    "0".repeat(65),
    "line\nbreak",
    12_345_678,
  ])
    t.is(field("home", password), "password");
});

test("takes every CA of Node as PEM and base64, and no private key or other text", (t) => {
  for (const pem of rootCertificates) {
    const [base64 = ""] = readAuthorities(pem) as string[];
    t.deepEqual(Buffer.from(fromBase64(base64)!), Buffer.from(base64, "base64"));
    t.deepEqual(readAuthorities(base64), [base64]);
  }
  const [root = ""] = rootCertificates;
  const key = root.replaceAll("CERTIFICATE", "PRIVATE KEY");
  for (const text of [key, root + key]) t.regex(readAuthorities(text) as string, /private key/);
  for (const text of ["", "hello", "-----BEGIN CERTIFICATE-----", root.replace("MII", "AAA"), `${root}x`])
    t.is(readAuthorities(text), "not a certificate (expected PEM)", text);
  t.regex(readAuthorities(rootCertificates.slice(0, 6).join("\n")) as string, /too long/);
});

// A visitor who names another platform must not get the secrets of the first one.

/** The shortest: two of them find room together. */
const [ONE = "", OTHER = ""] = rootCertificates.toSorted((a, b) => a.length - b.length);
const BEFORE = { ssid: "home", url: "https://platform.test", token: "T", key: "K", secret: "S" };
const OVER_HTTP = { ...BEFORE, url: "http://platform.test", password: "correct horse" };
const BARE_ONE = ONE.replace(/-----.*-----|\s/g, "");

test("stored secrets stay with their platform, its certificates and, over http, its Wi-Fi", (t) => {
  const rows: readonly (readonly [before: Before, typed: Before, isKept: boolean])[] = [
    [BEFORE, { url: "https://other.test" }, false],
    [BEFORE, { url: "http://platform.test" }, false],
    [BEFORE, { url: "https://platform.test:444" }, false],
    [BEFORE, { url: "https://PLATFORM.test:443/" }, true],
    [{ ...BEFORE, url: undefined }, { url: "https://any.test" }, false],
    [BEFORE, { ca: ONE }, false],
    [{ ...BEFORE, ca: ONE }, { ca: OTHER }, false],
    [{ ...BEFORE, ca: ONE }, { ca: "none" }, false],
    [{ ...BEFORE, ca: ONE }, { ca: `${ONE}${OTHER}` }, false],
    [{ ...BEFORE, ca: ONE }, { ca: BARE_ONE }, true],
    [{ ...BEFORE, ca: ONE }, { ssid: "garden" }, true],
    [OVER_HTTP, { ssid: "garden" }, false],
    [OVER_HTTP, { password: "another horse" }, false],
    [OVER_HTTP, { ssid: "cafe", password: "" }, false],
    [OVER_HTTP, { ssid: "home", password: "correct horse" }, true],
    [{ ...OVER_HTTP, ssid: undefined, password: undefined }, { ssid: "home" }, true],
    // A Wi-Fi that can't have been joined was never known.
    [{ ...OVER_HTTP, password: "123" }, { ssid: "home", password: "correct horse" }, true],
  ];
  for (const [before, typed, isKept] of rows) {
    const { token, key, secret } = mergeSettings(before, typed);
    t.deepEqual([token, key, secret], isKept ? ["T", "K", "S"] : [undefined, undefined, undefined]);
  }
  t.is(mergeSettings(BEFORE, { url: "https://other.test", key: "K2" }).secret, undefined);
  t.is(mergeSettings(BEFORE, { key: "K2", secret: "S2" }).token, undefined);
  t.is(mergeSettings({ ...BEFORE, ca: ONE }, { ca: "none" }).ca, undefined);
  const { entry, joined } = rig({ before: BEFORE });
  entry.give({ url: "http://other.test" });
  t.deepEqual([entry.view.findings.map(({ field }) => field), joined.length], [["token"], 0]);
});

test("secrets that are built in for one platform are not used with another that was stored", (t) => {
  const provisioning = { key: "K", secret: "S", deviceName: "lamp" };
  const built = { wifi: { ssid: "home" }, baseUrl: "https://platform.test", token: "T", provisioning };
  const url = "https://other.test";
  const elsewhere = withStoredSettings(built, { url });
  t.false(/"[TKS]"/.test(JSON.stringify(elsewhere)));
  t.true(isIncomplete(elsewhere));
  const own = withStoredSettings(built, { url, key: "K2", secret: "S2" });
  t.deepEqual([own.provisioning, own.token], [{ key: "K2", secret: "S2", deviceName: "lamp" }, undefined]);
  const typed = withStoredSettings(built, { url, token: "T2" });
  t.deepEqual([typed.token, typed.provisioning], ["T2", undefined]);
  t.like(withStoredSettings(built, { url: "https://platform.test/" }), { token: "T", provisioning });
  t.deepEqual(withStoredSettings({ provisioning }, { url }).provisioning, provisioning);
});
