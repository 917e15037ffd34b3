import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import { parseTarget, type Target } from "../../../src/http/target.js";
import { VERSION } from "../../../src/version.js";
import { asker } from "../../doctor/asker.js";
import { type BoardSite, checkBoard, type DeviceView } from "../../doctor/board/checks.js";
import { boardReport } from "../../doctor/board/report.js";
import { SerialCable } from "../../doctor/board/serial-cable.js";
import { type Finding, good, skipped } from "../../doctor/finding.js";
import { checkPlatform } from "../../doctor/platform.js";
import { checkRpc } from "../../doctor/rpc.js";
import { checkConnection } from "../../doctor/tls.js";
import { checkTools } from "../../doctor/tools.js";
import { checkTrust } from "../../doctor/trust.js";
import { findFirmware } from "../../moddable/flash/firmware.js";
import { SdkError } from "../../moddable/sdk.js";
import type { Operator } from "../../operator/operator.js";
import { askYesNo } from "../ask.js";
import { findDevice } from "../operator/find.js";
import { type OperatorFlags, operate } from "../operator/operator.js";
import { note, out, outJson, plain } from "../output/table.js";
import { certificates, UsageError } from "../usage.js";

interface DoctorFlags {
  url?: string;
  json?: boolean;
  token?: string;
  device?: string;
  ca?: string;
  writeCa?: string;
  quick?: boolean;
  board?: boolean;
  port?: string;
  report?: string;
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

With --board it runs the ten checks of docs/reference/boards.md on a board at the cable instead, and resets it four times. --device adds what the platform
sees. Questions at the terminal cover what only a person can do: pull the plug, switch off the access point. --report writes what was seen without
secrets, names and addresses. Read it, then attach it to an issue.

Examples:
  mote doctor --url https://platform.example.com
  mote doctor --device greenhouse-7
  mote doctor --url https://platform.example.com --ca ca.pem --write-ca board-ca.der --quick
  mote doctor --board --device greenhouse-7 --report board.md`;

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
    .addOption(
      new Option("--board", "run the ten checks on the board at the cable").conflicts([
        ...["url", "token", "ca", "writeCa", "quick"],
      ]),
    )
    .addOption(new Option("--port <device>", "the serial port of the board (default: the only one)"))
    .addOption(new Option("--report <file>", "write the checks of a board there, without secrets (Markdown)"))
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
  if (!flags.board && (flags.report ?? flags.port) !== undefined)
    throw new UsageError("--report and --port need --board");
  if (flags.board) return ofBoard(flags, findings, tell);
  if (flags.device !== undefined)
    await operate(loginOf(process.env), (operator) => ofDevice(operator, flags, tell));
  else if (flags.url !== undefined) await ofUrl(flags.url, flags, tell);
  else tell([skipped("platform", "no --url: only this machine is looked at")]);
  tell(checkTools());
  if (flags.json) outJson(findings);
  process.exitCode = findings.some(({ level }) => level === "bad") ? 1 : 0;
}

const NO_DEVICE = "no --device: the platform was not asked";

/** With the platform's view of `--device`, where one was named. */
async function ofBoard(flags: DoctorFlags, findings: Finding[], tell: Tell): Promise<void> {
  const check = (device: DeviceView | string, secrets: string[], names: string[]): Promise<void> =>
    boardChecks(flags, findings, tell, { device, secrets, names });
  if (flags.device === undefined) return check(NO_DEVICE, [], []);
  await operate(loginOf(process.env), async (operator) => {
    const { id, name } = await findDevice(operator, flags.device ?? "");
    const { credentialsId } = await operator.devices.credentials(id.id);
    const user = process.env.MOTE_PLATFORM_USERNAME ?? "";
    await check(viewOf(operator, id.id), [credentialsId], [name, new URL(operator.url).host, user]);
  });
}

const viewOf = (operator: Operator, id: string): DeviceView => ({
  latest: (keys) => operator.timeSeries.latest(id, keys),
  attributes: (keys) => operator.attributes.get(id, "CLIENT_SCOPE", keys),
  call: (method, timeoutMs) => operator.rpc.twoWay(id, method, {}, { timeoutMs }),
});

interface Known {
  readonly device: DeviceView | string;
  readonly secrets: readonly string[];
  readonly names: readonly string[];
}

async function boardChecks(
  { port, report, json }: DoctorFlags,
  findings: Finding[],
  tell: Tell,
  { device, secrets, names }: Known,
): Promise<void> {
  const cable = await SerialCable.open(port, note).catch((error) => {
    if (error instanceof SdkError) return error.message;
    throw error;
  });
  const site: BoardSite = {
    cable,
    device,
    built,
    now: () => performance.now(),
    pause: (ms) => new Promise((go) => setTimeout(go, ms)),
    ...(!json && process.stdin.isTTY && { ask: askYesNo }),
  };
  try {
    await checkBoard(site, (finding) => tell([finding]));
  } finally {
    if (typeof cable !== "string") await cable.close();
  }
  if (report !== undefined) {
    const lines = typeof cable === "string" ? [] : cable.lines;
    const own = ownSecrets();
    const all = [
      [...secrets, ...own.secrets],
      [...names, ...own.names],
    ] as const;
    writeFileSync(report, boardReport({ about: about(), findings, lines }, ...all));
    note(`written to ${report}: read it before you attach it to an issue`);
  }
  if (json) outJson(findings);
  process.exitCode = findings.some(({ level }) => level === "bad") ? 1 : 0;
}

const about = (): (readonly [string, string])[] => [
  ["Mote", VERSION],
  ["machine", `${process.platform} ${process.arch}, Node ${process.versions.node}`],
  ...checkTools().map(({ what, level }) => [what, level] as const),
];

/** What `mote esp32 --build` left in this folder. */
function built(chip: string): string | undefined {
  try {
    const found = findFirmware(".").find((firmware) => firmware.chip === chip);
    return found && `${found.name} ${found.version} for ${found.target}`;
  } catch {
    return undefined;
  }
}

/** Of the project in this folder, and of the environment. */
function ownSecrets(): { secrets: string[]; names: string[] } {
  const { MOTE_TOKEN, MOTE_PLATFORM_PASSWORD, MOTE_PLATFORM_TOKEN, USER, HOME } = process.env;
  const given = [MOTE_TOKEN, MOTE_PLATFORM_PASSWORD, MOTE_PLATFORM_TOKEN];
  let config: Record<string, Record<string, unknown>> = {};
  try {
    config = JSON.parse(readFileSync("secrets.json", "utf8")).config ?? {};
  } catch {
    // No project, or none of `mote new`.
  }
  const { wifi = {}, provisioning = {}, token } = config;
  const secrets = [...given, wifi.password, provisioning.key, provisioning.secret, token];
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  return { secrets: secrets.filter(isText), names: [HOME, USER, wifi.ssid].filter(isText) };
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
