// The way to the platform that all loops share, and calls of the application.
import test from "ava";
import type { MoteError } from "../../../src/errors.js";
import { Events } from "../../../src/events.js";
import type { Outcome } from "../../../src/http/outcome.js";
import { PlatformSession, type SessionWatcher } from "../../../src/platform/session.js";
import { requestUntil } from "../../../src/platform/wait.js";
import { fakeHost } from "../../fakes/host.js";
import { tokenFor } from "../../fakes/secret.js";
import { serve } from "../../fakes/server.js";
import { targetOf } from "../http/rig.js";

const request = {
  method: "GET",
  path: "attributes",
  deadlineMs: 10_000,
  limit: 1000,
  repeatable: true,
} as const;

/**
 * A started session whose platform answers with these statuses, the last of them from then on;
 * undefined: nothing.
 */
function rig(statuses: (number | undefined)[] = [200], watcher: Partial<SessionWatcher> = {}) {
  const host = fakeHost();
  const seen: { path: string; at: number }[] = [];
  serve(host.net, ({ path, reply }) => {
    seen.push({ path, at: host.clock.now() });
    const status = statuses.length > 1 ? statuses.shift() : statuses[0];
    if (status !== undefined) reply(status, "{}");
  });
  const nothing = () => {};
  const silent = {
    callNeedsSession: nothing,
    dated: nothing,
    tokenProven: nothing,
    writeProven: nothing,
    unauthorized: nothing,
  };
  const target = targetOf("http://platform.test");
  const events = new Events(host);
  const session = new PlatformSession(host, target, 2, events, { ...silent, ...watcher });
  const authorize = (token = "TOKEN") => session.authorize(tokenFor(session, token));
  /** What becomes of a request. */
  const send = async (): Promise<string> => {
    let outcome: Outcome | undefined;
    session.dispatch("telemetry", request, undefined, (one) => {
      outcome = one;
    });
    await host.clock.advance(1000);
    return outcome?.kind === "lost" ? outcome.reason : String(outcome?.kind);
  };
  /** How a call of the application ends, and after how many ms. */
  const call = async (timeoutMs: number, change: object = {}) => {
    const begun = host.clock.now();
    let end = "";
    requestUntil(session, "application", { ...request, ...change }, { timeoutMs }).then(
      ({ kind }) => {
        end = kind;
      },
      ({ code, message }: MoteError) => {
        end = `${code}: ${message}`;
      },
    );
    await host.clock.runUntil(() => end !== "", 120_000);
    return [end, host.clock.now() - begun] as const;
  };
  session.start();
  return { host, session, events, seen, statuses, authorize, send, call };
}

test("calls that waited for a token in vain leave nothing behind", async (t) => {
  const { session, host, authorize, call } = rig();
  for (let n = 0; n < 5; n++) t.regex((await call(1000))[0], /^TIMEOUT/);
  t.is((Reflect.get(session, "_waiting") as unknown[]).length, 0);
  host.clock.timer(5000, () => authorize());
  t.is((await call(60_000))[0], "done");
});

test("without a token and after a stop nothing is sent, and who asks hears why", async (t) => {
  const { session, seen, authorize, send } = rig();
  t.is(await send(), "no token");
  t.deepEqual(seen, []);
  authorize();
  t.is(await send(), "done");
  const paths = seen.map(({ path }) => path);
  t.deepEqual(paths, ["/api/v1/TOKEN/attributes"]);
  session.stop();
  t.is(await send(), "stopped");
  session.start();
  t.is(await send(), "no token");
});

test("a 401 withdraws the token, and the job is told to send again with another", async (t) => {
  let unauthorized = 0;
  const { authorize, seen, send } = rig([401, 200], { unauthorized: () => unauthorized++ });
  authorize("ONE");
  t.is(await send(), "the platform does not know the token");
  t.is(unauthorized, 1);
  t.is(await send(), "no token");
  authorize("TWO");
  t.is(await send(), "done");
  t.is(seen.at(-1)?.path, "/api/v1/TWO/attributes");
});

test("a platform that answers is there, unless it says not now, as a proxy before none may", async (t) => {
  const { session, statuses, authorize, send } = rig();
  t.false(session.answers);
  for (const [status, answers] of [
    [200, true],
    [503, false],
    [401, true],
    [429, false],
  ] as const) {
    statuses.splice(0, 1, status);
    authorize();
    await send();
    t.is(session.answers, answers, `${status}`);
  }
});

/** Sends a request each second; returns the events `offline` and `online`. */
async function watch({ host, events, send }: ReturnType<typeof rig>, seconds: number) {
  const seen: string[] = [];
  const ends = [
    events.on("offline", ({ reason }) => void seen.push(`offline: ${reason}`)),
    events.on("online", () => void seen.push("online")),
  ];
  const end = host.clock.now() + 1000 * seconds;
  while (host.clock.now() < end) await send();
  for (const off of ends) off();
  return seen;
}

test("502, 503 and 504 for 45 s are an outage with the status as its reason", async (t) => {
  for (const status of [502, 503, 504]) {
    const one = rig([200]);
    one.authorize();
    t.deepEqual(await watch(one, 5), ["online"]);
    one.statuses.splice(0, 1, status);
    t.deepEqual(await watch(one, 40), [], "a restart");
    t.deepEqual(await watch(one, 60), [
      `offline: status ${status}: the server behind this address does not answer`,
    ]);
    t.is(one.session.online, false);
    one.statuses.splice(0, 1, 200);
    t.deepEqual(await watch(one, 5), ["online"]);
  }
  const limited = rig([200]);
  limited.authorize();
  await watch(limited, 5);
  limited.statuses.splice(0, 1, 429);
  t.deepEqual(await watch(limited, 90), []);
});

