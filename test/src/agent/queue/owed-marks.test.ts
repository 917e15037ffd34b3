// Marks that failed, said again: each point counts as what it was, and none is confirmed that was not dealt with.
import test from "ava";
import { OwedMarks } from "../../../../src/agent/queue/flash-log/owed-marks.js";
import { DONE, FULL, REFUSED, TOLD, UNREADABLE } from "../../../../src/agent/queue/log-entry.js";

/** Flash that takes so many marks and then none. */
function log(confirmed: number, takes = Number.POSITIVE_INFINITY) {
  const marks: [kind: number, number: number][] = [];
  const mark = (kind: number, number: number): boolean =>
    marks.length < takes && marks.push([kind, number]) > 0;
  return { state: { confirmed }, mark, marks };
}

test("what was refused, had no room or could not be read is marked as that, and the rest as done", (t) => {
  const owed = new OwedMarks();
  owed.none(10);
  owed.owe(REFUSED, 1);
  owed.owe(DONE, 5);
  owed.owe(UNREADABLE, 3);
  owed.owe(FULL, 2);
  const flash = log(21);
  const pays = {
    ...flash,
    mark: (kind: number, number: number) => owed.written(kind, number) && flash.mark(kind, number),
  };
  t.true(owed.pay(pays));
  t.deepEqual(flash.marks, [
    [REFUSED, 11],
    [FULL, 13],
    [UNREADABLE, 16],
    [DONE, 21],
  ]);
});

test("what was not written is owed still, and what was is not written again", (t) => {
  const owed = new OwedMarks();
  owed.owe(REFUSED, 1);
  owed.owe(UNREADABLE, 2);
  const pay = (takes: number) => {
    const flash = log(3, takes);
    const mark = (kind: number, number: number) => flash.mark(kind, number) && owed.written(kind, number);
    return [owed.pay({ ...flash, mark }), flash.marks] as const;
  };
  t.deepEqual(pay(1), [false, [[REFUSED, 1]]]);
  t.deepEqual(pay(9), [
    true,
    [
      [UNREADABLE, 3],
      [DONE, 3],
    ],
  ]);
  t.deepEqual(pay(9), [true, [[DONE, 3]]]);
});

test("a mark says no more than what is dealt with, and how many drops were reported says nothing of points", (t) => {
  const owed = new OwedMarks();
  owed.owe(REFUSED, 9);
  owed.written(TOLD, 400);
  const flash = log(4);
  t.true(owed.pay(flash));
  t.deepEqual(flash.marks, [
    [REFUSED, 4],
    [DONE, 4],
  ]);
});
