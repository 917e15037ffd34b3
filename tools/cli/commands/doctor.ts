import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import { parseTarget, type Target } from "../../../src/http/target.js";
import { asker } from "../../doctor/asker.js";
import { type Finding, good, skipped } from "../../doctor/finding.js";
import { checkPlatform } from "../../doctor/platform.js";
import { checkRpc } from "../../doctor/rpc.js";
import { checkConnection } from "../../doctor/tls.js";
import { checkTools } from "../../doctor/tools.js";
import { checkTrust } from "../../doctor/trust.js";
import type { Operator } from "../../operator/operator.js";
import { findDevice } from "../operator/find.js";
import { type OperatorFlags, operate } from "../operator/operator.js";
import { out, outJson, plain } from "../output/table.js";
import { certificates, UsageError } from "../usage.js";

interface DoctorFlags {
  url?: string;
  json?: boolean;
  token?: string;
  device?: string;
  ca?: string;
  writeCa?: string;
  quick?: boolean;
}

const MARKS: { readonly [level in Finding["level"]]: string } = {
  good: "good   ",
  warning: "warning",
  bad: "BAD    ",
  skipped: "-      ",
};

const HELP = `
Looks at the way to a platform as a device meets it: name, TLS and its certificates, the device API, clocks, the access token, an attribute there
and back, how long a poll lasts (a minute of measuring; --quick leaves it out), and an RPC. Then at what a build for a board needs on this machine.
The RPC needs --device and a login (mote login); its token is then read from the platform. A client attribute moteDoctor is left behind.
Exit code 1 if something is bad.

Examples:
  mote doctor --url https://platform.example.com
  mote doctor --device greenhouse-7
  mote doctor --url https://platform.example.com --ca ca.pem --write-ca board-ca.der --quick`;

export function doctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("find out what is wrong between a device and its platform, and what to set")
    .addOption(
      new Option("--url <url>", "the base URL (default with --device: that of the login)").env("MOTE_URL"),
    )
    .addOption(new Option("--token <token>", "a device's access token").env("MOTE_TOKEN").conflicts("device"))
    .option("--device <name>", "a device of the platform where you are logged in")
    .option("--ca <file>", "certificates (PEM) to trust in place of the usual ones")
    .option("--write-ca <file>", "write the certificate (DER) that a board has to trust")
    .option("--quick", "do not measure how long a poll lasts")
    .option("--json", "JSON on the standard output, for programs")
    .addHelpText("after", HELP)
    .action(doctor);
}

async function doctor(flags: DoctorFlags): Promise<void> {
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]): void => {
    findings.push(...found);
    if (!flags.json) for (const one of found) out(lineOf(one));
  };
  if (flags.device !== undefined)
    await operate(loginOf(process.env), (operator) => ofDevice(operator, flags, tell));
  else if (flags.url !== undefined) await ofUrl(flags.url, flags, tell);
  else tell([skipped("platform", "no --url: only this machine is looked at")]);
  tell(checkTools());
  if (flags.json) outJson(findings);
  process.exitCode = findings.some(({ level }) => level === "bad") ? 1 : 0;
}

/** The base URL of devices may be another one than that of operators. */
function loginOf({
  MOTE_PLATFORM_URL: url,
  MOTE_PLATFORM_USERNAME: username,
}: NodeJS.ProcessEnv): OperatorFlags {
  return { ...(url && { url }), ...(username && { username }) };
}

type Tell = (found: readonly Finding[]) => void;

/** With the token and the address that the operator knows. */
async function ofDevice(operator: Operator, flags: DoctorFlags, tell: Tell): Promise<void> {
  const { id } = await findDevice(operator, flags.device ?? "");
  const { credentialsId, credentialsType } = await operator.devices.credentials(id.id);
  if (credentialsType !== "ACCESS_TOKEN")
    throw new UsageError(
      `the device's credentials are ${credentialsType}: the device API takes access tokens`,
    );
  const url = flags.url ?? operator.url;
  tell(await checkTrust(operator, id.id));
  if (!(await ofUrl(url, { ...flags, token: credentialsId }, tell))) return;
  tell([await checkRpc(operator, id.id, asker(url, credentialsId, pemOf(flags)))]);
}

/** True if a device can talk to it. */
async function ofUrl(url: string, flags: DoctorFlags, tell: Tell): Promise<boolean> {
  const target = parseTarget(url);
  if (!target.ok) throw new UsageError(`--url ${target.reason}`);
  const ca = pemOf(flags);
  if (!(await way(target.target, ca, flags, tell))) return false;
  const askUnknown = asker(url, `doctor-${randomBytes(9).toString("hex")}`, ca);
  const ask = asker(url, flags.token ?? "", ca);
  const found = await checkPlatform({ ask, askUnknown }, flags.token !== undefined, flags.quick === true);
  tell(found);
  return found.every(({ level }) => level !== "bad");
}

async function way(target: Target, ca: string | undefined, flags: DoctorFlags, tell: Tell): Promise<boolean> {
  const { findings, authority } = await checkConnection(target, ca);
  tell(findings);
  if (flags.writeCa !== undefined) {
    if (!authority) throw new UsageError("there is no authority's certificate to write");
    writeFileSync(flags.writeCa, authority);
    tell([good("authority", `written to ${flags.writeCa} (DER), for the board's configuration`)]);
  }
  return findings.every(({ level }) => level !== "bad");
}

function pemOf({ ca }: DoctorFlags): string | undefined {
  if (ca === undefined) return undefined;
  try {
    return certificates("--ca", readFileSync(ca, "utf8"));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--ca ${ca} can't be read (${codeOf(error)})`);
  }
}

function lineOf({ level, what, text, advice }: Finding): string {
  const lines = [`${MARKS[level]}  ${what}: ${plain(text)}`];
  for (const line of advice?.split("\n") ?? []) lines.push(`         ${plain(line)}`);
  return `${lines.join("\n")}\n`;
}
