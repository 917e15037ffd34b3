// `mote whoami`: at which platform, as whom.
import type { Command } from "commander";
import { type OperatorFlags, operate, operatorOptions } from "../operator/operator.js";
import { chosenPlatform } from "../operator/settings.js";
import { out, outJson, plain } from "../output/table.js";

const ROLES: Readonly<Record<string, string>> = {
  SYS_ADMIN: "administrator of the server",
  TENANT_ADMIN: "administrator of the tenant",
  CUSTOMER_USER: "user of a customer",
};

export function whoamiCommand(program: Command): void {
  operatorOptions(
    program.command("whoami").description("say at which platform you are logged in, and as whom"),
  ).action((flags: OperatorFlags) =>
    operate(flags, async (operator) => {
      const { email, authority } = await operator.user();
      const name = chosenPlatform(flags.platform) ?? null;
      if (flags.json) return outJson({ platform: name, url: operator.url, username: email, authority });
      const at = name === null ? operator.url : `${name} (${operator.url})`;
      out(`${plain(email)}, ${ROLES[authority] ?? plain(authority)}, at ${plain(at)}\n`);
    }),
  );
}
