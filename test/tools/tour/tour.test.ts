import test from "ava";
import { parseEvent } from "../../../tools/tour/processes.js";
import { accepted } from "../../../tools/tour/requests.js";
import {
  formatResult,
  limitedBy,
  runSteps,
  type Step,
  type StepResult,
  until,
} from "../../../tools/tour/tour.js";

const never = new AbortController().signal;
const good: Step<null> = { title: "good", run: async () => "1 ms" };
const bad: Step<null> = {
  title: "bad",
  run: async () => {
    throw new Error("another value");
  },
};
const endless: Step<null> = {
  title: "endless",
  limitMs: 20,
  run: (_, signal) => until<string>(signal, async () => undefined, 5),
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

test("a step that never sees its capability fails at its limit", async (t) => {
  const [result, next] = await runSteps([endless, good], null, never, () => undefined);
  t.deepEqual(result, { title: "endless", ok: false, figure: "not seen within 0.02 s" });
  t.true(next?.ok);
});

test("a step that heeds no signal fails at its limit all the same", async (t) => {
  const deaf: Step<null> = { title: "deaf", limitMs: 10, run: () => new Promise(() => undefined) };
  const [result] = await runSteps([deaf], null, never, () => undefined);
  t.false(result?.ok);
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

test("the signal of a step ends with the step", async (t) => {
  let seen: AbortSignal | undefined;
  const step: Step<null> = {
    title: "keeps its signal",
    run: async (_, signal) => {
      seen = signal;
      return "";
    },
  };
  await runSteps([step], null, never, () => undefined);
  t.true(seen?.aborted);
});

test("a limited signal goes with the other one, after its time, or at its end", async (t) => {
  const other = new AbortController();
  const first = limitedBy(other.signal, 60_000, new Error("late"));
  other.abort(new Error("early"));
  t.is((first.signal.reason as Error).message, "early");
  t.true(limitedBy(other.signal, 60_000, new Error("late")).signal.aborted);
  const second = limitedBy(never, 5, new Error("late"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is((second.signal.reason as Error).message, "late");
  const third = limitedBy(never, 60_000, new Error("late"));
  third.end();
  t.true(third.signal.aborted);
  first.end();
});

test("until asks again until there is something", async (t) => {
  const answers = [undefined, false, 0] as const;
  let asked = 0;
  t.is(await until<number>(never, async () => answers[asked++], 1), 0);
  t.is(asked, 3);
});

test("a result is one line with its figure in a column", (t) => {
  t.is(formatResult({ title: "provisioned", ok: true, figure: "12 ms" }, 15), "✓ provisioned      12 ms");
  t.is(formatResult({ title: "claimed", ok: false, figure: "not reached" }, 9), "✗ claimed    not reached");
});

test("a request counts when it was accepted on that path by that method", (t) => {
  const entry = { ts: 1, method: "POST", path: "/api/v1/***/rpc/3", status: 200 };
  t.true(accepted(entry, "POST", /^\*\*\*\/rpc\/\d+$/));
  t.true(accepted({ ...entry, path: "/api/v1/***/rpc?timeout=1" }, "POST", /^\*\*\*\/rpc$/));
  t.false(accepted(entry, "GET", /^\*\*\*\/rpc\/\d+$/));
  t.false(accepted({ ...entry, status: 401 }, "POST", /rpc/));
  t.false(accepted(entry, "POST", /^\*\*\*\/telemetry$/));
});

test("a line of a child counts as an event if it is an object with one", (t) => {
  t.deepEqual(parseEvent('{"event":"online","ts":1}'), { event: "online", ts: 1 });
  for (const line of ["", "online", "[1]", "null", "{", '{"event":1}', '{"level":"info"}'])
    t.is(parseEvent(line), undefined);
});
