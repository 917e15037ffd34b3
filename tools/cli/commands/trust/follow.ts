// Follows an announcement until all devices accepted or refused it, or until the timeout.
import { UNANSWERED } from "../../../exit-codes.js";
import type { Operator } from "../../../operator/operator.js";
import { ExitError } from "../../exit-error.js";
import { eachOf, ifAnswered } from "../../operator/operator.js";
import type { Target } from "../../operator/updates.js";
import { Progress } from "../../output/progress.js";
import { note, outJson, plain } from "../../output/table.js";
import type { Steps } from "../../steps.js";
import { type TrustState, trustOf } from "./targets.js";

const LOOK_MS = 1_000;

/** What was announced to a device. */
export interface Followable {
  readonly device: Target;
  readonly sequence: number;
}

type End = "taken" | "refused" | "open";

interface Followed {
  readonly device: Target;
  readonly end: End;
  readonly note: string;
}

export const stepOf = ({ name }: Target): string => `answer of ${name}`;

export async function follow(
  operator: Operator,
  announced: readonly Followable[],
  flags: { timeout: number; json?: boolean },
  steps: Steps,
): Promise<void> {
  const progress = new Progress();
  const deadline = Date.now() + flags.timeout;
  const all: Followed[] = announced.map(({ device }) => ({ device, end: "open", note: "waiting" }));
  for (const { device } of announced) steps.begin(stepOf(device));
  steps.remark = "the announcement stays (look: mote trust list)";
  for (;;) {
    await eachOf(announced, async ({ device, sequence }) => {
      const at = announced.findIndex((one) => one.device === device);
      if (all[at]?.end !== "open") return;
      const state = await ifAnswered(trustOf(operator, device));
      if (state) all[at] = { device, ...judge(state, sequence) };
      if (all[at]?.end !== "open") steps.end(stepOf(device));
    });
    const lines = all.map(({ device, note: text }) => `${plain(device.name)}  ${plain(text)}`);
    progress.show(lines, lines);
    if (all.every(({ end }) => end !== "open") || Date.now() >= deadline) return conclude(all, flags);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Judges the announcement `sequence` by the state of a device. */
export function judge(state: TrustState, sequence: number): { end: End; note: string } {
  const { refused, waiting } = state;
  // A later announcement includes it.
  if ((state.sequence ?? 0) >= sequence)
    return waiting.length === 0
      ? { end: "taken", note: "accepted" }
      : { end: "open", note: `accepted, not dropped yet: ${waiting.join(", ")}` };
  return refused?.sequence === sequence
    ? { end: "refused", note: `refused: ${refused.reason}` }
    : { end: "open", note: "waiting" };
}

function conclude(all: readonly Followed[], { json }: { json?: boolean }): void {
  if (json) outJson(all.map(({ device, end, note: text }) => ({ device: device.name, end, note: text })));
  const ended = (wanted: End): number => all.filter(({ end }) => end === wanted).length;
  const taken = ended("taken");
  if (taken === all.length) {
    note(`Accepted: ${taken} of ${all.length}.`);
    return;
  }
  throw new ExitError(
    UNANSWERED,
    `accepted by ${taken} of ${all.length}, refused by ${ended("refused")}, waiting for ${ended("open")}`,
  );
}
