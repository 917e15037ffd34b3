// A share of the simulated runs of test:all, the seeds 1 to 1,200, in two files so that two
// processes share them.
import test from "ava";
import { simulateMany } from "./many.js";
import { FEATURED } from "./simulated-run.js";

const SHARES = 8;
const SHARE = 150;
const GROUP = 25;
/**
 * Besides the faults of requests and connections, those of the device, the platform and their
 * storage.
 */
const DEEDS = [
  ...[
    "device: power loss",
    "device: power loss, then off",
    "device: restart",
    "device: again",
    "device: stop",
  ],
  ...["power loss in a write", "connections break", "clock jumps", "time unknown"],
  ...["loud", "silent", "proxied"].map((how) => `platform restarts, ${how}`),
  ...["before", "after", "after, unheard"].map((when) => `restart between two messages, ${when}`),
  ...["a platform stalled behind a proxy", "wakes", "a wake stopped", "reset"],
  ...["store fails", "flash fails", "a day offline", "content refused", "poisoned"],
  ...[
    "flash full",
    "flash flickers",
    "flash wears",
    "flash fails and heals",
    "content statuses on everything",
  ],
];
/** How often each fault is applied in a share at the least. */
const LEAST = 3;

/** Declares the tests of share number `share`, 0 to 7. */
export function declare(share: number): void {
  const applied: Record<string, number> = {};
  const begin = 1 + share * SHARE;
  for (let first = begin; first < begin + SHARE; first += GROUP) {
    const last = first + GROUP - 1;
    test.serial(
      `through faults, restarts and clock jumps the promises hold (seeds ${first} to ${last})`,
      async (t) => {
        const outcome = await simulateMany(first, GROUP);
        for (const [fault, times] of Object.entries(outcome.applied))
          applied[fault] = (applied[fault] ?? 0) + times;
        const again = `see it with: node scripts/campaign.mjs faults --seed ${outcome.failed?.seed} --runs 1`;
        t.is(outcome.failed, undefined, again);
      },
    );
  }
  test.serial(`each fault was applied, runs ${begin} to ${begin + SHARE - 1} of ${SHARES * SHARE}`, (t) => {
    const seldom = [...FEATURED, ...DEEDS].filter((fault) => (applied[fault] ?? 0) < LEAST);
    t.deepEqual(seldom, []);
  });
}
