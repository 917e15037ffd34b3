// How often a handler runs and whose answer goes where, when answers, polls and the platform fail.

import test, { type ExecutionContext } from "ava";
import { RpcJournal } from "../../../../src/agent/rpc/journal.js";
import { Time } from "../../../../src/agent/time/time.js";
import type { Agent, AgentOptions } from "../../../../src/index.js";
import { RpcActor } from "../../../../tools/platform/core/rpc/rpc.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";
import { type Rig, startOnline, startRig } from "../rig.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const isAnswer = ({ method, path }: { method: string; path: string }) =>
  method === "POST" && /\/rpc\/\d+$/.test(path);
const isPoll = ({ path }: { path: string }) => path.includes("/rpc?timeout=");
const text = (results: { kind: string; text?: string }[]) => results.map(({ kind, text }) => text ?? kind);

/**
 * The platform starts again: polls and waiting RPCs are gone, ids begin at 0 again. `keeps`: a
 * proxy before it keeps the connections.
 */
function restart(rig: Rig, keeps = false): void {
  const { device } = rig;
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

// Of what a proxy answers for it, and of a poll that ends, an RPC that waits is no new one.
for (const connections of [1, 2, 3] as const)
  for (const status of [408, 502, 503, 504])
    test(`${connections} connection(s): polls that end with ${status} let no handler run twice`, async (t) => {
      const { rig, runs } = await counting(t, { connections });
      let failing = true;
      rig.platform.fault = (request) => {
        if (!failing || (!isAnswer(request) && runs() === 0)) return undefined;
        const asked = isPoll(request) ? Number(/timeout=(\d+)/.exec(request.path)?.[1]) : 0;
        const answer = () => request.reply(isAnswer(request) ? 503 : status, "<html></html>");
        rig.clock.timer(Math.min(asked, 20_000), answer);
        return "hang";
      };
      const results = await rig.call("open", {}, 2 * MINUTE, { timeoutMs: HOUR });
      failing = false;
      await rig.clock.advance(10 * MINUTE);
      t.deepEqual([runs(), text(results)], [1, ["1"]]);
    });

for (const connections of [1, 2, 3] as const)
  for (const afterMs of [100, 5000, 20_000])
    test(`${connections} connection(s): an answered call ${afterMs} ms after a platform restart is new`, async (t) => {
      const { rig, runs } = await counting(t, { connections });
      const first = await rig.call("open", {}, 1000, { timeoutMs: HOUR });
      t.deepEqual([runs(), text(first)], [1, ["1"]]);
      restart(rig);
      await rig.clock.advance(afterMs);
      const second = await rig.call("open", {}, MINUTE, { timeoutMs: HOUR });
      t.deepEqual([runs(), text(second)], [2, ["2"]]);
    });

for (const connections of [1, 2, 3] as const)
  for (const keeps of [false, true])
    test(`${connections} connection(s): after a restart${keeps ? " behind a proxy" : ""} a lost answer goes to no other call`, async (t) => {
      const { rig, agent, runs } = await counting(t, { connections });
      agent.rpc.handle("close", () => "closed");
      let lost = 0;
      rig.platform.fault = (request) => {
        if (!isAnswer(request) || lost > 0) return undefined;
        lost++;
        restart(rig, keeps);
        void rig.platform.rpc(rig.device, "close", {}, { timeoutMs: HOUR });
        return keeps ? { status: 503 } : "drop";
      };
      rig.platform.rpc(rig.device, "open", {}, { timeoutMs: HOUR });
      await rig.clock.advance(5 * MINUTE);
      t.is(runs(), 1);
      const answers = rig.platform.seen.filter(isAnswer).map(({ body }) => body);
      t.deepEqual(answers, ["1", '"closed"']);
    });

for (const connections of [2, 3] as const)
  test(`${connections} connections: another call with the id of a running one gets its own answer`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ connections });
    agent.rpc.handle("open", () => new Promise((resolve) => rig.clock.timer(3000, () => resolve("opened"))));
    agent.rpc.handle("close", () => "closed");
    rig.platform.fault = (request) => (isPoll(request) ? "hang" : undefined);
    agent.start();
    await rig.clock.advance(3000);
    const polls = () => rig.platform.seen.filter(isPoll);
    // The next poll goes out on the connection of this one, and again if that turns out to be
    // closed.
    polls()[0]!.reply(200, '{"id":7,"method":"close","params":{}}');
    await rig.clock.advance(24_000);
    t.is(polls().length, 3, "two polls are open for two seconds before the first of them ends");
    polls()[2]!.reply(200, '{"id":0,"method":"open","params":{}}');
    await rig.clock.advance(1000);
    rig.platform.fault = undefined;
    restart(rig);
    const results = await rig.call("close", {}, 1000, { timeoutMs: HOUR });
    t.is(polls().length, 4);
    await rig.clock.advance(MINUTE);
    t.deepEqual(text(results), ['"closed"']);
    const answers = rig.platform.seen.filter(isAnswer).map(({ path, body }) => path.slice(-1) + body);
    t.deepEqual(answers, ['7"closed"', '0"closed"']);
  });

