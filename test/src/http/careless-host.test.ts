// Hosts that keep less than the port's contract: one request may suffer, nothing else.
import test from "ava";
import { Connection } from "../../../src/http/connection.js";
import type { Outcome } from "../../../src/http/outcome.js";
import type { Host, Socket, SocketEvent } from "../../../src/port.js";
import { type FakeHost, fakeHost } from "../../fakes/host.js";
import { answer } from "../../fakes/server.js";
import { bodyOf, GET, isLost, TARGET } from "./rig.js";

interface Careless {
  readonly host: FakeHost;
  readonly connection: Connection;
  /** One for each socket: reports something to the agent. */
  readonly events: ((what: SocketEvent, reason?: string) => void)[];
  readonly outcomes: Outcome[];
}

/** Sends a GET over sockets whose members are replaced by these. */
function careless(members: Partial<Socket>): Careless {
  const host = fakeHost();
  const events: Careless["events"] = [];
  const socket = { write: (bytes: Uint8Array) => bytes.length, read: () => 0, close: () => {}, ...members };
  const open: Host["open"] = (_name, _port, _secure, event) => {
    events.push(event);
    return socket;
  };
  const connection = new Connection({ ...host, open }, TARGET);
  const outcomes: Outcome[] = [];
  connection.send(GET, (outcome) => outcomes.push(outcome));
  return { host, connection, events, outcomes };
}

/** Gives these bytes once. */
function once(bytes: Uint8Array): Socket["read"] {
  let given = false;
  return (into) => {
    if (given) return 0;
    given = true;
    into.set(bytes);
    return bytes.length;
  };
}

test("bytes that a host mentions only by closing are read", (t) => {
  const { events, outcomes } = careless({ read: once(answer(200, "[1]")) });
  events[0]?.("opened");
  events[0]?.("closed", "end");
  t.is(bodyOf(outcomes[0]!), "[1]");
});

test("events of a connection that was given up are ignored", async (t) => {
  const { host, connection, events, outcomes } = careless({ read: once(answer(200, "[1]")) });
  await host.clock.advance(GET.deadlineMs);
  isLost(t, outcomes[0], "no connection in time");
  connection.send({ ...GET, repeatable: false }, (outcome) => outcomes.push(outcome));
  for (const what of ["opened", "writable", "readable", "closed"] as const) events[0]?.(what, "late");
  t.is(outcomes.length, 1);
  events[1]?.("opened");
  events[1]?.("opened");
  events[1]?.("readable");
  t.is(bodyOf(outcomes[1]!), "[1]");
});

test("a socket that says it took more bytes than there are does no harm", (t) => {
  const { events, outcomes } = careless({ write: () => 1e9, read: once(answer(200, "[1]")) });
  events[0]?.("opened");
  events[0]?.("writable");
  events[0]?.("readable");
  t.is(bodyOf(outcomes[0]!), "[1]");
});

test("a socket that says it took less than nothing is one that takes nothing", async (t) => {
  for (const count of [0, -5, Number.NaN]) {
    const { host, events, outcomes } = careless({ write: () => count });
    events[0]?.("opened");
    events[0]?.("writable");
    await host.clock.advance(GET.deadlineMs);
    isLost(t, outcomes[0], "not sent in time");
  }
});

test("a socket that takes a part and says nothing more is offered the rest at once", async (t) => {
  const { host, events, outcomes } = careless({ write: () => 10 });
  events[0]?.("opened");
  await host.clock.advance(GET.deadlineMs);
  isLost(t, outcomes[0], "no answer in time");
});

test("a socket that throws costs the request, and the log names no more than the kind of error", async (t) => {
  const fail = () => {
    throw new TypeError("secret");
  };
  for (const members of [{ write: fail }, { read: fail }, { write: fail, close: fail }]) {
    const { host, events, outcomes } = careless(members);
    events[0]?.("opened");
    events[0]?.("readable");
    await host.clock.advance(1);
    isLost(t, outcomes[0], "internal error");
    t.is(host.lines[0], "error: net: TypeError");
    t.is(host.clock.waiting, 0);
  }
});
