// The parts of a board's host: configuration, memory plan, watchdog, causes of crashes, slot, and
// the port's promises.
import test from "ava";
import { AgentWatchdog } from "../../../hosts/esp32/agent-watchdog.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { CrashRecord, describe } from "../../../hosts/esp32/crash-record.js";
import { createHost } from "../../../hosts/esp32/host.js";
import {
  applicationLeft,
  applicationShare,
  engineBlock,
  planMemory,
  type Shares,
  SMALLEST,
} from "../../../hosts/esp32/memory-plan.js";
import { CHIPS } from "../../../tools/moddable/esp32/chips.js";
import { read } from "../../architecture/tree.js";
import { FakeStore, fakeHost } from "../../fakes/host.js";
import { pattern } from "../port/check.js";
import type { Tools } from "../port/promised.js";
import { slotPromises } from "../port/promises-slot.js";
import { storagePromises } from "../port/promises-storage.js";
import { valuePromises } from "../port/promises-values.js";
import { BROWNOUT, FakeBoard, PANIC, POWER_ON, SOFTWARE, TASK_WATCHDOG } from "./board.js";

const GOOD = {
  baseUrl: "https://platform.example.com",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: "k", secret: "s", deviceName: "greenhouse-7" },
  firmware: { title: "greenhouse", version: "1.0.0" },
};

/** Throws if `config` is wrong. */
function settingsOf(config: object, pools = SMALLEST) {
  const settings = readConfig({ ...GOOD, ...config }, planMemory(pools).limits);
  if (Array.isArray(settings)) throw new Error(settings.join());
  return settings;
}

test("a good configuration becomes options; members of other modules are passed over", (t) => {
  const others = { format: "x", led: { pin: 2 }, tls: {}, screen: "" };
  const settings = readConfig({ ...GOOD, ...others });
  t.deepEqual(settings, {
    network: { ssid: "home", password: "correct horse" },
    intervalMs: 60_000,
    options: {
      baseUrl: GOOD.baseUrl,
      provisioning: GOOD.provisioning,
      firmware: { chunkBytes: 4096, title: "greenhouse", version: "1.0.0" },
      telemetry: { bufferBytes: 2048, batchBytes: 4096 },
      attributes: { answerBytes: 2048 },
      rpc: { requestBytes: 1024, answerBytes: 1024 },
    },
  });
  t.true(!Array.isArray(settings) && settings.options.provisioning !== GOOD.provisioning, "ROM is copied");
  const second = { ssid: "shed", password: "another horse" };
  t.deepEqual(settingsOf({ wifi: { ...GOOD.wifi, second } }).network, { ...GOOD.wifi, second });
});

const SSID = ".ssid must be a string of 1 to 32 characters";
const PASSWORD = ".password must have 8 to 63 bytes or 64 hexadecimal digits, or be omitted";

test("every mistake in a configuration is reported by name, without its value", (t) => {
  for (const [changed, ...mistakes] of [
    ...[undefined, null, "home", {}, { ssid: "" }, { ssid: "s".repeat(33) }].map(
      (wifi) => [{ wifi }, `config.wifi${SSID}`] as const,
    ),
    ...["short!", 12345678, "x".repeat(65)].map(
      (password) => [{ wifi: { ssid: "home", password } }, `config.wifi${PASSWORD}`] as const,
    ),
    [{ intervalMs: -1 }, "config.intervalMs must be a positive number of milliseconds"],
    [
      { wifi: { ...GOOD.wifi, second: { password: "short" } } },
      `config.wifi.second${SSID}`,
      `config.wifi.second${PASSWORD}`,
    ],
  ] as const)
    t.deepEqual(readConfig({ ...GOOD, ...changed }), mistakes);
  for (const cycle of [5, { timeoutMs: -1 }])
    t.regex(String(readConfig({ ...GOOD, cycle })), /cycle/, JSON.stringify(cycle));
});

