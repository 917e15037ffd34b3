import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { parseTarget, type Target } from "../../../src/http/target.js";
import { asker } from "../../doctor/asker.js";
import { checkBoard } from "../../doctor/board.js";
import { type Finding, good, skipped } from "../../doctor/finding.js";
import { checkPlatform } from "../../doctor/platform.js";
import { checkRpc } from "../../doctor/rpc.js";
import { checkConnection } from "../../doctor/tls.js";
import { checkTools } from "../../doctor/tools.js";
import type { Operator } from "../../operator/operator.js";
import { trustedCa } from "../operator/authenticate.js";
import { findDevice } from "../operator/find.js";
import { operate } from "../operator/operator.js";
import { colored } from "../output/colors.js";
import { out, outJson, plain } from "../output/table.js";
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

--board adds a board that is connected over USB: esptool, its port, chip and flash size. It resets the board.

Examples:
  mote doctor --url https://platform.example.com
  mote doctor --device greenhouse-7
  mote doctor --url https://platform.example.com --ca ca.pem --write-ca board-ca.der --quick
  mote doctor --board --port /dev/ttyUSB0`;

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
    .option("--board", "also check the board that is connected over USB")
    .option("--port <device>", "with --board: its serial port (default: esptool finds it)")
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
  if (!flags.board && flags.port !== undefined) throw new UsageError("--port requires --board");
  const trust = flags.ca === undefined ? {} : { ca: flags.ca };
  if (flags.device !== undefined) await operate(trust, (operator) => ofDevice(operator, flags, tell));
  else if (flags.url !== undefined) await ofUrl(flags.url, readCa(flags.ca), flags, tell);
  else tell([skipped("platform", "no --url given: checking only this machine")]);
  tell(checkTools());
  if (flags.board) tell(await checkBoard(flags.port));
  if (flags.json) outJson(findings);
  process.exitCode = findings.some(({ level }) => level === "bad") ? 1 : 0;
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
  const ca = trustedCa(flags.ca === undefined ? {} : { ca: flags.ca });
  if (!(await ofUrl(url, ca, { ...flags, token: credentialsId }, tell))) return;
  tell([await checkRpc(operator, id.id, asker(url, credentialsId, ca))]);
}

/** True if a device can use the platform. */
async function ofUrl(url: string, ca: string | undefined, flags: DoctorFlags, tell: Tell): Promise<boolean> {
  const target = parseTarget(url);
  if (!target.ok) throw new UsageError(`--url ${target.reason}`);
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
      const reason = target.secure
        ? "the server's is not trusted (add --ca FILE)"
        : "--write-ca requires https";
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
