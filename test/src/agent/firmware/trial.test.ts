import test from "ava";
import { compareVersions } from "../../../../src/agent/firmware/admission.js";
import {
  readRecord,
  STATES,
  type State,
  type UpdateRecord,
  writeRecord,
} from "../../../../src/agent/firmware/update-journal.js";
import { fakeHost } from "../../../fakes/host.js";
import { Lamp } from "./updates/lamp.js";
import { each, failed, MINUTE, onTrial, SIZE, stays, UPDATED } from "./updates/reported.js";

test("an image that calls itself by another version gives way", async (t) => {
  const lamp = new Lamp();
  lamp.assign(lamp.package("2.0.0", lamp.image("2.0.1", SIZE)));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the new image has a different title or version than assigned"));
  await stays(t, lamp);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.1", "1.0.0"]);
});

for (const [operation, how, times] of [
  ["confirm", "fails", 3],
  ["confirm", "throws", 3],
  ["confirm", "fails", 10],
  ["confirm", "throws", 10],
  ["revert", "fails", 3],
  ["revert", "fails", 20],
] as const)
  each(
    `${operation} that ${how} ${times} times is asked each minute, ten times at most`,
    async (t, shape) => {
      const at: number[] = [];
      let left = times as number;
      const selfTest = () => operation === "confirm";
      const lamp = await onTrial({ ...shape, firmware: { selfTest } }, (lamp) => {
        lamp.machine.onOperation = (name) => {
          if (name !== operation) return true;
          at.push(lamp.machine.clock.now());
          if (left-- <= 0) return true;
          if (how === "throws") throw new Error("the flash is worn out");
          return false;
        };
      });
      await lamp.untilState("FAILED", "UPDATED");
      const isKept = operation === "confirm" && times < 10;
      const reason =
        operation === "confirm"
          ? "the device could not confirm the new image"
          : "the new image failed its self-test";
      t.deepEqual(lamp.shown, isKept ? UPDATED : failed(reason));
      // After ten tries to revert the device restarts, and the boot loader rolls back.
      t.deepEqual(lamp.booted, isKept ? ["1.0.0", "2.0.0"] : ["1.0.0", "2.0.0", "1.0.0"]);
      t.is(at.length, Math.min(10, times + 1));
      // A notification may bring the second try forward.
      t.true(
        at.slice(2).every((ms, i) => ms - at[i + 1]! === MINUTE),
        `${at}`,
      );
    },
  );

// What is stored of an update, and what a start makes of it that finds something else.

const RECORD: UpdateRecord = {
  state: "downloading",
  key: "k",
  title: "lamp",
  version: "2",
  from: "1",
  offset: 8192,
  failures: 1,
  spared: 2,
  condemned: true,
  error: "wrong checksum",
  size: 9000,
  checksum: "ab",
  etag: '"e"',
  at: 1e12,
};

/** What a start finds where `change` was stored. */
function found(change: object): UpdateRecord | undefined {
  const host = fakeHost();
  writeRecord(host, { ...RECORD, ...change });
  return readRecord(host);
}

test("a record comes back as it was stored, in every state", (t) => {
  for (const state of Object.keys(STATES) as State[]) t.deepEqual(found({ state }), { ...RECORD, state });
});

test("a record without its state, or of which nobody could know what it belongs to, is none", (t) => {
  for (const name of ["state", "key", "title", "version"])
    for (const value of [undefined, null, 1, {}, []])
      t.is(found({ [name]: value }), undefined, `${name} ${value}`);
  for (const state of ["", "DOWNLOADING", "toString", "__proto__"]) t.is(found({ state }), undefined, state);
  t.is(readRecord(fakeHost()), undefined);
});

test("a count that is none is 0, and a text that is none is empty", (t) => {
  for (const name of ["offset", "failures", "spared", "size", "at"])
    for (const value of [undefined, null, -1, 1.5, Number.NaN, "7", [], true])
      t.deepEqual(found({ [name]: value }), { ...RECORD, [name]: 0 }, `${name} ${value}`);
  for (const name of ["from", "error", "checksum", "etag"])
    for (const value of [undefined, null, 7, [], {}])
      t.deepEqual(found({ [name]: value }), { ...RECORD, [name]: "" }, `${name} ${value}`);
  for (const value of [undefined, null, 1, "true"])
    t.deepEqual(found({ condemned: value }), { ...RECORD, condemned: false }, `${value}`);
});

// Which of two versions is the older one.

const RISING = "0 0.9 0.9.1 v1.0.0-alpha 1.0.0-rc.1 1.0.0-rc.2 1 1.0.0.1 1.2 1.10.0-x 1.10 2 10.0".split(" ");

test("parts are compared as numbers, and what follows a hyphen comes before what has none", (t) => {
  for (const [i, one] of RISING.entries())
    for (const [k, other] of RISING.entries()) {
      const found = compareVersions(one, other);
      t.is(Math.sign(found ?? Number.NaN), Math.sign(i - k), `${one} and ${other}: ${found}`);
    }
});

test("missing parts are 0, a v before it and what follows a plus do not count", (t) => {
  for (const [one, other] of [
    ["1", "1.0"],
    ["1.0.0.0", "1"],
    ["v1.2", "1.2"],
    ["1.2+a", "1.2+b"],
    ["1.2-rc+a", "1.2-rc"],
  ] as const) {
    t.is(compareVersions(one, other), 0, `${one} and ${other}`);
    t.is(compareVersions(other, one), 0, `${other} and ${one}`);
  }
});

test("what is no version is neither older nor newer", (t) => {
  const texts = ["", "x", "1.", ".1", "1..2", "1.x", "1 ", "V1", "1234567890", "1.2.3.4.5.6.7.8.9", "1-"];
  for (const none of [...texts, undefined, null, 1, {}]) {
    t.is(compareVersions(none, "1.0"), undefined, `${none}`);
    t.is(compareVersions("1.0", none), undefined, `${none}`);
  }
  t.is(compareVersions("123456789.2.3.4.5.6.7.8", "1"), 123_456_788);
});
