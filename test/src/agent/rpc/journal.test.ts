// How often a handler runs and whose answer goes where, when answers, polls and the platform fail.

import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { type Effect, RpcJournal } from "../../../../src/agent/rpc/journal.js";
import { Time } from "../../../../src/agent/time/time.js";
import type { Agent, AgentOptions } from "../../../../src/index.js";
import { RpcActor } from "../../../../tools/platform/core/rpc/rpc.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";
import {
  type Command,
  command,
  faults,
  restartDevice,
  restartPlatform,
  runUntilIdle,
  wait,
} from "../model-commands.js";
import { NAME, type Rig, startOnline, startRig } from "../rig.js";
import { Sleeper } from "../sleeper.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const isAnswer = ({ method, path }: { method: string; path: string }) =>
  method === "POST" && /\/rpc\/\d+$/.test(path);
const isPoll = ({ path }: { path: string }) => path.includes("/rpc?timeout=");
const text = (results: { kind: string; text?: string }[]) => results.map(({ kind, text }) => text ?? kind);

/** The platform starts again: polls and waiting RPCs are gone, ids begin at 0 again. `keeps`: a proxy before it keeps the connections. */
function restart(rig: Rig, keeps = false): void {
  const device = rig.platform.device(NAME);
  if (!keeps) for (const peer of rig.net.peers) if (!peer.closed) peer.reset();
  device.rpc.close();
  Object.assign(device, { rpc: new RpcActor(rig.platform.core.clock) });
  device.notifications.forgetSubscribers();
}

/** Counts the runs of "open", which answers with their number. */
function count(agent: Agent): () => number {
  let runs = 0;
  agent.rpc.handle("open", () => ++runs);
  return () => runs;
}

/** A rig that is online and counts the runs of "open". */
async function counting(t: ExecutionContext, options: Partial<AgentOptions> = {}) {
  const { rig, agent } = await startOnline(t, options, 3000);
  return { rig, agent, runs: count(agent) };
}

for (const connections of [1, 2, 3] as const)
  for (const status of [502, 503, 504])
    test(`${connections} connection(s): a proxy that answers ${status} for 45 s before a platform that stands still lets no handler run twice`, async (t) => {
      const { rig, runs } = await counting(t, { connections });
      let stalled = false;
      rig.platform.fault = (request) => {
        stalled ||= isAnswer(request);
        if (!stalled) return undefined;
        const asked = isPoll(request) ? Number(/timeout=(\d+)/.exec(request.path)?.[1]) : 0;
        rig.clock.timer(Math.min(asked, 20_000), () => request.reply(status, "<html></html>"));
        return "hang";
      };
      const results = rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
      await rig.clock.advance(45_000);
      rig.platform.fault = undefined;
      await rig.clock.advance(10 * MINUTE);
      t.deepEqual([runs(), text(results)], [1, ["1"]]);
    });

for (const connections of [1, 2, 3] as const)
  test(`${connections} connection(s): a poll that ends with 408 while the RPC still waits does not make it a new one`, async (t) => {
    const { rig, runs } = await counting(t, { connections });
    let failing = true;
    rig.platform.fault = (request) => {
      if (!failing || (!isAnswer(request) && runs() === 0)) return undefined;
      if (isAnswer(request)) return { status: 503 };
      if (!isPoll(request)) return undefined;
      rig.clock.timer(Number(/timeout=(\d+)/.exec(request.path)?.[1]), () => request.reply(408));
      return "hang";
    };
    const results = rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
    await rig.clock.advance(2 * MINUTE);
    failing = false;
    await rig.clock.advance(10 * MINUTE);
    t.deepEqual([runs(), text(results)], [1, ["1"]]);
  });

test("wakes: an answer that came to nothing is given in a later wake, and the handler does not run again", async (t) => {
  const device = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 1 } });
  const { rig } = device;
  let runs = 0;
  device.setUp = (agent) => agent.rpc.handle("open", () => ++runs);
  await device.wake();
  let failing = true;
  rig.platform.fault = (request) => {
    if (!failing || (!isAnswer(request) && runs === 0)) return undefined;
    if (isAnswer(request)) return { status: 503 };
    if (!isPoll(request)) return undefined;
    rig.clock.timer(1000, () => request.reply(408));
    return "hang";
  };
  const results = rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
  await device.wakes(3);
  failing = false;
  await device.wakes(3);
  t.deepEqual([runs, text(results)], [1, ["1"]]);
});

