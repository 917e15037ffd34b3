// A board out of the box: from its first power-on without a network to a point, by the page, by
// Improv over serial and USB, and by its button.
import { rootCertificates } from "node:tls";
import test from "ava";
import { writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { commissionBy } from "../../../hosts/esp32/commissioning/configuration.js";
import { createHost } from "../../../hosts/esp32/host.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import { Agent } from "../../../src/index.js";
import { storesOf } from "../../../tools/moddable/factory/nvs-image.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { DEEP_SLEEP, type FakeBoard, NEW, PANIC, SOFTWARE, TASK_WATCHDOG } from "./board.js";
import { BARE, HOME, NAME, PAGE, PRODUCT, READY, type Rig, rig, sampling, silent, wifiFrame } from "./rig.js";

const SECURE = { ...PRODUCT, baseUrl: "https://platform.test" };
const BUTTON = { commission: { button: 4 } };
const OVER_CABLE = wifiFrame(HOME.ssid, HOME.password);
const keysOf = ({ nvs }: FakeBoard): string[] => [...(nvs.get("mote")?.keys() ?? [])];

/** Its owner enters the Wi-Fi on the page, and it restarts. */
async function commission({ board, modules, boot }: Rig): Promise<void> {
  boot();
  const { restarts } = board;
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > restarts);
}

