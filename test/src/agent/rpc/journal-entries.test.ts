// The journal by itself: for how long an RPC is known, and what is kept of it.
import test from "ava";
import { type Effect, RpcJournal } from "../../../../src/agent/rpc/journal.js";
import { Time } from "../../../../src/agent/time/time.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";

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
  journal.overtaken(5);
  t.is(journal.find(4, HASH, 99), entry, "that poll was open when it came");
  journal.overtaken(8);
  t.is(journal.find(4, HASH, 7), entry);
  t.is(journal.find(4, HASH, 8), undefined, "a later poll brings a new one");
  journal.pollEnded(8);
  t.is(journal.find(4, HASH, 7), undefined);
  for (let id = 0; id < 8; id++) open(id, "stored", 9);
  t.is(journal.open(8, HASH, "stored", 9), "full");
  journal.overtaken(9);
  t.truthy(open(8));
});

test("what an earlier run left is overtaken by the first poll of this one that brings another", (t) => {
  const { open, store, clock } = rig();
  open(1);
  const { journal } = rig(store, clock);
  t.truthy(journal.find(1, HASH, 0));
  journal.overtaken(0);
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

test("long answers that wait share one budget: the oldest goes, and its outcome is not known", (t) => {
  const { journal, open } = rig();
  const [first, second, small] = [open(1), open(2), open(3)];
  journal.answered(small, "1");
  journal.answered(first, "x".repeat(5000));
  journal.answered(second, "x".repeat(5000));
  t.is(first.answer, undefined);
  t.is(second.answer?.length, 5000);
  t.is(small.answer, "1");
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
  time.awake(0, DAY - 1, 0, DAY - 1);
  t.truthy(journal.find(1, HASH, 0));
  time.awake(0, DAY, 0, DAY);
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
