// `mote trust list`: the CAs that devices trust, and the result of the last announcement.

import type { Command } from "commander";
import { checkTarget, type TargetFlags } from "../../operator/find.js";
import { eachOf, type OperatorFlags, operate, operatorOptions, wideOption } from "../../operator/operator.js";
import type { Target } from "../../operator/updates.js";
import { note, out, outJson, table } from "../../output/table.js";
import { deviceOption, devicesOf, profileOption, type TrustState, trustOf } from "./targets.js";

const HELP = `
TRUSTS lists each CA by the first 16 digits of its SHA-256, with its expiry date. "built-in" are the CAs of the machine. A device that reports no trust
uses http, or its firmware cannot replace CAs remotely.

Examples:
  mote trust list --device greenhouse-7
  mote trust list --profile greenhouse --json`;

interface ShowFlags extends OperatorFlags, TargetFlags {
  wide?: boolean;
}

export function listCommand(trust: Command): void {
  wideOption(
    operatorOptions(trust.command("list").alias("show").description("list the CAs that devices trust")),
  )
    .addOption(deviceOption())
    .addOption(profileOption())
    .addHelpText("after", HELP)
    .action(list);
}

async function list(flags: ShowFlags): Promise<void> {
  checkTarget(flags);
  await operate(flags, async (operator) => {
    const devices = await devicesOf(operator, flags);
    const states = await eachOf(devices, (device) => trustOf(operator, device));
    if (flags.json) return outJson(devices.map((device, n) => documentOf(device, states[n])));
    const rows = devices.map((device, n) => rowOf(device, states[n]));
    if (rows.length === 0) return note("The profile has no devices.");
    out(table(["DEVICE", "ANNOUNCED", "TRUSTS", "NOTE"], rows, { wide: flags.wide }));
  });
}

function rowOf({ name }: Target, state: TrustState | undefined): unknown[] {
  if (!state) return [name, undefined, undefined, "no trust reported"];
  const trusts = state.trusts.map(({ sha256, ends }) =>
    ends === undefined ? sha256 : `${sha256} (${ends})`,
  );
  return [name, state.sequence || undefined, trusts.join(", "), noteOf(state)];
}

function noteOf({ refused, waiting, warning }: TrustState): string | undefined {
  const notes = [
    ...(refused ? [`refused: ${refused.reason}`] : []),
    ...(waiting.length > 0 ? [`pending removal: ${waiting.join(", ")}`] : []),
    ...(warning === "" ? [] : [warning]),
  ];
  return notes.length > 0 ? notes.join("; ") : undefined;
}

/** Every member is present; null for none. */
function documentOf({ name }: Target, state: TrustState | undefined): object {
  return {
    device: name,
    sequence: state?.sequence ?? null,
    trusts: state?.trusts.map(({ sha256, ends }) => ({ sha256, ends: ends ?? null })) ?? null,
    waiting: state?.waiting ?? null,
    refused: state?.refused
      ? { reason: state.refused.reason, sequence: state.refused.sequence ?? null }
      : null,
    warning: state ? state.warning : null,
  };
}
