// Staged rollouts, from the record that each device carries.
import { openPart, type RolloutRecord, readRollout } from "../../operator/rollout-record.js";
import type { Stage } from "../../operator/update-state.js";
import { counted } from "./format.js";

/** One device's server attribute `moteRollout`, and the state of its update. */
export interface Noted {
  note: string;
  stage: Stage;
}

export interface RolloutStage {
  title: string;
  state: "done" | "now" | "failed" | "ahead";
  note: string;
}

export interface ShownRollout {
  name: string;
  /** What is not over. */
  part: "hand-over" | "stages" | undefined;
  stages: RolloutStage[];
}

interface Found {
  /** The latest record holds the current plan. */
  last: RolloutRecord;
  devices: { record: RolloutRecord; stage: Stage }[];
}

/** Newest first. */
export function rolloutsOf(all: readonly Noted[]): ShownRollout[] {
  const found = new Map<string, Found>();
  for (const { note, stage } of all) {
    const record = note === "" ? undefined : readRollout(note);
    if (!record) continue;
    const known = found.get(record.package);
    if (!known) found.set(record.package, { last: record, devices: [{ record, stage }] });
    else {
      known.devices.push({ record, stage });
      if (record.at > known.last.at) known.last = record;
    }
  }
  return [...found.values()]
    .sort((one, other) => other.last.at - one.last.at)
    .map(({ last, devices }) => ({
      name: `${last.title} ${last.version}`,
      part: devices.map(({ record }) => openPart(record)).find((part) => part !== undefined),
      stages: last.plan.map((most, i) =>
        shown(
          i,
          most - (last.plan[i - 1] ?? 0),
          devices.filter(({ record }) => record.stage === i + 1),
        ),
      ),
    }));
}

function shown(index: number, size: number, devices: Found["devices"]): RolloutStage {
  const count = (holds: (device: Found["devices"][number]) => boolean): number =>
    devices.filter(holds).length;
  const isFailed = ({ stage }: { stage: Stage }): boolean => stage === "failed" || stage === "rolledBack";
  const failed = count(isFailed);
  const passed = count((device) => device.record.passed === true && !isFailed(device));
  const watched = count((device) => device.stage === "confirmed" && device.record.passed !== true);
  const unverified = count((device) => device.stage === "unverified");
  const updating = devices.length - failed - passed - watched - unverified;
  const parts = {
    failed,
    updating,
    "confirmed, observed": watched,
    "not verified": unverified,
    good: passed,
    "not assigned": Math.max(0, size - devices.length),
  };
  const state =
    failed > 0 ? "failed" : devices.length === 0 && size > 0 ? "ahead" : passed < size ? "now" : "done";
  return {
    title: `Stage ${index + 1}: ${counted(size, "device")}`,
    state,
    note: Object.entries(parts)
      .filter(([, number]) => number > 0)
      .map(([text, number]) => `${number} ${text}`)
      .join(", "),
  };
}
