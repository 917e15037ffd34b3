// How many RPCs are lost, and how many answers are posted: of each kind, with each number of connections, sent at any time while telemetry goes out.
import type { Agent } from "../../../../src/index.js";
import { NAME, type Rig, startRig, test } from "../rig.js";

const SENT = 150;
const ANSWER = /\/rpc\/\d+$/;
/** No multiple of anything that the agent does, so that they fall everywhere; every third one just after the end of a poll. */
const APART_MS = 2971;
const SOON_MS = 11;

const KINDS = {
  "one-way": { oneWay: true, persistent: false },
  "two-way": { oneWay: false, persistent: false },
  "persistent one-way": { oneWay: true, persistent: true },
  "persistent two-way": { oneWay: false, persistent: true },
} as const;
type Kind = keyof typeof KINDS;

interface Count {
  /** Numbers of those whose handler ran, in order. */
  readonly ran: number[];
  /** How many callers learnt that it was done: an answer, or a record that says so. */
  readonly known: number;
  /** Numbers of those sent while no poll was open. */
  readonly between: number[];
}

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
  const device = rig.platform.device(NAME);
  if (!persistent) {
    const results = rig.platform.rpc(device, "note", n, { oneWay });
    return () => results[0]?.kind === (oneWay ? "sent" : "answer");
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

async function count(rig: Rig, agent: Agent, kind: Kind): Promise<Count> {
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
  return { ran, known: known.filter((one) => one()).length, between };
}

const upTo = (end: number): number[] => Array.from({ length: end }, (_, n) => n);

for (const kind of Object.keys(KINDS) as Kind[]) {
  for (const connections of [1, 2, 3] as const) {
    const losing = kind === "one-way" && connections === 1;
    const what = losing
      ? "only those sent between two polls are lost"
      : "none is lost, and each runs once, in order";
    test(`${kind} RPCs, ${connections} connection${connections > 1 ? "s" : ""}: ${what}`, async (t) => {
      const rig = startRig(t);
      const { ran, known, between } = await count(rig, rig.agent({ connections }), kind);
      t.log(
        `${kind}, ${connections}: ${SENT} sent, ${ran.length} ran, ${SENT - ran.length} lost, ${between.length} between polls, ${known} known as done`,
      );
      if (!losing) t.deepEqual(ran, upTo(SENT));
      else {
        t.deepEqual(
          ran,
          upTo(SENT).filter((n) => !between.includes(n)),
        );
        t.true(between.length >= 20);
      }
      t.is(known, SENT);
      // Of an answer that was taken none comes again: after a restart of the platform its id may be that of another call.
      const answers = rig.platform.seen.filter(({ method, path }) => method === "POST" && ANSWER.test(path));
      t.is(answers.length, ran.length);
    });
  }
}
