// `mote rpc status, delete`: persistent RPCs, which the platform keeps.
import type { Command } from "commander";
import { UNANSWERED } from "../../../../hosts/node/exit.js";
import type { Operator } from "../../../operator/operator.js";
import type { PersistentRpc } from "../../../operator/shapes.js";
import { confirm } from "../../ask.js";
import { ExitError } from "../../exit-error.js";
import { findDevice, ifThere, isId } from "../../operator/find.js";
import {
  type OperatorFlags,
  operate,
  operatorOptions,
  wideOption,
  yesOption,
} from "../../operator/operator.js";
import { moment, note, out, outJson, plain, table } from "../../output/table.js";

interface StatusFlags extends OperatorFlags {
  wide?: boolean;
}

/** Times in milliseconds since 1970; `response` is null as long as there is none. */
interface ShownRpc {
  rpcId: string;
  method: string | null;
  status: string;
  createdTime: number | null;
  expirationTime: number | null;
  response: unknown;
}

const HELP = `
QUEUED: not fetched yet; SENT, DELIVERED: on its way, with the device; SUCCESSFUL: answered; EXPIRED, TIMEOUT, FAILED: it came to nothing.

Examples:
  mote rpc status greenhouse-7
  mote rpc status 3f2504e0-4f89-41d3-9a0c-0305e82c3301`;

export function statusCommand(rpcs: Command): void {
  wideOption(operatorOptions(rpcs.command("status").description("say what became of persistent RPCs")))
    .argument("<device or id>", "all of a device, or the one of that id")
    .addHelpText("after", HELP)
    .action(status);
}

async function status(named: string, flags: StatusFlags): Promise<void> {
  await operate(flags, async (operator) => {
    const one = isId(named) ? await ifThere(operator.rpc.get(named)) : undefined;
    if (one) {
      const shown = show(one);
      if (flags.json) outJson(shown);
      else out(table(["RPC", shown.rpcId], rowsOf(shown), { wide: true }));
      return;
    }
    const { id, name } = await findDevice(operator, named);
    const shown = (await all(operator, id.id)).map(show);
    if (flags.json) return outJson(shown);
    if (shown.length === 0) return note(`The platform keeps no RPC for ${plain(name)}.`);
    const rows = shown.map(({ rpcId, method, status, createdTime }) => [
      rpcId,
      method,
      status,
      moment(createdTime),
    ]);
    out(table(["ID", "METHOD", "STATUS", "CREATED"], rows, flags));
  });
}

async function all({ rpc }: Operator, deviceId: string): Promise<PersistentRpc[]> {
  const found: PersistentRpc[] = [];
  for (let page = 0; ; page++) {
    const { data, hasNext } = await rpc.list(deviceId, { page });
    found.push(...data);
    if (!hasNext) return found;
  }
}

function show(rpc: PersistentRpc): ShownRpc {
  const { body } = (rpc.request ?? {}) as { body?: { method?: unknown } };
  const time = (value: unknown): number | null => (typeof value === "number" ? value : null);
  return {
    rpcId: rpc.id.id,
    method: typeof body?.method === "string" ? body.method : null,
    status: rpc.status,
    createdTime: time(rpc.createdTime),
    expirationTime: time(rpc.expirationTime),
    response: rpc.response ?? null,
  };
}

function rowsOf({ method, status, createdTime, expirationTime, response }: ShownRpc): [string, unknown][] {
  return [
    ["method", method],
    ["status", status],
    ["created", moment(createdTime)],
    ["expires", moment(expirationTime)],
    ["answer", response],
  ];
}

export function deleteCommand(rpcs: Command): void {
  yesOption(operatorOptions(rpcs.command("delete").description("take a persistent RPC back, and forget it")))
    .argument("<id>")
    .action(remove);
}

async function remove(rpcId: string, flags: OperatorFlags & { yes?: boolean }): Promise<void> {
  await operate(flags, async (operator, steps) => {
    const one = isId(rpcId) ? await ifThere(operator.rpc.get(rpcId)) : undefined;
    if (!one) throw new ExitError(UNANSWERED, `there is no RPC ${plain(rpcId)}`);
    const { method, status } = show(one);
    await confirm(`Delete the RPC ${plain(method ?? "")} (${status})?`, flags.yes);
    await steps.run(`deletion of the RPC ${rpcId}`, () => operator.rpc.delete(rpcId));
    if (flags.json) outJson({ deleted: rpcId });
    else note("Deleted. Where the device had fetched it before, it may run it all the same.");
  });
}
