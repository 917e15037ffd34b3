// `mote firmware`: packages on the platform, and who gets them.
import type { Command } from "commander";
import { listCommand } from "./list.js";
import { pushCommand } from "./push.js";
import { deleteCommand, unassignCommand } from "./withdraw.js";

export function firmwareCommand(program: Command): void {
  const firmware = program
    .command("firmware")
    .description("bring firmware to devices, list packages, and take them back");
  pushCommand(firmware);
  listCommand(firmware);
  unassignCommand(firmware);
  deleteCommand(firmware);
}
