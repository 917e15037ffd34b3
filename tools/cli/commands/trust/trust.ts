// `mote trust`: the CAs that devices trust for TLS.
import type { Command } from "commander";
import { listCommand } from "./list.js";
import { pushCommand } from "./push.js";

export function trustCommand(program: Command): void {
  const trust = program.command("trust").description("show and replace the CAs that devices trust");
  pushCommand(trust);
  listCommand(trust);
}