for (const connections of [1, 2, 3] as const)
  for (const afterMs of [100, 5000, 20_000])
    test(`${connections} connection(s): the same call ${afterMs} ms after a restart of the platform is a new one, if the first was answered`, async (t) => {
      const { rig, runs } = await counting(t, { connections });
      const first = rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
      await rig.clock.advance(1000);
      t.deepEqual([runs(), text(first)], [1, ["1"]]);
      restart(rig);
      await rig.clock.advance(afterMs);
      const second = rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
      await rig.clock.advance(MINUTE);
      t.deepEqual([runs(), text(second)], [2, ["2"]]);
    });

for (const connections of [1, 2, 3] as const)
  for (const keeps of [false, true])
    test(`${connections} connection(s): an answer that came to nothing goes to no other call after a restart of the platform${keeps ? " behind a proxy" : ""}`, async (t) => {
      const { rig, agent, runs } = await counting(t, { connections });
      agent.rpc.handle("close", () => "closed");
      let lost = 0;
      rig.platform.fault = (request) => {
        if (!isAnswer(request) || lost > 0) return undefined;
        lost++;
        restart(rig, keeps);
        void rig.platform.rpc(rig.platform.device(NAME), "close", {}, { timeoutMs: HOUR });
        return keeps ? { status: 503 } : "drop";
      };
      rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
      await rig.clock.advance(5 * MINUTE);
      t.is(runs(), 1);
      const answers = rig.platform.seen.filter(isAnswer).map(({ body }) => body);
      t.deepEqual(answers, ["1", '"closed"']);
    });

for (const connections of [2, 3] as const)
  test(`${connections} connections: while a handler runs the platform restarts and hands another call out by the same id: that gets its own answer`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ connections });
    agent.rpc.handle("open", () => new Promise((resolve) => rig.clock.timer(3000, () => resolve("opened"))));
    agent.rpc.handle("close", () => "closed");
    rig.platform.fault = (request) => (isPoll(request) ? "hang" : undefined);
    agent.start();
    await rig.clock.advance(3000);
    const polls = () => rig.platform.seen.filter(isPoll);
    // The next poll goes out on the connection of this one, and again if that turns out to be closed.
    polls()[0]!.reply(200, '{"id":7,"method":"close","params":{}}');
    await rig.clock.advance(24_000);
    t.is(polls().length, 3, "two polls are open for two seconds before the first of them ends");
    polls()[2]!.reply(200, '{"id":0,"method":"open","params":{}}');
    await rig.clock.advance(1000);
    rig.platform.fault = undefined;
    restart(rig);
    const results = rig.platform.rpc(rig.platform.device(NAME), "close", {}, { timeoutMs: HOUR });
    await rig.clock.advance(1000);
    t.is(polls().length, 4);
    await rig.clock.advance(MINUTE);
    t.deepEqual(text(results), ['"closed"']);
    const answers = rig.platform.seen.filter(isAnswer).map(({ path, body }) => path.slice(-1) + body);
    t.deepEqual(answers, ['7"closed"', '0"closed"']);
  });

const UNHEARD = (request: { method: string; path: string }) =>
  isAnswer(request) ? ("lose-answer" as const) : undefined;

test("RPCs that nobody hands out again, one-way or expired, block no other, however many, over a restart as well", async (t) => {
  const rig = startRig(t);
  const first = rig.agent();
  const runs = count(first);
  first.start();
  await rig.clock.advance(3000);
  const device = rig.platform.device(NAME);
  rig.platform.fault = UNHEARD;
  for (let n = 0; n < 20; n++) {
    rig.platform.rpc(device, "open", n, { oneWay: n % 2 === 0, timeoutMs: 5000 });
    await rig.clock.advance(2 * MINUTE);
  }
  t.is(runs(), 20);
  rig.platform.fault = undefined;
  const posted = rig.platform.seen.filter(isAnswer).length;
  const served = async (run: number) => {
    const results = rig.platform.rpc(device, "open", "one more");
    await rig.clock.advance(5000);
    t.deepEqual(text(results), [`${run}`]);
  };
  rig.powerOff();
  const second = rig.agent();
  const again = count(second);
  second.start();
  await rig.clock.advance(3000);
  await served(1);
  await served(2);
  t.is(again(), 2);
  t.is(
    rig.platform.seen.filter(isAnswer).length,
    posted + 2,
    "what nobody hands out again is not posted again",
  );
  await rig.clock.advance(5000);
  t.deepEqual(
    [...rig.store.values.keys()].filter((key) => key.startsWith("rpc")),
    [],
  );
});

