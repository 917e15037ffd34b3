import test from "ava";
import { readStoredSettings } from "../../../extras/commissioning/stored-settings.js";
import type { FakeHost } from "../../fakes/host.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { defined, GOOD, rig, TOKEN, URL } from "./rig.js";

const tokenOf = ({ store }: FakeHost): object =>
  JSON.parse(Buffer.from(store.get("token")!.subarray(1)).toString());

test("what connects is kept: Wi-Fi, base URL, provisioning, and the token that the device got by it", async (t) => {
  const { entry, commissioning, host, platform, checked, closed, joined } = rig();
  t.true(entry.give(GOOD));
  t.is(commissioning.state, "checking");
  await checked();
  t.is(commissioning.state, "done");
  t.like(joined[0], { ssid: "home", password: "correct horse" });
  t.deepEqual(defined(readStoredSettings(host)), GOOD);
  t.like(tokenOf(host), { url: URL, name: "mote-fake-0001" });
  t.is(platform.core.devices.byName("mote-fake-0001")?.name, "mote-fake-0001");
  await host.clock.advance(10_000);
  t.deepEqual([commissioning.state, closed], ["closed", [true]]);
});

test("an access token is kept as the agent keeps its own", async (t) => {
  const { entry, commissioning, host, platform, checked } = rig();
  platform.create("greenhouse-7", TOKEN);
  entry.give({ ssid: "home", password: "correct horse", url: `${URL}/`, token: TOKEN });
  await checked();
  t.is(commissioning.state, "done");
  t.deepEqual(tokenOf(host), { url: URL, token: TOKEN });
});

const WRONG = [
  ["a wrong password", { password: "wrong horse" }, "password", /password is wrong/],
  ["an unknown network", { ssid: "elsewhere" }, "ssid", /no such network/],
  ["a platform that is not there", { url: "http://nowhere.test" }, "url", /nothing listens there.*refused/],
  ["a certificate that does not hold", { url: "https://platform.test" }, "ca", /unknown issuer/],
  ["a token that the platform does not know", { token: "another", key: "", secret: "" }, "token", /401/],
  ["a wrong provisioning secret", { secret: "wrong" }, "key", /wrong provisioning key or secret/],
] as const;

for (const [what, values, field, reason] of WRONG)
  test(`${what} comes back with its own reason, and nothing is kept`, async (t) => {
    const { entry, host, checked } = rig({
      join: ({ ssid, password }) =>
        ssid !== "home"
          ? { field: "ssid", reason: "no such network" }
          : password === "correct horse"
            ? undefined
            : { field: "password", reason: "the password is wrong" },
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
    t.is(state, "open");
    t.is(findings.length, 1);
    t.is(findings[0]!.field, field);
    t.regex(findings[0]!.reason, reason);
    t.deepEqual(defined(readStoredSettings(host)), {});
    for (const secret of [KEY, SECRET, "correct horse", TOKEN])
      t.false(JSON.stringify(entry.view).includes(secret));
  });

test("after a wrong password only the password is asked for again", async (t) => {
  const { entry, commissioning, checked, joined } = rig({
    join: ({ password }) =>
      password === "correct horse" ? undefined : { field: "password", reason: "the password is wrong" },
  });
  entry.give({ ...GOOD, password: "wrong horse" });
  await checked();
  t.false(entry.view.has.password);
  t.true(entry.view.has.secret);
  entry.give({ password: "correct horse" });
  await checked();
  t.is(commissioning.state, "done");
  t.like(joined[1], GOOD);
});

test("what can't be right is reported before anything connects, all of it at once", (t) => {
  const { entry, commissioning, joined } = rig();
  entry.give({ ssid: "s".repeat(33), password: "short", url: "ftp://x", key: "only" });
  t.deepEqual(
    entry.view.findings.map(({ field }) => field),
    ["ssid", "url", "secret"],
  );
  t.is(commissioning.state, "open");
  t.is(joined.length, 0);
});

test("it closes after 10 minutes, and takes nothing any more", async (t) => {
  const { entry, commissioning, host, closed } = rig();
  await host.clock.advance(599_999);
  t.is(commissioning.state, "open");
  await host.clock.advance(1);
  t.deepEqual([commissioning.state, closed], ["closed", [false]]);
  t.false(entry.give(GOOD));
});

test("a check that is under way when the 10 minutes are over goes on to its end", async (t) => {
  const { entry, commissioning, host, checked, closed } = rig();
  await host.clock.advance(599_000);
  entry.give(GOOD);
  await host.clock.advance(2000);
  t.is(commissioning.state, "checking");
  await checked();
  t.is(commissioning.state, "done");
  const failing = rig({ join: () => ({ field: "ssid", reason: "no such network" }) });
  await failing.host.clock.advance(599_000);
  failing.entry.give(GOOD);
  await failing.checked();
  t.is(failing.commissioning.state, "closed");
  t.deepEqual([closed, failing.closed], [[], [false]]);
});

test("nothing is taken while it checks", async (t) => {
  const { entry, checked, joined } = rig();
  entry.give(GOOD);
  t.false(entry.give({ ssid: "another" }));
  await checked();
  t.is(joined.length, 1);
});

test("closed during a check, it keeps nothing", async (t) => {
  const { entry, commissioning, host, closed } = rig();
  entry.give(GOOD);
  commissioning.close();
  await host.clock.advance(60_000);
  t.deepEqual(closed, [false]);
  t.deepEqual(defined(readStoredSettings(host)), {});
});

test("storage that fails is reported, and what was there before stays", async (t) => {
  const { entry, host, checked } = rig();
  host.store.fails = (call, key) => call === "set" && key === "commission";
  entry.give(GOOD);
  await checked();
  t.regex(entry.view.findings[0]!.reason, /cannot be stored/);
  t.deepEqual(defined(readStoredSettings(host)), {});
});

/** Over http another Wi-Fi would have all secrets entered again. */
const SECURE = { ...GOOD, url: "https://platform.test" };

test("another Wi-Fi leaves the device its token, and asks for nothing else again", async (t) => {
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
  t.is(again.commissioning.state, "done");
  const kept = readStoredSettings(again.host);
  t.deepEqual([kept.ssid, kept.password], ["garden", "another horse"]);
  t.like(tokenOf(again.host), { token });
});

test("a network of another name without a password is open; the same one keeps its password", async (t) => {
  const before = SECURE;
  const open = rig({ before });
  open.entry.give({ ssid: "cafe" });
  await open.checked();
  t.is(open.joined[0]!.password, undefined);
  const same = rig({ before });
  same.entry.give({ ssid: "home" });
  await same.checked();
  t.is(same.joined[0]!.password, "correct horse");
});

test("what was entered on the page is not completed by a Wi-Fi that comes by cable", (t) => {
  const { commissioning, console, joined } = rig();
  commissioning.entry().give({ url: "http://stranger.test", token: "his-token" });
  console.line('set wifi home "correct horse"');
  t.deepEqual([commissioning.state, joined.length], ["open", 0]);
  t.is(commissioning.view.url, "");
});

test("another platform needs a token of its own, or provisioning", async (t) => {
  const { entry, joined } = rig({ before: { ssid: "home", url: URL, token: TOKEN } });
  entry.give({ url: "http://other.test" });
  t.deepEqual(
    entry.view.findings.map(({ field }) => field),
    ["token"],
  );
  t.is(joined.length, 0);
});
