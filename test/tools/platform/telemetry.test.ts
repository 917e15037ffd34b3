import test from "ava";
import { Budget } from "../../../tools/platform/core/common/budget.js";
import { TimeSeries } from "../../../tools/platform/core/timeseries/timeseries.js";
import { createRig, START } from "./rig.js";

test(`each of the documented shapes is stored, with the device's time or the platform's`, (t) => {
  const { call, device } = createRig();
  t.is(call("POST", "telemetry", '{"a":1}').status, 200);
  t.is(call("POST", "telemetry", '[{"b":1},{"c":2}]').status, 200);
  t.is(call("POST", "telemetry", '{"ts":1451649600512,"values":{"d":1}}').status, 200);
  t.is(call("POST", "telemetry", '[{"ts":7,"values":{"e":1}},{"f":2}]').status, 200);
  const stored = device.series.keys().map((key) => [key, device.series.latest(key)?.ts]);
  t.deepEqual(stored, [
    ["a", START],
    ["b", START],
    ["c", START],
    ["d", 1_451_649_600_512],
    ["e", 7],
    ["f", START],
  ]);
});

test(`ts without values is a key, and so is values without ts`, (t) => {
  const { call, device } = createRig();
  call("POST", "telemetry", '[{"ts":1},{"values":{"a":1}}]');
  t.deepEqual(device.series.keys(), ["ts", "values"]);
});

test(`what holds nothing is accepted and stores nothing`, (t) => {
  const { call, device } = createRig();
  for (const body of ["{}", "[{}]", '{"ts":1,"values":{}}', '{"a":null}']) {
    t.is(call("POST", "telemetry", body).status, 200, body);
  }
  t.deepEqual(device.series.keys(), []);
});

test(`a bad element refuses the whole request`, (t) => {
  const { call, device } = createRig();
  const refusal = 500;
  const answers = ['[{"a":1},5]', "5", "null", '"x"'].map((body) => call("POST", "telemetry", body));
  t.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    [
      [refusal, "Can't parse value: 5"],
      [refusal, "Can't parse value: 5"],
      [refusal, "Can't parse value: null"],
      [refusal, `Can't parse value: "x"`],
    ],
  );
  t.deepEqual(device.series.keys(), []);
});

test(`a ts may be a number, digits or a list of one; anything else is refused without a text`, (t) => {
  const { call, device } = createRig();
  for (const [index, ts] of ["5.9", '"5"', "[5]", "5e0"].entries()) {
    t.is(call("POST", "telemetry", `{"ts":${ts},"values":{"k${index}":1}}`).status, 200, ts);
    t.is(device.series.latest(`k${index}`)?.ts, 5, ts);
  }
  const refusal = 500;
  for (const ts of ['"1.5e12"', "true", "null", "{}", '""', "[1,2]"]) {
    const { status, text } = call("POST", "telemetry", `{"ts":${ts},"values":{"a":1}}`);
    t.deepEqual([status, text], [refusal, ""], ts);
  }
  t.deepEqual(
    [call("POST", "telemetry", '{"ts":1,"values":5}')].map(({ status, text }) => [status, text]),
    [[refusal, ""]],
  );
});

test("an empty list gets no answer until the server's limit", (t) => {
  const { call, clock } = createRig();
  const post = call("POST", "telemetry", "[]");
  clock.advance(29_999);
  t.is(post.status, undefined);
  clock.advance(1);
  t.is(post.status, 503);
});

test("a later value of the same key and time takes the earlier one's place", (t) => {
  const { call, device } = createRig();
  call("POST", "telemetry", '{"ts":1,"values":{"a":1}}');
  call("POST", "telemetry", '{"ts":1,"values":{"a":2}}');
  const range = { startTs: 0, endTs: 10, limit: 10, ascending: true };
  t.deepEqual(device.series.range("a", range), [{ ts: 1, value: 2n }]);
});

test("a range leaves its end out, and comes newest or oldest first", (t) => {
  const series = new TimeSeries(new Budget(1_000_000));
  for (const ts of [3, 1, 4, 2, 5]) series.save("a", ts, BigInt(ts));
  const times = (ascending: boolean, limit: number): number[] =>
    series.range("a", { startTs: 2, endTs: 5, limit, ascending }).map(({ ts }) => ts);
  t.deepEqual(times(true, 10), [2, 3, 4]);
  t.deepEqual(times(false, 10), [4, 3, 2]);
  t.deepEqual(times(true, 2), [2, 3]);
  t.deepEqual(times(false, 2), [4, 3]);
});

test("a full memory drops the oldest point of the key and gives everything back at the end", (t) => {
  const budget = new Budget(1_000);
  const series = new TimeSeries(budget);
  for (let ts = 0; ts < 100; ts++) series.save("a", ts, "x".repeat(10));
  t.is(series.latest("a")?.ts, 99);
  t.true(budget.used <= 1_000);
  const kept = series.range("a", { startTs: 0, endTs: 100, limit: 100, ascending: true });
  t.is(kept[0]?.ts, 100 - kept.length);
  series.clear();
  t.is(budget.used, 0);
});

test("of one key 100,000 points are kept", (t) => {
  const series = new TimeSeries(new Budget(100_000_000));
  for (let ts = 0; ts < 100_010; ts++) series.save("a", ts, 1n);
  const kept = series.range("a", { startTs: 0, endTs: 1e6, limit: 1e6, ascending: true });
  t.deepEqual([kept.length, kept[0]?.ts], [100_000, 10]);
});
