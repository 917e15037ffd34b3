// What the application asks the platform for, and how such a request ends.

import test from "ava";
import { MoteError } from "../../../src/errors.js";
import { Events } from "../../../src/events.js";
import { parseTarget } from "../../../src/http/target.js";
import { requestUntil } from "../../../src/platform/call.js";
import { RequestChannel } from "../../../src/platform/request-channel.js";
import { PlatformSession } from "../../../src/platform/session.js";
import { fakeHost } from "../../fakes/host.js";
import { tokenFor } from "../../fakes/secret.js";
import { serve } from "../../fakes/server.js";
import { SILENT } from "./silent.js";

const request = {
  method: "GET",
  path: "attributes",
  deadlineMs: 10_000,
  limit: 1000,
  repeatable: true,
} as const;

function rig(statuses: (number | undefined)[], authorized = true) {
  const host = fakeHost();
  const target = parseTarget("http://platform.test");
  if (!target.ok) throw new Error(target.reason);
  const at: number[] = [];
  serve(host.net, ({ reply }) => {
    at.push(host.clock.now());
    const status = statuses.length > 1 ? statuses.shift() : statuses[0];
    if (status !== undefined) reply(status, "{}");
  });
  const session = new PlatformSession(host, target.target, 2, new Events(host), SILENT);
  session.start();
  if (authorized) session.authorize(tokenFor(session, "TOKEN"));
  /** How it ends, and after how many ms. */
  const call = async (deadlineMs: number, change: object = {}) => {
    const begun = host.clock.now();
    let end = "";
    requestUntil(
      session,
      new RequestChannel(session, "application"),
      { ...request, ...change },
      { timeoutMs: deadlineMs },
    ).then(
      ({ kind }) => {
        end = kind;
      },
      (error: MoteError) => {
        end = error instanceof MoteError ? `${error.code}: ${error.message}` : "another error";
      },
    );
    await host.clock.runUntil(() => end !== "", 120_000);
    return [end, host.clock.now() - begun] as const;
  };
  return { host, session, at, call };
}

test("what the platform answers is the end, and so is that it refuses", async (t) => {
  const { call } = rig([200]);
  t.is((await call(10_000))[0], "done");
  for (const status of [400, 403, 404]) {
    const { call } = rig([status]);
    t.is((await call(10_000))[0], `REFUSED: the platform answered ${status}`);
  }
});

test("a request that met a 401 waits for a token, also one that is sent once, and goes out again", async (t) => {
  const { call, at, session, host } = rig([401, 200]);
  host.clock.timer(5000, () => session.authorize(tokenFor(session, "TOKEN")));
  const [end, ms] = await call(10_000, { repeatable: false });
  t.is(end, "done");
  t.is(at.length, 2);
  t.true(ms >= 5000, `${ms}`);
});

test("a platform that is busy is asked again, until the deadline", async (t) => {
  const { call, at } = rig([503, 503, 200]);
  t.is((await call(60_000))[0], "done");
  t.is(at.length, 3);
  const busy = rig([503]);
  const [end, took] = await busy.call(20_000);
  t.is(end, "TIMEOUT: the platform cannot be reached");
  t.is(took, 20_000);
  t.true(busy.at.length > 1);
});

test("silence is waited for no longer than the deadline, however long the request may take", async (t) => {
  const { call } = rig([undefined]);
  t.deepEqual(await call(3000), ["TIMEOUT: the platform cannot be reached", 3000]);
});

test("what must not be repeated is not", async (t) => {
  const { call, at } = rig([503, 200]);
  t.is((await call(60_000, { repeatable: false }))[0], "TIMEOUT: no answer from the platform");
  t.is(at.length, 1);
});

test("without a token it waits for one until the deadline, and a stop ends it", async (t) => {
  const waiting = rig([200], false);
  t.deepEqual(await waiting.call(5000), ["TIMEOUT: the platform cannot be reached", 5000]);
  const stopped = rig([200], false);
  stopped.host.clock.timer(2000, () => stopped.session.stop());
  t.deepEqual(await stopped.call(5000), ["STOPPED: the agent was stopped", 2000]);
  t.deepEqual(stopped.at, []);
});
