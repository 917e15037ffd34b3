import test from "ava";
import { isHeld, whenHeld } from "../../../hosts/esp32/commissioning/button.js";
import { Joiner } from "../../../hosts/esp32/commissioning/wifi-connection.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeRadio } from "./board.js";

const HOME = { ssid: "home", password: "correct horse" };

function rig() {
  const clock = new FakeClock(undefined);
  const asked: { SSID: string; password?: string }[] = [];
  const air = { reason: 0 };
  let radio: FakeRadio | undefined;
  const joiner = new Joiner(
    (changed) => {
      radio = new FakeRadio(asked, changed);
      return radio;
    },
    {
      mote_wifi_reason: () => {
        const { reason } = air;
        air.reason = 0;
        return reason;
      },
    },
    clock,
  );
  const { onConnect } = radio!;
  /** What becomes of each attempt: a state, and ESP-IDF's reason, which comes a moment later. */
  const becomes = (connection: number, reason = 0): void => {
    radio!.onConnect = () => {
      onConnect();
      clock.timer(100, () => {
        radio!.become(connection);
        clock.timer(20, () => {
          air.reason = reason;
        });
      });
    };
  };
  return { clock, asked, joiner, radio: radio!, becomes };
}

test("a network that gives an address is joined", async (t) => {
  const { clock, asked, joiner, becomes } = rig();
  becomes(500);
  const joined = joiner.join(HOME);
  await clock.advance(1000);
  t.is(await joined, undefined);
  t.deepEqual(asked, [{ SSID: "home", password: "correct horse" }]);
});

for (const [reason, field, words, tries] of [
  [15, "password", /password is wrong/, 2],
  [202, "password", /password is wrong/, 2],
  [204, "password", /password is wrong/, 2],
  [201, "ssid", /no Wi-Fi of this name is near/, 1],
  [211, "password", /another kind of security/, 2],
  [5, "ssid", /takes no more devices/, 1],
  [99, "ssid", /was not joined \(reason 99\)/, 1],
  [0, "ssid", /was not joined \(no answer\)/, 1],
] as const)
  test(`reason ${reason} of the driver is reported as ${words}, after ${tries} ${tries === 1 ? "try" : "tries"}`, async (t) => {
    const { clock, asked, joiner, becomes } = rig();
    becomes(200, reason);
    const joined = joiner.join(HOME);
    await clock.advance(5000);
    const finding = await joined;
    t.is(finding?.field, field);
    t.regex(finding!.reason, words);
    t.is(asked.length, tries);
  });

test("an access point that never answers, and one that gives no address, are given up after 25 s each", async (t) => {
  const silent = rig();
  const joined = silent.joiner.join(HOME);
  await silent.clock.advance(26_000);
  t.regex((await joined)!.reason, /no answer/);
  const empty = rig();
  empty.becomes(400);
  const half = empty.joiner.join(HOME);
  await empty.clock.advance(26_000);
  t.regex((await half)!.reason, /gave the device no address/);
});

test("a driver that refuses to connect is a reason too", async (t) => {
  const { clock, joiner, radio } = rig();
  radio.onConnect = () => {
    radio.connection = 200;
    throw new Error("connect failed");
  };
  const joined = joiner.join(HOME);
  await clock.advance(1000);
  t.regex((await joined)!.reason, /was not joined/);
  joiner.close();
  t.true(radio.closed);
});

test("a button that bounces is not held; one that is pressed without a break is, once", async (t) => {
  const clock = new FakeClock(undefined);
  let level = 1;
  let held = 0;
  const end = whenHeld({ read: () => level }, clock, 10_000, () => held++);
  for (let n = 0; n < 4; n++) {
    level = 0;
    await clock.advance(9000);
    level = 1;
    await clock.advance(60);
  }
  t.is(held, 0);
  level = 0;
  await clock.advance(10_100);
  t.is(held, 1);
  await clock.advance(60_000);
  t.is(held, 1);
  level = 1;
  await clock.advance(100);
  level = 0;
  await clock.advance(10_100);
  t.is(held, 2);
  end();
  level = 1;
  await clock.advance(100);
  level = 0;
  await clock.advance(20_000);
  t.is(held, 2);
});

test("held at power-on means for all of the time", async (t) => {
  const clock = new FakeClock(undefined);
  const reported: boolean[] = [];
  let level = 0;
  isHeld({ read: () => level }, clock, 1000, (held) => reported.push(held));
  await clock.advance(990);
  t.deepEqual(reported, []);
  await clock.advance(60);
  t.deepEqual(reported, [true]);
  isHeld({ read: () => level }, clock, 1000, (held) => reported.push(held));
  await clock.advance(900);
  level = 1;
  await clock.advance(60);
  t.deepEqual(reported, [true, false]);
});
