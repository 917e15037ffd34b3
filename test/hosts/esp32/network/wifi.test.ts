import test from "ava";
import { type Network, Wifi } from "../../../../hosts/esp32/network/wifi.js";
import { fakeHost } from "../../../fakes/host.js";
import { FakeRadio } from "../board.js";

const HOME: Network = { ssid: "home", password: "correct horse" };

function rig(network = HOME) {
  const host = fakeHost({ seed: 3 });
  const radios: FakeRadio[] = [];
  const asked: { SSID: string; password?: string }[] = [];
  const reported = { online: 0 };
  const wifi = new Wifi(
    (changed) => {
      const radio = new FakeRadio(asked, changed);
      radios.push(radio);
      return radio;
    },
    network,
    host,
  );
  wifi.onOnline = () => reported.online++;
  return { host, radios, asked, reported, wifi, clock: host.clock };
}

test("it joins the network that was asked for, and reports when there is an address", (t) => {
  const { radios, asked, reported, wifi } = rig();
  wifi.start();
  t.deepEqual(asked, [{ SSID: "home", password: "correct horse" }]);
  radios[0]!.become(400);
  t.false(wifi.online);
  radios[0]!.become(500);
  t.true(wifi.online);
  t.is(reported.online, 1);
});

test("an open network is joined without a password", (t) => {
  const { asked, wifi } = rig({ ssid: "cafe" });
  wifi.start();
  t.deepEqual(asked, [{ SSID: "cafe" }]);
});

test("refused, it asks again after 1 s, doubled up to a minute, half of it by chance", async (t) => {
  const { radios, asked, wifi, clock } = rig();
  wifi.start();
  const waits: number[] = [];
  for (let n = 1; n < 10; n++) {
    const began = clock.now();
    radios[0]!.become(200);
    while (asked.length === n) await clock.advance(50);
    waits.push(clock.now() - began);
  }
  for (const [n, wait] of waits.entries()) {
    const longest = Math.min(60_000, 1000 * 2 ** n);
    t.true(wait >= longest / 2 && wait <= longest + 50, `${n}: ${wait}`);
  }
});

test("a network that was lost is joined again, quickly at first", async (t) => {
  const { radios, asked, reported, wifi, clock } = rig();
  wifi.start();
  for (let n = 1; n < 7; n++) {
    radios.at(-1)!.become(200);
    while (asked.length === n) await clock.advance(50);
  }
  radios.at(-1)!.become(500);
  const before = asked.length;
  radios.at(-1)!.become(200);
  t.false(wifi.online);
  await clock.advance(1050);
  t.is(asked.length, before + 1);
  radios.at(-1)!.become(500);
  t.is(reported.online, 2);
});

test("an access point that never answers gets a new radio after 30 s", async (t) => {
  const { radios, asked, wifi, clock } = rig();
  wifi.start();
  radios[0]!.become(400);
  await clock.advance(31_100);
  t.is(radios.length, 2);
  t.true(radios[0]!.closed);
  t.is(asked.length, 2);
});

test("a driver that refuses to connect is asked again", async (t) => {
  const { host, wifi, radios, asked, clock } = rig();
  wifi.start();
  radios[0]!.become(200);
  radios[0]!.onConnect = () => {
    throw new Error("connect failed");
  };
  await clock.advance(1050);
  radios[0]!.connection = 200;
  radios[0]!.onConnect = () => {};
  await clock.advance(2050);
  t.is(asked.length, 3);
  radios[0]!.become(500);
  t.true(wifi.online);
  t.true(host.lines.every((line) => !line.includes("correct horse") && !line.includes("home")));
});

test("joined again on request, and not while it is joining", async (t) => {
  const { radios, wifi, clock } = rig();
  wifi.start();
  wifi.rejoin();
  t.is(radios.length, 1);
  radios[0]!.become(500);
  wifi.rejoin();
  t.false(wifi.online);
  await clock.advance(1050);
  t.is(radios.length, 2);
});

