import test from "ava";
import { AgentWatchdog } from "../../../hosts/esp32/agent-watchdog.js";
import { readConfig } from "../../../hosts/esp32/config.js";
import { describe, LastWords } from "../../../hosts/esp32/crash.js";
import { createHost } from "../../../hosts/esp32/host.js";
import { planMemory, type Shares, SMALLEST } from "../../../hosts/esp32/memory-plan.js";
import { CHIPS } from "../../../tools/moddable/esp32/chips.js";
import { read } from "../../architecture/tree.js";
import { FakeStore, fakeHost } from "../../fakes/host.js";
import { pattern } from "../port/check.js";
import type { Tools } from "../port/promised.js";
import { slotPromises } from "../port/promises-slot.js";
import { storagePromises } from "../port/promises-storage.js";
import { valuePromises } from "../port/promises-values.js";
import { FakeBoard } from "./board.js";

const GOOD = {
  baseUrl: "https://platform.example.com",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: "k", secret: "s", deviceName: "greenhouse-7" },
  firmware: { title: "greenhouse", version: "1.0.0" },
};

test("a good configuration becomes options for the agent and the application", (t) => {
  t.deepEqual(readConfig(GOOD), {
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
});

test("the agent chooses how many connections; who says how many gets them", (t) => {
  const connectionsOf = (config: object, system = SMALLEST.system): unknown => {
    const settings = readConfig({ ...GOOD, ...config }, planMemory({ ...SMALLEST, system }).limits);
    return Array.isArray(settings) ? settings : settings.options.connections;
  };
  t.is(connectionsOf({ baseUrl: "http://platform.test" }), undefined);
  t.is(connectionsOf({}), undefined);
  for (const [system, most] of [
    [130_000, 2],
    [120_000, 1],
  ] as const)
    t.is(connectionsOf({}, system), most, "over TLS as many as the memory allows");
  t.is(connectionsOf({ connections: 3 }), 3);
});

test("a second network is one like the first, or wrong under its own name", (t) => {
  const second = { ssid: "shed", password: "another horse" };
  const settings = readConfig({ ...GOOD, wifi: { ...GOOD.wifi, second } });
  t.deepEqual(Array.isArray(settings) ? settings : settings.network, { ...GOOD.wifi, second });
  t.deepEqual(readConfig({ ...GOOD, wifi: { ...GOOD.wifi, second: { password: "short" } } }), [
    "config.wifi.second.ssid must be a string of 1 to 32 characters",
    "config.wifi.second.password must have 8 to 64 characters or be omitted",
  ]);
});

test("what lies in ROM is copied", (t) => {
  const settings = readConfig(GOOD);
  t.true(!Array.isArray(settings) && settings.options.provisioning !== GOOD.provisioning);
});

test("members of other modules are none of its business", (t) => {
  t.false(Array.isArray(readConfig({ ...GOOD, format: "x", led: { pin: 2 }, tls: {}, screen: "" })));
});

test("every mistake in what is its own is reported by name, and no value of it", (t) => {
  for (const wifi of [
    undefined,
    null,
    "home",
    {},
    { ssid: "" },
    { ssid: "a-name-that-is-longer-than-32-characters" },
  ])
    t.deepEqual(readConfig({ ...GOOD, wifi }), ["config.wifi.ssid must be a string of 1 to 32 characters"]);
  for (const password of ["short!", 12345678, "x".repeat(65)])
    t.deepEqual(readConfig({ ...GOOD, wifi: { ssid: "home", password }, intervalMs: -1 }), [
      "config.wifi.password must have 8 to 64 characters or be omitted",
      "config.intervalMs is a number of milliseconds",
    ]);
});

const sum = (shares: Shares): number => shares.reduce((all, [, bytes]) => all + bytes, 0);

test("what is planned is all that there is, and nothing is planned that is not there", (t) => {
  for (const { name, engine, heap } of CHIPS) {
    const pools = { engine, system: heap - engine };
    const plan = planMemory(pools);
    t.is(sum(plan.engine), pools.engine, name);
    t.is(sum(plan.system), pools.system, name);
    for (const [what, bytes] of plan.engine) t.true(bytes > 0, `${name}: ${what}`);
    const { requestBytes, answerBytes, attributeBytes } = plan.limits;
    t.true(8 * Math.max(requestBytes, answerBytes, attributeBytes / 2) <= plan.engine.at(-1)![1], name);
  }
});

test("the smallest pools are those of an ESP32-C3", (t) => {
  const c3 = CHIPS.find(({ name }) => name === "esp32c3")!;
  t.deepEqual(SMALLEST, { engine: c3.engine, system: c3.heap - c3.engine });
});

test("the limits of each chip are those of docs/reference/boards.md", (t) => {
  const page = read("docs/reference/boards.md");
  for (const { name, engine, heap } of CHIPS) {
    const { requestBytes, answerBytes, attributeBytes, connections } = planMemory({
      engine,
      system: heap - engine,
    }).limits;
    const row = `| ${name} | ${[requestBytes, answerBytes, attributeBytes].map((one) => one.toLocaleString("en")).join(" | ")} | ${connections} |`;
    t.true(page.includes(row), row);
  }
});

test("more memory makes room for longer texts, and what the configuration names it gets", (t) => {
  const config = { baseUrl: "http://platform.test", wifi: { ssid: "home" } };
  const { limits } = planMemory({ engine: 139_264, system: 200_000 });
  const settings = readConfig(config, limits);
  const named = readConfig({ ...config, rpc: { answerBytes: 512 } }, limits);
  if (Array.isArray(settings) || Array.isArray(named)) return t.fail();
  t.deepEqual(settings.options.rpc, { requestBytes: 4096, answerBytes: 4096 });
  t.deepEqual(settings.options.attributes, { answerBytes: 8192 });
  t.deepEqual(named.options.rpc, { requestBytes: 4096, answerBytes: 512 });
});

function rig() {
  const host = fakeHost();
  let expected = true;
  const watchdog = new AgentWatchdog(host, 1_800_000, () => expected);
  const open = watchdog.watch(host.open);
  return { host, open, expect: (value: boolean) => (expected = value), clock: host.clock };
}

test("an attempt to connect is a sign of life, and so is what happens to it", async (t) => {
  const { host, open, clock } = rig();
  for (let n = 0; n < 10; n++) {
    await clock.advance(1_500_000);
    open("nowhere.test", 80, false, () => {});
  }
  t.deepEqual(host.restarts, []);
});

test("nothing is expected without a network or while the agent was stopped, and the half hour starts again", async (t) => {
  const { host, expect, clock } = rig();
  expect(false);
  await clock.advance(10_000_000);
  expect(true);
  await clock.advance(1_800_000);
  t.deepEqual(host.restarts, []);
});

const [POWER_ON, SOFTWARE, PANIC, TASK_WATCHDOG, BROWNOUT] = [1, 3, 4, 6, 9];

function run(store = new FakeStore()) {
  return { store, words: new LastWords(store, fakeHost()) };
}

test("what the engine said before it gave up is reported at the next start, once", (t) => {
  const { store, words } = run();
  words.crashed("unhandled exception", new TypeError("no such member"));
  const { reset, crash } = run(store).words.ending(SOFTWARE);
  t.is(reset, "software");
  t.regex(String(crash), /^unhandled exception: TypeError: no such member; at /);
  t.is(run(store).words.ending(POWER_ON).crash, false);
  t.is(store.values.size, 0);
});

test("a restart that was asked for is no crash, and any other by the program is", (t) => {
  const { store, words } = run();
  words.restarting();
  t.deepEqual(run(store).words.ending(SOFTWARE), { reset: "software", crash: false });
  t.deepEqual(run(store).words.ending(SOFTWARE), { reset: "software", crash: "unknown" });
});

test("power, brownout and a button are no crashes, whatever was noted before", (t) => {
  for (const reset of [POWER_ON, BROWNOUT, 2]) {
    const { store, words } = run();
    words.crashed("memory full", undefined);
    t.is(run(store).words.ending(reset).crash, false);
  }
});

test("a watchdog and a panic are crashes with or without words", (t) => {
  t.deepEqual(run().words.ending(TASK_WATCHDOG), { reset: "task watchdog", crash: "task watchdog" });
  const { store, words } = run();
  words.crashed("memory full", undefined);
  t.is(run(store).words.ending(PANIC).crash, "panic: memory full");
});

test("an engine that had not even the memory to say that it had none is believed by its block", (t) => {
  t.is(run().words.ending(SOFTWARE, true).crash, "memory full");
  t.is(run().words.ending(POWER_ON, true).crash, false);
  const { words, store } = run();
  words.restarting();
  t.is(run(store).words.ending(SOFTWARE, true).crash, false);
});

test("a number that nobody knows is reported as unknown", (t) => {
  t.deepEqual(run().words.ending(99), { reset: "unknown", crash: false });
});

test("a record of another format is no cause, and is gone", (t) => {
  const { store, words } = run();
  store.set("ended", Uint8Array.of(9, 65));
  t.is(words.ending(SOFTWARE).crash, "unknown");
  t.is(store.values.size, 0);
});

test("words are cut to 200 characters, and nothing is thrown whatever they are", (t) => {
  t.is(describe("x".repeat(300), undefined).length, 200);
  t.is(describe(undefined, new Error("y".repeat(300))).length, 200);
  const { store, words } = run();
  store.fails = () => {
    throw new Error("flash");
  };
  const strange = Object.create(Error.prototype, { message: { get: () => t.fail() } });
  t.notThrows(() => words.crashed("memory full", undefined));
  t.notThrows(() => words.crashed("memory full", { message: strange }));
});

const IMAGE = pattern(10_000, 0xe9);

function slotRig(image = IMAGE) {
  const board = new FakeBoard();
  const { slot } = createHost(board.boot());
  for (let at = 0; at < image.length; at += 4096) slot.write(at, image.subarray(at, at + 4096));
  return { board, slot };
}

test("what does not begin as an image does is never activated", (t) => {
  const { board, slot } = slotRig(pattern(10_000, 1));
  // ESP-IDF looks too.
  board.magic = false;
  t.false(slot.activate(10_000));
  t.is(board.next, 0);
});

test("an image that ESP-IDF finds unfit leaves the running one as the next", (t) => {
  const { board, slot } = slotRig();
  board.unfit = () => true;
  t.false(slot.activate(IMAGE.length));
  t.is(board.next, 0);
  t.is(createHost(board.boot(1)).slot.state(), "confirmed");
});

test("nothing of the slot is touched while the running image is pending, nor once it was activated", (t) => {
  const { board, slot } = slotRig();
  t.true(slot.activate(IMAGE.length));
  t.false(slot.erase(0));
  t.false(slot.write(20_480, pattern(4)));
  t.false(slot.activate(IMAGE.length));
  const next = createHost(board.boot(3)).slot;
  t.is(next.state(), "pending");
  t.false(next.erase(0));
  t.false(next.write(20_480, pattern(4)));
  t.false(next.activate(IMAGE.length));
});

test("a slot without an image is nothing to revert to", (t) => {
  const { board, slot } = slotRig();
  t.true(slot.activate(IMAGE.length));
  const next = createHost(board.boot(3)).slot;
  t.false(next.revert());
});

test("writes an image of any length, cut anywhere, in blocks that encrypted flash takes", (t) => {
  for (const [length, cut] of [
    [10_000, 1],
    [9_999, 7],
    [4_096, 16],
    [33, 5],
    [8_191, 1_460],
  ] as const) {
    const image = pattern(length, 0xe9);
    const { slot } = createHost(new FakeBoard().boot());
    for (let at = 32; at < length; ) {
      if (at === 32) t.true(slot.erase(0));
      else if (at % 4096 === 0) t.true(slot.erase(at));
      const to = Math.min(at + cut, length, at - (at % 4096) + 4096);
      t.true(slot.write(at, image.subarray(at, to)), `${at} of ${length}`);
      at = to;
    }
    const last = new Uint8Array(1);
    t.true(slot.read(length - 1, last));
    t.true(slot.write(0, image.subarray(0, 32)));
    const read = new Uint8Array(length);
    t.true(slot.read(0, read));
    t.deepEqual(read, image);
  }
});

// The board's host keeps the port's promises, as far as they are its own: sockets and digests are those of hosts/xs.

for (const { title, run } of [...storagePromises, ...slotPromises, ...valuePromises]) {
  test(title, async (t) => {
    const board = new FakeBoard();
    // Both slots hold an image: there is one to fall back to.
    const image = pattern(5000, 0xe9);
    for (const slot of board.slots)
      for (let at = 0; at < 5000; at += 4096) slot.write(at, image.subarray(at, at + 4096));
    await t.notThrowsAsync(async () =>
      run(createHost(board.boot()), {
        restart: async () => createHost(board.boot(3)),
      } as unknown as Required<Tools>),
    );
    for (const flash of [...board.slots, board.outbox]) t.deepEqual(flash.violations, []);
  });
}