test("another RPC on a poll that was sent before the first one came proves nothing: the first is known when it comes again", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 2 });
  const runs = count(agent);
  agent.rpc.handle("close", () => "closed");
  agent.start();
  // Two polls are open for two seconds before the first of them ends.
  await rig.clock.advance(24_000);
  const [older] = rig.platform.seen.filter(isPoll).slice(-2);
  const { send } = older!.peer;
  older!.peer.send = () => {};
  rig.platform.fault = (request) => (isAnswer(request) || isPoll(request) ? "hang" : undefined);
  const results = rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
  await rig.clock.advance(1000);
  t.is(runs(), 1);
  const other = '{"id":7,"method":"close","params":{}}';
  send.call(older!.peer, Buffer.from(`HTTP/1.1 200 \r\nContent-Length: ${other.length}\r\n\r\n${other}`));
  await rig.clock.advance(1000);
  rig.platform.fault = undefined;
  await rig.clock.advance(5 * MINUTE);
  t.deepEqual([runs(), text(results)], [1, ["1"]]);
});

/** What the device does to keep an RPC in mind over a restart. */
function journaled(rig: Rig): string[] {
  const did: string[] = [];
  const { set, delete: remove } = rig.store;
  rig.store.set = (key, value) => {
    if (key.startsWith("rpc")) did.push("write");
    return set.call(rig.store, key, value);
  };
  rig.store.delete = (key) => {
    if (key.startsWith("rpc")) did.push("removal");
    return remove.call(rig.store, key);
  };
  return did;
}

for (const [what, method, failing, expected] of [
  ["an RPC is written once, before its handler", "open", 0, ["write", "removal"]],
  ["one whose first answer came to nothing twice", "open", 1, ["write", "write", "removal"]],
  ["more failures write no more", "open", 5, ["write", "write", "removal"]],
  ["none of it for a handler that may run again", "read", 3, []],
  ["none of it without a handler", "missing", 3, []],
] as const)
  test(`flash: ${what}`, async (t) => {
    const rig = startRig(t);
    const did = journaled(rig);
    const agent = rig.agent();
    agent.rpc.handle("open", () => {
      t.deepEqual(did, ["write"]);
      return 1;
    });
    agent.rpc.handle("read", () => 1, { once: false });
    agent.start();
    await rig.clock.advance(3000);
    let lost = 0;
    rig.platform.fault = (request) => (isAnswer(request) && lost++ < failing ? { status: 503 } : undefined);
    const results = rig.platform.rpc(rig.platform.device(NAME), method, {}, { timeoutMs: HOUR });
    await rig.clock.advance(5 * MINUTE);
    t.is(results.length, 1);
    t.deepEqual(did, [...expected]);
  });

test("an RPC is remembered for as long as the option says, with the power off as well", async (t) => {
  for (const [offMs, runs] of [
    [9 * MINUTE, 1],
    [11 * MINUTE, 2],
  ] as const) {
    const rig = startRig(t);
    let ran = 0;
    const boot = () => {
      const agent = rig.agent({ rpc: { rememberMs: 10 * MINUTE } });
      agent.rpc.handle("open", () => ++ran);
      agent.start();
    };
    boot();
    await rig.clock.advance(3000);
    rig.platform.fault = ({ path }) => (path.includes("/rpc/") || ran > 0 ? "drop" : undefined);
    rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
    await rig.clock.advance(5000);
    rig.powerOff();
    await rig.clock.advance(offMs);
    rig.platform.fault = undefined;
    boot();
    await rig.clock.advance(20_000);
    t.is(ran, runs, `${offMs}`);
  }
});