test("one-way and expired RPCs block no other, however many, over a restart as well", async (t) => {
  const { rig, runs } = await counting(t);
  const { device } = rig;
  rig.platform.fault = (request) => (isAnswer(request) ? "lose-answer" : undefined);
  for (let n = 0; n < 20; n++) {
    rig.platform.rpc(device, "open", n, { oneWay: n % 2 === 0, timeoutMs: 5000 });
    await rig.clock.advance(2 * MINUTE);
  }
  t.is(runs(), 20);
  rig.platform.fault = undefined;
  const posted = rig.platform.seen.filter(isAnswer).length;
  const served = async (run: number) => {
    const results = await rig.call("open", "one more", 5000);
    t.deepEqual(text(results), [`${run}`]);
  };
  rig.powerOff();
  const second = rig.agent();
  count(second);
  second.start();
  await rig.clock.advance(3000);
  await served(1);
  await served(2);
  const answers = rig.platform.seen.filter(isAnswer).length;
  t.is(answers, posted + 2, "what nobody hands out again is not posted again");
  await rig.clock.advance(5000);
  t.false([...rig.store.values.keys()].some((key) => key.startsWith("rpc")));
});

/** What the device does to keep an RPC in mind over a restart. */
function journaled(rig: Rig): string[] {
  const calls: string[] = [];
  rig.store.fails = (call, key) => {
    if (key.startsWith("rpc")) calls.push(call);
    return false;
  };
  return calls;
}

for (const [what, method, failing, expected] of [
  ["an RPC is written once, before its handler", "open", 0, ["set", "delete"]],
  ["one whose first answer came to nothing twice", "open", 1, ["set", "set", "delete"]],
  ["more failures write no more", "open", 5, ["set", "set", "delete"]],
  ["none of it for a handler that may run again", "read", 3, []],
  ["none of it without a handler", "missing", 3, []],
] as const)
  test(`flash: ${what}`, async (t) => {
    const { rig, agent } = await startOnline(t, {}, 3000);
    const calls = journaled(rig);
    agent.rpc.handle("open", () => {
      t.deepEqual(calls, ["set"]);
      return 1;
    });
    agent.rpc.handle("read", () => 1, { once: false });
    let lost = 0;
    rig.platform.fault = (request) => (isAnswer(request) && lost++ < failing ? { status: 503 } : undefined);
    const results = await rig.call(method, {}, 5 * MINUTE, { timeoutMs: HOUR });
    t.is(results.length, 1);
    t.deepEqual(calls, [...expected]);
  });

test("an RPC is remembered for 24 h, with the power off as well", async (t) => {
  for (const [offMs, runs] of [
    [DAY - MINUTE, 1],
    [DAY + MINUTE, 2],
  ] as const) {
    const rig = startRig(t);
    let ran = 0;
    const boot = () => {
      const agent = rig.agent();
      agent.rpc.handle("open", () => ++ran);
      agent.start();
    };
    boot();
    await rig.clock.advance(3000);
    rig.platform.fault = ({ path }) => (path.includes("/rpc/") || ran > 0 ? "drop" : undefined);
    rig.platform.rpc(rig.device, "open", {}, { timeoutMs: 2 * DAY });
    await rig.clock.advance(5000);
    rig.powerOff();
    await rig.clock.advance(offMs);
    rig.platform.fault = undefined;
    boot();
    await rig.clock.advance(20_000);
    t.is(ran, runs, `${offMs}`);
  }
});

test("an answer is not sent a second time by the connection when a kept one turns out dead", async (t) => {
  const { rig, runs } = await counting(t);
  rig.platform.fault = (request) => (isAnswer(request) ? "drop" : undefined);
  rig.platform.rpc(rig.device, "open", {}, { oneWay: true });
  await rig.clock.advance(MINUTE);
  t.deepEqual([runs(), rig.platform.seen.filter(isAnswer).length], [1, 1]);
});

