import type { Command } from "commander";
import { ANSWERED_ERROR, UNANSWERED } from "../../../../hosts/node/exit.js";
import { OperatorError } from "../../../operator/error.js";
import type { Operator } from "../../../operator/operator.js";
import type { PersistentRpc } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { findDevice } from "../../operator/find.js";
import { type OperatorFlags, operate, operatorOptions, refuseLossy } from "../../operator/operator.js";
import { note, outJson, plain, tameJson } from "../../output/table.js";
import type { Steps } from "../../steps.js";
import { durationOption, UsageError } from "../../usage.js";
import { deleteCommand, statusCommand } from "./status.js";

interface RpcFlags extends OperatorFlags {
  oneWay?: boolean;
  persistent?: boolean;
  wait: boolean;
  timeout: number;
}

/** How often the platform is asked what became of a persistent RPC. */
const LOOK_MS = 1_000;
const OPEN = ["QUEUED", "SENT", "DELIVERED"];

const HELP = `
The answer is printed as JSON; exit code 5: it is an error, {"error":...}. A one-way RPC ends when the platform handed it to a poll: whether that reached the
device nobody knows. A persistent one is kept by the platform until the device fetches it; its id is printed, and its end waited for unless --no-wait is given.
Exit code 4: the device did not answer or fetch it, or the persistent RPC failed. What became of one: mote rpc status ID.

Examples:
  mote rpc greenhouse-7 setLed '{"on":true}'
  mote rpc greenhouse-7 reboot --one-way
  mote rpc greenhouse-7 calibrate --persistent --timeout 1h`;

export function rpcCommand(program: Command): void {
  const rpcs = program.command("rpc").description("call a method of a device, and see what became of it");
  operatorOptions(rpcs)
    .argument("<device>", "name or id")
    .argument("<method>")
    .argument("[params]", "JSON")
    .option("--one-way", "no answer is awaited")
    .option("--persistent", "the platform keeps it until it can be delivered")
    .option("--no-wait", "with --persistent: end when the platform has taken it")
    .addOption(durationOption("--timeout <duration>", "how long the device has", "10s"))
    .addHelpText("after", HELP)
    .action(rpc);
  statusCommand(rpcs);
  deleteCommand(rpcs);
}

async function rpc(named: string, method: string, text: string | undefined, flags: RpcFlags): Promise<void> {
  const params = paramsOf(text);
  await operate(flags, async (operator, steps) => {
    const { id, name } = await findDevice(operator, named);
    steps.remark = "the device may run it all the same";
    const asked = { method, params, flags };
    if (flags.persistent) return persistent(operator, id.id, asked, steps);
    await steps.run(`RPC ${method} to ${name}`, () => direct(operator, id.id, asked));
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
  else note("The platform handed it on.");
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

/** The platform's own time-out is the device's. */
async function inTime<T>(call: Promise<T>, what: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const status = error instanceof OperatorError ? error.status : undefined;
    if (status === 504 || status === 408 || status === 409)
      throw new ExitError(UNANSWERED, `the device did not ${what}`, { cause: error });
    throw error;
  }
}

async function persistent(
  operator: Operator,
  id: string,
  { method, params, flags }: Asked,
  steps: Steps,
): Promise<void> {
  const { timeout, oneWay = false } = flags;
  const options = { expirationTime: Date.now() + timeout, twoWay: !oneWay };
  const kept = `RPC ${method} kept by the platform`;
  const rpcId = await steps.run(kept, () => operator.rpc.persistent(id, method, params, options));
  if (!flags.wait) return outJson({ rpcId });
  note(`${rpcId} waits on the platform`);
  steps.remark = `it stays on the platform: mote rpc status ${rpcId}`;
  const end = await steps.run("the device's answer", () => ended(operator, rpcId));
  outJson({ rpcId, status: end.status, response: end.response ?? null });
  refuseError(end.response);
  const good = end.status === "SUCCESSFUL" || (oneWay && end.status === "DELIVERED");
  if (!good) throw new ExitError(UNANSWERED, `the RPC ended as ${end.status}`);
}

/** The platform itself ends it, at the time asked for at the latest. */
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
    throw new UsageError(`the params are no JSON: ${text.slice(0, 80)} (text needs quotes: '"text"')`);
  }
  refuseLossy(text);
  return params;
}
