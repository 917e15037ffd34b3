// Fifty clients at once, each on a machine of its own, against the local platform's pool and queue.
import test from "ava";
import { Reports, Session } from "../../../src/report/index.js";
import { POOL_DEFAULTS, WorkerPool } from "../../../tools/platform/rest/worker-pool.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { serve } from "../../fakes/server.js";
import { jwt, REPORT, textOf, URL, VIEW } from "./rig.js";

const CLIENTS = 50;
/** A report takes that long. */
const TAKES_MS = 2000;

interface Crowd {
  /** Rows of each client's report, or what went wrong. */
  readonly ends: (number | string)[];
  /** When a report was asked for, and when it was refused. */
  readonly asked: number[];
  readonly refused: number[];
}

/** `seed` draws the waits. */
async function crowd(seed: number, headers: Record<string, string>): Promise<Crowd> {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const network = new FakeNet(clock);
  const pool = new WorkerPool({ ...POOL_DEFAULTS, threadPoolSize: 2 });
  const [asked, refused]: [number[], number[]] = [[], []];
  serve(network, async (request) => {
    asked.push(clock.now());
    const place = pool.enter();
    if (!place) {
      refused.push(clock.now());
      return request.reply(429, "", headers);
    }
    await place.running;
    clock.timer(TAKES_MS, () => {
      place.leave();
      request.reply(200, REPORT);
    });
  });
  const ends: Crowd["ends"] = [];
  for (let i = 0; i < CLIENTS; i++) {
    const host = fakeHost({ clock, network, seed: seed * 1000 + i });
    const session = new Session(host, { url: URL, jwt: jwt("me") });
    const reports = new Reports(host, { url: URL, session });
    let rows = 0;
    const taker = { row: () => void rows++ };
    reports.build({ viewConfigId: VIEW, timeoutMs: 600_000 }, taker).then(
      () => ends.push(rows),
      (error) => ends.push(textOf(error)),
    );
  }
  await clock.runUntil(() => ends.length === CLIENTS, 1e7);
  return { ends, asked, refused };
}

/** The most that fell into one second of those after the first. */
function busiest(times: readonly number[]): number {
  const later = times.filter((at) => at >= 1000);
  return Math.max(0, ...later.map((at) => later.filter((other) => other >= at && other < at + 1000).length));
}

for (const [how, headers] of [
  ["", {}],
  [" that says when to come back", { "Retry-After": "5" }],
] as const) {
  test(`50 reports at once against a queue of 10${how}: all are built, none is lost, and nobody hammers`, async (t) => {
    for (const seed of [1, 2]) {
      const { ends, asked, refused } = await crowd(seed, headers);
      t.deepEqual(ends, Array(CLIENTS).fill(2), `seed ${seed}`);
      const seconds = (asked.at(-1)! - asked[0]!) / 1000;
      const rate = asked.length / seconds;
      t.log(
        `seed ${seed}: ${refused.length} times 429 in ${seconds.toFixed(0)} s, ${rate.toFixed(1)} requests a second, ${busiest(asked)} in the busiest`,
      );
      // 50 reports of 2 s by two threads take 50 s: of each client a few requests a minute, and no more than it began with at once.
      t.true(refused.length >= CLIENTS - 12);
      t.true(refused.length <= CLIENTS * 8, `${refused.length}`);
      t.true(busiest(asked) <= CLIENTS);
      t.true(rate < 6, `${rate}`);
    }
  });
}
