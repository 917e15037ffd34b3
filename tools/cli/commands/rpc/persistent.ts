// `mote rpc list, get, delete`: persistent RPCs.

import type { Command } from "commander";
import { UNANSWERED } from "../../../exit-codes.js";
import { unlessMissing } from "../../../operator/error.js";
import type { Operator } from "../../../operator/operator.js";
import { allPages } from "../../../operator/pages.js";
import type { PersistentRpc } from "../../../operator/shapes.js";
import { confirm } from "../../ask.js";
import { ExitError } from "../../exit-error.js";
import { findDevice, isId } from "../../operator/find.js";
import { type OperatorFlags, operate, operatorOptions, yesOption } from "../../operator/operator.js";
import { moment, note, out, outJson, plain, table } from "../../output/table.js";

/** Times in milliseconds since 1970; `response` is null until there is one. */
interface ShownRpc {
  rpcId: string;
  method: string | null;
  status: string;
  createdTime: number | null;
  expirationTime: number | null;
  response: unknown;
}

const HELP = `
Status QUEUED: not fetched yet. SENT: on its way. DELIVERED: received. SUCCESSFUL: answered. EXPIRED, TIMEOUT, FAILED: no result.`;

export function listCommand(rpcs: Command): void {
  operatorOptions(rpcs.command("list").description("list persistent RPCs of a device"))
    .argument("<device>", "name or id")
    .action((named: string, flags: OperatorFlags) =>
      operate(flags, (operator) => list(operator, named, flags)),
    );
  operatorOptions(rpcs.command("get").description("show a persistent RPC and its answer"))
    .argument("<id>", "id of the RPC")
    .addHelpText("after", HELP)
    .action((id: string, flags: OperatorFlags) =>
      operate(flags, async (operator) => get(await findRpc(operator, id), flags)),
    );
}

async function findRpc(operator: Operator, id: string): Promise<PersistentRpc> {
  const one = isId(id) ? await unlessMissing(operator.rpc.get(id)) : undefined;
  if (!one) throw new ExitError(UNANSWERED, `no RPC "${plain(id)}" (list: mote rpc list DEVICE)`);
  return one;
}

function get(one: PersistentRpc, flags: OperatorFlags): void {
  const shown = show(one);
  if (flags.json) outJson(shown);
  else out(table(["RPC", shown.rpcId], rowsOf(shown), { columns: Number.POSITIVE_INFINITY }));
}

async function list(operator: Operator, named: string, flags: OperatorFlags): Promise<void> {
  const { id, name } = await findDevice(operator, named);
  const shown = (await allPages((page) => operator.rpc.list(id.id, { page }))).map(show);
  if (flags.json) return outJson(shown);
  if (shown.length === 0) return note(`No persistent RPCs for ${plain(name)}.`);
  const rows = shown.map(({ rpcId, method, status, createdTime }) => [
    rpcId,
    method,
    status,
    moment(createdTime),
  ]);
  out(table(["ID", "METHOD", "STATUS", "CREATED"], rows));
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
  yesOption(operatorOptions(rpcs.command("delete").description("delete a persistent RPC")))
    .argument("<id>", "id of the RPC")
    .action(remove);
}

async function remove(rpcId: string, flags: OperatorFlags & { yes?: boolean }): Promise<void> {
  await operate(flags, async (operator) => {
    const one = await findRpc(operator, rpcId);
    const { method, status } = show(one);
    await confirm(`Delete the RPC ${plain(method ?? "")} (${status})?`, flags.yes);
    await operator.rpc.delete(rpcId);
    if (flags.json) outJson({ deleted: rpcId });
    else note("Deleted. A device that had fetched it may still run it.");
  });
}