test("wakes: an RPC is remembered through sleep, which counts", async (t) => {
  for (const [sleeps, runs] of [
    [2, 1],
    [8, 2],
  ] as const) {
    const device = new Sleeper(t, {
      cycle: { everyMs: 2 * MINUTE, connectEvery: 1 },
      rpc: { rememberMs: 10 * MINUTE },
    });
    const { rig } = device;
    let ran = 0;
    device.setUp = (agent) => agent.rpc.handle("open", () => ++ran);
    await device.wake();
    const send = () => rig.platform.rpc(rig.platform.device(NAME), "open", {}, { timeoutMs: HOUR });
    rig.platform.fault = UNHEARD;
    send();
    await device.wake();
    t.is(ran, 1);
    rig.platform.fault = undefined;
    restart(rig);
    for (let n = 0; n < sleeps; n++) await device.wake();
    const results = send();
    await device.wake();
    t.is(ran, runs, `${sleeps} sleeps`);
    t.deepEqual(text(results), [`${runs}`]);
  }
});

for (const connections of [2, 3] as const)
  test(`${connections} connections: a copy on a poll that was open when the answer was acknowledged is neither run nor answered`, async (t) => {
    const { rig, runs } = await counting(t, { connections });
    // Two polls are open for two seconds before the first of them ends.
    await rig.clock.advance(21_000);
    const device = rig.platform.device(NAME);
    const polls = rig.platform.seen.filter(isPoll).length;
    let late: (() => void) | undefined;
    const [first] = rig.platform.seen.filter(isPoll).slice(-2);
    t.true(polls >= 2, `${polls} polls`);
    const { send } = first!.peer;
    first!.peer.send = (bytes) => {
      late = () => send.call(first!.peer, bytes);
    };
    const results = rig.platform.rpc(device, "open", {}, { timeoutMs: HOUR });
    await rig.clock.advance(500);
    t.deepEqual([runs(), text(results)], [1, ["1"]]);
    t.truthy(late, "the second poll has a copy");
    late?.();
    await rig.clock.advance(MINUTE);
    t.is(runs(), 1);
    t.is(rig.platform.seen.filter(isAnswer).length, 1);
  });

test("an answer is not sent a second time by the connection when a kept one turns out dead", async (t) => {
  const { rig, runs } = await counting(t);
  rig.platform.fault = (request) => (isAnswer(request) ? "drop" : undefined);
  rig.platform.rpc(rig.platform.device(NAME), "open", {}, { oneWay: true });
  await rig.clock.advance(MINUTE);
  t.deepEqual([runs(), rig.platform.seen.filter(isAnswer).length], [1, 1]);
});

// The journal by itself: for how long an RPC is known, and what is kept of it.

const HASH = 1;
const DAY = 86_400_000;

function rig(store = new FakeStore(), clock = new FakeClock(Date.UTC(2026, 0, 1))) {
  const host = fakeHost({ store, clock });
  const journal = new RpcJournal(host, new Time(host), DAY, 8192);
  const open = (id: number, effect: Effect = "stored", nextPoll = 0) => {
    const entry = journal.open(id, HASH, effect, nextPoll);
    if (typeof entry === "string") throw new Error(entry);
    return entry;
  };
  return { host, journal, open, store, clock };
}

test("an acknowledged RPC is known on polls that were sent before that, for as long as one of them is open", (t) => {
  const { journal, open } = rig();
  const entry = open(4);
  journal.answered(entry, "1");
  journal.acknowledged(entry, 7);
  t.is(journal.find(4, HASH, 6), entry);
  t.is(journal.find(4, HASH, 7), undefined);
  journal.pollEnded(5);
  t.is(journal.find(4, HASH, 6), entry);
  journal.pollEnded(7);
  t.is(journal.find(4, HASH, 6), undefined);
});