test("a new board is commissioned by its page, over a wrong password, to the first point", async (t) => {
  const { board, modules, boot, values } = rig(t);
  t.is(boot(), undefined);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
  t.is(modules.visit(PAGE, "192.168.1.7"), "", "from another network");
  for (const [given, reason] of [
    [{ ...HOME, password: "wrong horse" }, /The Wi-Fi&#39;s password is wrong\./],
    [{ ssid: "elsewhere", password: "whatever" }, /No Wi-Fi with this name in range/],
  ] as const) {
    t.regex(modules.submit(given), /303/);
    t.regex(modules.visit(PAGE), /Joining the Wi-Fi/);
    await board.clock.advance(10_000);
    t.regex(modules.visit(PAGE), reason);
  }
  modules.submit(HOME);
  await board.clock.advance(5000);
  t.regex(modules.visit(PAGE), /Connected\./);
  await board.clock.runUntil(() => board.restarts > 0);
  t.is(board.ap, undefined);
  t.deepEqual([modules.listeners.size, modules.names.size, modules.typed], [0, 0, undefined]);
  boot();
  await board.clock.advance(10_000);
  t.deepEqual(values("n"), [1]);
  t.deepEqual(board.joins.at(-1), { SSID: HOME.ssid, password: HOME.password });
  t.is(board.ap, undefined);
});

test("the page leads into a Wi-Fi that has the page's own address, and is shut out of it meanwhile", async (t) => {
  const { board, modules, platform, boot, values } = rig(t);
  board.overlaps = true;
  boot();
  const ap = board.ap;
  t.deepEqual(ap, { ssid: NAME, password: "" });
  platform.fault = () => "hang";
  modules.submit(HOME);
  await board.clock.advance(8000);
  t.is(board.ap, undefined, "while the platform is asked");
  t.is(modules.visit(PAGE), "", "from the joined Wi-Fi");
  await board.clock.runUntil(() => board.ap !== undefined);
  t.is(board.radio?.connection, 200, "it left the Wi-Fi");
  t.deepEqual(board.ap, ap);
  t.regex(modules.visit(PAGE), /can&#39;t be reached/);
  platform.fault = undefined;
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  boot();
  await board.clock.advance(10_000);
  t.deepEqual(values("n"), [1]);
});

for (const [what, proof] of [
  ["token", { token: "TOKEN-7" }],
  ["provisioning key and secret", { key: KEY, secret: SECRET }],
] as const)
  test(`on the page a firmware that knows nothing gets network, URL and ${what}`, async (t) => {
    const { board, modules, platform, boot } = rig(t, BARE);
    if ("token" in proof) platform.create(NAME, proof.token);
    boot();
    modules.submit({ ...HOME, url: "http://platform.test" });
    t.regex(modules.visit(PAGE), /303|Platform/);
    t.is(board.joins.length, 0, "it waits for credentials");
    modules.submit({ ...HOME, url: "http://platform.test", ...proof });
    await board.clock.runUntil(() => board.restarts > 0);
    boot();
    await board.clock.advance(10_000);
    t.is(platform.points(platform.device(NAME), "n").length, 1);
  });

test("the chip's own USB configures like serial, and unread output blocks nothing", async (t) => {
  const { board, boot, values } = rig(t);
  board.usb = { in: [], out: "", read: false };
  boot();
  for (let i = 0; i < 100; i++) board.usb.in.push(...writeFrame(3, [3, 0]));
  await board.clock.advance(10_000);
  t.is(board.usb.out, "");
  board.usb.read = true;
  board.usb.in.push(...OVER_CABLE);
  await board.clock.runUntil(() => board.restarts > 0);
  t.true(board.usb.out.includes("IMPROV"));
  boot();
  await board.clock.advance(10_000);
  t.deepEqual(values("n"), [1]);
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

test("certificates that were entered are trusted by the check and by every later start", async (t) => {
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

// When the setup page opens.

/** Three starts by power of some seconds each, and the one that follows. */
async function cyclePower({ board, boot }: Rig): Promise<void> {
  for (let start = 0; start < 3; start++) {
    board.powerOff();
    boot();
    await board.clock.advance(4000);
  }
  board.powerOff();
  boot();
}

test("three quick power cycles open the page on a board without a button", async (t) => {
  const all = rig(t, { ...SECURE, wifi: { ssid: "the old one", password: "moved house" } });
  const { board, modules, boot, device } = all;
  await cyclePower(all);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
  t.regex(modules.visit(PAGE), /the old one/);
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  let applications = 0;
  boot(() => applications++, SOFTWARE);
  await board.clock.advance(10_000);
  t.is(applications, 1);
  t.truthy(device());
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

test("only a button held for one second at power-on opens the page, for 10 minutes", async (t) => {
  const { board, modules, boot } = rig(t, { ...READY, ...BUTTON });
  t.truthy(boot());
  t.deepEqual([board.ap, modules.listeners.size], [undefined, 0]);
  modules.pressed.add(4);
  t.is(boot(), undefined);
  await board.clock.advance(500);
  modules.pressed.clear();
  await board.clock.advance(5000);
  t.is(board.ap, undefined);
  board.powerOff();
  modules.pressed.add(4);
  boot();
  await board.clock.advance(1100);
  modules.pressed.clear();
  await board.clock.advance(599_000);
  t.deepEqual(board.ap, { ssid: NAME, password: "" });
  await board.clock.advance(2000);
  t.deepEqual([board.ap, modules.listeners.size, board.restarts], [undefined, 0, 1]);
});

test("a button that is stuck costs one setup page, and never the device's settings", async (t) => {
  const { board, modules, boot, values } = rig(t, { ...READY, ...BUTTON });
  modules.pressed.add(4);
  boot();
  await board.clock.runUntil(() => board.restarts > 0);
  for (const reset of [SOFTWARE, PANIC]) {
    t.truthy(boot(sampling, reset));
    await board.clock.advance(60_000);
    t.deepEqual([board.ap, board.restarts], [undefined, 1]);
  }
  t.deepEqual(values("n"), [1, 1]);
  modules.pressed.clear();
  await board.clock.advance(1000);
  modules.pressed.add(4);
  await board.clock.runUntil(() => board.restarts > 1);
});

test("a wake out of deep sleep is no power-on: its button opens nothing", async (t) => {
  const { board, modules } = rig(t, { ...READY, ...BUTTON });
  const machine = board.boot(DEEP_SLEEP);
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

test("a new board records and delivers once commissioned; without a platform it says so", async (t) => {
  const all = rig(t);
  const { board, boot, values } = all;
  boot();
  await board.clock.advance(601_000);
  t.deepEqual([board.ap, board.restarts, board.joins.length], [undefined, 0, 0]);
  await board.clock.advance(60_000);
  await commission(all);
  boot(silent);
  await board.clock.advance(10_000);
  t.deepEqual(values("n"), [1]);
  const bare = rig(t, BARE);
  bare.boot();
  await bare.board.clock.advance(662_000);
  t.is(bare.board.lines.filter((line) => line.includes("power-cycle the device")).length, 2);
  t.is(bare.board.restarts, 0);
});

for (const [how, reset] of [
  ["by itself", SOFTWARE],
  ["after a panic", PANIC],
  ["by its watchdog", TASK_WATCHDOG],
] as const)
  test(`a board that starts ${how} opens no Wi-Fi without a password, and takes Improv all the same`, async (t) => {
    const { board, modules, boot } = rig(t);
    boot(sampling, reset);
    await board.clock.advance(1000);
    t.deepEqual([board.ap, modules.listeners.size, modules.names.size], [undefined, 0, 0]);
    t.true(board.lines.some((line) => line.includes("switch the board off and on")));
    modules.typed?.(OVER_CABLE);
    await board.clock.runUntil(() => board.restarts > 0);
    t.truthy(boot(sampling, SOFTWARE));
    const labelled = rig(t, { ...PRODUCT, commission: { password: "on the label" } });
    labelled.boot(sampling, reset);
    t.deepEqual(labelled.board.ap, { ssid: NAME, password: "on the label" });
  });

test("a board that can't start with its configuration opens the page and says why, without a restart", async (t) => {
  for (const [config, reason] of [
    [{ ...READY, wifi: { ssid: "home", password: "123" } }, "config.wifi.password must have 8 to 63"],
    [{ ...READY, firmware: { title: "" } }, "firmware.title"],
  ] as const) {
    const { board, modules, boot } = rig(t, config);
    t.is(boot(), undefined);
    await board.clock.advance(300);
    t.deepEqual(board.ap, { ssid: NAME, password: "" });
    const page = modules.visit(PAGE);
    t.true(page.includes("The configuration is wrong") && page.includes(reason), page);
    await board.clock.advance(700_000);
    t.deepEqual([board.ap, board.restarts], [undefined, 0]);
    t.true(board.lines.filter((line) => line.includes(reason)).length >= 2);
  }
});

test("an image on trial that knows no network gives way to the one before", (t) => {
  const { board, boot } = rig(t);
  board.states[0] = NEW;
  boot();
  t.deepEqual([board.ap, board.restarts], [undefined, 1]);
});

test("the access point has the product's password, or the device's own, which a reset does not forget", async (t) => {
  const { board, modules, platform, boot, device } = rig(t, {
    ...PRODUCT,
    commission: { password: "of the product", button: 4 },
  });
  boot();
  t.is(board.ap?.password, "of the product");
  modules.submit({ ...HOME, label: "1234567" });
  t.regex(modules.visit(PAGE), /own Wi-Fi must have 8 to 63 bytes/);
  modules.submit({ ...HOME, label: "of-this-device" });
  await board.clock.runUntil(() => board.restarts > 0);
  modules.pressed.add(4);
  boot();
  await board.clock.advance(1100);
  t.is(board.ap?.password, "of-this-device");
  t.regex(modules.visit(PAGE), /id="label"[^>]* placeholder="saved/);
  await board.clock.runUntil(() => board.restarts > 1);
  modules.pressed.clear();
  boot(sampling, SOFTWARE);
  await board.clock.advance(10_000);
  platform.rpc(device(), "mote.reset", { confirm: true });
  await board.clock.runUntil(() => board.restarts > 2, 60_000);
  boot();
  t.is(board.ap?.password, "of-this-device");
});

test("regression: a late access point has its page; other missing modules cost only themselves", async (t) => {
  const { board, modules, boot } = rig(t, { ...PRODUCT, ...BUTTON });
  const open = () => [...modules.listeners.keys(), ...modules.names.keys()];
  modules.shut = ["listen", "datagrams", "pin"];
  boot();
  await board.clock.advance(2000);
  t.deepEqual(open(), []);
  modules.shut = ["serial"];
  await board.clock.advance(300);
  t.deepEqual(open(), [80, 53]);
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 0);
  t.deepEqual(open(), []);
  board.lines.length = 0;
  boot();
  await board.clock.advance(5000);
  t.false(board.lines.some((line) => line.includes("no serial")));
});

// Resets.

test("a button that is held for 10 s resets the device: Wi-Fi, token and queue go, and it asks again", async (t) => {
  const all = rig(t, { ...PRODUCT, ...BUTTON });
  const { board, modules, boot } = all;
  await commission(all);
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
  t.deepEqual([keysOf(board).includes("token"), keysOf(board).includes("wifi")], [false, false]);
  t.true(keysOf(board).includes("platform"));
  boot(sampling, SOFTWARE);
  t.truthy(board.ap, "the button was held by hand");
  const joins = board.joins.length;
  modules.submit({ ssid: "visitor", password: "his own Wi-Fi" });
  await board.clock.advance(5000);
  t.is(board.joins.length, joins, "his network could pose as the platform");
  modules.submit(HOME);
  await board.clock.advance(5000);
  t.true(board.joins.length > joins);
});

test("a board that sleeps is reset by a button that is held for 10 s from a wake on", async (t) => {
  const all = rig(t, { ...PRODUCT, ...BUTTON, cycle: { everyMs: 60_000, connectEvery: 60 } });
  const { board, modules, boot } = all;
  await commission(all);
  boot(silent);
  await board.clock.runUntil(() => board.sleep !== undefined);
  t.true(keysOf(board).includes("token"));
  modules.pressed.add(4);
  const machine = await board.deepSleep();
  startBoard(machine, silent, { commission: (made, host, go) => commissionBy(modules, made, host, go) });
  await board.clock.advance(11_000);
  t.is(board.restarts, 2);
  t.deepEqual([keysOf(board).includes("token"), keysOf(board).includes("wifi")], [false, false]);
});

test("a reset feeds the watchdog before each sector that it erases", async (t) => {
  const all = rig(t, { ...PRODUCT, ...BUTTON });
  const { board, modules, boot } = all;
  await commission(all);
  for (let at = 0; at < board.outbox.size; at += 4096) board.outbox.write(at, Uint8Array.of(0));
  boot();
  await board.clock.advance(1100);
  modules.pressed.add(4);
  await board.clock.advance(9000);
  board.longestUnfedMs = 0;
  await board.clock.runUntil(() => board.restarts > 1);
  t.is(board.longestUnfedMs, 400);
});

test("a reset by hand opens the Wi-Fi at the start that follows, once; a reset by RPC does not", async (t) => {
  const all = rig(t, { ...PRODUCT, ...BUTTON, provisioning: undefined, token: "TOKEN-7" });
  const { board, modules, platform, boot, device } = all;
  platform.create(NAME, "TOKEN-7");
  await commission(all);
  boot(sampling, SOFTWARE);
  await board.clock.advance(1000);
  modules.pressed.add(4);
  await board.clock.runUntil(() => board.restarts > 1);
  modules.pressed.clear();
  boot(sampling, SOFTWARE);
  t.truthy(board.ap);
  modules.submit(HOME);
  await board.clock.runUntil(() => board.restarts > 2);
  boot(sampling, SOFTWARE);
  await board.clock.advance(10_000);
  platform.rpc(device(), "mote.reset", { confirm: true });
  await board.clock.runUntil(() => board.restarts > 3, 60_000);
  boot(sampling, SOFTWARE);
  await board.clock.advance(1000);
  t.is(board.ap, undefined);
  boot();
  t.truthy(board.ap);
});

// Its configuration.

test("a wrong configuration of commissioning is reported by name", (t) => {
  for (const [commission, line] of [
    ["on", " is an object"],
    [{ button: "4" }, ".button is the number of a pin"],
    [{ button: 0 }, ".button: pin 0 decides at power-on how the chip starts"],
    [{ password: "short" }, ".password has 8 to 63 bytes"],
    [{ serial: true }, ".serial is { receive, transmit }, two pins, or false"],
  ] as const) {
    const { board, boot } = rig(t, { ...PRODUCT, commission });
    boot();
    t.is(board.lines[0], `error: the configuration is wrong: config.commission${line}`);
  }
});