test("a poll that a proxy ends is no outage, nor are proxy errors between answers", async (t) => {
  const one = rig([200]);
  const { host, session, statuses, authorize } = one;
  authorize();
  await watch(one, 5);
  statuses.splice(0, 1, 504);
  for (let i = 0; i < 60; i++) {
    session.dispatch("rpcPoll", request, undefined, () => {});
    await host.clock.advance(1000);
  }
  t.is(session.online, true);
  statuses.splice(0, 1, ...Array.from({ length: 200 }, (_, i) => (i % 20 === 0 ? 200 : 503)));
  t.deepEqual(await watch(one, 150), []);
});

test("reports offline again when the reason changes, once for each reason", async (t) => {
  const one = rig([502]);
  one.authorize();
  const seen = await watch(one, 60);
  for (const reason of ["connection refused", "no route", "connection refused", "no route"]) {
    one.host.net.onConnect = (peer) => {
      peer.reset(reason);
      return false;
    };
    one.session.connections.renew();
    seen.push(...(await watch(one, 20)));
  }
  const status = "status 502: the server behind this address does not answer";
  t.deepEqual(seen, [`offline: ${status}`, "offline: connection refused", "offline: no route"]);
});

test("before the machine has a network nothing counts as lost; then all is sent at once", async (t) => {
  const one = rig([200]);
  let hasNetwork = false;
  Object.assign(one.host, { hasNetwork: () => hasNetwork });
  one.host.net.onConnect = (peer) => {
    if (!hasNetwork) peer.reset("bad address, or no socket left");
    return hasNetwork;
  };
  one.authorize();
  const errors: string[] = [];
  one.events.on("error", ({ code }) => errors.push(code));
  t.deepEqual(await watch(one, 60), []);
  t.deepEqual([errors, one.session.counters.retries, one.session.online], [[], 0, undefined]);
  t.true((one.session.untilFreeMs(0) ?? 0) > 0);
  hasNetwork = true;
  one.session.networkReturned();
  t.is(one.session.untilFreeMs(0), 0);
  one.host.net.onConnect = (peer) => {
    peer.reset("connection refused");
    return false;
  };
  t.deepEqual(await watch(one, 10), ["offline: connection refused"]);
});

test("an answer changes nothing if a listener of its error stopped the session", async (t) => {
  const { session, events, authorize, send } = rig([401]);
  authorize();
  events.on("error", () => session.stop());
  await send();
  t.false(session.answers);
  t.is(session.answeredAt, -1);
});

test("a clock that has no timer left once does not silence a loop for good", async (t) => {
  const { host, session } = rig();
  const { timer } = host.clock;
  let timers = 0;
  host.clock.timer = (ms, call) => {
    if (++timers === 1) throw new Error("no timer left");
    return timer.call(host.clock, ms, call);
  };
  let begun = 0;
  session.loop("test", { begin: () => void begun++, turn: () => 1000 }).start();
  await host.clock.advance(9000);
  t.is(begun, 1);
  await host.clock.advance(2000);
  t.is(begun, 2);
});

// What the application asks the platform for, and how such a request ends.

test("what the platform answers is the end, and so is that it refuses", async (t) => {
  for (const [status, end] of [
    [200, "done"],
    [400, "REFUSED: the platform answered 400"],
    [404, "REFUSED: the platform answered 404"],
  ] as const) {
    const { authorize, call } = rig([status]);
    authorize();
    t.is((await call(10_000))[0], end);
  }
});

test("a request that met a 401 waits for a token, also one that is sent once, and goes out again", async (t) => {
  const { authorize, call, seen, host } = rig([401, 200]);
  authorize();
  host.clock.timer(5000, () => authorize());
  const [end, ms] = await call(10_000, { repeatable: false });
  t.deepEqual([end, seen.length], ["done", 2]);
  t.true(ms >= 5000, `${ms}`);
});

test("a platform that is busy is asked again until the deadline, unless it must not be", async (t) => {
  for (const [statuses, change, ended, requests] of [
    [[503, 503, 200], {}, "done", 3],
    [[503], {}, "TIMEOUT: the platform cannot be reached", undefined],
    [[undefined], {}, "TIMEOUT: the platform cannot be reached", 1],
    [[503, 200], { repeatable: false }, "TIMEOUT: no answer from the platform", 1],
  ] as const) {
    const { authorize, call, seen } = rig([...statuses]);
    authorize();
    const [end, ms] = await call(9000, change);
    t.is(end, ended);
    t.true(ms <= 9000);
    if (requests) t.is(seen.length, requests);
    else t.true(seen.length > 1);
  }
});

test("without a token it waits for one until the deadline, and a stop ends it", async (t) => {
  t.deepEqual(await rig().call(5000), ["TIMEOUT: the platform cannot be reached", 5000]);
  const stopped = rig();
  stopped.host.clock.timer(2000, () => stopped.session.stop());
  t.deepEqual(await stopped.call(5000), ["STOPPED: the agent was stopped", 2000]);
  t.deepEqual(stopped.seen, []);
});
