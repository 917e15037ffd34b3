import test from "ava";
import { BoundedOutput, WAITING } from "../../../hosts/node/bounded-output.js";
import { EventChannel } from "../../../tools/run/event-channel.js";
import type { Event } from "../../../tools/run/messages.js";

test("events that a supervisor does not take are left out, and counted once it takes them", (t) => {
  const taken: (() => void)[] = [];
  const events: Event[] = [];
  const channel = new EventChannel((message, done) => {
    if (message.kind === "event") events.push(message.event);
    taken.push(done);
  });
  const output = new BoundedOutput<Event>(channel, (count) => ({ event: "left out", count }));
  const event = { event: "log", line: "x".repeat(1000) };
  for (let n = 0; n < 3000; n++) output.write(event);
  const { length } = events;
  t.true(length * 1000 < WAITING + 2000);
  for (const done of taken.splice(0)) done();
  t.is(channel.writableLength, JSON.stringify(events.at(-1)).length);
  t.deepEqual(events.at(-1), { event: "left out", count: 3000 - length });
  output.write(event);
  t.deepEqual(events.at(-1), event);
});
