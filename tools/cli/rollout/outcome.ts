// What a rollout is asked to do, what it says as it goes, and how it ended.
import type { DeviceProfile } from "../../operator/shapes.js";
import type { Standing } from "./device-state.js";
import type { Target } from "./members.js";
import type { Stage } from "./stages.js";

export interface RolloutOptions {
  readonly target: Target;
  readonly profile: DeviceProfile;
  readonly stages: readonly Stage[];
  /** So many devices that failed end it. */
  readonly stopAt: number;
  readonly soakMs: number;
  /** Of a stage with its soak. */
  readonly timeoutMs: number;
  /** Devices that are offline at the end of a stage's time stay behind. */
  readonly leaveOffline: boolean;
  readonly clock: { now(): number; wait(ms: number): Promise<void> };
  readonly report: Report;
}

/** Called as it goes. */
export interface Report {
  begins(stage: number, counts: Counts): void;
  looked(stage: number, counts: Counts): void;
  ends(stage: number): void;
  offline(device: string, since: number): void;
  failed(device: string, why: string): void;
  note(text: string): void;
}

export interface Counts {
  /** Devices that have the image with this stage, those of the stages before included, and all of the rollout. */
  readonly devices: number;
  readonly all: number;
  readonly standings: Readonly<Record<Standing["kind"] | "unassigned" | "left", number>>;
}

export interface DeviceEnd {
  readonly device: string;
  readonly why: string;
}

export type Outcome = {
  readonly assigned: number;
  readonly all: number;
  readonly passed: number;
  readonly pinned: readonly string[];
  readonly left: readonly string[];
  /** From 1. */
  readonly stage: number;
} & (
  | { readonly end: "done"; readonly isProfiles: boolean }
  | { readonly end: "failed" | "timeout"; readonly devices: readonly DeviceEnd[] }
  /** Somebody else assigns another image, or took this one back. */
  | { readonly end: "overtaken"; readonly devices: readonly DeviceEnd[] }
);
