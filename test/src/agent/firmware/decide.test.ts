// What happens next with an update, for each kind of assignment and each state of the journal; and
// what may follow a state.
import test from "ava";
import type { Rules } from "../../../../src/agent/firmware/admission.js";
import { decide } from "../../../../src/agent/firmware/decide.js";
import type { UpdateRecord } from "../../../../src/agent/firmware/journal.js";
import { mayFollow, STATES, type State } from "../../../../src/agent/firmware/states.js";
import { readUrl } from "../../../../src/http/target.js";
import type { Assigned } from "../../../../src/wire/firmware.js";
import { FakeSlot } from "../../../fakes/flash.js";
import { fakeHost } from "../../../fakes/host.js";

const url = readUrl("https://platform.test");
if (!url.ok) throw new Error(url.reason);
const rules: Rules = {
  host: fakeHost({ slot: new FakeSlot(65_536, 4096) }),
  target: url.target,
  options: { title: "lamp", version: "1.0.0" },
};
const of = (version: string, checksum = "0".repeat(64)): Assigned => ({
  kind: "assigned",
  assignment: {
    ...{ title: "lamp", version, checksum, algorithm: "SHA256", size: 20_000 },
    ...{ tag: undefined, url: undefined, signature: undefined },
  },
});
const NEXT = of("2.0.0");
const RUNNING = of("1.0.0");
const ABSENT: Assigned = { kind: "absent" };
const TORN: Assigned = { kind: "torn", missing: "fw_size" };

interface Case {
  readonly assigned: Assigned;
  /** Of the journal, about the assigned image ("same") or another one; undefined: it has none. */
  readonly state?: State;
  readonly same?: boolean;
  readonly settledMs?: number;
  readonly isRepeated?: boolean;
  readonly isGivenUp?: boolean;
  readonly retryMs?: number;
  readonly runsOther?: boolean;
  readonly act: string;
}

const after = (one: Case): string => {
  const {
    assigned,
    state = "idle",
    same,
    settledMs = 0,
    isRepeated = false,
    isGivenUp = false,
    retryMs = -1,
  } = one;
  const key = assigned.kind === "absent" ? "" : "assigned";
  const record = { state, failures: isGivenUp ? 4 : 1, key: same ? key : one.state ? "other" : "" };
  const running = one.runsOther ? "SHA256 1" : "";
  const read = { key, settledMs, isRepeated };
  const decision = decide(assigned, read, running, record as UpdateRecord, retryMs, rules);
  const detail = "ms" in decision ? decision.ms : "why" in decision ? decision.why.failure : undefined;
  return detail === undefined ? decision.act : `${decision.act} ${detail}`;
};

const CASES: Readonly<Record<string, Case>> = {
  "nothing, and nothing before": { assigned: ABSENT, act: "wait" },
  "an image, at first": { assigned: NEXT, act: "read 2000" },
  "an image, still there": { assigned: NEXT, settledMs: 2000, act: "adopt" },
  "keys that lack one, at first": { assigned: TORN, settledMs: 2000, act: "read 20000" },
  "keys that lack one for long": { assigned: TORN, settledMs: 22_000, act: "adopt" },
  "keys that lack one, begun": {
    assigned: TORN,
    state: "idle",
    same: true,
    act: "fail incomplete assignment",
  },
  "the journal's image, at once": { assigned: NEXT, state: "downloading", same: true, act: "proceed" },
  "another image": { assigned: NEXT, state: "downloading", settledMs: 2000, act: "adopt" },
  "nothing any more, at first": { assigned: ABSENT, state: "downloading", act: "read 2000" },
  "nothing any more": { assigned: ABSENT, state: "downloading", settledMs: 2000, act: "fail withdrawn" },
  "nothing any more, not begun": { assigned: ABSENT, state: "idle", settledMs: 2000, act: "forget" },
  "nothing any more, over": { assigned: ABSENT, state: "updated", settledMs: 2000, act: "forget" },
  "what runs": { assigned: RUNNING, state: "idle", same: true, act: "report" },
  "what runs, reported": { assigned: RUNNING, state: "updated", same: true, act: "wait" },
  "what runs, assigned again": {
    ...{ assigned: RUNNING, state: "updated", same: true, isRepeated: true },
    act: "report",
  },
  "other bytes of what runs": {
    ...{ assigned: RUNNING, state: "idle", same: true, runsOther: true },
    act: "proceed",
  },
  "failed, not due": { assigned: NEXT, state: "failed", same: true, retryMs: 5, act: "wait 5" },
  "failed, due": { assigned: NEXT, state: "failed", same: true, retryMs: 0, act: "proceed" },
  "failed for good": { assigned: NEXT, state: "failed", same: true, isGivenUp: true, act: "wait" },
};

for (const [title, one] of Object.entries(CASES))
  test(`${title}: ${one.act}`, (t) => {
    t.is(after(one), one.act);
  });

test("every state can be reached, and is left by a failure", (t) => {
  const states = Object.keys(STATES) as State[];
  for (const state of states) {
    t.true(state === "idle" || states.some((from) => from !== state && mayFollow(from, state)), state);
    t.true(mayFollow(state, "failed"), state);
    t.true(STATES[state].next.every((next) => (states as readonly string[]).includes(next)));
  }
  t.false(mayFollow("downloading", "updating"), "nothing starts unverified");
  t.false(mayFollow("downloaded", "updating"), "nothing starts that was not verified");
});