test("a network that was gone has returned; one that was joined again on request has not, unless it could not be joined", async (t) => {
  const { radios, wifi, clock } = rig();
  const returned: boolean[] = [];
  wifi.onOnline = (how) => returned.push(how);
  const becomes = async (connection: number) => {
    await clock.advance(2000);
    radios.at(-1)?.become(connection);
  };
  wifi.start();
  await becomes(500);
  await becomes(200);
  await becomes(500);
  wifi.rejoin();
  await becomes(500);
  wifi.rejoin();
  await becomes(200);
  await becomes(500);
  await becomes(200);
  await becomes(500);
  t.deepEqual(returned, [true, true, false, true, true]);
});

test("stopped, it lets the radio go and asks no more", async (t) => {
  const { radios, asked, wifi, clock } = rig();
  wifi.start();
  radios[0]!.become(200);
  wifi.stop();
  await clock.advance(600_000);
  t.is(asked.length, 1);
  t.true(radios[0]!.closed);
});

test("what happens in the SDK's callback stays in it", (t) => {
  const { host, radios, wifi } = rig();
  wifi.onOnline = () => {
    throw new Error("mine");
  };
  wifi.start();
  t.notThrows(() => radios[0]!.become(500));
  t.true(host.lines.some((line) => line.includes("mine")));
});

const TWO: Network = { ...HOME, second: { ssid: "shed", password: "another horse" } };

/** The names asked for, as each is refused until one of `near` was. */
async function joins({ radios, asked, clock }: ReturnType<typeof rig>, near: string, most = 20) {
  const from = asked.length;
  for (let n = from; n < from + most; n++) {
    while (asked.length === n) await clock.advance(50);
    const { SSID } = asked[n]!;
    radios.at(-1)!.become(SSID === near ? 500 : 200);
    if (SSID === near) break;
  }
  return asked.slice(from).map(({ SSID }) => SSID);
}

test("two networks take turns until one is joined; the second has its turn within seconds", async (t) => {
  const all = rig(TWO);
  const began = all.clock.now();
  all.wifi.start();
  all.radios[0]!.become(200);
  t.deepEqual(await joins(all, "shed"), ["shed"]);
  t.deepEqual(all.asked[1], { SSID: "shed", password: "another horse" });
  t.true(all.clock.now() - began <= 1100);
  t.true(all.wifi.online);
});

test("of two networks that are gone each is asked for at least each two minutes", async (t) => {
  const all = rig(TWO);
  all.wifi.start();
  all.radios[0]!.become(200);
  await joins(all, "neither", 15);
  const began = all.clock.now();
  const later = await joins(all, "neither", 4);
  t.deepEqual([...new Set(later)].sort(), ["home", "shed"]);
  t.true(all.clock.now() - began <= 240_000);
});

test("a network that was lost is asked for first, and the other one after it", async (t) => {
  const all = rig(TWO);
  all.wifi.start();
  all.radios[0]!.become(500);
  all.radios[0]!.become(200);
  t.deepEqual(await joins(all, "shed"), ["home", "shed"]);
  all.radios.at(-1)!.become(200);
  t.deepEqual(await joins(all, "home"), ["shed", "home"]);
});

test("one that leads nowhere makes way for the other, and one that never answers does so after 15 s", async (t) => {
  const all = rig(TWO);
  all.wifi.start();
  all.radios[0]!.become(500);
  all.wifi.rejoin();
  t.deepEqual(await joins(all, "shed"), ["shed"]);
  all.wifi.rejoin();
  while (all.asked.length === 2) await all.clock.advance(50);
  const began = all.clock.now();
  while (all.asked.length === 3) await all.clock.advance(50);
  t.is(all.asked[2]!.SSID, "home");
  t.is(all.asked[3]!.SSID, "shed");
  t.true(all.clock.now() - began <= 17_000);
});

test("a second network that comes later is asked for once the first is gone; one that goes is not asked for again", async (t) => {
  const all = rig();
  all.wifi.start();
  all.radios[0]!.become(500);
  all.wifi.setSecond(TWO.second);
  t.is(all.asked.length, 1);
  all.radios[0]!.become(200);
  t.deepEqual(await joins(all, "shed"), ["home", "shed"]);
  all.wifi.setSecond(undefined);
  all.radios.at(-1)!.become(200);
  t.deepEqual(await joins(all, "home"), ["home"]);
});
