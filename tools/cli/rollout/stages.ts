// Which devices are in which stage of a rollout.
import { createHash } from "node:crypto";
import { InvalidArgumentError } from "commander";

export interface Stage {
  /** As it was typed: `10%`. */
  readonly text: string;
  /** Number of devices that have the image in this stage, earlier stages included. */
  size(all: number): number;
}

const MOST = 100;
const STAGE = /^(?:([1-9]\d{0,6})|(\d{1,2}(?:\.\d{1,3})?|100)%)$/;
const HELP = "Expected rising numbers of devices or percentages, for example 1,10%,100%.";

/** `1,10%,100%`: each with those before it. A percentage is rounded up. For commander. */
export function parseStages(text: string): Stage[] {
  const stages = text.split(",").map(stageOf);
  const rises = (of: (stage: Stage) => number): boolean =>
    stages.every((stage, i) => i === 0 || of(stage) >= of(stages[i - 1] as Stage));
  // Of devices without end, and of few: 5,10% rises with the number of devices only.
  const shares = stages
    .filter(({ text: one }) => one.endsWith("%"))
    .map(({ text: one }) => Number.parseFloat(one));
  const counts = stages.filter(({ text: one }) => !one.endsWith("%")).map(({ text: one }) => Number(one));
  const isRising = (numbers: number[]): boolean =>
    numbers.every((one, i) => i === 0 || one > (numbers[i - 1] ?? 0));
  if (stages.length > MOST || !isRising(shares) || !isRising(counts) || !rises((stage) => stage.size(1e9)))
    throw new InvalidArgumentError(HELP);
  return stages;
}

function stageOf(text: string): Stage {
  const [, count, percent] = STAGE.exec(text.trim()) ?? [];
  if (count !== undefined) return { text: count, size: (all) => Math.min(all, Number(count)) };
  if (percent === undefined || Number(percent) === 0) throw new InvalidArgumentError(HELP);
  // Of 1,000 devices 0.3 % are 3, though 1000 * 0.3 / 100 is a little more.
  return {
    text: `${percent}%`,
    size: (all) => Math.ceil(Number(((all * Number(percent)) / 100).toFixed(6))),
  };
}

/** How many have it with each stage: none shrinks where there are few devices. */
export function plan(stages: readonly Stage[], all: number): number[] {
  let most = 0;
  return stages.map((stage) => {
    most = Math.max(most, stage.size(all));
    return most;
  });
}

/**
 * By the SHA-256 of its name: the same in every call, on every machine and for every image.
 * Whatever comes or goes, two devices keep their order, and names that follow one another are
 * spread over all stages.
 */
export function inOrder<T extends { readonly name: string }>(devices: readonly T[]): T[] {
  const place = (name: string): string => createHash("sha256").update(name).digest("hex");
  const placed = devices.map((device) => ({ device, at: place(device.name) }));
  placed.sort((one, other) => (one.at < other.at ? -1 : 1));
  return placed.map(({ device }) => device);
}
