import type { Command } from "commander";
import { ANSWERED_ERROR, UNANSWERED } from "../../../exit-codes.js";
import type { Operator } from "../../../operator/operator.js";
import type { PersistentRpc } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { findDevice } from "../../operator/find.js";
import {
  inTime,
  type OperatorFlags,
  operate,
  operatorOptions,
  refuseLossy,
} from "../../operator/operator.js";
import { note, outJson, plain, tameJson } from "../../output/table.js";
import { durationOption, UsageError } from "../../usage.js";
import { deleteCommand, listCommand } from "./persistent.js";

interface RpcFlags extends OperatorFlags {
  oneWay?: boolean;
  persistent?: boolean;
  wait: boolean;
  timeout: number;
}

/** Time between two reads of a persistent RPC. */
const LOOK_MS = 1_000;
const OPEN = ["QUEUED", "SENT", "DELIVERED"];

const HELP = `
Prints the answer as JSON. --one-way ends when the platform delivered the RPC to a poll; the device may still miss it. --persistent stores the RPC on the
platform until the device fetches it; Mote prints its id and waits for the result, unless --no-wait is given. Look at it later with mote rpc get ID.

Exit code 4: the device did not answer or fetch the RPC, or the persistent RPC failed. Exit code 5: the answer is {"error":...}.
`;

const EXAMPLES = `
Examples:
  mote rpc greenhouse-7 setLed '{"on":true}'
  mote rpc greenhouse-7 reboot --one-way
  mote rpc greenhouse-7 calibrate --persistent --timeout 1h`;

export function rpcCommand(program: Command): void {
  const rpcs = program.command("rpc").description("call a method of a device, and manage persistent RPCs");
  rpcs.addHelpText("after", EXAMPLES);
  operatorOptions(rpcs.command("call", { isDefault: true }))
    .description("call a method and print its answer")
    .argument("<device>", "name or id")
    .argument("<method>", "name of the method")
    .argument("[params]", "parameters (JSON)")
    .option("--one-way", "do not wait for an answer")
    .option("--persistent", "store the RPC on the platform until the device fetches it")
    .option("--no-wait", "with --persistent: do not wait for the result")
    .addOption(durationOption("--timeout <duration>", "time that the device has to answer", "10s"))
    .addHelpText("after", HELP + EXAMPLES)
    .action(rpc);
  listCommand(rpcs);
  deleteCommand(rpcs);
}

async function rpc(named: string, method: string, text: string | undefined, flags: RpcFlags): Promise<void> {
  const params = paramsOf(text);
  await operate(flags, async (operator) => {
    const { id } = await findDevice(operator, named);
    const asked = { method, params, flags };
    if (flags.persistent) return persistent(operator, id.id, asked);
    await direct(operator, id.id, asked);
  });
}

interface Asked {
  method: string;
  params: unknown;
  flags: RpcFlags;
}

async function direct({ rpc }: Operator, id: string, { method, params, flags }: Asked): Promise<void> {
  const options = { timeoutMs: flags.timeout };
  if (!flags.oneWay) {
    const answer = await inTime(rpc.twoWay(id, method, params, options), "answer");
    outJson(answer ?? null);
    return refuseError(answer);
  }
  await inTime(rpc.oneWay(id, method, params, options), "fetch it");
  if (flags.json) outJson({ sent: true });
  else note("Delivered to the device's poll.");
}

/** Throws ExitError for an answer like `{"error":{"code":"METHOD_NOT_FOUND","message":"…"}}`. */
function refuseError(answer: unknown): void {
  if (typeof answer !== "object" || answer === null || !Object.hasOwn(answer, "error")) return;
  if (Object.keys(answer).length > 1) return;
  const { error } = answer as { error: unknown };
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const parts = typeof code === "string" ? [code, message].filter((part) => typeof part === "string") : [];
  const why = parts.length > 0 ? parts.join(": ") : tameJson(error);
  throw new ExitError(ANSWERED_ERROR, `the device answered with an error: ${plain(why).slice(0, 200)}`);
}

async function persistent(operator: Operator, id: string, { method, params, flags }: Asked): Promise<void> {
  const { timeout, oneWay = false } = flags;
  const options = { expirationTime: Date.now() + timeout, twoWay: !oneWay };
  const rpcId = await operator.rpc.persistent(id, method, params, options);
  if (!flags.wait) return outJson({ rpcId });
  note(`Stored as ${rpcId} (look: mote rpc get ${rpcId}); waiting for the device.`);
  const end = await ended(operator, rpcId);
  outJson({ rpcId, status: end.status, response: end.response ?? null });
  refuseError(end.response);
  const good = end.status === "SUCCESSFUL" || (oneWay && end.status === "DELIVERED");
  if (!good) throw new ExitError(UNANSWERED, `the RPC failed with status ${end.status}`);
}

/** Waits for the result. The platform ends the RPC at its expiration time. */
async function ended({ rpc }: Operator, rpcId: string): Promise<PersistentRpc> {
  for (;;) {
    const found = await rpc.get(rpcId);
    const oneWay = (found.request as { oneway?: unknown } | undefined)?.oneway === true;
    if (!OPEN.includes(found.status) || (oneWay && found.status === "DELIVERED")) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function paramsOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch {
    throw new UsageError(`invalid params ${text.slice(0, 80)}: expected JSON (quote text: '"text"')`);
  }
  refuseLossy(text);
  return params;
}
