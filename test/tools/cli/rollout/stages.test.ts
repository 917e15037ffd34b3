// Which device is in which stage.
import test from "ava";
import { InvalidArgumentError } from "commander";
import { inOrder, parseStages, plan } from "../../../../tools/cli/rollout/stages.js";

const planned = (text: string, all: number): number[] => plan(parseStages(text), all);
const named = (from: number, to: number): { name: string }[] =>
  Array.from({ length: to - from }, (_, n) => ({ name: `pump-${from + n}` }));

test("stages are numbers of devices and percentages, each with those before it", (t) => {
  t.deepEqual(planned("1,10%,100%", 1000), [1, 100, 1000]);
  t.deepEqual(planned("1,10%,100%", 15), [1, 2, 15]);
  t.deepEqual(planned("1,10%,100%", 1), [1, 1, 1]);
  t.deepEqual(planned("1,10%,100%", 0), [0, 0, 0]);
  t.deepEqual(planned("5,10%,100%", 20), [5, 5, 20]);
  t.deepEqual(planned("0.1%,0.3%", 1000), [1, 3]);
  t.deepEqual(planned("7%,14%,28%,29%", 100), [7, 14, 28, 29]);
  t.deepEqual(planned("100%", 3), [3]);
});

test("what is no list of stages that rise is refused", (t) => {
  for (const text of [
    "",
    "0",
    "0%",
    "101%",
    "1,",
    "1,1",
    "10%,5%",
    "5,2",
    "10%,5",
    "-1",
    "1.5",
    "1e3",
    "all",
    "1;2",
    "1 %",
    "%",
  ])
    t.throws(() => parseStages(text), { instanceOf: InvalidArgumentError }, text);
  t.is(parseStages("1, 10%").length, 2);
});

test("a device keeps its stage across calls, list order and membership changes", (t) => {
  const order = inOrder(named(0, 1000)).map(({ name }) => name);
  t.deepEqual(
    inOrder(named(0, 1000).reverse()).map(({ name }) => name),
    order,
  );
  // The SHA-256 of a name is the same on every machine and in ten years.
  t.deepEqual(order.slice(0, 3), ["pump-940", "pump-700", "pump-253"]);
  const fewer = new Set(named(0, 500).map(({ name }) => name));
  t.deepEqual(
    inOrder(named(0, 500)).map(({ name }) => name),
    order.filter((name) => fewer.has(name)),
  );
});

test("names that follow one another are spread over the stages", (t) => {
  const tenth = new Set(
    inOrder(named(0, 1000))
      .slice(0, 100)
      .map(({ name }) => name),
  );
  for (let from = 0; from < 1000; from += 250) {
    const inTenth = named(from, from + 250).filter(({ name }) => tenth.has(name)).length;
    t.true(inTenth > 12 && inTenth < 40, `${inTenth} of pump-${from} and the next 250`);
  }
});