test("memory decides the limits and the connections over TLS, unless the configuration names them", (t) => {
  t.is(settingsOf({ baseUrl: "http://platform.test" }).options.connections, undefined);
  t.is(settingsOf({}).options.connections, undefined);
  t.is(settingsOf({}, { ...SMALLEST, system: 137_000 }).options.connections, 2);
  t.is(settingsOf({}, { ...SMALLEST, system: 120_000 }).options.connections, 1);
  t.is(settingsOf({ connections: 3 }).options.connections, 3);
  const large = { engine: 221_440, system: 200_000 };
  t.deepEqual(settingsOf({}, large).options.rpc, { requestBytes: 4096, answerBytes: 4096 });
  t.deepEqual(settingsOf({}, large).options.attributes, { answerBytes: 8192 });
  const named = settingsOf({ rpc: { answerBytes: 512 } }, large);
  t.deepEqual(named.options.rpc, { requestBytes: 4096, answerBytes: 512 });
});

test("each chip's plan is all of its memory, and its limits are those of docs/reference/boards.md", (t) => {
  const sum = (shares: Shares): number => shares.reduce((all, [, bytes]) => all + bytes, 0);
  const page = read("docs/reference/boards.md");
  t.true(read("hosts/esp32/native/memory.c").includes(`#define SYSTEM_BYTES ${SMALLEST.system}\n`));
  for (const { name, engine: least, heap, largest } of CHIPS) {
    const engine = engineBlock(least, heap, largest);
    const pools = { engine, system: heap - engine };
    if (name === "esp32c3") t.deepEqual(SMALLEST, pools);
    const plan = planMemory(pools);
    t.deepEqual({ engine: sum(plan.engine), system: sum(plan.system) }, pools, name);
    for (const [what, bytes] of plan.engine) t.true(bytes > 0, `${name}: ${what}`);
    const { requestBytes, answerBytes, attributeBytes, connections } = plan.limits;
    const [, texts] = plan.engine.at(-2)!;
    t.true(12 * Math.max(requestBytes, answerBytes, attributeBytes / 2) <= texts, name);
    t.is(plan.engine.at(-1)![1], applicationShare(engine), name);
    t.true(page.includes(`| ${name} | ${applicationShare(engine).toLocaleString("en")} |`), name);
    const bytes = [requestBytes, answerBytes, attributeBytes].map((one) => one.toLocaleString("en"));
    const row = `| ${name} | ${bytes.join(" | ")} | ${connections} |`;
    t.true(page.includes(row), row);
  }
});

test("what is left of the application's share is all of it at rest, and never less than nothing", (t) => {
  const { engine } = SMALLEST;
  const rest = planMemory(SMALLEST).engine.slice(0, 2);
  const free = engine - rest.reduce((all, [, bytes]) => all + bytes, 0);
  t.is(applicationLeft(engine, free), applicationShare(engine));
  t.is(applicationLeft(engine, free - 1000), applicationShare(engine) - 1000);
  t.is(applicationLeft(engine, 100), 0);
});

test("half an hour without an attempt to connect restarts the board, unless no attempt is expected", async (t) => {
  const host = fakeHost();
  let isExpected = true;
  const watchdog = new AgentWatchdog(host, 1_800_000, () => isExpected);
  const open = watchdog.watch(host.open);
  for (let n = 0; n < 10; n++) {
    await host.clock.advance(1_500_000);
    open("nowhere.test", 80, false, () => {});
  }
  isExpected = false;
  await host.clock.advance(10_000_000);
  isExpected = true;
  await host.clock.advance(1_800_000);
  t.deepEqual(host.restarts, []);
  await host.clock.advance(200_000);
  t.is(host.restarts.length, 1);
});

// Causes of crashes.

const words = (store = new FakeStore()) => new CrashRecord(store, fakeHost());

test("how a run ended: by whom, and whether it crashed", (t) => {
  const nothing = (): void => {};
  const restarts = (last: CrashRecord): void => last.restarting();
  const full = (last: CrashRecord): void => last.crashed("memory full", undefined);
  for (const [before, reset, said, crash] of [
    [nothing, SOFTWARE, "software", "unknown"],
    [restarts, SOFTWARE, "software", false],
    [full, SOFTWARE, "software", "memory full"],
    // A crash stays known if the power fails before the next start.
    [full, POWER_ON, "power on", "memory full"],
    [full, BROWNOUT, "brownout", "memory full"],
    [restarts, POWER_ON, "power on", false],
    [nothing, TASK_WATCHDOG, "task watchdog", "task watchdog"],
    [full, PANIC, "panic", "panic: memory full"],
    [nothing, 99, "unknown", false],
    [nothing, POWER_ON, "power on", false],
  ] as const) {
    const store = new FakeStore();
    before(words(store));
    t.deepEqual(words(store).ending(reset), { reset: said, crash }, `${before.name} ${said}`);
    // Said once.
    t.is(store.values.size, 0);
  }
});

