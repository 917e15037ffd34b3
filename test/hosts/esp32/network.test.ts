import test from "ava";
import { isHeld, whenHeld } from "../../../hosts/esp32/commissioning/button.js";
import { Joiner } from "../../../hosts/esp32/commissioning/wifi-connection.js";
import { askTimeServer, type Datagrams } from "../../../hosts/esp32/network/time-server.js";
import { type NativeTls, type TlsModules, TlsSocket } from "../../../hosts/esp32/network/tls-socket.js";
import { type Network, Wifi } from "../../../hosts/esp32/network/wifi.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeRadio } from "./board.js";

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

const NOW = Date.UTC(2026, 10, 22) / 1000;

/** A time server: what it answers to a question. */
function timeServerRig(
  answer: (question: Buffer, n: number) => Buffer | undefined,
  address: string | null = "10.0.0.1",
) {
  const clock = new FakeClock();
  const seen = { asked: 0, opened: 0, closed: 0, to: "" };
  const datagrams: Datagrams = {
    resolve: (_, found) => void clock.timer(10, () => found(address ?? undefined)),
    open: (received) => {
      seen.opened++;
      return {
        write: (bytes, to, port) => {
          seen.to = `${to}:${port}`;
          const back = answer(Buffer.from(bytes), seen.asked++);
          if (back) clock.timer(20, () => received(new Uint8Array(back)));
        },
        close: () => void seen.closed++,
      };
    },
  };
  const received: (number | undefined)[] = [];
  const random = (into: Uint8Array): void => void into.fill(7);
  askTimeServer("time.test", datagrams, { clock, random }, (seconds) => received.push(seconds));
  return { clock, seen, received };
}

function answerTo(question: Buffer, seconds: number): Buffer {
  const answer = Buffer.alloc(48);
  answer[0] = 0x24;
  answer[1] = 2;
  question.copy(answer, 24, 40, 48);
  answer.writeUInt32BE((seconds + 2_208_988_800) % 2 ** 32, 40);
  return answer;
}

test("the time is that of the server's answer", async (t) => {
  const { clock, seen, received } = timeServerRig((question) => answerTo(question, NOW));
  await clock.advance(100_000);
  t.deepEqual(received, [NOW]);
  t.deepEqual(seen, { asked: 1, opened: 1, closed: 1, to: "10.0.0.1:123" });
});

test("the NTP era that begins in 2036 is the next one", async (t) => {
  const later = Date.UTC(2037, 0, 1) / 1000;
  const { clock, received } = timeServerRig((question) => answerTo(question, later));
  await clock.advance(1000);
  t.deepEqual(received, [later]);
});

for (const [what, change] of [
  ["to another question", (answer: Buffer) => answer.fill(1, 24, 32)],
  ["of a client", (answer: Buffer) => answer.writeUInt8(0x23, 0)],
  ["of a server that does not know", (answer: Buffer) => answer.writeUInt8(0, 1)],
  ["without a time", (answer: Buffer) => answer.writeUInt32BE(0, 40)],
] as const)
  test(`an answer ${what} is none, and the next question has one`, async (t) => {
    const { clock, seen, received } = timeServerRig((question, n) => {
      const answer = answerTo(question, NOW);
      if (n === 0) change(answer);
      return answer;
    });
    await clock.advance(100_000);
    t.deepEqual(received, [NOW]);
    t.is(seen.asked, 2);
  });

test("an answer that is cut short is none", async (t) => {
  const { clock, received } = timeServerRig((question) => answerTo(question, NOW).subarray(0, 47));
  await clock.advance(100_000);
  t.deepEqual(received, [undefined]);
});

test("nobody answers, or the name is unknown: it is said once, and nothing stays open", async (t) => {
  const silent = timeServerRig(() => undefined);
  await silent.clock.advance(24_000);
  t.deepEqual(silent.received, []);
  await silent.clock.advance(100_000);
  t.deepEqual(silent.received, [undefined]);
  t.deepEqual(silent.seen, { asked: 5, opened: 1, closed: 1, to: "10.0.0.1:123" });
  t.is(silent.clock.waiting, 0);
  const unknown = timeServerRig(() => undefined, null);
  await unknown.clock.advance(100);
  t.deepEqual([unknown.received, unknown.seen.opened], [[undefined], 0]);
});

test("without a network it is asked again, and no exception reaches the SDK", async (t) => {
  const { clock, received } = timeServerRig(() => {
    throw new Error("no network");
  });
  await clock.advance(100_000);
  t.deepEqual(received, [undefined]);
});

// The port's socket over native/tls: what it reports, and what it leaves with the native side.

const OPENED = 1;
const READABLE = 2;
const WRITABLE = 4;
const CLOSED = 8;

class Native implements NativeTls {
  closed = 0;
  room = 3;
  readonly written: number[] = [];
  bytes: number[] = [];

  write(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, this.room);
    this.written.push(...taken);
    return taken.length;
  }

  read(into: Uint8Array): number {
    const part = this.bytes.splice(0, into.length);
    into.set(part);
    return part.length;
  }

  close(): void {
    this.closed++;
  }
}

