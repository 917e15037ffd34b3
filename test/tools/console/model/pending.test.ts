// Deletions that can be undone: nothing is sent before its time, and nothing is said to be deleted that is not.
import test from "ava";
import { type Deletion, Pending, UNDO_MS } from "../../../../tools/console/model/pending.js";
import { VirtualClock } from "../../platform/rig.js";

interface Rig {
  pending: Pending;
  clock: VirtualClock;
  sent: [path: string, leaving: boolean][];
  states: string[];
}

function rig(send: (deletion: Deletion) => Promise<void> = async () => {}): Rig {
  const clock = new VirtualClock();
  const sent: Rig["sent"] = [];
  const states: string[] = [];
  const pending = new Pending({
    send: (deletion, leaving) => {
      sent.push([deletion.path, leaving]);
      return send(deletion);
    },
    onState: ({ name }, state, error) =>
      states.push(`${name} ${state}${error instanceof Error ? `: ${error.message}` : ""}`),
    timer: (ms, callback) => clock.timer(ms, callback),
  });
  return { pending, clock, sent, states };
}
const A = { path: "/api/device/a", name: "a" };
const B = { path: "/api/device/b", name: "b" };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a deletion is sent after ten seconds, once", async (t) => {
  const { pending, clock, sent, states } = rig();
  pending.add(A);
  pending.add(A);
  clock.advance(UNDO_MS - 1);
  t.deepEqual([sent.length, pending.has(A.path)], [0, true]);
  clock.advance(1);
  await settled();
  t.deepEqual(sent, [[A.path, false]]);
  t.deepEqual(states, ["a waiting", "a sent"]);
  await pending.flush(true);
  t.is(sent.length, 1);
  t.is(UNDO_MS, 10_000);
});

test("one that is undone is never sent", async (t) => {
  const { pending, clock, sent, states } = rig();
  pending.add(A);
  clock.advance(UNDO_MS - 1);
  pending.undo(A.path);
  pending.undo(A.path);
  clock.advance(UNDO_MS);
  await pending.flush(true);
  t.deepEqual(sent, []);
  t.deepEqual(states, ["a waiting", "a undone"]);
});

test("when the page is left all that waits is sent at once", async (t) => {
  const { pending, clock, sent } = rig();
  pending.add(A);
  pending.add(B);
  await pending.flush(true);
  clock.advance(UNDO_MS);
  t.deepEqual(sent, [
    [A.path, true],
    [B.path, true],
  ]);
});

test("one that fails is said to have failed, and can be tried again", async (t) => {
  const { pending, clock, states } = rig(() => Promise.reject(new Error("no connection")));
  pending.add(A);
  clock.advance(UNDO_MS);
  await settled();
  t.deepEqual(states, ["a waiting", "a failed: no connection"]);
  t.false(pending.has(A.path));
  pending.add(A);
  t.true(pending.has(A.path));
});
