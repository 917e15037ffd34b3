// A stored token is bound to address, scheme and authorities; what images without bindings kept goes on both ways.
import { rootCertificates } from "node:tls";
import test from "ava";
import { nameOf } from "../../../extras/commissioning/authorities.js";
import {
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

const [ONE = "", OTHER = ""] = rootCertificates;
const URL = "https://platform.test";
const TOKEN = "TOKEN-of-the-owner";
const none = (): void => {};

const put = ({ store }: FakeHost, key: string, value: unknown): unknown =>
  store.set(key, Buffer.from(`\u0001${JSON.stringify(value)}`));
const read = ({ store }: FakeHost, key: string): Record<string, unknown> | undefined => {
  const bytes = store.values.get(key);
  return bytes && JSON.parse(Buffer.from(bytes.subarray(1)).toString());
};
const tokens = (host: FakeHost, ca: string | undefined, scheme: "http" | "https" = "https"): TokenStore =>
  new TokenStore(host, host.redactor, {
    scheme,
    address: "platform.test",
    authorities: nameOf(host, ca),
  });

test("a token is used with its own authorities alone", (t) => {
  const host = fakeHost();
  const binding = { scheme: "https", address: "platform.test", authorities: nameOf(host, ONE) } as const;
  t.true(tokens(host, ONE).save(secretOf(TOKEN, binding), "lamp"));
  t.is(tokens(host, ONE).get("token")?.reveal(), TOKEN);
  t.is(
    tokens(host, ONE.replace(/-----.*-----|\s/g, ""))
      .get("token")
      ?.reveal(),
    TOKEN,
    "however they are written",
  );
  for (const ca of [OTHER, undefined, `${ONE}${OTHER}`]) t.is(tokens(host, ca).get("token"), undefined);
  t.is(tokens(host, ONE, "http").get("token"), undefined);
  t.true(host.lines.some((line) => line.includes("belongs to other certificates (CA)")));
});

test("a token that was kept without a binding is used, bound, and read by the image before as it was", (t) => {
  const host = fakeHost();
  put(host, "token", { url: URL, token: TOKEN, name: "lamp" });
  t.is(tokens(host, ONE).get("token")?.reveal(), TOKEN);
  t.like(read(host, "token"), { url: URL, token: TOKEN, name: "lamp" });
  t.is(tokens(host, OTHER).get("token"), undefined);
});

/** A device of the image before, of which the CA may have been changed by it after this one had run. */
function oldDevice(ca: string, more: object): FakeHost {
  const host = fakeHost({ store: new FakeStore() });
  put(host, "token", { url: URL, token: TOKEN, name: "lamp", ...more });
  put(host, "site", { url: URL, ca, key: "K", secret: "S" });
  return host;
}

test("cut at each write, old data is bound once, and the token is there before and after", (t) => {
  for (const [ca, more] of [
    [ONE, {}],
    [OTHER, { ca: nameOf(fakeHost(), ONE) }],
  ] as const)
    for (let cut = 0; cut < 6; cut++) {
      const host = oldDevice(ca, more);
      const start = (): string | undefined => {
        finishInterrupted(host, none);
        return tokens(host, ca).get("token")?.reveal();
      };
      let done = 0;
      host.store.fails = () => done++ >= cut;
      start();
      host.store.fails = undefined;
      // The image before returns: it reads what it knows, and no more.
      t.like(read(host, "token"), { url: URL, token: TOKEN, name: "lamp" }, `cut ${cut}`);
      t.like(readStoredSettings(host), { url: URL, ca, key: "K", secret: "S" });
      t.is(start(), TOKEN, `cut ${cut}`);
      t.is(read(host, "token")?.ca, nameOf(host, ca));
      t.is(start(), TOKEN);
      const { length } = host.store.changes;
      start();
      t.is(host.store.changes.length, length, "once");
    }
});

test("what commissioning keeps is bound to what was entered", (t) => {
  const host = fakeHost();
  t.true(storeSettings(host, { url: URL, ca: ONE, token: TOKEN }, false));
  finishInterrupted(host, none);
  t.is(tokens(host, ONE).get("token")?.reveal(), TOKEN);
  t.is(tokens(host, OTHER).get("token"), undefined);
});

const WIFI = { ssid: "home", password: "correct horse" };
const HTTP = { url: "http://platform.test", key: "K", secret: "S" };

for (const [from, store] of [
  ["this image", (host: FakeHost) => storeSettings(host, { ...WIFI, ...HTTP }, false)],
  [
    "an image that marked no Wi-Fi",
    (host: FakeHost) => {
      put(host, "wifi", WIFI);
      put(host, "site", { ...HTTP, bound: true });
    },
  ],
] as const)
  test(`over http, a reset keeps secrets bound to the Wi-Fi that ${from} stored`, async (t) => {
    const host = fakeHost({ store: new FakeStore() });
    store(host);
    finishInterrupted(host, none);
    const agent = new Agent(host, { baseUrl: "http://none", token: "none" });
    await agent.reset();
    finishInterrupted(host, none);
    t.is(read(host, "wifi"), undefined);
    t.false(JSON.stringify(read(host, "site")).includes("home"));
    const before = readStoredSettings(host);
    t.like(before, { ...HTTP, ssid: undefined });
    t.is(mergeSettings(before, { ssid: "visitor", password: "his own Wi-Fi" }).secret, undefined);
    t.is(mergeSettings(before, { ...WIFI, password: "his own Wi-Fi" }).key, undefined);
    t.is(mergeSettings(before, WIFI).secret, "S");
    t.is(mergeSettings(before, { ssid: "visitor", ...{ key: "K2", secret: "S2" } }).secret, "S2");
  });

test("a reset that a power loss interrupts leaves the mark of the Wi-Fi", (t) => {
  const host = fakeHost({ store: new FakeStore() });
  put(host, "wifi", WIFI);
  put(host, "site", { ...HTTP, bound: true });
  put(host, "reset", true);
  finishInterrupted(host, () => void new Agent(host, { baseUrl: "http://none", token: "none" }));
  t.is(read(host, "wifi"), undefined);
  t.is(mergeSettings(readStoredSettings(host), { ssid: "visitor" }).secret, undefined);
});

/** A device that a first visitor had checked: the platform gave a token for exactly these settings. */
const CHECKED = { ...WIFI, url: URL, ca: ONE, key: "K", secret: "S" };
function checked(): FakeHost {
  const host = fakeHost({ store: new FakeStore() });
  discardOtherCheckedToken(host, CHECKED);
  put(host, "new-token", { url: URL, token: "TOKEN-of-a-check", name: "lamp" });
  put(host, "new-proposed", { url: URL, token: "TOKEN-of-a-check" });
  return host;
}

test("a token that a check was given stays for the same settings, also over a restart", (t) => {
  const host = checked();
  discardOtherCheckedToken(host, CHECKED);
  t.is(read(host, "new-token")?.token, "TOKEN-of-a-check");
  t.true(storeSettings(host, CHECKED, false));
  t.is(read(host, "token")?.token, "TOKEN-of-a-check");
});

test("a token that a check was given is forgotten when any setting is another visitor's", (t) => {
  for (const other of [
    { url: "https://other.test" },
    { url: "http://platform.test" },
    { ca: OTHER },
    { ca: undefined },
    { key: "K2" },
    { secret: "S2" },
    { ssid: "visitor" },
    { password: "his own Wi-Fi" },
  ]) {
    const host = checked();
    discardOtherCheckedToken(host, { ...CHECKED, ...other });
    const name = JSON.stringify(other);
    t.is(read(host, "new-token"), undefined, name);
    t.is(read(host, "new-proposed"), undefined, name);
    t.true(storeSettings(host, { ...CHECKED, ...other }, false));
    t.is(read(host, "token"), undefined, name);
    discardOtherCheckedToken(host, CHECKED);
    t.is(read(host, "new-token"), undefined, "nor does it come back");
  }
});

test("where the host has no digest a checked token is never kept", (t) => {
  const host = checked();
  discardOtherCheckedToken({ ...host, digest: () => undefined }, CHECKED);
  t.is(read(host, "new-token"), undefined);
});