function tlsRig(how: { refuse?: string; throws?: boolean } = {}) {
  const native = new Native();
  const reported: string[] = [];
  let found: (address: string | undefined) => void = () => {};
  let event: (what: number, reason?: string) => void = () => {};
  const asked: unknown[] = [];
  const modules: TlsModules = {
    resolve: (_, then) => {
      found = then;
    },
    connect: (name, address, port, authorities, say) => {
      if (how.refuse !== undefined) throw new Error(how.refuse);
      asked.push([name, address, port, authorities.length]);
      event = say;
      return native;
    },
  };
  const socket = new TlsSocket(
    "platform.test",
    443,
    [Uint8Array.of(1)],
    (what, reason) => {
      reported.push(reason === undefined ? what : `${what}: ${reason}`);
      if (how.throws) throw new Error("on purpose");
    },
    modules,
  );
  return {
    socket,
    native,
    reported,
    asked,
    found: (address?: string) => found(address),
    event: (what: number, reason?: string) => event(what, reason),
  };
}

test("what the native side says is reported in order, and bytes go both ways", (t) => {
  const { socket, native, reported, asked, found, event } = tlsRig();
  t.is(socket.write(Uint8Array.of(1)), 0, "not open yet");
  found("192.0.2.1");
  t.deepEqual(asked, [["platform.test", "192.0.2.1", 443, 1]]);
  event(OPENED);
  t.is(socket.write(Uint8Array.of(1, 2, 3, 4)), 3);
  event(WRITABLE);
  native.bytes = [5, 6];
  event(READABLE);
  const into = new Uint8Array(4);
  t.is(socket.read(into), 2);
  t.deepEqual(reported, ["opened", "writable", "readable"]);
});

test("what was not read before the end can be read after it, and the native side is given back", (t) => {
  const { socket, native, reported, found, event } = tlsRig();
  found("192.0.2.1");
  event(OPENED);
  native.bytes = [1, 2, 3, 4, 5];
  event(READABLE | CLOSED, "end");
  t.deepEqual(reported, ["opened", "readable", "closed: end"]);
  t.is(native.closed, 0);
  const into = new Uint8Array(3);
  t.is(socket.read(into), 3);
  t.is(socket.read(into), 2);
  t.is(socket.read(into), 0);
  t.is(native.closed, 1);
  t.is(socket.write(Uint8Array.of(1)), 0);
});

test("after a close nothing is reported, whenever it comes", (t) => {
  const early = tlsRig();
  early.socket.close();
  early.found("192.0.2.1");
  t.deepEqual([early.asked, early.reported], [[], []], "before the name was found");
  const late = tlsRig();
  late.found("192.0.2.1");
  late.socket.close();
  late.event(OPENED | READABLE | CLOSED, "end");
  late.socket.close();
  t.deepEqual([late.reported, late.native.closed], [[], 1], "amid the handshake");
});

test("a name that is not found, and a connection that there is no room for, are said", (t) => {
  const nowhere = tlsRig();
  nowhere.found(undefined);
  t.deepEqual(nowhere.reported, ["closed: name not found"]);
  const full = tlsRig({ refuse: "TLS: no memory for another connection" });
  full.found("192.0.2.1");
  t.deepEqual(full.reported, ["closed: TLS: no memory for another connection"]);
});

test("what its listener throws ends the connection, and nothing reaches the engine", (t) => {
  const { native, reported, found, event } = tlsRig({ throws: true });
  found("192.0.2.1");
  t.notThrows(() => event(OPENED));
  t.deepEqual(reported, ["opened", "closed: internal error"]);
  t.is(native.closed, 1);
});

const HOME_WIFI = { ssid: "home", password: "correct horse" };

function connectionRig() {
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
  const { clock, asked, joiner, becomes } = connectionRig();
  becomes(500);
  const joined = joiner.join(HOME_WIFI);
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
    const { clock, asked, joiner, becomes } = connectionRig();
    becomes(200, reason);
    const joined = joiner.join(HOME_WIFI);
    await clock.advance(5000);
    const finding = await joined;
    t.is(finding?.field, field);
    t.regex(finding!.reason, words);
    t.is(asked.length, tries);
  });

test("an access point that never answers, and one that gives no address, are given up after 25 s each", async (t) => {
  const silent = connectionRig();
  const joined = silent.joiner.join(HOME_WIFI);
  await silent.clock.advance(26_000);
  t.regex((await joined)!.reason, /no answer/);
  const empty = connectionRig();
  empty.becomes(400);
  const half = empty.joiner.join(HOME_WIFI);
  await empty.clock.advance(26_000);
  t.regex((await half)!.reason, /gave the device no address/);
});

test("a driver that refuses to connect is a reason too", async (t) => {
  const { clock, joiner, radio } = connectionRig();
  radio.onConnect = () => {
    radio.connection = 200;
    throw new Error("connect failed");
  };
  const joined = joiner.join(HOME_WIFI);
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
