// Follows updates until all are done, or until the timeout.
import { UNANSWERED } from "../../../exit-codes.js";
import { stateWord } from "../../../operator/update-state.js";
import { ExitError } from "../../exit-error.js";
import { eachOf, ifAnswered } from "../../operator/operator.js";
import { NO_CHECKSUM, type Update, type UpdateWatch, waiting } from "../../operator/updates.js";
import { bar, Progress } from "../../output/progress.js";
import { note, outJson, plain } from "../../output/table.js";

const LOOK_MS = 1_000;

interface FollowFlags {
  timeout: number;
  json?: boolean;
}

export async function follow(watches: UpdateWatch[], flags: FollowFlags): Promise<void> {
  const progress = new Progress();
  const deadline = Date.now() + flags.timeout;
  const updates = watches.map(({ device }) => waiting(device));
  for (;;) {
    await eachOf(watches, async (watch) => {
      const at = watches.indexOf(watch);
      const known = updates[at] as Update;
      if (isOver(known)) return;
      updates[at] = (await ifAnswered(watch.look())) ?? known;
    });
    // Finished updates come last, as not all may fit the screen.
    const open = updates.toSorted((one, other) => Number(isOver(one)) - Number(isOver(other)));
    progress.show(open.map(drawn), updates.map(lineOf));
    if (updates.every(isOver) || Date.now() >= deadline) return conclude(updates, flags);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function isOver({ end }: Update): boolean {
  return end !== undefined;
}

function drawn(update: Update): string {
  const share = update.end === "updated" ? 1 : (update.progress ?? 0) / 100;
  return `${bar(share)}  ${lineOf(update)}`;
}

function lineOf({ device, state, error, end }: Update): string {
  const why = error === undefined || end === "updated" ? "" : `: ${plain(error)}`;
  const usually = state === "UPDATING" ? ", usually a minute" : "";
  return `${plain(device.name)}  ${plain(stateWord(state, error))}${usually}${why}`;
}

function countsOf(all: readonly Update[]): string {
  const updated = all.filter(({ end }) => end === "updated").length;
  const unproven = all.filter(({ end, error }) => end === "failed" && error === NO_CHECKSUM).length;
  const failed = all.filter(({ end }) => end === "failed").length - unproven;
  return [
    `updated ${updated} of ${all.length}, failed ${failed}`,
    ...(unproven > 0 ? [`not verified ${unproven}`] : []),
    `still running ${all.length - updated - failed - unproven}`,
  ].join(", ");
}

function conclude(all: readonly Update[], flags: FollowFlags): void {
  if (flags.json)
    outJson(
      all.map(({ device, state, error, end }) => ({ device: device.name, state, error, end: end ?? "open" })),
    );
  const updated = all.filter(({ end }) => end === "updated").length;
  if (updated === all.length) {
    note(`Updated: ${updated} of ${all.length}.`);
    return;
  }
  throw new ExitError(UNANSWERED, countsOf(all));
}
