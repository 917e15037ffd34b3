import test from "ava";
import { Backoff } from "../../../src/platform/backoff.js";
import { seededRandom } from "../../fakes/host.js";

/** A host whose dice always show the same. */
const loaded = (byte: number) => ({ random: (into: Uint8Array) => void into.fill(byte) });
const delays = (backoff: Backoff, count: number) => Array.from({ length: count }, () => backoff.next());

test("the longest delays double from 1 s to 5 min, and end at 5 min and a tenth", (t) => {
  t.deepEqual(
    delays(new Backoff(loaded(255)), 12).map((ms) => Math.round(ms / 100) / 10),
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 330, 330],
  );
});

test("the shortest delays are 100 ms, and 5 min less a tenth from the second of 5 min on", (t) => {
  t.deepEqual(delays(new Backoff(loaded(0)), 12), [...Array(10).fill(100), 270_000, 270_000]);
});

test("a shorter end is taken as it is given", (t) => {
  const seconds = delays(new Backoff(loaded(255), 30_000), 8).map((ms) => Math.round(ms / 100) / 10);
  t.deepEqual(seconds, [1, 2, 4, 8, 16, 30, 33, 33]);
});

test("at an end that is reached exactly the delay is thrown over all of it once, as at any other", (t) => {
  t.deepEqual(delays(new Backoff(loaded(0), 4000), 5), [100, 100, 100, 3600, 3600]);
});

test("after an attempt that waited in vain the delay is thrown over no less than it took, and over 5 min at the most", (t) => {
  const backoff = new Backoff(loaded(255));
  t.is(backoff.next(35_000), 35_000);
  t.deepEqual(
    delays(backoff, 6).map((ms) => Math.round(ms / 1000)),
    [2, 4, 8, 16, 32, 64],
  );
  t.is(backoff.next(35_000), 128_000);
  t.is(new Backoff(loaded(255)).next(900_000), 300_000);
});

test("reset makes the next delay a short one", (t) => {
  const backoff = new Backoff(loaded(255));
  delays(backoff, 20);
  backoff.reset();
  t.is(backoff.next(), 1000);
});

test("devices that fail together do not come back together", (t) => {
  const random = seededRandom(7);
  const sixth = Array.from({ length: 1000 }, () => delays(new Backoff({ random }), 6).at(-1)!);
  const quarters = [0, 1, 2, 3].map(
    (q) => sixth.filter((ms) => Math.min(3, Math.floor(ms / 8000)) === q).length,
  );
  for (const count of quarters) t.true(count > 190 && count < 310, `${quarters}`);
});
