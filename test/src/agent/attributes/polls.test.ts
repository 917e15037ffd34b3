// Attribute polls overlap, so that values are read only after an end that may have left a gap.
import { Dice } from "../../../simulation/dice.js";
import { type Rig, startRig, test, watch } from "../rig.js";

const POLL = /\/updates\?timeout=(\d+)/;
const READ = /\/attributes\?/;
const HOUR_MS = 3_600_000;

const started = async (rig: Rig) => {
  const agent = rig.agent({ connections: 3 });
  const seen = watch(agent);
  agent.start();
  await rig.clock.advance(5000);
  const count = (what: RegExp) => rig.platform.seen.filter(({ path }) => what.test(path)).length;
  return { seen, device: rig.device, count };
};

/** Calls `ended` when the platform ends a poll for attributes by its time. */
const onEnd = (rig: Rig, ended: () => void) => {
  rig.platform.onAnswer = ({ path }, status) => {
    if (status === 408 && POLL.test(path)) ended();
  };
};

test("an hour of short polls without a change reads the values every 5 min only", async (t) => {
  const rig = startRig(t);
  // Longer polls never pass, as behind the proxy of a stock server.
  rig.platform.fault = ({ path, reply, peer }) => {
    const askedMs = Number(POLL.exec(path)?.[1] ?? 0);
    if (askedMs <= 25_000) return undefined;
    rig.clock.timer(25_000, () => reply(503));
    return peer.closed ? undefined : "hang";
  };
  const { count } = await started(rig);
  await rig.clock.advance(3 * HOUR_MS);
  const [reads, polls] = [count(READ), count(POLL)];
  await rig.clock.advance(HOUR_MS);
  t.true(count(READ) - reads <= 14, `${count(READ) - reads} reads`);
  t.true(count(POLL) - polls >= 140, `${count(POLL) - polls} polls`);
});

test("a change at the instant that a poll ends is seen at once, and without a read", async (t) => {
  const rig = startRig(t);
  rig.net.options.latencyMs = 150;
  const { seen, device, count } = await started(rig);
  const dice = new Dice(1);
  let value = 0;
  let setAt: number | undefined;
  const missed: string[] = [];
  onEnd(rig, () => {
    // While the answer is on its way, and until the device could have sent another poll.
    rig.clock.timer(dice.below(700), () => {
      setAt = rig.clock.now();
      rig.platform.setShared(device, { interval: ++value });
    });
  });
  for (let i = 0; i < 100; i++) {
    setAt = undefined;
    await rig.clock.runUntil(() => setAt !== undefined);
    const reads = count(READ);
    await rig.clock.runUntil(() => seen.at(-1) === value, 60_000).catch(() => {});
    if (seen.at(-1) !== value || rig.clock.now() - (setAt ?? 0) > 200 || count(READ) > reads)
      missed.push(`${value}: ${rig.clock.now() - (setAt ?? 0)} ms`);
    await rig.clock.advance(20_000);
  }
  t.deepEqual(missed, []);
});

test("a poll that reaches the platform after the last one ended makes the values be read", async (t) => {
  const rig = startRig(t);
  let late = 0;
  const serve = rig.net.onConnect;
  rig.net.onConnect = (peer) => {
    serve?.(peer);
    const take = peer.onData;
    // A poll takes `late` ms more to the platform, as after a lost packet.
    peer.onData = (bytes) => {
      if (late > 0 && POLL.test(Buffer.from(bytes).toString())) rig.clock.timer(late, () => take?.(bytes));
      else take?.(bytes);
    };
  };
  const { seen, device } = await started(rig);
  await rig.clock.advance(5000);
  late = 4000;
  let ended = false;
  onEnd(rig, () => {
    ended = true;
  });
  await rig.clock.runUntil(() => ended);
  late = 0;
  await rig.clock.advance(200);
  // No poll is open on the platform.
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(1000);
  t.deepEqual(seen, []);
  await rig.clock.advance(26_000);
  t.deepEqual(seen, [5]);
});

test("a change that arrives late on the other poll does not undo a newer one", async (t) => {
  const rig = startRig(t);
  const { seen, device, count } = await started(rig);
  const open = count(POLL);
  await rig.clock.runUntil(() => count(POLL) > open);
  await rig.clock.advance(100);
  // Both polls are open; the answer to the second takes 3 s more.
  const second = rig.platform.seen.findLast(({ path }) => POLL.test(path))!;
  const { send } = second.peer;
  second.peer.send = (data) => void rig.clock.timer(3000, () => send.call(second.peer, data));
  rig.platform.setShared(device, { interval: 1 });
  await rig.clock.advance(1500);
  rig.platform.setShared(device, { interval: 2 });
  await rig.clock.advance(100);
  t.deepEqual(seen, [1, 2]);
  await rig.clock.advance(10_000);
  t.deepEqual(seen, [1, 2]);
  second.peer.send = send;
  rig.platform.setShared(device, { interval: 3 });
  await rig.clock.advance(50);
  t.deepEqual(seen, [1, 2, 3]);
});

for (const how of ["reset", "cut"] as const)
  test(`a change is found after a poll's ${how === "reset" ? "connection broke" : "answer was a proxy's"}`, async (t) => {
    const rig = startRig(t);
    const { seen, device, count } = await started(rig);
    await rig.clock.advance(15_000);
    const poll = rig.platform.seen.findLast(({ path }) => POLL.test(path))!;
    if (how === "reset") poll.peer.reset();
    else poll.reply(504, "", { Connection: "close" });
    rig.platform.setShared(device, { interval: 7 });
    // The platform's own answer to that poll gets nowhere.
    poll.peer.send = () => {};
    const reads = count(READ);
    await rig.clock.advance(5000);
    t.deepEqual(seen, [7]);
    t.is(count(READ), reads + 1);
  });

test("a change that the platform sent to nobody is seen within 5 min and one poll", async (t) => {
  const rig = startRig(t);
  const { seen, device } = await started(rig);
  // Until the longest poll is known.
  await rig.clock.advance(600_000);
  // The device moved to another node, while its connections stay.
  device.notifications.forgetSubscribers();
  rig.platform.setShared(device, { interval: 4 });
  await rig.clock.advance(330_000);
  t.deepEqual(seen, [4]);
});