test("the last words name the exception and its place, in 200 characters, and nothing is thrown for them", (t) => {
  const store = new FakeStore();
  words(store).crashed("unhandled exception", new TypeError("no such member"));
  const { crash } = words(store).ending(SOFTWARE);
  t.regex(String(crash), /^unhandled exception: TypeError: no such member; at /);
  store.set("ended", Uint8Array.of(9, 65));
  t.is(words(store).ending(SOFTWARE).crash, "unknown", "a record of another format");
  t.is(store.values.size, 0);
  t.is(describe("x".repeat(300), undefined).length, 200);
  t.is(describe(undefined, new Error("y".repeat(300))).length, 200);
  store.fails = () => {
    throw new Error("flash");
  };
  const strange = Object.create(Error.prototype, { message: { get: () => t.fail() } });
  t.notThrows(() => words(store).crashed("memory full", undefined));
  t.notThrows(() => words(store).crashed("memory full", { message: strange }));
});

// The slot, beyond the port's promises.

const IMAGE = pattern(10_000, 0xe9);

function slotRig(image = IMAGE) {
  const board = new FakeBoard();
  const { slot } = createHost(board.boot());
  for (let at = 0; at < image.length; at += 4096) slot.write(at, image.subarray(at, at + 4096));
  return { board, slot };
}

test("an image that does not begin as one, or that ESP-IDF finds unfit, is never activated", (t) => {
  const noImage = slotRig(pattern(10_000, 1));
  // ESP-IDF looks, too.
  noImage.board.magic = false;
  const unfit = slotRig();
  unfit.board.unfit = () => true;
  for (const { board, slot } of [noImage, unfit]) {
    t.false(slot.activate(10_000));
    t.is(board.next, 0);
    t.is(createHost(board.boot()).slot.state(), "confirmed");
  }
});

test("the slot is not written after activation or on trial; without an image nothing reverts", (t) => {
  const { board, slot } = slotRig();
  const isLocked = (one: typeof slot): boolean =>
    !one.erase(0) && !one.write(20_480, pattern(4)) && !one.activate(IMAGE.length);
  t.true(slot.activate(IMAGE.length));
  t.true(isLocked(slot));
  const next = createHost(board.boot(SOFTWARE)).slot;
  t.is(next.state(), "pending");
  t.true(isLocked(next));
  t.false(next.revert());
});

test("writes an image of any length, cut anywhere; to encrypted flash in its blocks", (t) => {
  for (const [length, cut, encrypted] of [
    [10_000, 1, true],
    [9_999, 7, true],
    [33, 5, true],
    [8_191, 1_460, true],
    [9_999, 7, false],
  ] as const) {
    const image = pattern(length, 0xe9);
    const board = new FakeBoard();
    board.encrypted = encrypted;
    const { slot } = createHost(board.boot());
    slot.erase(0);
    for (let at = 32; at < length; ) {
      if (at % 4096 === 0) t.true(slot.erase(at));
      const to = Math.min(at + cut, length, at - (at % 4096) + 4096);
      t.true(slot.write(at, image.subarray(at, to)), `${at} of ${length}`);
      at = to;
    }
    t.true(slot.read(length - 1, new Uint8Array(1)));
    t.true(slot.write(0, image.subarray(0, 32)));
    const read = new Uint8Array(length);
    t.true(slot.read(0, read));
    t.deepEqual(read, image);
  }
});

// Sockets and digests are those of hosts/moddable.
for (const { title, run } of [...storagePromises, ...slotPromises, ...valuePromises]) {
  test(title, async (t) => {
    const board = new FakeBoard();
    // Both slots hold an image: there is one to fall back to.
    const image = pattern(5000, 0xe9);
    for (const slot of board.slots)
      for (let at = 0; at < 5000; at += 4096) slot.write(at, image.subarray(at, at + 4096));
    await t.notThrowsAsync(async () =>
      run(createHost(board.boot()), {
        restart: async () => createHost(board.boot(SOFTWARE)),
      } as unknown as Required<Tools>),
    );
    for (const flash of [...board.slots, board.outbox]) t.deepEqual(flash.violations, []);
  });
}