test("an unacknowledged RPC is known on every poll, however many ended", (t) => {
  const { journal, open } = rig();
  const entry = open(4);
  journal.answered(entry, "1");
  journal.unacknowledged(entry);
  for (let poll = 1; poll < 100; poll++) journal.pollEnded(poll);
  t.is(journal.find(4, HASH, 99), entry);
  t.is(journal.find(4, HASH + 1, 99), undefined, "other content");
  t.is(journal.find(5, HASH, 99), undefined, "another id");
});

test("another RPC on a poll that was sent after it came takes its place; polls sent before that one may still bring a copy", (t) => {
  const { journal, open } = rig();
  const entry = open(4, "stored", 6);
  journal.supersedeBefore(5);
  t.is(journal.find(4, HASH, 99), entry, "that poll was open when it came");
  journal.supersedeBefore(8);
  t.is(journal.find(4, HASH, 7), entry);
  t.is(journal.find(4, HASH, 8), undefined, "a later poll brings a new one");
  journal.pollEnded(8);
  t.is(journal.find(4, HASH, 7), undefined);
  for (let id = 0; id < 8; id++) open(id, "stored", 9);
  t.is(journal.open(8, HASH, "stored", 9), "full");
  journal.supersedeBefore(9);
  t.truthy(open(8));
});

test("what an earlier run left is supersedeBefore by the first poll of this one that brings another", (t) => {
  const { open, store, clock } = rig();
  open(1);
  const { journal } = rig(store, clock);
  t.truthy(journal.find(1, HASH, 0));
  journal.supersedeBefore(0);
  t.is(journal.find(1, HASH, 0), undefined);
});

test("what is unacknowledged is there after a restart with its answer, if that is short, and what was acknowledged is not", async (t) => {
  const { journal, open, store, clock } = rig();
  const [short, long, done] = [open(1), open(2), open(3)];
  journal.answered(short, '{"on":true}');
  journal.unacknowledged(short);
  journal.answered(long, `"${"x".repeat(600)}"`);
  journal.unacknowledged(long);
  journal.answered(done, "3");
  journal.acknowledged(done, 1);
  t.is(journal.tidyMs, 1000);
  await clock.advance(1000);
  t.is(journal.tidyMs, 0);
  journal.tidy();
  const after = rig(store, clock).journal;
  t.is(after.find(1, HASH, 0)?.answer, '{"on":true}');
  t.truthy(after.find(2, HASH, 0));
  t.is(after.find(2, HASH, 0)?.answer, undefined);
  t.is(after.find(3, HASH, 0), undefined);
});

test("eight unacknowledged RPCs fill it, whether stored or not; what no handler was run for does not count", (t) => {
  const { journal, open } = rig();
  for (let id = 0; id < 8; id++) open(id, id % 2 === 0 ? "stored" : "unstored");
  t.is(journal.open(8, HASH, "stored", 0), "full");
  t.is(journal.open(8, HASH, "unstored", 0), "full");
  for (let id = 100; id < 200; id++) open(id, "none");
  for (let id = 0; id < 8; id++) t.truthy(journal.find(id, HASH, 0), `${id}`);
});

test("acknowledged RPCs that a silent poll keeps in mind have a bound as well, and make no room by being forgotten", (t) => {
  const { journal, open } = rig();
  let id = 0;
  for (; id < 24; id++) journal.acknowledged(open(id), 5);
  t.is(journal.open(id, HASH, "stored", 0), "full");
  t.truthy(journal.find(0, HASH, 4));
  journal.pollEnded(5);
  t.truthy(open(id));
});

test("no more long answers go than have to, for one that comes", (t) => {
  const { journal, open } = rig();
  const answers = [3000, 3000, 2000, 2000].map((length, id) => {
    const entry = open(id);
    journal.answered(entry, "x".repeat(length));
    return entry;
  });
  t.deepEqual(
    answers.map(({ answer }) => answer?.length),
    [undefined, 3000, 2000, 2000],
  );
});

test("after 24 h an unacknowledged RPC is a new one, and its place is free", async (t) => {
  const { journal, open, clock } = rig();
  for (let id = 0; id < 8; id++) open(id);
  await clock.advance(DAY - 1);
  t.truthy(journal.find(0, HASH, 0));
  await clock.advance(1);
  t.is(journal.find(0, HASH, 0), undefined);
  t.truthy(open(9));
});

