// A two-way RPC, answered here in the device's name, or by the device if it is connected.
import type { Operator } from "../operator/operator.js";
import { bad, type Finding, good, warning } from "./finding.js";
import type { Ask } from "./platform.js";

const METHOD = "moteDoctor";
const TIMEOUT_MS = 10_000;
const SLOW_MS = 2_000;

export async function checkRpc(operator: Operator, deviceId: string, ask: Ask): Promise<Finding> {
  const ended = new AbortController();
  const answering = answer(ask, ended.signal);
  const began = performance.now();
  try {
    await operator.rpc.twoWay(deviceId, METHOD, {}, { timeoutMs: TIMEOUT_MS });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return bad(
      "RPC",
      `no answer came back: ${why}`,
      "Polls must pass and the device's token must be its own; see the other checks.",
    );
  } finally {
    ended.abort();
  }
  const ms = Math.round(performance.now() - began);
  const mine = await answering;
  const who = mine ? "" : ", answered by the device itself";
  if (ms <= SLOW_MS) return good("RPC", `there and back in ${ms} ms${who}`);
  return warning(
    "RPC",
    `there and back in ${ms} ms${who}`,
    "A proxy that buffers answers of polls would do that.",
  );
}

/** True if the RPC arrived. Other RPCs stay unanswered: the platform delivers them again. */
async function answer(ask: Ask, ended: AbortSignal): Promise<boolean> {
  while (!ended.aborted) {
    const poll = await ask("GET", "rpc?timeout=2000");
    if (!poll) await new Promise((resolve) => setTimeout(resolve, 500));
    const rpc = poll?.status === 200 ? read(poll.text) : undefined;
    if (rpc?.method !== METHOD) continue;
    await ask("POST", `rpc/${rpc.id}`, { ok: true });
    return true;
  }
  return false;
}

function read(text: string): { id: number; method: string } | undefined {
  try {
    const { id, method } = JSON.parse(text) as { id?: unknown; method?: unknown };
    return typeof id === "number" && typeof method === "string" ? { id, method } : undefined;
  } catch {
    return undefined;
  }
}
