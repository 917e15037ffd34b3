import test from "ava";
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
