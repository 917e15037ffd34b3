// Checks a connected board: esptool, the port, chip and flash size.
import { accessSync, constants } from "node:fs";
import { codeOf } from "../../hosts/node/files.js";
import { findEsptool, identify } from "../moddable/flash/esptool.js";
import { SdkError } from "../moddable/sdk.js";
import { bad, type Finding, good } from "./finding.js";

export async function checkBoard(port: string | undefined): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const esptool = await findEsptool();
    findings.push(good("esptool", esptool.version));
    if (port?.startsWith("/")) accessSync(port, constants.R_OK | constants.W_OK);
    const board = await identify(esptool, port);
    const flash =
      board.flashBytes === undefined ? "flash of unknown size" : `${board.flashBytes >> 20} MB of flash`;
    findings.push(good("board", `${board.chip}, ${flash}, at ${board.port}`));
  } catch (error) {
    findings.push(
      error instanceof SdkError
        ? bad("board", error.message, "")
        : bad("port", `${port}: ${codeOf(error)}`, ADVICE),
    );
  }
  return findings;
}

const ADVICE =
  "EACCES: add yourself to the port's group (Linux: sudo usermod -aG dialout $USER) and log in again.";
