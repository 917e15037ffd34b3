// Listeners of the application.
import test from "ava";
import { type AgentEvent, Events } from "../../src/events.js";
import { MoteError } from "../../src/index.js";
import { fakeHost } from "../fakes/host.js";

const ALL: readonly AgentEvent[] = [
  ...(["provisioned", "online", "offline", "delivered", "delivery", "drop"] as const),
  ...(["attributes", "rpc", "firmware", "refused", "restart", "error"] as const),
];

test("each event reaches its listeners in the order in which they came, and no others", (t) => {
  const events = new Events(fakeHost());
  const heard: string[] = [];
  for (const event of ALL) for (const n of [1, 2]) events.on(event, () => heard.push(`${event} ${n}`));
  for (const event of ALL) {
    events.emit(event, {} as never);
    t.deepEqual(heard.splice(0), [`${event} 1`, `${event} 2`]);
  }
});

test("what on() returns removes the listener, once, and no other", (t) => {
  const events = new Events(fakeHost());
  const heard: number[] = [];
  const removes = [1, 2, 3].map((n) => events.on("online", () => heard.push(n)));
  removes[1]?.();
  removes[1]?.();
  events.emit("online", {});
  t.deepEqual(heard, [1, 3]);
});

test("a listener that removes itself, or adds another, takes nobody's turn", (t) => {
  const events = new Events(fakeHost());
  const heard: string[] = [];
  const remove = events.on("online", () => {
    heard.push("once");
    remove();
    events.on("online", () => heard.push("later"));
  });
  events.on("online", () => heard.push("always"));
  events.emit("online", {});
  t.deepEqual(heard.splice(0), ["once", "always"]);
  events.emit("online", {});
  t.deepEqual(heard, ["always", "later"]);
});

test("a listener that throws or rejects is logged by its event's name, and the others are called", async (t) => {
  const host = fakeHost();
  const events = new Events(host);
  let heard = 0;
  events.on("drop", () => {
    throw new Error("secret");
  });
  events.on("drop", () => Promise.reject(new Error("secret")) as never);
  events.on("drop", () => heard++);
  events.emit("drop", { points: 1, reason: "full" });
  await host.clock.advance(0);
  t.is(heard, 1);
  t.deepEqual(host.lines, Array(2).fill('error: a listener of "drop" threw'));
});

test("an event that does not exist and what is no function are refused", (t) => {
  const events = new Events(fakeHost());
  for (const [event, call] of [
    ["telemetry", () => {}],
    ["__proto__", () => {}],
    ["toString", () => {}],
    ["online", undefined],
    ["online", {}],
  ] as const) {
    const error = t.throws(() => events.on(event as never, call as never), { code: "BAD_VALUE" });
    t.true(error instanceof MoteError);
    t.regex(error?.message ?? "", /no (such event|function)/);
  }
});
