// The parts of a board's network: Wi-Fi, a trial join, the time server, TLS sockets, and its
// button.
import test from "ava";
import { whenHeld } from "../../../hosts/esp32/commissioning/button.js";
import { WifiJoiner } from "../../../hosts/esp32/commissioning/wifi-joiner.js";
import { askTimeServer, type Datagrams } from "../../../hosts/esp32/network/time-server.js";
import { type NativeTls, type TlsModules, TlsSocket } from "../../../hosts/esp32/network/tls-socket.js";
import { type Network, Wifi } from "../../../hosts/esp32/network/wifi.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeRadio } from "./board.js";

const HOME: Network = { ssid: "home", password: "correct horse" };
const TWO: Network = { ...HOME, second: { ssid: "shed", password: "another horse" } };
const [DOWN, CONNECTING, JOINED, ADDRESS] = [200, 300, 400, 500];

function wifiRig(network = HOME, onOnline?: () => never) {
  const host = fakeHost({ seed: 3 });
  const { clock } = host;
  const radios: FakeRadio[] = [];
  const asked: { SSID: string; password?: string }[] = [];
  const returned: boolean[] = [];
  const wifi = new Wifi(
    (changed) => {
      const radio = new FakeRadio(asked, changed);
      radios.push(radio);
      return radio;
    },
    network,
    host,
    onOnline ?? ((how) => returned.push(how)),
  );
  wifi.start();
  const becomes = (connection: number): void => radios.at(-1)!.become(connection);
  /** Milliseconds until the next attempt. */
  const nextJoin = async (): Promise<number> => {
    const [began, before] = [clock.now(), asked.length];
    while (asked.length === before) await clock.advance(50);
    return clock.now() - began;
  };
  /** The names asked for, each refused until `near` was; a refusal begins it. */
  const joins = async (near: string, most = 20): Promise<string[]> => {
    const from = asked.length;
    for (let n = 0; n < most; n++) {
      await nextJoin();
      const { SSID } = asked.at(-1)!;
      becomes(SSID === near ? ADDRESS : DOWN);
      if (SSID === near) break;
    }
    return asked.slice(from).map(({ SSID }) => SSID);
  };
  return { host, clock, radios, asked, returned, wifi, becomes, nextJoin, joins };
}

test("Wi-Fi is online once it has an address; an open network is joined without a password", (t) => {
  const { asked, returned, wifi, becomes } = wifiRig();
  t.deepEqual(asked, [{ SSID: "home", password: "correct horse" }]);
  becomes(JOINED);
  t.false(wifi.online);
  becomes(ADDRESS);
  t.true(wifi.online);
  t.is(returned.length, 1);
  t.deepEqual(wifiRig({ ssid: "cafe" }).asked, [{ SSID: "cafe" }]);
});

test("joins again after 1 s; refused attempts double the delay up to a minute, half by chance", async (t) => {
  const { wifi, becomes, nextJoin } = wifiRig();
  for (let n = 0; n < 9; n++) {
    becomes(DOWN);
    const wait = await nextJoin();
    const longest = Math.min(60_000, 1000 * 2 ** n);
    t.true(wait >= longest / 2 && wait <= longest + 50, `${n}: ${wait}`);
  }
  becomes(ADDRESS);
  becomes(DOWN);
  t.false(wifi.online);
  t.true((await nextJoin()) <= 1050);
});

test("an access point that never answers gets a new radio after 30 s; a driver that refuses is asked again", async (t) => {
  const silent = wifiRig();
  silent.becomes(JOINED);
  await silent.clock.advance(31_100);
  t.deepEqual([silent.radios.length, silent.radios[0]!.closed, silent.asked.length], [2, true, 2]);
  const { host, wifi, radios, becomes, nextJoin } = wifiRig();
  becomes(DOWN);
  radios[0]!.onConnect = () => {
    throw new Error("connect failed");
  };
  await nextJoin();
  Object.assign(radios[0]!, { connection: DOWN, onConnect: () => {} });
  await nextJoin();
  becomes(ADDRESS);
  t.true(wifi.online);
  t.false(/horse|home/.test(host.lines.join()));
});

