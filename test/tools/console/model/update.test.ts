// An update as a picture: its steps from what was reported, the rate of its download, and why it ended.
import test from "ava";
import { FAILURES } from "../../../../src/agent/firmware/failures.js";
import { type History, pictureOf, type Reading } from "../../../../tools/console/model/update.js";
import { stageOf } from "../../../../tools/console/model/update-stage.js";

const SIZE = 1_000_000;
const T = 1_700_000_000_000;

/** `[seconds, state]`, `[seconds, percent]` or `["FAILED", error]` as the last. */
function history(
  states: readonly (readonly [number, string, string?])[],
  progress: readonly (readonly [number, number])[] = [],
): History {
  const at = (s: number): number => T + s * 1000;
  return {
    states: states.map(([s, value]): Reading => ({ ts: at(s), value })),
    errors: states.map(([s, , error = ""]): Reading => ({ ts: at(s), value: error })),
    progress: progress.map(([s, value]): Reading => ({ ts: at(s), value })),
  };
}
const picture = (of: History, seconds: number) => pictureOf(of, { size: SIZE, now: T + seconds * 1000 });
const states = (of: History, seconds = 100): string =>
  picture(of, seconds)
    .steps.map(({ state }) => state)
    .join(" ");

const ASSIGNED = [
  [0, "QUEUED"],
  [1, "INITIATED"],
] as const;
const DOWNLOADING = [...ASSIGNED, [10, "DOWNLOADING"]] as const;
const VERIFIED = [...DOWNLOADING, [30, "DOWNLOADED"], [31, "VERIFIED"]] as const;
const TRIAL = [...VERIFIED, [32, "UPDATING"]] as const;

test("each state has its step", (t) => {
  t.is(states(history([])), "ahead ahead ahead ahead ahead");
  t.is(states(history(ASSIGNED)), "done ahead ahead ahead ahead");
  t.is(states(history(DOWNLOADING)), "done now ahead ahead ahead");
  t.is(states(history([...DOWNLOADING, [30, "DOWNLOADED"]])), "done done now ahead ahead");
  t.is(states(history(VERIFIED)), "done done done ahead ahead");
  t.is(states(history(TRIAL)), "done done done now ahead");
  t.is(states(history([...TRIAL, [40, "UPDATED"]])), "done done done done done");
  t.is(
    states(
      history([
        [5, "nonsense"],
        [6, "<img>"],
      ]),
    ),
    "ahead ahead ahead ahead ahead",
  );
});

test("a download has its rate and the time that is left", (t) => {
  const going = history(DOWNLOADING, [
    [20, 10],
    [30, 20],
    [40, 40],
  ]);
  const { steps, progress } = picture(going, 41);
  t.is(progress, 40);
  t.is(steps[1]?.note, "40 %, 400 kB of 1 MB, 15 kB/s, 40 s left");
  // Nothing came for a minute: the rate is that of the last two reports.
  t.is(picture(going, 200).steps[1]?.note, "40 %, 400 kB of 1 MB, 20 kB/s, 30 s left");
  t.is(
    picture(history(DOWNLOADING, [[20, 10]]), 21).steps[1]?.note,
    "10 %, 100 kB of 1 MB, 10 kB/s, 90 s left",
  );
  t.is(picture(history(DOWNLOADING), 21).steps[1]?.note, "0 %, 0 bytes of 1 MB");
  t.is(pictureOf(going, { size: undefined, now: T + 41_000 }).steps[1]?.note, "40 %");
  // What was reported before this download began is of another.
  t.is(picture(history(DOWNLOADING, [[5, 90]]), 21).progress, 0);
  t.like(picture(history(VERIFIED), 60).steps[1], { title: "Downloaded", note: "1 MB in 20 s, 50 kB/s" });
});

test("an image that was tried is rolled back, and one that never started is not installed: with the reason", (t) => {
  const error = `${FAILURES.notStarted.text} (task watchdog)`;
  const back = picture(history([...TRIAL, [40, "FAILED", error]]), 100);
  t.is(back.steps.map(({ state }) => state).join(" "), "done done done failed failed");
  t.like(back.steps[4], { title: "Rolled back", note: error, at: T + 40_000 });
  t.regex(back.summary, /the one before runs again.*1 min, 10 min and 1 h/);

  const large = picture(history([...ASSIGNED, [5, "FAILED", FAILURES.slotSize.text]]), 100);
  t.is(large.steps.map(({ state }) => state).join(" "), "done failed ahead ahead failed");
  t.like(large.steps[4], { title: "Not installed", note: FAILURES.slotSize.text });
  t.regex(large.summary, /runs on. It is not tried again before it is assigned again/);

  const wrong = picture(history([...DOWNLOADING, [30, "FAILED", FAILURES.checksum.text]]), 100);
  t.is(wrong.steps.map(({ state }) => state).join(" "), "done done failed ahead failed");
  t.is(picture(history([...DOWNLOADING, [30, "FAILED"]]), 100).steps[4]?.note, "the device gave no reason");
});

test("an attempt that follows a failure is the one that is shown, with those before it counted", (t) => {
  const again = [
    ...DOWNLOADING,
    [20, "FAILED", "x"],
    [80, "DOWNLOADING"],
    [90, "FAILED", "x"],
    [200, "DOWNLOADING"],
  ] as const;
  const { steps, summary } = picture(history(again), 210);
  t.is(steps.map(({ state }) => state).join(" "), "done now ahead ahead ahead");
  t.is(steps[1]?.at, T + 200_000);
  t.is(steps[0]?.at, T);
  t.regex(summary, /It failed 2 times before/);
  // Another assignment begins from the start.
  t.is(states(history([...again, [300, "QUEUED"]])), "done ahead ahead ahead ahead");
  t.notRegex(picture(history([...again, [300, "QUEUED"]]), 310).summary, /failed/);
});

test("a fleet is counted by where each device stands", (t) => {
  const stage = (state?: string, more: { error?: string; running?: string; wanted?: string } = {}) =>
    stageOf({
      state,
      error: more.error,
      running: more.running,
      wanted: "wanted" in more ? more.wanted : "2",
    });
  t.is(stage(undefined, { wanted: undefined as unknown as string }), "none");
  t.is(stage("FAILED", { wanted: undefined as unknown as string }), "none");
  t.is(stage("QUEUED", { wanted: undefined as unknown as string }), "assigned");
  t.is(stage(undefined), "assigned");
  t.is(stage("INITIATED", { running: "1" }), "assigned");
  t.is(stage("INITIATED", { running: "2" }), "kept");
  t.is(stage("DOWNLOADING"), "downloading");
  t.is(stage("DOWNLOADED"), "verified");
  t.is(stage("VERIFIED"), "verified");
  t.is(stage("UPDATING"), "trial");
  t.is(stage("UPDATED"), "kept");
  t.is(stage("FAILED", { error: "wrong checksum" }), "failed");
  t.is(stage("FAILED", { error: "something of another agent" }), "failed");
  for (const name of [
    "notStarted",
    "notConfirmed",
    "interrupted",
    "notReached",
    "offline",
    "notKept",
    "selfTest",
    "misnamed",
  ] as const)
    t.is(stage("FAILED", { error: `${FAILURES[name].text} (more)` }), "rolledBack", name);
});
