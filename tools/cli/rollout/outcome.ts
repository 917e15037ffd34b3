// What a rollout is asked to do, what it reports on the way, and how it ended.
import type { DeviceProfile } from "../../operator/shapes.js";
import type { Standing } from "./device-state.js";
import type { DeviceEnd } from "./evidence.js";
import type { Target } from "./members.js";
import type { Stage } from "./stages.js";

export interface RolloutOptions {
  readonly target: Target;
  readonly profile: DeviceProfile;
  readonly stages: readonly Stage[];
  /** The number of failed devices that ends the rollout. */
  readonly stopAt: number;
  readonly soakMs: number;
  /** For each stage, its soak included. */
  readonly timeoutMs: number;
  /** Leave out devices that are offline when a stage's time is over. */
  readonly leaveOffline: boolean;
  readonly clock: { now(): number; wait(ms: number): Promise<void> };
  readonly report: Report;
}

export interface Report {
  begins(stage: number, counts: Counts): void;
  looked(stage: number, counts: Counts): void;
  ends(stage: number): void;
  offline(device: string, since: number): void;
  failed(device: string, why: string): void;
  note(text: string): void;
}

export interface Counts {
  /** Devices that take no part, by name. */
  readonly leftOut: readonly DeviceEnd[];
  /** Devices that have the image with this stage, earlier stages included. */
  readonly devices: number;
  /** Devices of the whole rollout. */
  readonly all: number;
  readonly standings: Readonly<Record<Standing["kind"] | "unassigned" | "left", number>>;
}

export type Outcome = {
  readonly assigned: number;
  readonly all: number;
  readonly passed: number;
  readonly pinned: readonly string[];
  /** They report another firmware title than the package's. */
  readonly otherTitle: readonly DeviceEnd[];
  /** They joined the profile after this call began, and take no part in it. */
  readonly late: readonly string[];
  /** Offline, and left out because `leaveOffline` allows it. */
  readonly left: readonly string[];
  /** Deleted, moved, or given another package or title during the rollout. */
  readonly excluded: readonly DeviceEnd[];
  /** From 1. */
  readonly stage: number;
} & (
  | { readonly end: "done"; readonly isProfiles: boolean }
  | { readonly end: "failed" | "timeout"; readonly devices: readonly DeviceEnd[] }
  /** Another operator assigns another image, or took this one back. */
  | { readonly end: "overtaken"; readonly devices: readonly DeviceEnd[] }
  /** Every stage is over, but these devices follow the profile and run another title. */
  | { readonly end: "withheld"; readonly devices: readonly DeviceEnd[] }
  /** Every stage is over, but no device proved the image good, so the profile does not get it. */
  | { readonly end: "unproven"; readonly devices: readonly DeviceEnd[] }
);