test("it is joined again on request, unless it is joining; only a network that was gone has returned", async (t) => {
  const { radios, returned, wifi, clock, becomes } = wifiRig();
  wifi.rejoin();
  t.is(radios.length, 1);
  for (const [asks, ...connections] of [
    [false, ADDRESS, DOWN, ADDRESS],
    [true, ADDRESS],
    [true, DOWN, ADDRESS, DOWN, ADDRESS],
  ] as const) {
    if (asks) wifi.rejoin();
    for (const connection of connections) {
      await clock.advance(2000);
      becomes(connection);
    }
  }
  t.deepEqual(returned, [true, true, false, true, true]);
});

test("a stopped Wi-Fi lets the radio go; an exception in the SDK's callback is logged and stays in it", async (t) => {
  const { radios, asked, wifi, clock, becomes } = wifiRig();
  becomes(DOWN);
  wifi.stop();
  await clock.advance(600_000);
  t.deepEqual([asked.length, radios[0]!.closed], [1, true]);
  const broken = wifiRig(HOME, () => {
    throw new Error("mine");
  });
  t.notThrows(() => broken.becomes(ADDRESS));
  t.regex(broken.host.lines.join(), /mine/);
});

test("tries two networks in turn: the second within seconds, each at least every two minutes", async (t) => {
  const { asked, clock, becomes, joins } = wifiRig(TWO);
  becomes(DOWN);
  t.deepEqual(await joins("shed"), ["shed"]);
  t.deepEqual(asked[1], { SSID: "shed", password: "another horse" });
  t.true(clock.now() <= 1100);
  becomes(DOWN);
  t.deepEqual(await joins("home"), ["shed", "home"], "the one that was lost is asked for first");
  becomes(DOWN);
  await joins("neither", 15);
  const began = clock.now();
  t.deepEqual([...new Set(await joins("neither", 4))].sort(), ["home", "shed"]);
  t.true(clock.now() - began <= 240_000);
});

test("a network that leads nowhere makes way for the other, and one that never answers does so after 15 s", async (t) => {
  const { asked, wifi, becomes, nextJoin, joins } = wifiRig(TWO);
  becomes(ADDRESS);
  wifi.rejoin();
  t.deepEqual(await joins("shed"), ["shed"]);
  wifi.rejoin();
  await nextJoin();
  t.true((await nextJoin()) <= 17_000);
  const names = asked.slice(2).map(({ SSID }) => SSID);
  t.deepEqual(names, ["home", "shed"]);
});

// A trial join, as commissioning makes it.

/** What becomes of an attempt: a state, and ESP-IDF's reason, which comes a moment later. */
async function tryJoin(connection: number, reason = 0) {
  const clock = new FakeClock(undefined);
  const asked: { SSID: string; password?: string }[] = [];
  let air = 0;
  const readReason = (): number => {
    const now = air;
    air = 0;
    return now;
  };
  const makeRadio = (changed: () => void): FakeRadio => {
    const radio = new FakeRadio(asked, changed);
    radio.onConnect = () => {
      if (connection !== CONNECTING) clock.timer(100, () => radio.become(connection));
      clock.timer(120, () => {
        air = reason;
      });
    };
    return radio;
  };
  const joined = new WifiJoiner(makeRadio, { mote_wifi_reason: readReason }, clock).join(HOME);
  await clock.advance(26_000);
  return { finding: await joined, asked };
}

test("a trial join ends with an address or a reason in words, after a second try if useful", async (t) => {
  const { finding, asked } = await tryJoin(ADDRESS);
  t.deepEqual([finding, asked], [undefined, [{ SSID: "home", password: "correct horse" }]]);
  for (const [reason, field, words, tries] of [
    [15, "password", /password is wrong/, 2],
    [202, "password", /password is wrong/, 2],
    [204, "password", /password is wrong/, 2],
    [201, "ssid", /no Wi-Fi with this name in range/, 1],
    [211, "password", /has a security that the device does not support/, 2],
    [5, "ssid", /accepts no more devices/, 1],
    [99, "ssid", /was not joined \(reason 99\)/, 1],
    [0, "ssid", /was not joined \(no answer\)/, 1],
  ] as const) {
    const refused = await tryJoin(DOWN, reason);
    t.is(refused.finding?.field, field);
    t.regex(refused.finding!.reason, words);
    t.is(refused.asked.length, tries);
  }
  t.regex((await tryJoin(CONNECTING)).finding!.reason, /no answer/);
  t.regex((await tryJoin(JOINED)).finding!.reason, /gave the device no address/);
});

