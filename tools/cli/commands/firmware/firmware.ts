// `mote firmware`: packages and updates.
import type { Command } from "commander";
import { listCommand } from "./list.js";
import { pushCommand } from "./push.js";
import { deleteCommand, unassignCommand } from "./withdraw.js";

export function firmwareCommand(program: Command): void {
  const firmware = program.command("firmware").description("update devices, and manage firmware packages");
  pushCommand(firmware);
  listCommand(firmware);
  unassignCommand(firmware);
  deleteCommand(firmware);
}
