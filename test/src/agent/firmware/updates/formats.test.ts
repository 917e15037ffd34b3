// Images that write other formats than the one before them: what is stored by one is reported and kept by the other, and an update ends well.
import test from "ava";
import type { Host } from "../../../../../src/port.js";
import { readOwn, readStored, writeStored } from "../../../../../src/store.js";
import { fakeHost } from "../../../../fakes/host.js";
import { test as inModes, startRig } from "../../rig.js";
import { Lamp } from "./lamp.js";
import { MINUTE, SIZE } from "./reported.js";

const NEWER = 2;

/** The host of a newer image: it writes format 2, and reads both. With `onTrial` also where it must not yet. */
function newer(host: Host, onTrial: boolean): Host {
  const { store } = host;
  const as = (bytes: Uint8Array, format: number) => Uint8Array.of(format, ...bytes.subarray(1));
  return {
    ...host,
    store: {
      get: (key) => {
        const bytes = store.get(key);
        return bytes?.[0] === NEWER ? as(bytes, 1) : bytes;
      },
      set: (key, bytes) => {
        if (host.slot.state() === "pending" && !onTrial) return store.set(key, bytes);
        const before = store.get(key);
        if (before?.[0] === 1) store.set(`${key}-old`, before);
        return store.set(key, as(bytes, NEWER));
      },
      delete: (key) => store.delete(key),
    },
  };
}

/** A lamp whose second version is a newer image. */
function lampOf(onTrial: boolean): Lamp {
  const lamp = new Lamp();
  lamp.hostOf = (host, version) => (version === "2.0.0" ? newer(host, onTrial) : host);
  return lamp;
}

const format = (lamp: Lamp, key = "firmware") => lamp.machine.store.values.get(key)?.[0];

for (const onTrial of [false, true]) {
  test(`a new image with a new format${onTrial ? ", which it writes too early," : ""} crashes: FAILED with the reason, four tries, no more`, async (t) => {
    const lamp = lampOf(onTrial);
    lamp.onStart = (version) => {
      // Late enough to have stored something, too early to be kept.
      if (version === "2.0.0") lamp.machine.clock.timer(1, () => lamp.crash());
    };
    lamp.release("2.0.0", SIZE);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown.state, "FAILED");
    t.regex(
      String(lamp.shown.error),
      /^the new image (did not start|ended before it was confirmed) \(it divided by zero\)$/,
    );
    await lamp.pass(6 * 60 * MINUTE);
    t.is(lamp.booted.filter((version) => version === "2.0.0").length, 4);
    t.is(lamp.version, "1.0.0");
    t.is(lamp.shown.state, "FAILED");
  });
}

test("a new image writes its format once it is confirmed, and the way back to the old one is an update like any other", async (t) => {
  const lamp = lampOf(false);
  const first = lamp.package("1.0.0", lamp.images.get("1.0.0") as Uint8Array);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  t.is(format(lamp), NEWER);
  lamp.assign(first);
  await lamp.until(() => lamp.version === "1.0.0");
  await lamp.until(() => lamp.shown.running === "1.0.0" && lamp.shown.state === "UPDATED");
  t.is(lamp.machine.state, "confirmed");
  t.is(format(lamp), 1);
  t.is(format(lamp, "firmware-old"), NEWER, "what the newer image knew is kept");
  const { booted } = lamp;
  lamp.machine.off();
  await lamp.pass(10 * MINUTE);
  t.deepEqual(booted, ["1.0.0", "2.0.0", "1.0.0", "1.0.0"]);
  t.is(lamp.shown.state, "UPDATED");
});

test("an old image that fails on trial gives way to the newer one, which says why", async (t) => {
  const lamp = lampOf(false);
  const first = lamp.package("1.0.0", lamp.images.get("1.0.0") as Uint8Array);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  lamp.onStart = (version) => {
    if (version === "1.0.0") lamp.machine.clock.timer(1, () => lamp.crash());
  };
  lamp.assign(first);
  await lamp.untilState("FAILED");
  t.is(lamp.version, "2.0.0");
  t.regex(
    String(lamp.shown.error),
    /^the new image (did not start|ended before it was confirmed) \(it divided by zero\)$/,
  );
});

test("a value of another format is reported, left alone, and kept beside when it is replaced", (t) => {
  const host = fakeHost();
  const foreign = Uint8Array.of(9, 1, 2, 3);
  host.store.set("x", foreign);
  t.is(readStored(host, "x"), undefined);
  t.regex(host.lines.join(), /"x" is damaged, or has an unknown format/);
  t.deepEqual(host.store.get("x"), foreign);
  t.true(writeStored(host, "x", { a: 1 }));
  t.deepEqual(readStored(host, "x"), { a: 1 });
  t.deepEqual(host.store.get("x-old"), foreign);
  writeStored(host, "x", { a: 2 });
  t.deepEqual(host.store.get("x-old"), foreign, "only another format is kept beside");
});

test("what was of this format is found beside a value that is not, and nowhere else", (t) => {
  const host = fakeHost();
  t.is(readOwn(host, "x"), undefined);
  writeStored(host, "x-old", 1);
  t.is(readOwn(host, "x"), undefined, "no value at all: it was forgotten");
  host.store.set("x", Uint8Array.of(9));
  t.is(readOwn(host, "x"), 1);
  writeStored(host, "x", 2);
  t.is(readOwn(host, "x"), 2);
});

test("a store that has no room for the value beside takes the new one all the same", (t) => {
  const host = fakeHost();
  host.store.set("x", Uint8Array.of(9));
  host.store.fails = (_, key) => key === "x-old";
  t.true(writeStored(host, "x", 1));
  t.is(readStored(host, "x"), 1);
});

inModes("reset leaves no token behind, of whatever format", async (t) => {
  const rig = startRig(t);
  rig.store.set("token", Uint8Array.of(9, 9));
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  t.truthy(rig.store.get("token-old"));
  const done = agent.reset();
  await rig.clock.advance(0);
  await done;
  t.deepEqual(
    [...rig.store.values.keys()].filter((key) => key.startsWith("token") || key.startsWith("proposed")),
    [],
  );
});
