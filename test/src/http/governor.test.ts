// Rate limits of requests, whatever the platform answers.
import test from "ava";
import { Governor } from "../../../src/http/governor.js";
import { lost, type Outcome } from "../../../src/http/outcome.js";
import { FakeClock } from "../../fakes/clock.js";

const DONE: Outcome = { kind: "done", status: 200, body: new Uint8Array(), whole: true, date: undefined };
const UNACCEPTED: readonly Outcome[] = [
  { kind: "refused", status: 400, body: new Uint8Array() },
  { kind: "busy", status: 503, retryAfterMs: undefined },
  lost("closed"),
];

test("only an accepted request returns its token, so that refused ones are slowed down", (t) => {
  for (const outcome of UNACCEPTED) {
    const governor = new Governor(new FakeClock());
    for (let sent = 0; sent < 60; sent++) {
      t.is(governor.take("telemetry"), 0, `${outcome.kind}, ${sent}`);
      governor.ended("telemetry", outcome, 0);
    }
    t.is(governor.take("telemetry"), 1000, outcome.kind);
  }
  const governor = new Governor(new FakeClock());
  for (let sent = 0; sent < 200; sent++) {
    t.is(governor.take("telemetry"), 0);
    governor.ended("telemetry", DONE, 0);
  }
});

test("a firmware request returns as much of its token as it brought of 1 KiB", (t) => {
  const governor = new Governor(new FakeClock());
  for (let sent = 0; sent < 119; sent++) {
    t.is(governor.take("firmware"), 0);
    governor.ended("firmware", DONE, 512);
  }
  t.true(governor.take("firmware") > 0);
});