test("over a restart the time of day counts, and one that was set back makes nothing older or younger", async (t) => {
  const { open, store, clock } = rig();
  open(1);
  const at = clock.wall() ?? 0;
  for (const [passed, known] of [
    [DAY - 1, true],
    [-90 * DAY, true],
    [DAY, false],
  ] as const) {
    const other = new FakeClock(at + passed);
    t.is(rig(store, other).journal.find(1, HASH, 0) !== undefined, known, `${passed}`);
  }
  const ignorant = new FakeClock(undefined);
  const { journal } = rig(store, ignorant);
  await ignorant.advance(DAY - 1);
  t.truthy(journal.find(1, HASH, 0));
  await ignorant.advance(1);
  t.is(journal.find(1, HASH, 0), undefined, "it runs for a day: that is a day at the least");
});

test("without a time of day sleep counts as far as the wakes measure it", (t) => {
  const store = new FakeStore();
  const clock = new FakeClock(undefined);
  rig(store, clock).open(1);
  const host = fakeHost({ store, clock });
  const time = new Time(host);
  const journal = new RpcJournal(host, time, DAY, 8192);
  const asleep = { at: 0, ticks: 0, exactFrom: 0, told: 0, own: 0, rate: 1 };
  time.wake({ ...asleep, ticks: DAY - 1, own: DAY - 1 }, 0);
  t.truthy(journal.find(1, HASH, 0));
  time.wake({ ...asleep, ticks: DAY, own: DAY }, 0);
  t.is(journal.find(1, HASH, 0), undefined);
});

test("the RPC that an older agent left is known, answered and forgotten like any other", (t) => {
  const store = new FakeStore();
  store.values.set("doubt", new TextEncoder().encode('\u0001{"id":3,"hash":1,"answer":"7"}'));
  const { journal } = rig(store);
  const entry = journal.find(3, HASH, 0);
  t.is(entry?.answer, "7");
  if (entry) journal.acknowledged(entry, 1);
  journal.tidy();
  t.false(store.values.has("doubt"));
});

test("a store that fails is asked again a minute later, and what is stored there is not used for another before", async (t) => {
  const { journal, open, store, clock } = rig();
  store.fails = (call) => call === "delete";
  journal.acknowledged(open(1), 0);
  await clock.advance(1000);
  journal.tidy();
  t.is(journal.tidyMs, 60_000);
  store.fails = undefined;
  await clock.advance(60_000);
  journal.tidy();
  t.is(journal.tidyMs, undefined);
  t.is(store.values.size, 0);
});

test("nothing is left after it had to forget, and false says that something is", (t) => {
  const { journal, open, store } = rig();
  open(1);
  store.fails = (call) => call === "delete";
  t.false(journal.forget());
  store.fails = undefined;
  t.true(journal.forget());
  t.is(store.values.size, 0);
  t.is(journal.find(1, HASH, 0), undefined);
});

// What is kept of an RPC over a restart, and how many writes that takes.

test("where the RPC can't be stored, its handler does not run", async (t) => {
  const { rig, agent } = await startOnline(t, {}, 3000);
  let runs = 0;
  agent.rpc.handle("open", () => ++runs);
  agent.rpc.handle("read", () => "value", { once: false });
  rig.store.fails = (call, key) => call === "set" && key.startsWith("rpc");
  const device = rig.platform.device(NAME);
  const open = rig.platform.rpc(device, "open", {});
  await rig.clock.advance(2000);
  const read = rig.platform.rpc(device, "read", {});
  await rig.clock.advance(2000);
  t.is(runs, 0);
  t.regex(text(open)[0] ?? "", /HANDLER_FAILED/);
  t.deepEqual(text(read), ['"value"']);
});

test("RPCs one after the other take one write of the store each; the last is forgotten a moment later", async (t) => {
  const { rig, agent } = await startOnline(t, {}, 3000);
  agent.rpc.handle("open", (n) => n);
  const device = rig.platform.device(NAME);
  const changes = () => rig.store.changes.filter((key) => key.startsWith("rpc")).length;
  for (let n = 1; n <= 5; n++) {
    const results = rig.platform.rpc(device, "open", n);
    await rig.clock.advance(100);
    t.deepEqual(text(results), [`${n}`]);
    t.is(changes(), n);
    t.true(rig.store.values.has("rpc0"));
  }
  await rig.clock.advance(1000);
  t.is(changes(), 6);
  t.false(rig.store.values.has("rpc0"));
});