for (const connections of [1, 2, 3] as const)
  for (const keeps of [false, true])
    test(`${connections} connection(s), kept ${keeps}: a late answer goes to no call of another node`, async (t) => {
      const { rig, agent, runs } = await counting(t, { connections });
      agent.rpc.handle(
        "slow",
        () => new Promise((resolve) => rig.clock.timer(50_000, () => resolve("late"))),
        {
          timeoutMs: MINUTE,
        },
      );
      await rig.call("slow", {}, 20_000, { timeoutMs: HOUR });
      restart(rig, keeps);
      await rig.clock.advance(20_000);
      const moved = await rig.call("open", {}, 2 * MINUTE, { timeoutMs: HOUR });
      t.deepEqual([runs(), text(moved)], [1, ["1"]]);
    });

test("40 RPCs beside a poll that hangs on a dead connection are all handled", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 2 });
  const runs = count(agent);
  let polls = 0;
  rig.platform.fault = (request) => (isPoll(request) && polls++ === 0 ? "hang" : undefined);
  agent.start();
  await rig.clock.advance(24_500);
  t.is(polls, 2, "the next poll is open beside it");
  const answers: string[] = [];
  for (let n = 1; n <= 40; n++) answers.push(...text(await rig.call("open", n, 200)));
  t.deepEqual([runs(), answers], [40, Array.from({ length: 40 }, (_, n) => `${n + 1}`)]);
});

test("an answer uses the connection that brought its RPC", async (t) => {
  const { rig } = await counting(t, { connections: 3 });
  await rig.clock.advance(10 * MINUTE);
  let polled: unknown;
  rig.platform.onAnswer = (request, status) => {
    if (isPoll(request) && status === 200) polled = request.peer;
  };
  const results = await rig.call("open", {}, 1000);
  const answered = rig.platform.seen.filter(isAnswer).at(-1);
  t.deepEqual(text(results), ["1"]);
  t.true(polled !== undefined && answered?.peer === polled);
});

test("no RPC poll is open for longer than a minute, however long the platform allows", async (t) => {
  const { rig, agent } = await counting(t, { connections: 3 });
  agent.attributes.subscribe("interval", () => {});
  const asked = { rpc: [0], updates: [0] };
  rig.platform.fault = (request) => {
    const [, kind, ms] = /(rpc|updates)\?timeout=(\d+)/.exec(request.path) ?? [];
    if (!kind) return undefined;
    asked[kind as "rpc"].push(Number(ms));
    rig.clock.timer(Number(ms), () => request.reply(408));
    return "hang";
  };
  await rig.clock.advance(5 * HOUR);
  t.deepEqual([Math.max(...asked.rpc), Math.max(...asked.updates)], [MINUTE, 5 * MINUTE]);
});

// The journal by itself: for how long an RPC is known, and what is kept of it.

const HASH = 1;

function rig(store = new FakeStore(), clock = new FakeClock(Date.UTC(2026, 0, 1))) {
  const host = fakeHost({ store, clock });
  const journal = new RpcJournal(host, new Time(host), 8192);
  const enter = (id: number, nextPoll = 0, once = true) => {
    const entry = journal.enter(id, HASH, nextPoll);
    return { entry, begun: journal.admit(entry, once) };
  };
  const open = (id: number, nextPoll = 0, once = true) => {
    const { entry, begun } = enter(id, nextPoll, once);
    if (begun !== "admitted") throw new Error(begun);
    return entry;
  };
  return { host, journal, enter, open, store, clock };
}

test("an acknowledged RPC is known on polls that were sent before that, for as long as one of them is open", (t) => {
  const { journal, open } = rig();
  const entry = open(4);
  journal.setAnswer(entry, "1");
  journal.settle(entry, 7);
  t.is(journal.find(4, HASH, 6), "settled");
  t.is(journal.find(4, HASH, 7), undefined);
  journal.pollEnded(5);
  t.is(journal.find(4, HASH, 6), "settled");
  journal.pollEnded(7);
  t.is(journal.find(4, HASH, 6), undefined);
});

