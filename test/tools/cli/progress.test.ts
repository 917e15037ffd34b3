// What a followed update writes to a log, which cannot be redrawn.
import test from "ava";
import { Progress } from "../../../tools/cli/output/progress.js";

test("a log gets each change at once, and the counts once a minute without a change", (t) => {
  let now = 0;
  const written: string[] = [];
  const progress = new Progress({ write: (text) => written.push(text) }, () => now);
  progress.show(["bar"], ["stage 1"], "0 good");
  for (now = 5_000; now <= 180_000; now += 5_000) progress.show(["bar"], ["stage 1"], `${now / 1000} s`);
  t.deepEqual(written, ["stage 1\n", "60 s\n", "120 s\n", "180 s\n"]);
  now = 200_000;
  progress.show(["bar"], ["stage 1", "stage 2"], "1 good");
  now = 245_000;
  progress.show(["bar"], ["stage 1", "stage 2"], "2 good");
  t.deepEqual(written.slice(4), ["stage 2\n"]);
});
