// The devices of a `mote trust` command, and their reported trust.
import { type Option as CliOption, Option } from "commander";
import type { Operator } from "../../../operator/operator.js";
import { findDevice, findProfile, type TargetFlags } from "../../operator/find.js";
import type { Target } from "../../operator/updates.js";

export const deviceOption = (): CliOption => new Option("--device <name>", "one device").conflicts("profile");
export const profileOption = (): CliOption =>
  new Option("--profile <name>", "all devices of a device profile");

/** Sorted by name. */
export async function devicesOf(operator: Operator, { device, profile }: TargetFlags): Promise<Target[]> {
  if (device !== undefined) {
    const { id, name } = await findDevice(operator, device);
    return [{ id: id.id, name }];
  }
  const found = await operator.devices.ofProfile(await findProfile(operator, profile ?? ""));
  const targets = found.map(({ id, name }) => ({ id: id.id, name }));
  return targets.sort((one, next) => (one.name < next.name ? -1 : 1));
}

/** As reported by a device; malformed parts are left out. */
export interface TrustState {
  readonly sequence: number | undefined;
  readonly trusts: readonly { readonly sha256: string; readonly ends: string | undefined }[];
  readonly waiting: readonly string[];
  readonly refused: { readonly reason: string; readonly sequence: number | undefined } | undefined;
  readonly warning: string;
}

const [STATE, WARNING] = ["moteTrustState", "moteTrustWarning"];

/** Undefined if the device reports no trust: it uses http, or its firmware lacks the feature. */
export async function trustOf(operator: Operator, { id }: Target): Promise<TrustState | undefined> {
  const found = await operator.attributes.get(id, "CLIENT_SCOPE", [STATE, WARNING]);
  return readState(found[STATE], found[WARNING]);
}

export function readState(value: unknown, warning: unknown): TrustState | undefined {
  const state = membersOf(value);
  if (!state) return undefined;
  const refused = membersOf(state.refused);
  return {
    sequence: numberOf(state.sequence),
    trusts: listOf(state.trusts).flatMap((one) => {
      const { sha256, ends } = membersOf(one) ?? {};
      return typeof sha256 === "string" ? [{ sha256, ends: textOf(ends) }] : [];
    }),
    waiting: listOf(state.waiting).filter((one): one is string => typeof one === "string"),
    refused: refused && {
      reason: textOf(refused.reason) ?? "no reason",
      sequence: numberOf(refused.sequence),
    },
    warning: textOf(warning) ?? "",
  };
}

const membersOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
