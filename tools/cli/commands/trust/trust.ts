// `mote trust`: whom devices trust when they connect over TLS, and what an operator adds to it, or takes away.
import type { Command } from "commander";
import { pushCommand } from "./push.js";
import { showCommand } from "./show.js";

export function trustCommand(program: Command): void {
  const trust = program.command("trust").description("authorities that devices trust: renew them from afar");
  pushCommand(trust);
  showCommand(trust);
}
