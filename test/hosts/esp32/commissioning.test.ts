// A board out of the box: from its first power-on without a network to a point, by the page, by the cable, and by its button.

import { rootCertificates } from "node:tls";
import test from "ava";
import { isIncomplete } from "../../../extras/commissioning/built-in-configuration.js";
import { writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { commissionBy } from "../../../hosts/esp32/commissioning/configuration.js";
import { createHost } from "../../../hosts/esp32/host.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import { Agent } from "../../../src/index.js";
import { storesOf } from "../../../tools/moddable/factory/nvs-image.js";
import { KEY, SECRET } from "../../fakes/platform.js";

import { BARE, HOME, NAME, PRODUCT, rig, SOFTWARE, sampling } from "./commissioning-rig.js";

const SECURE = { ...PRODUCT, baseUrl: "https://platform.test" };

test("from the box to the first point without a rebuild: access point, page, a restart, and the point is there", async (t) => {
  const { board, modules, platform, boot } = rig(t);
  t.is(boot(), undefined);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
  t.is(modules.visit("GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n", "192.168.1.7"), "");
  t.regex(modules.submit(HOME), /303/);
  await board.clock.runUntil(() => board.restarts > 0);
  t.is(board.ap, undefined);
  t.deepEqual([modules.listeners.size, modules.names.size, modules.typed], [0, 0, undefined]);
  boot();
  await board.clock.advance(10_000);
  t.is(platform.points(platform.device(NAME), "n").length, 1);
  t.deepEqual(board.joins.at(-1), { SSID: "home", password: "correct horse" });
  t.is(board.ap, undefined);
});

test("a wrong password and an unknown network come back with their reasons, while the access point stays", async (t) => {
  const { board, modules, boot } = rig(t);
  boot();
  const page = () => modules.visit("GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n");
  modules.submit({ ...HOME, password: "wrong horse" });
  t.regex(page(), /Joining the Wi-Fi/);
  await board.clock.advance(10_000);
  t.regex(page(), /The Wi-Fi&#39;s password is wrong\./);
  modules.submit({ ssid: "elsewhere", password: "whatever" });
  await board.clock.advance(10_000);
  t.regex(page(), /No Wi-Fi of this name is near/);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
  modules.submit(HOME);
  await board.clock.advance(5000);
  t.regex(page(), /Connected\./);
});

test("over the cable: a firmware that knows nothing gets network, platform and token, line by line", async (t) => {
  const { board, modules, platform, boot } = rig(t, BARE);
  platform.create("greenhouse-7", "TOKEN-7");
  boot();
  t.like(modules.pins, { port: 0, receive: 3, transmit: 1 });
  modules.type('set wifi home "correct horse"');
  modules.type("set url http://platform.test");
  t.regex(modules.shown, /! an access token, or a provisioning key/);
  modules.type("set token TOKEN-7");
  await board.clock.runUntil(() => board.restarts > 0);
  t.regex(modules.shown, /connected, and kept\r\n/);
  boot();
  await board.clock.advance(10_000);
  t.is(platform.points(platform.device("greenhouse-7"), "n").length, 1);
});

test("a device that was built with its name alone gets a key by cable, and keeps its name", async (t) => {
  const { board, modules, platform, boot } = rig(t, { ...BARE, provisioning: { deviceName: "lamp-1" } });
  boot();
  modules.type('set wifi home "correct horse"');
  modules.type("set url http://platform.test");
  modules.type(`set provisioning ${KEY} ${SECRET}`);
  await board.clock.runUntil(() => board.restarts > 0);
  boot();
  await board.clock.advance(10_000);
  t.is(platform.points(platform.device("lamp-1"), "n").length, 1);
});

test("what the factory wrote is there at the first start: it provisions by its own name, or has its token", async (t) => {
  const url = "http://platform.test";
  for (const [values, built] of [
    [{ ...HOME, url, key: KEY, secret: SECRET }, BARE],
    [{ ...HOME, url, token: "TOKEN-7" }, BARE],
    [HOME, { ...PRODUCT, provisioning: { ...PRODUCT.provisioning, deviceName: "of the series" } }],
  ] as const) {
    const { board, platform, boot } = rig(t, built);
    if ("token" in values) platform.create("lamp-7", values.token);
    for (const [space, stored] of storesOf({ name: "lamp-7", label: undefined, values }))
      board.nvs.set(space, stored);
    boot();
    await board.clock.advance(10_000);
    t.is(board.ap, undefined);
    t.is(platform.points(platform.device("lamp-7"), "n").length, 1);
  }
});

const READY = { ...PRODUCT, wifi: HOME, commission: { button: 4 } };

/** Three starts by power of some seconds each, and the one that follows. */
async function cyclePower({ board, boot }: ReturnType<typeof rig>): Promise<void> {
  for (let start = 0; start < 3; start++) {
    board.powerOff();
    boot();
    await board.clock.advance(4000);
  }
  board.powerOff();
  boot();
}

test("three quick power cycles open commissioning on a board without a button: another Wi-Fi is given, and the application runs", async (t) => {
  const all = rig(t, { ...SECURE, wifi: { ssid: "the old one", password: "moved house" } });
  const { board, modules, platform, boot } = all;
  await cyclePower(all);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
  t.regex(modules.visit("GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n"), /the old one/);
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  let applications = 0;
  boot(() => applications++, SOFTWARE);
  await board.clock.advance(10_000);
  t.is(applications, 1);
  t.true(board.lines.includes("info: Wi-Fi: online"));
  t.truthy(platform.device(NAME));
});

test("nobody comes after three quick power cycles: ten minutes later the board is in recovery mode, for an hour; three more open it again", async (t) => {
  const all = rig(t, READY);
  const { board, boot } = all;
  await cyclePower(all);
  t.truthy(board.ap);
  await board.clock.runUntil(() => board.restarts > 0);
  t.is(board.ap, undefined);
  let applications = 0;
  boot(() => applications++, SOFTWARE);
  await board.clock.advance(20_000);
  t.is(applications, 0);
  t.true(board.lines.includes("error: recovery mode: the application is not started (quick power cycles)"));
  await cyclePower(all);
  t.truthy(board.ap);
});

test("an outage of power or Wi-Fi opens nothing, nor do quick power cycles where they are switched off", async (t) => {
  const slow = rig(t, READY);
  for (let start = 0; start < 6; start++) {
    slow.boot();
    await slow.board.clock.advance(11_000);
    slow.board.powerOff();
  }
  slow.boot();
  t.is(slow.board.ap, undefined);
  const off = rig(t, { ...READY, powerCycles: false });
  await cyclePower(off);
  t.is(off.board.ap, undefined);
});

test("once commissioned there is no page, unless the button is held at power-on for a second", async (t) => {
  const { board, modules, boot } = rig(t, READY);
  t.truthy(boot());
  t.deepEqual([board.ap, modules.listeners.size], [undefined, 0]);
  modules.pressed.add(4);
  t.is(boot(), undefined);
  await board.clock.advance(500);
  modules.pressed.clear();
  await board.clock.advance(5000);
  t.is(board.ap, undefined);
  modules.pressed.add(4);
  boot();
  await board.clock.advance(1100);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
});

test("a wake out of deep sleep is no power-on: its button opens nothing", async (t) => {
  const { board, modules } = rig(t, READY);
  const machine = board.boot(8);
  let went = 0;
  const wake = () =>
    commissionBy(modules, machine, createHost(machine), () => {
      went++;
      return new Agent(createHost(machine), { baseUrl: "http://none", token: "none" });
    });
  wake();
  t.is(went, 1);
  modules.pressed.add(4);
  wake();
  await board.clock.advance(5000);
  t.is(went, 1);
  modules.pressed.clear();
  await board.clock.advance(100);
  t.deepEqual([went, board.ap, board.restarts], [2, undefined, 0]);
});

test("a board that sleeps is reset by a button that is held for 10 s from a wake on", async (t) => {
  const cycle = { everyMs: 60_000, connectEvery: 60 };
  const { board, modules, boot } = rig(t, { ...PRODUCT, cycle, commission: { button: 4 } });
  const keys = () => [...(board.nvs.get("mote")?.keys() ?? [])];
  boot();
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  boot(() => {});
  await board.clock.runUntil(() => board.sleep !== undefined);
  t.true(keys().includes("token") && keys().includes("wifi"));
  modules.pressed.add(4);
  const machine = await board.deepSleep();
  startBoard(machine, () => {}, { commission: (made, host, go) => commissionBy(modules, made, host, go) });
  await board.clock.advance(11_000);
  t.is(board.restarts, 2);
  t.false(keys().includes("token") || keys().includes("wifi"), keys().join());
  t.true(keys().includes("site"));
});

test("nobody came for 10 minutes: it closes, and a board that was commissioned before goes on as it was", async (t) => {
  const { board, modules, boot } = rig(t, READY);
  modules.pressed.add(4);
  boot();
  await board.clock.advance(1100 + 599_000);
  t.truthy(board.ap);
  await board.clock.advance(2000);
  t.deepEqual([board.ap, modules.listeners.size, board.restarts], [undefined, 0, 1]);
});

test("a new board that nobody comes to records all the same, and delivers once it was commissioned", async (t) => {
  const { board, modules, platform, boot } = rig(t);
  boot();
  await board.clock.advance(601_000);
  t.deepEqual([board.ap, board.restarts, board.joins.length], [undefined, 0, 0]);
  await board.clock.advance(60_000);
  boot();
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  boot(() => {});
  await board.clock.advance(10_000);
  t.is(platform.points(platform.device(NAME), "n").length, 1);
});

test("one that does not know its platform either says so, every minute, and waits to be switched on again", async (t) => {
  const { board, boot } = rig(t, BARE);
  boot();
  await board.clock.advance(662_000);
  t.is(board.lines.filter((line) => line.includes("switch it off and on again")).length, 2);
  t.is(board.restarts, 0);
});

test("a button that is held for 10 s resets the device: Wi-Fi, token and queue go, and it asks again", async (t) => {
  const { board, modules, boot } = rig(t, { ...PRODUCT, commission: { button: 4 } });
  boot();
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  boot();
  await board.clock.advance(10_000);
  modules.pressed.add(4);
  await board.clock.advance(9000);
  modules.pressed.clear();
  await board.clock.advance(5000);
  t.is(board.restarts, 1);
  modules.pressed.add(4);
  await board.clock.advance(11_000);
  t.is(board.restarts, 2);
  modules.pressed.clear();
  const keys = [...(board.nvs.get("mote")?.keys() ?? [])];
  t.false(keys.includes("token") || keys.includes("wifi"), keys.join());
  t.true(keys.includes("site"));
  boot();
  t.truthy(board.ap);
  const joins = board.joins.length;
  modules.submit({ ssid: "visitor", password: "his own Wi-Fi" });
  await board.clock.advance(5000);
  t.is(board.joins.length, joins, "his network could pose as the platform");
  modules.submit(HOME);
  await board.clock.advance(5000);
  t.true(board.joins.length > joins);
});

test("over the chip's own USB it is configured as over the serial line, and what nobody reads holds nothing up", async (t) => {
  const { board, boot } = rig(t);
  board.usb = { in: [], out: "", read: false };
  boot();
  const type = (line: string): void => void board.usb?.in.push(...Buffer.from(`${line}\r\n`));
  for (let i = 0; i < 100; i++) type("help");
  await board.clock.advance(1000);
  t.is(board.usb.out, "");
  board.usb.read = true;
  type("show");
  await board.clock.advance(200);
  t.regex(board.usb.out, /token +not set/);
  t.true(board.usb.out.length < 10_000);
  board.usb.out = "";
  type('set wifi home "correct horse"');
  await board.clock.runUntil(() => board.restarts > 0);
  t.regex(board.usb.out, /connected, and kept/);
});

const ASK = Buffer.from(writeFrame(3, [2, 0]));
const PLACE = `http://platform.test/entities/devices?textSearch=${NAME}`;

test("a web page gives it its Wi-Fi by Improv, over the serial line and over USB, and finds it once it runs", async (t) => {
  for (const way of ["serial line", "USB"]) {
    const { board, modules, platform, boot } = rig(t);
    if (way === "USB") {
      board.usb = { in: [], out: "", read: true };
      modules.shut = ["serial"];
    }
    const send = (frame: Uint8Array): void => {
      if (way === "USB") board.usb?.in.push(...frame);
      else modules.typed?.(frame);
    };
    const heard = (): string =>
      way === "USB" ? (board.usb?.out ?? "") : Buffer.concat(modules.framed).toString();
    boot();
    send(ASK);
    await board.clock.advance(100);
    t.true(heard().includes("IMPROV\u0001\u0001\u0001\u0002"), way);
    send(writeFrame(3, [3, 0]));
    await board.clock.advance(100);
    t.regex(heard(), new RegExp(`lamp.1.0.0.ESP32.${NAME}`, "s"));
    const data = [4, ...Buffer.from("home"), HOME.password.length, ...Buffer.from(HOME.password)];
    send(writeFrame(3, [1, data.length, ...data]));
    await board.clock.runUntil(() => board.restarts > 0);
    t.true(heard().includes(PLACE));
    modules.framed.length = 0;
    if (board.usb) board.usb.out = "";
    boot();
    await board.clock.runUntil(() => platform.points(platform.device(NAME), "n").length > 0);
    send(ASK);
    await board.clock.advance(1000);
    t.true(heard().includes("IMPROV\u0001\u0001\u0001\u0004") && heard().includes(PLACE), way);
    t.false(heard().includes(HOME.password) || heard().includes(SECRET));
  }
});

test("whoever asks by Improv is given the networks that the radio hears", async (t) => {
  const { board, modules, boot } = rig(t);
  const { onRadio } = board;
  board.onRadio = (radio) => {
    onRadio(radio);
    radio.scan = ({ onFound, onComplete }) => {
      onFound({ SSID: "home", RSSI: -40, security: "wpa2_psk" });
      onFound({ SSID: "guests", RSSI: -70, security: "none" });
      onComplete();
    };
  };
  boot();
  modules.typed?.(writeFrame(3, [4, 0]));
  const heard = Buffer.concat(modules.framed).toString();
  t.regex(heard, /home.-40.YES.*guests.-70.NO/s);
});

test("a reset feeds the watchdog before each sector that it erases", async (t) => {
  const { board, modules, boot } = rig(t, { ...PRODUCT, commission: { button: 4 } });
  boot();
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  for (let at = 0; at < board.outbox.size; at += 4096) board.outbox.write(at, Uint8Array.of(0));
  modules.pressed.add(4);
  boot();
  await board.clock.advance(1100);
  board.longestUnfedMs = 0;
  modules.type("reset");
  await board.clock.runUntil(() => board.restarts > 1);
  t.is(board.longestUnfedMs, 400);
});

for (const [pin, why] of [
  [0, "decides at power-on how the chip starts"],
  [35, "has no pull-up"],
  [7, "belongs to the flash"],
  [40, "is no pin of this chip"],
  [3, "is the serial line"],
] as const)
  test(`a button is not taken at pin ${pin} of an ESP32, which ${why}`, (t) => {
    const { board, boot } = rig(t, { ...PRODUCT, commission: { button: pin } });
    boot();
    t.deepEqual(board.lines, [
      `error: the configuration is wrong: config.commission.button: pin ${pin} ${why}`,
    ]);
  });

test("a reset that the power cut is completed before anything that was kept is read", async (t) => {
  const { board, modules, boot } = rig(t);
  boot();
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  board.nvs.get("mote")!.set("reset", Buffer.from("\u0001true"));
  t.is(boot(), undefined);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
  t.deepEqual([...(board.nvs.get("mote")?.keys() ?? [])], ["site", "site-old"]);
});

test("the access point has the password of the product, or the device's own, which a reset does not forget", async (t) => {
  const { board, modules, boot } = rig(t, { ...PRODUCT, commission: { password: "of the product" } });
  boot();
  t.is(board.ap?.password, "of the product");
  modules.type("set label 1234567");
  modules.type("set label of-this-device");
  modules.type("reset");
  await board.clock.advance(100);
  boot();
  t.is(board.ap?.password, "of-this-device");
});

test("certificates that were given are those that the check and every later start trust", async (t) => {
  const { board, modules, boot } = rig(t, BARE);
  boot();
  const [pem = ""] = rootCertificates;
  const base64 = pem.replace(/-----.*-----|\s/g, "");
  modules.submit({ ...HOME, url: "https://platform.test", key: KEY, secret: SECRET, ca: pem });
  await board.clock.runUntil(() => board.restarts > 0);
  t.deepEqual(board.trusted, [base64]);
  boot();
  t.deepEqual(board.trusted, [base64, base64]);
});

test("modules that can't be had cost nothing but themselves", async (t) => {
  const { board, modules, boot } = rig(t, { ...PRODUCT, commission: { button: 4 } });
  modules.shut = ["listen", "datagrams", "pin"];
  boot();
  modules.type('set wifi home "correct horse"');
  await board.clock.runUntil(() => board.restarts > 0);
  const silent = rig(t);
  silent.modules.shut = ["serial"];
  silent.boot();
  silent.modules.submit(HOME);
  await silent.board.clock.runUntil(() => silent.board.restarts > 0);
  silent.board.lines.length = 0;
  silent.boot();
  await silent.board.clock.advance(5000);
  t.deepEqual(
    silent.board.lines.filter((line) => line.includes("no serial")),
    [],
  );
});

test("an access point that comes up late has its page all the same", async (t) => {
  const { board, modules, boot } = rig(t);
  modules.shut = ["listen", "datagrams"];
  boot();
  await board.clock.advance(2000);
  t.deepEqual([...modules.listeners.keys(), ...modules.names.keys()], []);
  modules.shut = [];
  await board.clock.advance(300);
  t.deepEqual([...modules.listeners.keys(), ...modules.names.keys()], [80, 53]);
  t.regex(modules.visit("GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n"), /^HTTP\/1.1 200/);
  await board.clock.advance(600_000);
  t.deepEqual([...modules.listeners.keys(), ...modules.names.keys()], []);
});

for (const [commission, line] of [
  ["on", "config.commission is an object"],
  [{ button: "4" }, "config.commission.button is the number of a pin"],
  [{ password: "short" }, "config.commission.password has 8 to 63 bytes"],
  [{ serial: true }, "config.commission.serial is { receive, transmit }, two pins, or false"],
] as const)
  test(`a wrong configuration of it is reported: ${JSON.stringify(commission)}`, (t) => {
    const { board, boot } = rig(t, { ...PRODUCT, commission });
    t.is(boot(), undefined);
    t.deepEqual(board.lines, [`error: the configuration is wrong: ${line}`]);
  });

for (const [config, reason] of [
  [
    { ...READY, wifi: { ssid: "home", password: "123" } },
    "config.wifi.password must have 8 to 64 characters",
  ],
  [{ ...READY, firmware: { title: "" } }, "firmware.title"],
] as const)
  test(`a board that can't start with its configuration opens commissioning and says why: ${reason}`, async (t) => {
    const { board, modules, boot } = rig(t, config);
    t.is(boot(), undefined);
    await board.clock.advance(300);
    t.deepEqual(board.ap, { ssid: NAME, password: "" });
    const page = modules.visit("GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n");
    t.true(page.includes("The configuration is wrong"), page);
    t.true(page.includes(reason), page);
    await board.clock.advance(700_000);
    t.is(board.ap, undefined);
    t.is(board.restarts, 0);
    t.true(board.lines.filter((line) => line.includes(reason)).length >= 2);
  });

test("what is not built in, or not filled in yet, is the owner's to give", (t) => {
  t.false(isIncomplete({ ...PRODUCT, wifi: HOME }));
  for (const without of ["wifi", "baseUrl", "provisioning"])
    t.true(isIncomplete({ ...PRODUCT, wifi: HOME, [without]: undefined }), without);
  t.true(isIncomplete({ ...PRODUCT, wifi: { ssid: "", password: "" } }));
  t.true(isIncomplete({ ...PRODUCT, wifi: HOME, provisioning: { key: "", secret: "" } }));
});

test("without mote/commission nobody is asked: a board without a network is a wrong configuration", (t) => {
  const { board } = rig(t);
  t.is(startBoard(board.boot(1), sampling), undefined);
  t.is(board.ap, undefined);
  t.regex(board.lines.join("\n"), /the configuration is wrong: config\.wifi\.ssid/);
});

test("an image on trial that knows no network gives way to the one before", (t) => {
  const { board, boot } = rig(t);
  board.states[0] = 0;
  boot();
  t.deepEqual([board.ap, board.restarts], [undefined, 1]);
});

for (const [how, reset] of [
  ["by itself", SOFTWARE],
  ["after a panic", 4],
  ["by its watchdog", 6],
] as const)
  test(`a board that starts ${how} opens no Wi-Fi without a password, and takes a cable all the same`, async (t) => {
    const { board, modules, boot } = rig(t);
    boot(sampling, reset);
    await board.clock.advance(1000);
    t.deepEqual([board.ap, modules.listeners.size, modules.names.size], [undefined, 0, 0]);
    t.true(board.lines.some((line) => line.includes("switch the board off and on")));
    modules.type('set wifi home "correct horse"');
    await board.clock.runUntil(() => board.restarts > 0);
    t.regex(modules.shown, /connected, and kept/);
    const labelled = rig(t, { ...PRODUCT, commission: { password: "on the label" } });
    labelled.boot(sampling, reset);
    t.deepEqual(labelled.board.ap, { ssid: NAME, password: "on the label" });
  });

test("a reset by hand opens the Wi-Fi at the start that follows, once; a reset by RPC does not", async (t) => {
  const { board, modules, platform, boot } = rig(t);
  boot();
  modules.type("reset");
  await board.clock.runUntil(() => board.restarts > 0);
  boot(sampling, SOFTWARE);
  t.truthy(board.ap);
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 1);
  boot(sampling, SOFTWARE);
  await board.clock.advance(10_000);
  platform.rpc(platform.device(NAME), "mote.reset", { confirm: true });
  await board.clock.runUntil(() => board.restarts > 2, 60_000);
  boot(sampling, SOFTWARE);
  await board.clock.advance(1000);
  t.is(board.ap, undefined);
  boot();
  t.truthy(board.ap);
});