test("an RPC on a later poll supersedes another; earlier polls may still bring a copy", (t) => {
  const { journal, enter, open } = rig();
  const entry = open(4, 6);
  journal.supersedeBefore(5);
  t.is(journal.find(4, HASH, 99), entry, "that poll was open when it came");
  journal.supersedeBefore(8);
  t.is(journal.find(4, HASH, 7), "settled");
  t.is(journal.find(4, HASH, 8), undefined, "a later poll brings a new one");
  journal.pollEnded(8);
  t.is(journal.find(4, HASH, 7), undefined);
  for (let id = 0; id < 8; id++) open(id, 9);
  t.is(enter(8, 9).begun, "full");
  journal.supersedeBefore(9);
  t.truthy(open(9));
});

test("a restart keeps unacknowledged RPCs, with short answers, and no acknowledged ones", (t) => {
  const { journal, open, store, clock } = rig();
  const [short, long, done] = [open(1), open(2), open(3)];
  journal.setAnswer(short, '{"on":true}');
  journal.noteFailure(short, false);
  journal.setAnswer(long, `"${"x".repeat(600)}"`);
  journal.noteFailure(long, false);
  journal.setAnswer(done, "3");
  journal.settle(done, 1);
  const after = rig(store, clock).journal;
  t.like(after.find(1, HASH, 0), { answer: '{"on":true}' });
  t.like(after.find(2, HASH, 0), { answer: undefined });
  t.is(after.find(3, HASH, 0), undefined);
});

test("eight unacknowledged RPCs fill it, whether stored or not; what no handler was run for does not count", (t) => {
  const { journal, enter, open } = rig();
  for (let id = 0; id < 8; id++) open(id, 0, id % 2 === 0);
  t.is(enter(8, 0, true).begun, "full");
  t.is(enter(9, 0, false).begun, "full");
  for (let id = 100; id < 200; id++) journal.enter(id, HASH, 0);
  for (let id = 0; id < 8; id++) t.truthy(journal.find(id, HASH, 0), `${id}`);
});

test("acknowledged RPCs that a silent poll keeps are bounded, and are not evicted", (t) => {
  const { journal, enter, open } = rig();
  const begun = open(99);
  let id = 0;
  for (; id < 64; id++) journal.settle(open(id), 5);
  t.is(enter(id++).begun, "full");
  journal.settle(begun, 5);
  for (const known of [0, 99]) t.is(journal.find(known, HASH, 4), "settled");
  journal.pollEnded(5);
  t.truthy(open(id));
});

test("no more long answers go than have to, for one that comes", (t) => {
  const { journal, open } = rig();
  const entries = [3000, 3000, 2000, 2000].map((length, id) => {
    const entry = open(id);
    journal.setAnswer(entry, "x".repeat(length));
    return entry;
  });
  const lengths = entries.map(({ answer }) => answer?.length);
  t.deepEqual(lengths, [undefined, 3000, 2000, 2000]);
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
  const later = rig();
  later.open(1);
  const ignorant = new FakeClock(undefined);
  const { journal } = rig(later.store, ignorant);
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
  const journal = new RpcJournal(host, time, 8192);
  const asleep = { endedAt: 0, ticks: 0, exactFrom: 0, syncedAt: 0, sinceSyncMs: 0, rate: 1 };
  time.wake({ ...asleep, ticks: DAY - 1, sinceSyncMs: DAY - 1 }, 0);
  t.truthy(journal.find(1, HASH, 0));
  time.wake({ ...asleep, ticks: DAY, sinceSyncMs: DAY }, 0);
  t.is(journal.find(1, HASH, 0), undefined);
});

test("tries a failed store again when a poll ended", (t) => {
  const { journal, open, store } = rig();
  store.fails = (call) => call === "delete";
  journal.settle(open(1), 0);
  journal.tidy();
  t.is(store.values.size, 1);
  store.fails = undefined;
  journal.tidy();
  t.is(store.values.size, 0);
});

// What is kept of an RPC over a restart, and how many writes that takes.

test("where the RPC can't be stored, its handler does not run", async (t) => {
  const { rig, agent, runs } = await counting(t);
  agent.rpc.handle("read", () => "value", { once: false });
  rig.store.fails = (call, key) => call === "set" && key.startsWith("rpc");
  const open = await rig.call("open", {}, 2000);
  const read = await rig.call("read", {}, 2000);
  t.is(runs(), 0);
  t.regex(text(open)[0] ?? "", /HANDLER_FAILED/);
  t.deepEqual(text(read), ['"value"']);
});
