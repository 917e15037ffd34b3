// The way to the platform that all loops share.

import test from "ava";
import { Events } from "../../../src/events.js";
import type { Outcome } from "../../../src/http/outcome.js";
import { parseTarget } from "../../../src/http/target.js";
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

function rig(unauthorized = (): unknown => undefined) {
  const host = fakeHost();
  const target = parseTarget("http://platform.test");
  if (!target.ok) throw new Error(target.reason);
  const paths: string[] = [];
  const platform = { status: 200 };
  serve(host.net, ({ path, reply }) => {
    paths.push(path);
    reply(platform.status, "{}");
  });
  const session = new PlatformSession(host, target.target, 2, new Events(host), { ...SILENT, unauthorized });
  /** What becomes of a request. */
  const send = async (): Promise<string> => {
    let outcome: Outcome | undefined;
    session.dispatch("telemetry", request, undefined, (one) => {
      outcome = one;
    });
    await host.clock.advance(1000);
    return outcome?.kind === "lost" ? outcome.reason : String(outcome?.kind);
  };
  return { host, session, paths, platform, send };
}

test("without a token, before the start and after a stop nothing is sent, and who asks hears why", async (t) => {
  const { session, paths, send } = rig();
  t.is(await send(), "stopped");
  session.start();
  t.is(await send(), "no token");
  t.deepEqual(paths, []);
  session.authorize(tokenFor(session, "TOKEN"));
  t.is(await send(), "done");
  t.deepEqual(paths, ["/api/v1/TOKEN/attributes"]);
  session.stop();
  t.is(await send(), "stopped");
  session.start();
  t.is(await send(), "no token");
  t.is(paths.length, 1);
});

test("a 401 withdraws the token, and the job is told to send again with another", async (t) => {
  let unauthorized = 0;
  const { session, platform, paths, send } = rig(() => unauthorized++);
  session.start();
  session.authorize(tokenFor(session, "ONE"));
  platform.status = 401;
  t.is(await send(), "the platform does not know the token");
  t.is(unauthorized, 1);
  t.is(await send(), "no token");
  session.authorize(tokenFor(session, "TWO"));
  platform.status = 200;
  t.is(await send(), "done");
  t.deepEqual(paths, ["/api/v1/ONE/attributes", "/api/v1/TWO/attributes"]);
});

test("a platform that answers answers, whatever it says; not so one that says not now, as that may be a proxy before none", async (t) => {
  const { session, platform, send } = rig();
  session.start();
  t.false(session.answers);
  for (const [status, answers] of [
    [200, true],
    [503, false],
    [401, true],
    [429, false],
    [200, true],
  ] as const) {
    platform.status = status;
    session.authorize(tokenFor(session, "TOKEN"));
    await send();
    t.is(session.answers, answers, `${status}`);
  }
});

// The turns of a loop.

test("a clock that has no timer left once does not silence a loop for good", async (t) => {
  const host = fakeHost();
  const target = parseTarget("http://platform.test");
  if (!target.ok) throw new Error(target.reason);
  let timers = 0;
  const clock = {
    now: () => host.clock.now(),
    timer: (ms: number, call: () => void) => {
      if (++timers === 1) throw new Error("no timer left");
      return host.clock.timer(ms, call);
    },
  };
  const session = new PlatformSession(
    { ...host, clock } as typeof host,
    target.target,
    2,
    new Events(host),
    SILENT,
  );
  let begun = 0;
  session.start();
  session.loop("test", { begin: () => void begun++, turn: () => 1000 }).start();
  await host.clock.advance(9000);
  t.is(begun, 1);
  await host.clock.advance(2000);
  t.is(begun, 2);
});
