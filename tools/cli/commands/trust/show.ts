// `mote trust show`: whom devices trust, until when, and what became of what was announced.
import type { Command } from "commander";
import { eachOf, type OperatorFlags, operate, operatorOptions, wideOption } from "../../operator/operator.js";
import type { Target } from "../../operator/updates.js";
import { note, out, outJson, table } from "../../output/table.js";
import {
  checkWhom,
  deviceOption,
  devicesOf,
  profileOption,
  type TrustState,
  trustOf,
  type WhomFlags,
} from "./whom.js";

const AT_A_TIME = 8;

const HELP = `
TRUSTS are authorities by the first 16 digits of their SHA-256, with the day on which each ends; "built-in" are those that come with the machine.
A device that says nothing has a firmware whose trust can't be renewed from afar, or connects by http.

Examples:
  mote trust show --device greenhouse-7
  mote trust show --profile greenhouse --json`;

interface ShowFlags extends OperatorFlags, WhomFlags {
  wide?: boolean;
}

export function showCommand(trust: Command): void {
  wideOption(operatorOptions(trust.command("show").description("whom devices trust, and until when")))
    .addOption(deviceOption())
    .addOption(profileOption())
    .addHelpText("after", HELP)
    .action(show);
}

async function show(flags: ShowFlags): Promise<void> {
  checkWhom(flags);
  await operate(flags, async (operator) => {
    const devices = await devicesOf(operator, flags);
    const states = await eachOf(devices, AT_A_TIME, (device) => trustOf(operator, device));
    if (flags.json) return outJson(devices.map((device, n) => documentOf(device, states[n])));
    const rows = devices.map((device, n) => rowOf(device, states[n]));
    if (rows.length === 0) return note("The profile has no device.");
    out(table(["DEVICE", "ANNOUNCED", "TRUSTS", "NOTE"], rows, flags));
  });
}

function rowOf({ name }: Target, state: TrustState | undefined): unknown[] {
  if (!state) return [name, undefined, undefined, "it says nothing of its trust"];
  const trusts = state.trusts.map(({ sha256, ends }) =>
    ends === undefined ? sha256 : `${sha256} (${ends})`,
  );
  return [name, state.sequence || undefined, trusts.join(", "), noteOf(state)];
}

function noteOf({ refused, waiting, warning }: TrustState): string | undefined {
  const notes = [
    ...(refused ? [`refused: ${refused.reason}`] : []),
    ...(waiting.length > 0 ? [`to be dropped: ${waiting.join(", ")}`] : []),
    ...(warning === "" ? [] : [warning]),
  ];
  return notes.length > 0 ? notes.join("; ") : undefined;
}

/** All members are there, `null` where there is nothing. */
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
