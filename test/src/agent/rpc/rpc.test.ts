import { details, type Rig, startOnline, startRig, test } from "../rig.js";

const text = (results: { kind: string; text?: string }[]) => results.map(({ kind, text }) => text ?? kind);

for (const points of [0, 1]) {
  test(`1 connection, ${points} points a second: requests between two polls do not shorten the next`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ connections: 1 });
    agent.attributes.subscribe("interval", () => {});
    agent.start();
    for (let second = 0; second < 600; second++) {
      if (points > 0) agent.telemetry.record({ second });
      await rig.clock.advance(1000);
    }
    const polls = rig.platform.seen.filter(({ path }) => path.includes("/rpc?timeout="));
    t.true(polls.length >= 23 && polls.length <= 26, `${polls.length} polls`);
    t.true(polls.every(({ path }) => path.endsWith("timeout=25000")));
  });
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): an answer over a slow line arrives, and its handler runs once`, async (t) => {
    const rig = startRig(t);
    Object.assign(rig.net.options, { writeBytes: 7, latencyMs: 10 });
    const agent = rig.agent({ connections, rpc: { answerBytes: 16_384 } });
    let runs = 0;
    agent.rpc.handle("dump", () => {
      runs++;
      return "z".repeat(9000);
    });
    agent.start();
    await rig.clock.advance(20_000);
    const results = await rig.call("dump", {}, 120_000, { timeoutMs: 120_000 });
    const lengths = text(results).map((answer) => answer.length);
    t.deepEqual(lengths, [9002]);
    t.is(runs, 1);
  });
}

// That each error has its code: test/simulation/promises/rpc-calls.ts.
test("a handler that fails is answered, even with an error that can't be read, and undefined is null", async (t) => {
  const unreadable = new Proxy(new Error("no water"), { getPrototypeOf: () => JSON.parse("no JSON") });
  const failed = (message: string) => `{"error":{"code":"HANDLER_FAILED","message":"${message}"}}`;
  for (const [handler, expected] of [
    [() => Promise.reject(new Error("no water")), failed("no water")],
    [() => Promise.reject(unreadable), failed("the handler failed")],
    [() => Promise.reject(Object.assign(new Error("x"), { message: 7 })), failed("the handler failed")],
    [() => undefined, "null"],
  ] as const) {
    const { rig, agent } = await startOnline(t, { connections: 2 }, 3000);
    agent.rpc.handle("act", handler);
    const results = await rig.call("act", {}, 2000);
    t.deepEqual(text(results), [expected]);
  }
});

test("a second handler for a method replaces the first, also the agent's own", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 2 }, 3000);
  agent.rpc.handle("act", () => "first");
  for (const method of ["act", "mote.reset"]) {
    agent.rpc.handle(method, () => "second");
    const results = rig.platform.rpc(rig.device, method, { confirm: true });
    await rig.clock.advance(2000);
    t.deepEqual(text(results), ['"second"']);
  }
  t.deepEqual(rig.host.restarts, []);
});

test("a handler that takes too long is answered TIMEOUT, and the next RPC is handled", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 2 }, 3000);
  agent.rpc.handle("hang", () => new Promise(() => {}), { timeoutMs: 500 });
  agent.rpc.handle("next", () => "done");
  const { device } = rig;
  const hung = rig.platform.rpc(device, "hang", {});
  const next = await rig.call("next", {}, 3000);
  t.regex(text(hung)[0] ?? "", /"TIMEOUT"/);
  t.deepEqual(text(next), ['"done"']);
});

// How many RPCs are lost, and how many answers are posted: of each kind, with each number of
// connections, sent at any time while telemetry goes out.

const SENT = 150;
const ANSWER = /\/rpc\/\d+$/;
/**
 * No multiple of anything that the agent does, so that they fall everywhere; every third one just
 * after the end of a poll.
 */
const APART_MS = 2971;
const SOON_MS = 11;

const KINDS = {
  "one-way": { oneWay: true, persistent: false },
  "two-way": { oneWay: false, persistent: false },
  "persistent one-way": { oneWay: true, persistent: true },
  "persistent two-way": { oneWay: false, persistent: true },
} as const;
type Kind = keyof typeof KINDS;

/** From when to when each RPC poll was open on the platform. */
function watchPolls(rig: Rig): { from: number; to: number }[] {
  const polls: { from: number; to: number }[] = [];
  rig.platform.fault = ({ path, peer }) => {
    if (!path.includes("/rpc?timeout=")) return undefined;
    const poll = { from: rig.clock.now(), to: Number.POSITIVE_INFINITY };
    polls.push(poll);
    const send = peer.send.bind(peer);
    peer.send = (data) => {
      poll.to = rig.clock.now();
      peer.send = send;
      send(data);
    };
    return undefined;
  };
  return polls;
}

/** Sends one; returns whether its caller knows that it was done. */
function call(rig: Rig, kind: Kind, n: number): () => boolean {
  const { oneWay, persistent } = KINDS[kind];
  const { device } = rig;
  if (!persistent) {
    const results = rig.platform.rpc(device, "note", n, { oneWay });
    return () => text(results)[0] === (oneWay ? "sent" : `${n}`);
  }
  const expiresAt = (rig.clock.wall() ?? 0) + 600_000;
  const sent = rig.platform.core.rpcRecords.send(device, {
    method: "note",
    params: JSON.stringify(n),
    oneWay,
    expiresAt,
  });
  return () => sent?.status === (oneWay ? "DELIVERED" : "SUCCESSFUL");
}

for (const kind of Object.keys(KINDS) as Kind[])
  for (const connections of [1, 2, 3] as const) {
    const losing = kind === "one-way" && connections === 1;
    const what = losing
      ? "only those sent between two polls are lost"
      : "none is lost, and each runs once, in order";
    test(`${kind} RPCs, ${connections} connection${connections > 1 ? "s" : ""}: ${what}`, async (t) => {
      const rig = startRig(t);
      const agent = rig.agent({ connections });
      const polls = watchPolls(rig);
      const ran: number[] = [];
      agent.rpc.handle<number>("note", (n) => {
        ran.push(n);
        return n;
      });
      agent.start();
      await rig.clock.advance(3000);
      const between: number[] = [];
      const known: (() => boolean)[] = [];
      for (let n = 0; n < SENT; n++) {
        if (n % 3 === 0) agent.telemetry.record({ n });
        const now = rig.clock.now();
        if (!polls.some(({ from, to }) => from <= now && now < to)) between.push(n);
        known.push(call(rig, kind, n));
        await rig.clock.advance(APART_MS);
        if (n % 3 < 2) continue;
        const last = polls.at(-1)!;
        await rig.clock.runUntil(() => last.to < rig.clock.now(), 60_000);
        await rig.clock.advance((n % 8) * SOON_MS);
      }
      await rig.clock.advance(60_000);
      const sent = Array.from({ length: SENT }, (_, n) => n);
      t.deepEqual(ran, losing ? sent.filter((n) => !between.includes(n)) : sent);
      t.true(!losing || between.length >= 20);
      t.true(known.every((one) => one()));
      const stages = ["received", "answered"];
      const reported = ran.flatMap((id) => stages.map((stage) => ({ stage, id, method: "note" })));
      t.deepEqual(details(rig, "rpc"), reported);
      // Of an answer that was taken none comes again: after a restart of the platform its id may be
      // that of another call.
      const answers = rig.platform.seen.filter(({ method, path }) => method === "POST" && ANSWER.test(path));
      t.is(answers.length, ran.length);
    });
  }
