import test from "ava";
import { EventLines } from "../../../tools/tour/live.js";
import { runSteps, type Step, type StepResult, until } from "../../../tools/tour/tour.js";

const never = new AbortController().signal;
const good: Step<null> = { title: "good", run: async () => "1 ms" };
const bad: Step<null> = {
  title: "bad",
  run: async () => {
    throw new Error("another value");
  },
};
test("each step is shown as it ends, and a failed one does not stop the others", async (t) => {
  const shown: StepResult[] = [];
  const results = await runSteps([good, bad, good], null, never, (result) => shown.push(result));
  t.deepEqual(shown, [
    { title: "good", ok: true, figure: "1 ms" },
    { title: "bad", ok: false, figure: "another value" },
    { title: "good", ok: true, figure: "1 ms" },
  ]);
  t.deepEqual(results, shown);
});

test("at the end of the time the running step fails and the others are not reached", async (t) => {
  const time = new AbortController();
  const last: Step<null> = {
    title: "last",
    run: async (_, signal) => {
      time.abort();
      return until<string>(signal, async () => undefined);
    },
  };
  const results = await runSteps([good, last, good], null, time.signal, () => undefined);
  t.deepEqual(
    results.map(({ ok, figure }) => `${ok} ${figure}`),
    ["true 1 ms", "false not done in time", "false not reached"],
  );
});

test("prints events without control characters, and only the first delivery", (t) => {
  let shown = "";
  const lines = new EventLines((text) => (shown += text));
  lines.show({ event: "telemetry.delivered", points: 3 });
  lines.show({ event: "telemetry.delivered", points: 4 });
  lines.show({ event: "offline", reason: "\u001b[2J\u009b1m\u202ex\n" });
  lines.show({ event: "rpc.received", id: 1, method: "x".repeat(500) });
  t.is(shown, `delivered 3 points\noffline: \ufffd[2J\ufffd1m\ufffdx\ufffd\nRPC 1 ${"x".repeat(193)}…\n`);
  t.is(lines.delivered, 7);
});
