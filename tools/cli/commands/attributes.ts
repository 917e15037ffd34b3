import { type Command, Option } from "commander";
import { checkKey } from "../../../src/wire/keys.js";
import { isPlatforms } from "../../operator/platform-keys.js";
import { confirm } from "../ask.js";
import { findDevice, refuseMissing } from "../operator/find.js";
import {
  eachOf,
  jsonOrText,
  type OperatorFlags,
  operate,
  operatorOptions,
  yesOption,
} from "../operator/operator.js";
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
  mote attributes greenhouse-7
  mote attributes get greenhouse-7 interval --scope shared
  mote attributes set greenhouse-7 interval=30 mode=night 'limits={"low":5,"high":30}'
  mote attributes delete greenhouse-7 mode`;

export function attributesCommand(program: Command): void {
  const attributes = program
    .command("attributes")
    .description("get, set and delete attributes of a device")
    .addHelpText("after", HELP);
  operatorOptions(attributes.command("get", { isDefault: true }))
    .description("show all attributes, or the named ones")
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
  const scopes = flags.scope ? [flags.scope] : (Object.keys(SCOPES) as ScopeName[]);
  await operate(flags, async (operator) => {
    const { id } = await findDevice(operator, named);
    const values = await eachOf(scopes, (scope) => operator.attributes.get(id.id, SCOPES[scope]));
    const all = values.flatMap((held, at) =>
      Object.entries(held).map(([key, value]) => [scopes[at] ?? "", key, value] as const),
    );
    const found = keys.length === 0 ? all : all.filter(([, key]) => keys.includes(key));
    const ofScope = (scope: string): object =>
      Object.fromEntries(found.filter(([one]) => one === scope).map(([, key, value]) => [key, value]));
    if (flags.json) outJson(Object.fromEntries(scopes.map((scope) => [scope, ofScope(scope)])));
    else if (found.length > 0) out(table(["SCOPE", "KEY", "VALUE"], found));
    else if (keys.length === 0) note("No attributes.");
    const keysOf = (rows: typeof all): string[] => rows.map(([, key]) => key);
    refuseMissing(keys, keysOf(found), keysOf(all));
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
  checkKeys(Object.keys(values));
  const platforms = Object.keys(values).find((key) => isPlatforms(flags.scope, key));
  if (platforms !== undefined)
    throw new UsageError(
      `the platform itself sets ${plain(platforms)} (assign a package: mote firmware push)`,
    );
  await operate(flags, async (operator) => {
    const { id } = await findDevice(operator, named);
    const scope = SCOPES[flags.scope] as "SHARED_SCOPE" | "SERVER_SCOPE";
    const names = Object.keys(values).join(", ");
    await operator.attributes.set(id.id, scope, { ...values });
    if (flags.json) return outJson({ set: Object.keys(values) });
    note(`Set ${names}.`);
  });
}

async function remove(named: string, keys: string[], flags: DeleteFlags): Promise<void> {
  const wrong = keys.find((key) => key === "" || key.includes(","));
  // The platform splits lists of keys at commas.
  if (wrong !== undefined) throw new UsageError(`invalid key "${wrong}": must be non-empty, without commas`);
  await operate(flags, async (operator) => {
    const { id, name } = await findDevice(operator, named);
    const all = keys.map(plain).join(", ");
    await confirm(`Delete the ${flags.scope} attributes ${all} of ${plain(name)}?`, flags.yes);
    await operator.attributes.delete(id.id, SCOPES[flags.scope], keys);
    if (flags.json) return outJson({ deleted: keys });
    note(`Deleted ${keys.join(", ")}.`);
  });
}

/** Throws UsageError for a key that devices cannot use, or that no list of keys can hold. */
function checkKeys(keys: readonly string[]): void {
  for (const key of keys) {
    const problem = checkKey(key);
    if (problem !== undefined) throw new UsageError(`invalid key: ${problem}`);
  }
}
