import test from "ava";
import { readLine } from "../../../tools/moddable/simulator/device.js";

const read = (text: string): unknown[] => {
  const said: unknown[] = [];
  readLine(
    text,
    (what) => void said.push(what),
    (line) => void said.push(line),
  );
  return said;
};

test("an event is read wherever it begins, and what stands before it is a line", (t) => {
  t.deepEqual(read('@event {"event":"online"}'), [{ event: "online" }]);
  t.deepEqual(read('write failed@event {"event":"online"}'), ["write failed", { event: "online" }]);
  t.deepEqual(read("info: all is well"), ["info: all is well"]);
});

test("what only looks like an event is a line", (t) => {
  for (const text of ["@event ", "@event {", "@event 3", '@event {"event":3}', "info: @event null"])
    t.deepEqual(read(text), [text]);
});
