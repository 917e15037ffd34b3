import test from "ava";
import { judge, merged, type Result, table } from "./judge.js";
import { inTurn, median } from "./row.js";

const row = { id: 3, name: "time", target: 2, better: "less" } as const;

test("the ratio is the median of the rounds' ratios, and its least and most are given", (t) => {
  const judged = judge(row, { unit: "ms", mote: [10, 30, 20], limit: [10, 10, 10], alternative: [1, 1, 1] });
  t.is(judged.name, "time (ms)");
  t.deepEqual(
    [judged.mote, judged.limit, judged.alternative, judged.ratio, judged.target, judged.ok],
    [20, 10, 1, 2, 2, true],
  );
  t.deepEqual(judged.spread, [1, 3]);
});

test("without a limit the ratio is to the alternative, without both Mote's figure has the target", (t) => {
  t.is(judge(row, { unit: "ms", mote: 4, alternative: 8 }).ratio, 0.5);
  const alone = judge(row, { unit: "ms", mote: 4 });
  t.deepEqual([alone.ratio, alone.ok, alone.spread], [null, false, undefined]);
});

test("a target holds as least or as most, and null is given beside", (t) => {
  const line = { unit: "ms", mote: 3, limit: 1 };
  t.false(judge(row, line).ok);
  t.true(judge({ ...row, better: "more" }, line).ok);
  t.true(judge(row, { ...line, target: 3 }).ok);
  t.true(judge(row, { ...line, target: null }).ok);
  t.false(judge(row, { ...line, mote: Number.NaN }).ok);
});

test("a missed target is seen in the table", (t) => {
  const text = table([judge(row, { what: "slow", unit: "ms", mote: 3, limit: 1 })]);
  t.regex(text, /time: slow \(ms\) +3 +1 +3 +<= 2 +MISSED +none/);
});

test("the median of an even number lies between the middle two, and of nothing there is none", (t) => {
  t.is(median([4, 1, 3, 2]), 2.5);
  t.throws(() => median([]), { message: "nothing was measured" });
});

test("subjects are measured in turn, every other round the other way round, after one run unmeasured", async (t) => {
  const order: string[] = [];
  const subject = (name: string) => () => order.push(name);
  const figures = await inTurn(3, { a: subject("a"), b: subject("b") });
  t.is(order.join(""), "ababbaab");
  t.deepEqual(figures, { a: [3, 6, 7], b: [4, 5, 8] });
});

test("what was measured takes the place of its row's figures, each row whole, and leaves the others", (t) => {
  const entry = (id: number, name: string, times: number): Result => {
    return {
      ...{ id, name, times, mote: 1, alternative: null, limit: null, ratio: null, target: null },
      ok: true,
    };
  };
  const before = [entry(1, "bytes", 7), entry(3, "time", 7), entry(3, "gone", 7), entry(9, "rpc", 7)];
  const after = merged(before, [entry(3, "time", 3), entry(2, "new", 3)]);
  t.deepEqual(
    after.map(({ id, name, times }) => [id, name, times]),
    [
      [1, "bytes", 7],
      [2, "new", 3],
      [3, "time", 3],
      [9, "rpc", 7],
    ],
  );
});
