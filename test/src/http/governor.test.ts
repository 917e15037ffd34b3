import test from "ava";
import { BUDGETS, Governor, type Purpose } from "../../../src/http/governor.js";
import type { Outcome } from "../../../src/http/outcome.js";
import { FakeClock } from "../../fakes/clock.js";
import { serve } from "../../fakes/server.js";
import { GET, rig } from "./rig.js";

const DONE: Outcome = { kind: "done", status: 200, body: new Uint8Array(0), whole: true, date: undefined };
const BUSY: Outcome = { kind: "busy", status: 503, retryAfterMs: 0 };

/** Requests of one purpose that leave within `ms`, if each is answered at once. */
async function leave(purpose: Purpose, ms: number, outcome: Outcome, bytes = 0): Promise<number> {
  const clock = new FakeClock();
  const governor = new Governor(clock);
  const most = 20_000;
  let count = 0;
  for (; count < most; count++) {
    const waitMs = governor.take(purpose);
    if (clock.now() + waitMs > ms) break;
    await clock.advance(waitMs);
    governor.ended(purpose, outcome, bytes);
  }
  return count;
}

for (const purpose of Object.keys(BUDGETS) as Purpose[]) {
  test(`${purpose}: requests that bring nothing leave by the budget`, async (t) => {
    const { burst, perMinute } = BUDGETS[purpose];
    t.is(await leave(purpose, 0, BUSY), burst);
    t.is(await leave(purpose, 60_000, BUSY), burst + perMinute);
    t.is(await leave(purpose, 180_000, BUSY), burst + 3 * perMinute);
  });
}

test("requests that the platform takes don't count where the device sets their number", async (t) => {
  for (const purpose of ["telemetry", "application", "report"] as const)
    t.is(await leave(purpose, 0, DONE), 20_000, purpose);
  t.is(await leave("rpcPoll", 0, DONE), BUDGETS.rpcPoll.burst);
});

test("a part of an image counts by what it lacks to a KiB", async (t) => {
  const { burst, perMinute } = BUDGETS.firmware;
  t.is(await leave("firmware", 0, DONE, 16_384), 20_000);
  t.is(await leave("firmware", 60_000, DONE, 0), burst + perMinute);
  const half = await leave("firmware", 60_000, DONE, 512);
  t.true(Math.abs(half - 2 * (burst + perMinute)) <= 1, `${half}`);
});

test("an unused budget does not grow beyond its burst", async (t) => {
  const clock = new FakeClock();
  const governor = new Governor(clock);
  await clock.advance(3_600_000);
  let count = 0;
  while (governor.take("application") === 0) count++;
  t.is(count, BUDGETS.application.burst);
});

test("a request beyond its budget waits, and takes no turn from another purpose", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(503));
  const { burst, perMinute } = BUDGETS.provisioning;
  const ended: string[] = [];
  const send = (purpose: Purpose) => connection.send({ ...GET, purpose }, () => void ended.push(purpose));
  for (let i = 0; i <= burst; i++) send("provisioning");
  send("telemetry");
  await host.clock.advance(1000);
  t.is(ended.filter((purpose) => purpose === "provisioning").length, burst);
  t.true(ended.includes("telemetry"));
  await host.clock.advance(60_000 / perMinute);
  t.is(ended.length, burst + 2);
});

test("a request that waits for its budget ends at its deadline, or with the connection", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(503));
  const outcomes: Outcome[] = [];
  const send = (hurried: boolean) =>
    connection.send({ ...GET, purpose: "provisioning", deadlineMs: 500, hurried }, (outcome) =>
      outcomes.push(outcome),
    );
  for (let i = 0; i < BUDGETS.provisioning.burst; i++) send(false);
  await host.clock.advance(100);
  outcomes.length = 0;
  send(true);
  await host.clock.advance(1000);
  t.deepEqual(outcomes, [{ kind: "lost", reason: "others took all the time" }]);
  send(false);
  send(false);
  connection.close();
  t.deepEqual(outcomes.slice(1), Array(2).fill({ kind: "lost", reason: "stopped" }));
  await host.clock.advance(10);
  t.is(host.clock.waiting, 0);
});
