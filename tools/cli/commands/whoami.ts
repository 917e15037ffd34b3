// `mote whoami`: shows platform and user.
import type { Command } from "commander";
import { type OperatorFlags, operate, operatorOptions } from "../operator/operator.js";
import { chosenPlatform } from "../operator/settings.js";
import { out, outJson, plain } from "../output/table.js";

const ROLES: Readonly<Record<string, string>> = {
  SYS_ADMIN: "system administrator",
  TENANT_ADMIN: "tenant administrator",
  CUSTOMER_USER: "customer user",
};

export function whoamiCommand(program: Command): void {
  operatorOptions(program.command("whoami").description("show the platform and user in use")).action(
    (flags: OperatorFlags) =>
      operate(flags, async (operator) => {
        const { email, authority } = await operator.user();
        const name = chosenPlatform(flags.platform) ?? null;
        if (flags.json) return outJson({ platform: name, url: operator.url, username: email, authority });
        const at = name === null ? operator.url : `${name} (${operator.url})`;
        out(`${plain(email)}, ${ROLES[authority] ?? plain(authority)}, at ${plain(at)}\n`);
      }),
  );
}