test("a button that bounces is not held; one that is pressed without a break is, once per press", async (t) => {
  const clock = new FakeClock(undefined);
  let level = 1;
  let held = 0;
  const end = whenHeld({ read: () => level }, clock, 10_000, () => held++);
  const press = async (ms: number): Promise<number> => {
    level = 0;
    await clock.advance(ms);
    level = 1;
    await clock.advance(100);
    return held;
  };
  for (let n = 0; n < 4; n++) t.is(await press(9000), 0);
  t.is(await press(10_100), 1);
  t.is(await press(60_000), 2);
  end();
  t.is(await press(20_000), 2);
});

// The time server.

const NOW = Date.UTC(2026, 10, 22) / 1000;

/** What `answer` gives to a question, and what became of it. */
function timeServer(
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

test("the time is that of the server's answer, also in the NTP era that begins in 2036", async (t) => {
  // Version 4, version 3, and each leap indicator of a server that knows the time.
  for (const seconds of [NOW, Date.UTC(2037, 0, 1) / 1000])
    for (const [first, stratum] of [
      [0x24, 2],
      [0x1c, 1],
      [0x64, 15],
      [0xa4, 3],
    ] as const) {
      const { clock, seen, received } = timeServer((question) => {
        const answer = answerTo(question, seconds);
        answer.set([first, stratum]);
        return answer;
      });
      await clock.advance(100_000);
      t.deepEqual(received, [seconds], `${first}, ${stratum}`);
      t.deepEqual(seen, { asked: 1, opened: 1, closed: 1, to: "10.0.0.1:123" });
    }
});

test("an invalid answer is passed over, and the next question has one", async (t) => {
  for (const [what, change] of [
    ["to another question", (answer: Buffer) => answer.fill(1, 24, 32)],
    ["of a client", (answer: Buffer) => void answer.writeUInt8(0x23, 0)],
    ["of a symmetric peer", (answer: Buffer) => void answer.writeUInt8(0x21, 0)],
    ["of version 0", (answer: Buffer) => void answer.writeUInt8(0x04, 0)],
    ["of version 5", (answer: Buffer) => void answer.writeUInt8(0x2c, 0)],
    ["of a server that refuses: stratum 0", (answer: Buffer) => void answer.writeUInt8(0, 1)],
    ["of a server without a source: stratum 16", (answer: Buffer) => void answer.writeUInt8(16, 1)],
    ["with stratum 255", (answer: Buffer) => void answer.writeUInt8(255, 1)],
    ["with leap indicator 3", (answer: Buffer) => void answer.writeUInt8(0xe4, 0)],
    ["without a time", (answer: Buffer) => void answer.writeUInt32BE(0, 40)],
    ["cut short", (answer: Buffer) => answer.subarray(0, 47)],
    ["to no question", (answer: Buffer) => void answer.fill(0, 24, 32)],
  ] as const) {
    const { clock, seen, received } = timeServer((question, n) => {
      const answer = answerTo(question, NOW);
      return n === 0 ? change(answer) || answer : answer;
    });
    await clock.advance(100_000);
    t.deepEqual([received, seen.asked], [[NOW], 2], what);
  }
});

test("no answer, an unknown name and a missing network are reported once, and nothing stays open", async (t) => {
  const silent = timeServer(() => undefined);
  await silent.clock.advance(24_000);
  t.deepEqual(silent.received, []);
  await silent.clock.advance(100_000);
  t.deepEqual(silent.received, [undefined]);
  t.deepEqual(silent.seen, { asked: 5, opened: 1, closed: 1, to: "10.0.0.1:123" });
  t.is(silent.clock.waiting, 0);
  const unknown = timeServer(() => undefined, null);
  const broken = timeServer(() => {
    throw new Error("no network");
  });
  for (const { clock, received } of [unknown, broken]) {
    await clock.advance(100_000);
    t.deepEqual(received, [undefined]);
  }
  t.is(unknown.seen.opened, 0);
});

test("a name server that never answers does not end the questions for the time", async (t) => {
  const clock = new FakeClock();
  const seen = { opened: 0 };
  const received: (number | undefined)[] = [];
  let found: ((address: string | undefined) => void) | undefined;
  const datagrams: Datagrams = {
    resolve: (_, then) => {
      found = then;
    },
    open: () => {
      seen.opened++;
      return { write: () => {}, close: () => {} };
    },
  };
  const random = (into: Uint8Array): void => void into.fill(7);
  askTimeServer("time.test", datagrams, { clock, random }, (seconds) => received.push(seconds));
  await clock.advance(600_000);
  t.deepEqual(received, [undefined]);
  found?.("10.0.0.1");
  await clock.advance(60_000);
  t.deepEqual([received, seen.opened], [[undefined], 0], "its late answer is ignored");
});

// The port's socket over native/tls.

const [OPENED, READABLE, WRITABLE, CLOSED] = [1, 2, 4, 8];

class Native implements NativeTls {
  closed = 0;
  bytes: number[] = [];

  write(bytes: Uint8Array): number {
    return Math.min(3, bytes.length);
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
  const asked: unknown[] = [];
  const calls = {
    found: (_address?: string): void => {},
    event: (_what: number, _reason?: string): void => {},
  };
  const modules: TlsModules = {
    resolve: (_, then) => {
      calls.found = then as typeof calls.found;
    },
    connect: (name, address, port, authorities, say) => {
      if (how.refuse !== undefined) throw new Error(how.refuse);
      asked.push([name, address, port, authorities.length]);
      calls.event = say;
      return native;
    },
  };
  const listener = (what: string, reason?: string): void => {
    reported.push(reason === undefined ? what : `${what}: ${reason}`);
    if (how.throws) throw new Error("on purpose");
  };
  const socket = new TlsSocket("platform.test", 443, [Uint8Array.of(1)], listener, modules);
  return { socket, native, reported, asked, calls };
}

test("a TLS socket reports events in order; bytes that came before the end can be read after it", (t) => {
  const { socket, native, reported, asked, calls } = tlsRig();
  t.is(socket.write(Uint8Array.of(1)), 0, "not open yet");
  calls.found("192.0.2.1");
  t.deepEqual(asked, [["platform.test", "192.0.2.1", 443, 1]]);
  calls.event(OPENED);
  t.is(socket.write(Uint8Array.of(1, 2, 3, 4)), 3);
  calls.event(WRITABLE);
  native.bytes = [1, 2, 3, 4, 5];
  calls.event(READABLE | CLOSED, "end");
  t.deepEqual(reported, ["opened", "writable", "readable", "closed: end"]);
  t.is(native.closed, 0);
  const into = new Uint8Array(3);
  t.deepEqual([socket.read(into), socket.read(into), socket.read(into)], [3, 2, 0]);
  t.is(native.closed, 1);
  t.is(socket.write(Uint8Array.of(1)), 0);
});

test("a TLS socket reports why it did not open, nothing after close(), and survives a throw", (t) => {
  const early = tlsRig();
  early.socket.close();
  early.calls.found("192.0.2.1");
  t.deepEqual([early.asked, early.reported], [[], []], "before the name was found");
  const late = tlsRig();
  late.calls.found("192.0.2.1");
  late.socket.close();
  late.calls.event(OPENED | READABLE | CLOSED, "end");
  late.socket.close();
  t.deepEqual([late.reported, late.native.closed], [[], 1], "amid the handshake");
  const nowhere = tlsRig();
  nowhere.calls.found(undefined);
  t.deepEqual(nowhere.reported, ["closed: name not found"]);
  const full = tlsRig({ refuse: "TLS: no memory for another connection" });
  full.calls.found("192.0.2.1");
  t.deepEqual(full.reported, ["closed: TLS: no memory for another connection"]);
  const throwing = tlsRig({ throws: true });
  throwing.calls.found("192.0.2.1");
  t.notThrows(() => throwing.calls.event(OPENED));
  t.deepEqual([throwing.reported, throwing.native.closed], [["opened", "closed: internal error"], 1]);
});
