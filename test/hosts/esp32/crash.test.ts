import test from "ava";
import { describe, LastWords } from "../../../hosts/esp32/crash.js";
import { FakeStore, fakeHost } from "../../fakes/host.js";

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
