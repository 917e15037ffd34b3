// How often a handler runs and whose answer goes where, when answers, polls and the platform fail.

import type { Agent } from "../../../../src/index.js";
import { RpcActor } from "../../../../tools/platform/core/rpc/rpc.js";
import { NAME, type Rig, startRig, test } from "../rig.js";
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

for (const connections of [1, 2, 3] as const)
  for (const status of [502, 503, 504])
    test(`${connections} connection(s): a proxy that answers ${status} for 45 s before a platform that stands still lets no handler run twice`, async (t) => {
      const rig = startRig(t);
      const agent = rig.agent({ connections });
      const runs = count(agent);
      agent.start();
      await rig.clock.advance(3000);
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
    const rig = startRig(t);
    const agent = rig.agent({ connections });
    const runs = count(agent);
    agent.start();
    await rig.clock.advance(3000);
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
      const rig = startRig(t);
      const agent = rig.agent({ connections });
      const runs = count(agent);
      agent.start();
      await rig.clock.advance(3000);
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
      const rig = startRig(t);
      const agent = rig.agent({ connections });
      const runs = count(agent);
      agent.rpc.handle("close", () => "closed");
      agent.start();
      await rig.clock.advance(3000);
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
    const rig = startRig(t);
    const agent = rig.agent({ connections });
    const runs = count(agent);
    agent.start();
    await rig.clock.advance(3000);
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
  const rig = startRig(t);
  const agent = rig.agent();
  const runs = count(agent);
  agent.start();
  await rig.clock.advance(3000);
  rig.platform.fault = (request) => (isAnswer(request) ? "drop" : undefined);
  rig.platform.rpc(rig.platform.device(NAME), "open", {}, { oneWay: true });
  await rig.clock.advance(MINUTE);
  t.deepEqual([runs(), rig.platform.seen.filter(isAnswer).length], [1, 1]);
});
