import { type Command, Option } from "commander";
import type { Scope } from "../../operator/shapes.js";
import { confirm } from "../ask.js";
import { findDevice } from "../operator/find.js";
import { jsonOrText, type OperatorFlags, operate, operatorOptions, yesOption } from "../operator/operator.js";
import { note, out, outJson, plain, table } from "../output/table.js";
import { UsageError } from "../usage.js";

const SCOPES = { client: "CLIENT_SCOPE", shared: "SHARED_SCOPE", server: "SERVER_SCOPE" } as const;
type ScopeName = keyof typeof SCOPES;

interface ScopeFlags extends OperatorFlags {
  scope: ScopeName;
}

interface GetFlags extends OperatorFlags {
  scope?: ScopeName;
}

interface DeleteFlags extends ScopeFlags {
  yes?: boolean;
}

interface SetFlags extends ScopeFlags {
  text?: boolean;
}

const HELP = `
Examples:
  mote attributes get greenhouse-7
  mote attributes get greenhouse-7 interval --scope shared
  mote attributes set greenhouse-7 interval=30 mode=night 'limits={"low":5,"high":30}'
  mote attributes delete greenhouse-7 mode`;

export function attributesCommand(program: Command): void {
  const attributes = program
    .command("attributes")
    .description("get, set and delete attributes of a device")
    .addHelpText("after", HELP);
  operatorOptions(attributes.command("get").description("show all attributes, or the named ones"))
    .argument("<device>", "name or id")
    .argument("[key...]", "attribute names (default: all)")
    .addOption(new Option("--scope <scope>", "show only this scope").choices(Object.keys(SCOPES)))
    .action(get);
  operatorOptions(attributes.command("set").description("set attributes; a value is JSON, or else text"))
    .argument("<device>", "name or id")
    .argument("<pair...>", "KEY=VALUE")
    .addOption(scopeOption())
    .option("--text", 'store every value as text, 7 as "7"')
    .action(set);
  yesOption(operatorOptions(attributes.command("delete").description("delete attributes")))
    .argument("<device>", "name or id")
    .argument("<key...>", "attribute names")
    .addOption(scopeOption(["client"]))
    .action(remove);
}

function scopeOption(more: ScopeName[] = []): Option {
  return new Option("--scope <scope>", "attribute scope")
    .choices(["shared", "server", ...more])
    .default("shared");
}

/** `{"client":{"serial":"A-113"},"shared":{"interval":30},"server":{}}` */
async function get(named: string, keys: string[], flags: GetFlags): Promise<void> {
  checkKeys(keys);
  const scopes = flags.scope ? [flags.scope] : (Object.keys(SCOPES) as ScopeName[]);
  await operate(flags, async (operator) => {
    const { id } = await findDevice(operator, named);
    const values = await Promise.all(
      scopes.map((scope) =>
        operator.attributes.get(id.id, SCOPES[scope] as Scope, keys.length > 0 ? keys : undefined),
      ),
    );
    const found = scopes.map((scope, index) => [scope, values[index] ?? {}] as const);
    if (flags.json) return outJson(Object.fromEntries(found));
    const rows = found.flatMap(([scope, held]) =>
      Object.entries(held).map(([key, value]) => [scope, key, value]),
    );
    if (rows.length === 0) return note("No matching attributes.");
    out(table(["SCOPE", "KEY", "VALUE"], rows));
  });
}

async function set(named: string, pairs: string[], flags: SetFlags): Promise<void> {
  const values: Record<string, unknown> = Object.create(null);
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`invalid attribute "${pair}": expected KEY=VALUE`);
    const text = pair.slice(at + 1);
    const value = flags.text ? text : jsonOrText(text);
    if (value === null)
      throw new UsageError(
        `invalid attribute "${pair}": the platform does not store null (delete it: mote attributes delete)`,
      );
    values[pair.slice(0, at)] = value;
  }
  await operate(flags, async (operator, steps) => {
    const { id } = await findDevice(operator, named);
    const scope = SCOPES[flags.scope] as "SHARED_SCOPE" | "SERVER_SCOPE";
    const names = Object.keys(values).join(", ");
    await steps.run(`setting ${names}`, () => operator.attributes.set(id.id, scope, { ...values }));
    if (flags.json) return outJson({ set: Object.keys(values) });
    note(`Set ${names}.`);
  });
}

async function remove(named: string, keys: string[], flags: DeleteFlags): Promise<void> {
  checkKeys(keys);
  await operate(flags, async (operator, steps) => {
    const { id, name } = await findDevice(operator, named);
    const all = keys.map(plain).join(", ");
    await confirm(`Delete the ${flags.scope} attributes ${all} of ${plain(name)}?`, flags.yes);
    await steps.run(`deletion of ${all}`, () => operator.attributes.delete(id.id, SCOPES[flags.scope], keys));
    if (flags.json) return outJson({ deleted: keys });
    note(`Deleted ${keys.join(", ")}.`);
  });
}

/** The platform splits lists of keys at commas. */
function checkKeys(keys: readonly string[]): void {
  const wrong = keys.find((key) => key === "" || key.includes(","));
  if (wrong !== undefined) throw new UsageError(`invalid key "${wrong}": must be non-empty, without commas`);
}