test("what is over does not stay in the store, whether the RPC after it is stored or not", async (t) => {
  const { rig, agent } = await startOnline(t, {}, 3000);
  agent.rpc.handle("open", () => true);
  agent.rpc.handle("read", () => "value", { once: false });
  const device = rig.platform.device(NAME);
  rig.platform.rpc(device, "open", {});
  await rig.clock.advance(100);
  t.true(rig.store.values.has("rpc0"));
  const read = rig.platform.rpc(device, "read", {});
  await rig.clock.advance(1000);
  t.deepEqual(text(read), ['"value"']);
  t.false(rig.store.values.has("rpc0"));
});

// RPC against a reference: each is run once and answered, whatever happens to answers, the device and the platform.

const RUNS = 50;

// The reference: what was sent, and what the platform forgot when it started restartsAt.
interface Model {
  readonly sent: { results: { kind: string; text?: string }[]; forgotten: boolean }[];
  restarts: number;
  /** How many had been sent at each start of the platform. */
  readonly restartsAt: number[];
}

const isRpcAnswer = ({ method, path }: { method: string; path: string }) =>
  method === "POST" && /\/rpc\/-?\d+$/.test(path);

const send = (oneWay: boolean): Command<Model> =>
  command(oneWay ? "one-way" : "two-way", ({ sent }, { rig }) => {
    const results = rig.platform.rpc(rig.platform.device(NAME), "echo", sent.length, {
      oneWay,
      timeoutMs: HOUR,
    });
    // What goes out on a poll whose answer is lost is gone: nobody could know.
    sent.push({ results, forgotten: oneWay });
  });

const forget = ({ sent, restartsAt }: Model): void => {
  restartsAt.push(sent.length);
  for (const rpc of sent) if (rpc.results.length === 0) rpc.forgotten = true;
};

/** An answer under way when the platform starts again reaches another RPC, if that has its id by then: nobody can know. */
const strays = ({ restartsAt }: Model, n: number, answer: string | undefined): boolean =>
  restartsAt.some((first) => Number(answer) < first && first <= n);

const COMMANDS: fc.Arbitrary<Command<Model>>[] = [
  fc.boolean().map(send),
  fc.constant(send(false)),
  wait(),
  fc.constant(restartDevice<Model>((model) => void model.restarts++)),
  fc.constant(restartPlatform<Model>(forget)),
  faults("lose the way of an answer", isRpcAnswer, "drop"),
  faults("lose what acknowledges an answer", isRpcAnswer, "lose-answer"),
  faults("refuse an answer as busy", isRpcAnswer, { status: 503 }),
  faults("lose what a poll brings", isPoll, "lose-answer"),
];

test("RPC does what its reference does: no handler runs twice, each answer comes", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 16, size: "max" }), async (commands) => {
      const rig = startRig(t);
      const ran: number[] = [];
      const begin = () => {
        const agent = rig.agent();
        agent.rpc.handle<number>("echo", (n) => {
          ran.push(n);
          return n;
        });
        agent.start();
        return agent;
      };
      begin();
      await rig.clock.advance(3000);
      const model: Model = { sent: [], restarts: 0, restartsAt: [] };
      const real = { rig, begin };
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await runUntilIdle(real, 15 * 60_000);
      model.sent.forEach(({ results: [result], forgotten }, n) => {
        const runs = ran.filter((one) => one === n).length;
        if (runs > 1) throw new Error(`${n} ran ${runs} times`);
        if (forgotten) return;
        if (result?.kind !== "answer") throw new Error(`${n} was not answered`);
        if (strays(model, n, result.text)) return;
        const unknown = result.text?.includes("OUTCOME_UNKNOWN") === true && model.restarts > 0;
        if (!unknown && (result.text !== String(n) || runs !== 1))
          throw new Error(`${n} was answered ${result.text}`);
      });
    }),
    { numRuns: RUNS },
  );
  t.pass();
});
