// `mote trust push`: adds authorities to those that devices trust, signed as their firmware is.
import type { KeyObject } from "node:crypto";
import type { Command } from "commander";
import { type Announced, KEY, SHORT } from "../../../../extras/trust/announcement.js";
import type { Operator } from "../../../operator/operator.js";
import { eachOf, type OperatorFlags, operate, operatorOptions } from "../../operator/operator.js";
import type { Target } from "../../operator/updates.js";
import { note, outJson, plain } from "../../output/table.js";
import { durationOption, UsageError } from "../../usage.js";
import { privateKey, read } from "../sign.js";
import { announce, authoritiesOf, dropsOf, piecesOf, productOf, stale, type Wanted } from "./announce.js";
import { type Followable, follow, stepOf } from "./follow.js";
import { checkWhom, deviceOption, devicesOf, profileOption, type WhomFlags } from "./whom.js";

const AT_A_TIME = 8;

interface Sent extends Followable {
  readonly announcement: Announced;
}

const HELP = `
Announces authorities that devices are to trust beside those before them. A device takes it only if it was signed with the private key of its
firmware.publicKey, and if a handshake with the platform succeeded with them. --drop takes authorities away again, each device's own ones too: a
device drops them only after a handshake by another one succeeded, so it can be announced before the server changes, but best afterwards.
What was announced before with the same key still holds. Change the server only when all devices have taken it: mote trust show.
Exit code 4: a device refused it, or did not take it within --timeout; what is announced stays so.

Examples:
  mote trust push --ca new-root.pem --key key.pem --product lamp --profile greenhouse
  mote trust push --drop old --key key.pem --product lamp --profile greenhouse
  mote trust push --drop 1f0c5a77b2e94d01 --key key.pem --product lamp --device greenhouse-7`;

interface PushFlags extends OperatorFlags, WhomFlags {
  ca?: string;
  key: string;
  product: string;
  drop?: readonly string[];
  wait: boolean;
  timeout: number;
}

export function pushCommand(trust: Command): void {
  operatorOptions(trust.command("push").description("have devices trust another authority"))
    .option("--ca <file>", "certificates of authorities, 3 at the most (PEM, or one as DER)")
    .requiredOption("--key <file>", "the private key that signs the firmware (PEM, P-256)")
    .requiredOption("--product <title>", "the devices' firmware title (fw_title): no other device takes it")
    .option(
      "--drop <list>",
      "what to trust no longer: old (all but the announced ones), built-in, or beginnings of a SHA-256",
      (text: string) => text.split(","),
    )
    .addOption(deviceOption())
    .addOption(profileOption())
    .option("--no-wait", "end when it is announced")
    .addOption(durationOption("--timeout <duration>", "how long to follow", "10m"))
    .addHelpText("after", HELP)
    .action(push);
}

async function push(flags: PushFlags): Promise<void> {
  checkWhom(flags);
  const drop = dropsOf(flags.drop ?? []);
  if (flags.ca === undefined && drop.length === 0)
    throw new UsageError("--ca FILE or --drop LIST is needed: what is to change?");
  const key = privateKey(read(flags.key));
  const certificates = flags.ca === undefined ? [] : authoritiesOf(read(flags.ca));
  const wanted = { product: productOf(flags.product), certificates, drop };
  await operate(flags, async (operator, steps) => {
    const devices = await devicesOf(operator, flags);
    steps.plan(...devices.map(announcementTo), ...(flags.wait ? devices.map(stepOf) : []));
    const announced = await eachOf(devices, AT_A_TIME, (device) =>
      steps.run(announcementTo(device), () => announceTo(operator, device, wanted, key)),
    );
    for (const line of summaryOf(announced)) note(line);
    if (flags.wait) await follow(operator, announced, flags, steps);
    else if (flags.json)
      outJson(announced.map(({ device, sequence }) => ({ device: device.name, sequence })));
  });
}

/** What was signed, for the operator to see: it goes on from what lies on the platform. */
function summaryOf(announced: readonly Sent[]): string[] {
  const groups = new Map<string, Sent[]>();
  for (const one of announced) {
    const { ca, drop } = one.announcement;
    const trusts = ca.map(({ sha256 }) => sha256.slice(0, SHORT)).join(", ") || "nobody new";
    const what = drop.length === 0 ? trusts : `${trusts}; to be dropped: ${drop.join(", ")}`;
    groups.set(what, [...(groups.get(what) ?? []), one]);
  }
  return Array.from(groups, ([what, all]) => {
    const whom = all.length === 1 ? plain(all[0]!.device.name) : `${all.length} devices`;
    return `Announced to ${whom}: ${what}.`;
  });
}

const announcementTo = ({ name }: Target): string => `announcement to ${name}`;

/** The pieces first, one by one: an answer with several of them may be longer than a board takes. */
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
