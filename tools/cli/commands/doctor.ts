import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
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
import { findFirmware } from "../../moddable/flash/firmware.js";
import { SdkError } from "../../moddable/sdk.js";
import type { Operator } from "../../operator/operator.js";
import { askYesNo } from "../ask.js";
import { findDevice } from "../operator/find.js";
import { type OperatorFlags, operate } from "../operator/operator.js";
import { colored } from "../output/colors.js";
import { note, out, outJson, plain } from "../output/table.js";
import { readCa, UsageError } from "../usage.js";

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

const COLORS = { good: "green", warning: "yellow", bad: "red", skipped: "dim" } as const;

const HELP = `
Checks the connection as a device uses it: DNS, TLS and certificates, device API, clock, access token, a client attribute, the longest poll (takes a
minute; skip it with --quick), and an RPC. Then it checks the tools for building on this machine. The RPC check needs --device and a login. The check
leaves a client attribute moteDoctor. Exit code 1: something is bad.

--board runs ten checks on a connected board instead and resets it four times. --device adds the platform's view. Mote asks you to pull the plug and to
switch off the access point. --report writes the results without secrets, names and addresses, to attach to an issue.

Examples:
  mote doctor --url https://platform.example.com
  mote doctor --device greenhouse-7
  mote doctor --url https://platform.example.com --ca ca.pem --write-ca board-ca.der --quick
  mote doctor --board --device greenhouse-7 --report board.md`;

export function doctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("find problems between a device and its platform")
    .addOption(
      new Option("--url <url>", "base URL (default with --device: the saved login's)").env("MOTE_URL"),
    )
    .addOption(
      new Option("--token <token>", "access token of a device").env("MOTE_TOKEN").conflicts("device"),
    )
    .option("--device <name>", "device on the platform of the saved login")
    .option("--ca <file>", "trust only these CA certificates (PEM)")
    .option("--write-ca <file>", "write the CA certificate for a board (DER)")
    .option("--quick", "skip measuring the longest poll")
    .addOption(
      new Option("--board", "check a connected board").conflicts([
        ...["url", "token", "ca", "writeCa", "quick"],
      ]),
    )
    .addOption(new Option("--port <device>", "serial port of the board (default: the only one)"))
    .addOption(new Option("--report <file>", "write the results of --board, without secrets (Markdown)"))
    .option("--json", "print JSON")
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
    throw new UsageError("--report and --port require --board");
  if (flags.board) return ofBoard(flags, findings, tell);
  if (flags.device !== undefined)
    await operate(loginOf(process.env), (operator) => ofDevice(operator, flags, tell));
  else if (flags.url !== undefined) await ofUrl(flags.url, flags, tell);
  else tell([skipped("platform", "no --url given: checking only this machine")]);
  tell(checkTools());
  if (flags.json) outJson(findings);
  process.exitCode = findings.some(({ level }) => level === "bad") ? 1 : 0;
}

const NO_DEVICE = "no --device given: the platform was not asked";

/** Adds the platform's view of `--device`. */
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
    note(`Written to ${report}. Read it before you attach it to an issue.`);
  }
  if (json) outJson(findings);
  process.exitCode = findings.some(({ level }) => level === "bad") ? 1 : 0;
}

const about = (): (readonly [string, string])[] => [
  ["Mote", VERSION],
  ["machine", `${process.platform} ${process.arch}, Node ${process.versions.node}`],
  ...checkTools().map(({ what, level }) => [what, level] as const),
];

/** The build of `mote esp32 --build` in this folder. */
function built(chip: string): string | undefined {
  try {
    const found = findFirmware(".").find((firmware) => firmware.chip === chip);
    return found && `${found.name} ${found.version} for ${found.target}`;
  } catch {
    return undefined;
  }
}

/** Secrets of the project in this folder and of the environment. */
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

/** Devices and operators may use different base URLs. */
function loginOf({
  MOTE_PLATFORM_URL: url,
  MOTE_PLATFORM_USERNAME: username,
}: NodeJS.ProcessEnv): OperatorFlags {
  return { ...(url && { url }), ...(username && { username }) };
}

type Tell = (found: readonly Finding[]) => void;

/** Uses the token and URL from the platform. */
async function ofDevice(operator: Operator, flags: DoctorFlags, tell: Tell): Promise<void> {
  const { id } = await findDevice(operator, flags.device ?? "");
  const { credentialsId, credentialsType } = await operator.devices.credentials(id.id);
  if (credentialsType !== "ACCESS_TOKEN")
    throw new UsageError(
      `unsupported credentials ${credentialsType}: the device API requires an access token`,
    );
  const url = flags.url ?? operator.url;
  if (!(await ofUrl(url, { ...flags, token: credentialsId }, tell))) return;
  tell([await checkRpc(operator, id.id, asker(url, credentialsId, readCa(flags.ca)))]);
}

/** True if a device can use the platform. */
async function ofUrl(url: string, flags: DoctorFlags, tell: Tell): Promise<boolean> {
  const target = parseTarget(url);
  if (!target.ok) throw new UsageError(`--url ${target.reason}`);
  const ca = readCa(flags.ca);
  if (!(await way(target.target, ca, flags, tell))) return false;
  const askUnknown = asker(url, `doctor-${randomBytes(9).toString("hex")}`, ca);
  const ask = asker(url, flags.token ?? "", ca);
  let works = true;
  for await (const one of checkPlatform(
    { ask, askUnknown },
    flags.token !== undefined,
    flags.quick === true,
  )) {
    tell([one]);
    works &&= one.level !== "bad";
  }
  return works;
}

async function way(target: Target, ca: string | undefined, flags: DoctorFlags, tell: Tell): Promise<boolean> {
  const { findings, authority } = await checkConnection(target, ca);
  tell(findings);
  if (flags.writeCa !== undefined) {
    if (!authority) {
      const reason = target.secure ? "the server sent no root (add --ca FILE)" : "--write-ca requires https";
      throw new UsageError(`no CA certificate to write: ${reason}`);
    }
    writeFileSync(flags.writeCa, authority);
    tell([good("CA", `written to ${flags.writeCa} (DER), for the board's configuration`)]);
  }
  return findings.every(({ level }) => level !== "bad");
}

function lineOf({ level, what, text, advice }: Finding): string {
  const lines = [`${colored(COLORS[level], MARKS[level])}  ${what}: ${plain(text)}`];
  for (const line of advice?.split("\n") ?? []) lines.push(`         ${plain(line)}`);
  return `${lines.join("\n")}\n`;
}
