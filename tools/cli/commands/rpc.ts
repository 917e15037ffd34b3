import type { Command } from "commander";
import { UNANSWERED } from "../../../hosts/node/exit.js";
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import type { PersistentRpc } from "../../operator/shapes.js";
import { ExitError } from "../exit-error.js";
import {
  findDevice,
  type OperatorFlags,
  operate,
  operatorOptions,
  refuseLossy,
} from "../operator/operator.js";
import { note, outJson } from "../output/table.js";
import { duration, UsageError } from "../usage.js";

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
The answer is printed as JSON, an error of the device's as well. A one-way RPC ends when the platform handed it to a poll: whether that reached the
device nobody knows. A persistent one is kept by the platform until the device fetches it; its id is printed, and its end waited for unless --no-wait is given.
Exit code 4: the device did not answer or fetch it, or the persistent RPC failed.

Examples:
  mote rpc greenhouse-7 setLed '{"on":true}'
  mote rpc greenhouse-7 reboot --one-way
  mote rpc greenhouse-7 calibrate --persistent --timeout 1h`;

export function rpcCommand(program: Command): void {
  operatorOptions(program.command("rpc").description("call a method of a device"))
    .argument("<device>", "name or id")
    .argument("<method>")
    .argument("[params]", "JSON")
    .option("--one-way", "no answer is awaited")
    .option("--persistent", "the platform keeps it until it can be delivered")
    .option("--no-wait", "with --persistent: end when the platform has taken it")
    .option("--timeout <duration>", "how long the device has", duration, 10_000)
    .addHelpText("after", HELP)
    .action(rpc);
}

async function rpc(named: string, method: string, text: string | undefined, flags: RpcFlags): Promise<void> {
  const params = paramsOf(text);
  await operate(flags, async (operator) => {
    const { id } = await findDevice(operator, named);
    if (flags.persistent) return persistent(operator, id.id, { method, params, flags });
    const options = { timeoutMs: flags.timeout };
    if (!flags.oneWay) {
      const answer = await inTime(operator.rpc.twoWay(id.id, method, params, options), "answer");
      return outJson(answer ?? null);
    }
    await inTime(operator.rpc.oneWay(id.id, method, params, options), "fetch it");
    return flags.json ? outJson({ sent: true }) : note("The platform handed it on.");
  });
}

interface Asked {
  method: string;
  params: unknown;
  flags: RpcFlags;
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

async function persistent(operator: Operator, id: string, { method, params, flags }: Asked): Promise<void> {
  const expirationTime = Date.now() + flags.timeout;
  const rpcId = await operator.rpc.persistent(id, method, params, {
    expirationTime,
    twoWay: !flags.oneWay,
  });
  if (!flags.wait) return outJson({ rpcId });
  note(`${rpcId} waits on the platform`);
  const end = await ended(operator, rpcId);
  outJson({ rpcId, status: end.status, response: end.response ?? null });
  const good = end.status === "SUCCESSFUL" || (flags.oneWay && end.status === "DELIVERED");
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
