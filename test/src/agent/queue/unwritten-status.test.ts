// Status entries that failed, written again: each point counts as what it was, and none is confirmed that was not dealt with.
import test from "ava";
import { UnwrittenStatus } from "../../../../src/agent/queue/flash-log/unwritten-status.js";
import { DONE, FULL, REFUSED, REPORTED, UNREADABLE } from "../../../../src/agent/queue/log-entry.js";

/** Flash that takes so many status entries and then none. */
function log(confirmed: number, takes = Number.POSITIVE_INFINITY) {
  const entries: [kind: number, number: number][] = [];
  const writeStatus = (kind: number, number: number): boolean =>
    entries.length < takes && entries.push([kind, number]) > 0;
  return { state: { confirmed }, writeStatus, entries };
}

test("what was refused, had no room or could not be read is written as that, and the rest as done", (t) => {
  const unwritten = new UnwrittenStatus();
  unwritten.none(10);
  unwritten.add(REFUSED, 1);
  unwritten.add(DONE, 5);
  unwritten.add(UNREADABLE, 3);
  unwritten.add(FULL, 2);
  const flash = log(21);
  const writes = {
    ...flash,
    writeStatus: (kind: number, number: number) =>
      unwritten.written(kind, number) && flash.writeStatus(kind, number),
  };
  t.true(unwritten.write(writes));
  t.deepEqual(flash.entries, [
    [REFUSED, 11],
    [FULL, 13],
    [UNREADABLE, 16],
    [DONE, 21],
  ]);
});

test("what was not written is still to be written, and what was is not written again", (t) => {
  const unwritten = new UnwrittenStatus();
  unwritten.add(REFUSED, 1);
  unwritten.add(UNREADABLE, 2);
  const write = (takes: number) => {
    const flash = log(3, takes);
    const writeStatus = (kind: number, number: number) =>
      flash.writeStatus(kind, number) && unwritten.written(kind, number);
    return [unwritten.write({ ...flash, writeStatus }), flash.entries] as const;
  };
  t.deepEqual(write(1), [false, [[REFUSED, 1]]]);
  t.deepEqual(write(9), [
    true,
    [
      [UNREADABLE, 3],
      [DONE, 3],
    ],
  ]);
  t.deepEqual(write(9), [true, [[DONE, 3]]]);
});

test("a status entry says no more than what is dealt with, and how many drops were reported says nothing of points", (t) => {
  const unwritten = new UnwrittenStatus();
  unwritten.add(REFUSED, 9);
  unwritten.written(REPORTED, 400);
  const flash = log(4);
  t.true(unwritten.write(flash));
  t.deepEqual(flash.entries, [
    [REFUSED, 4],
    [DONE, 4],
  ]);
});
