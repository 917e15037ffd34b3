// `mote trust push`: adds or drops CAs, signed with the firmware key.

import type { KeyObject } from "node:crypto";
import type { Command } from "commander";
import { type Announced, KEY, SHORT } from "../../../../extras/trust/announcement.js";
import type { Operator } from "../../../operator/operator.js";
import { checkTarget, type TargetFlags } from "../../operator/find.js";
import { eachOf, type OperatorFlags, operate, operatorOptions } from "../../operator/operator.js";
import type { Target } from "../../operator/updates.js";
import { note, outJson, plain } from "../../output/table.js";
import { durationOption, readInput, UsageError } from "../../usage.js";
import { privateKey } from "../sign.js";
import { announce, authoritiesOf, dropsOf, piecesOf, productOf, stale, type Wanted } from "./announce.js";
import { type Followable, follow, stepOf } from "./follow.js";
import { deviceOption, devicesOf, profileOption } from "./targets.js";

interface Sent extends Followable {
  readonly announcement: Announced;
}

const HELP = `
Announces CAs that devices must trust in addition. A device accepts them only if the announcement is signed with the private key of its firmware.publicKey
and a handshake with the platform succeeds. --drop removes CAs, including built-in ones; a device drops them only after a handshake with another CA
succeeded, so drop them after the server has changed. Earlier announcements stay valid. Change the server only when all devices have accepted (mote trust list).
Exit code 4: a device refused, or did not accept within --timeout. The announcement stays.

Examples:
  mote trust push --ca new-root.pem --key key.pem --product lamp --profile greenhouse
  mote trust push --drop old --key key.pem --product lamp --profile greenhouse
  mote trust push --drop 1f0c5a77b2e94d01 --key key.pem --product lamp --device greenhouse-7`;

interface PushFlags extends OperatorFlags, TargetFlags {
  ca?: string;
  key: string;
  product: string;
  drop?: readonly string[];
  wait: boolean;
  timeout: number;
}

export function pushCommand(trust: Command): void {
  operatorOptions(trust.command("push").description("add or drop CAs that devices trust"))
    .option("--ca <file>", "CA certificates, at most 3 (PEM, or one as DER)")
    .requiredOption("--key <file>", "private key that signs the firmware (PEM, P-256)")
    .requiredOption("--product <title>", "firmware title of the devices (fw_title); others ignore it")
    .option(
      "--drop <list>",
      "CAs to drop: old (all but the announced ones), built-in, or prefixes of a SHA-256",
      (text: string) => text.split(","),
    )
    .addOption(deviceOption())
    .addOption(profileOption())
    .option("--no-wait", "do not wait for the devices")
    .addOption(durationOption("--timeout <duration>", "maximum time to wait", "10m"))
    .addHelpText("after", HELP)
    .action(push);
}

async function push(flags: PushFlags): Promise<void> {
  checkTarget(flags);
  const drop = dropsOf(flags.drop ?? []);
  if (flags.ca === undefined && drop.length === 0)
    throw new UsageError("specify a change: --ca FILE or --drop LIST");
  const key = privateKey(readInput(flags.key));
  const certificates = flags.ca === undefined ? [] : authoritiesOf(readInput(flags.ca));
  const wanted = { product: productOf(flags.product), certificates, drop };
  await operate(flags, async (operator, steps) => {
    const devices = await devicesOf(operator, flags);
    steps.plan(...devices.map(announcementTo), ...(flags.wait ? devices.map(stepOf) : []));
    const announced = await eachOf(devices, (device) =>
      steps.run(announcementTo(device), () => announceTo(operator, device, wanted, key)),
    );
    for (const line of summaryOf(announced)) note(line);
    if (flags.wait) await follow(operator, announced, flags, steps);
    else if (flags.json)
      outJson(announced.map(({ device, sequence }) => ({ device: device.name, sequence })));
  });
}

/** Describes each signed announcement, which may include earlier ones. */
function summaryOf(announced: readonly Sent[]): string[] {
  const groups = new Map<string, Sent[]>();
  for (const one of announced) {
    const { ca, drop } = one.announcement;
    const trusts = ca.map(({ sha256 }) => sha256.slice(0, SHORT)).join(", ") || "no new CA";
    const what = drop.length === 0 ? trusts : `${trusts}; to drop: ${drop.join(", ")}`;
    groups.set(what, [...(groups.get(what) ?? []), one]);
  }
  return Array.from(groups, ([what, all]) => {
    const target = all.length === 1 ? plain(all[0]!.device.name) : `${all.length} devices`;
    return `Announced to ${target}: ${what}.`;
  });
}

const announcementTo = ({ name }: Target): string => `announcement to ${name}`;

/** Sets the pieces first, one by one: several in one answer may be too long for a board. */
async function announceTo(operator: Operator, device: Target, wanted: Wanted, key: KeyObject): Promise<Sent> {
  const { attributes } = operator;
  const there = await attributes.get(device.id, "SHARED_SCOPE");
  const announcement = announce(there[KEY], wanted, key);
  for (const [name, piece] of Object.entries(piecesOf(announcement, wanted.certificates)))
    if (there[name] !== piece) await attributes.set(device.id, "SHARED_SCOPE", { [name]: piece });
  await attributes.set(device.id, "SHARED_SCOPE", { [KEY]: announcement });
  const left = stale(announcement, Object.keys(there));
  if (left.length > 0) await attributes.delete(device.id, "SHARED_SCOPE", left);
  return { device, sequence: announcement.sequence, announcement };
}
