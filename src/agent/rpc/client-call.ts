// Client-side RPC: a call of the application that the platform's rule chain answers.

import type { PlatformSession } from "../../platform/index.js";
import { EXCHANGE_MS, requestText } from "../../platform/index.js";
import { DEFAULT_TIMEOUT_MS, type WaitOptions } from "../../platform/wait.js";
import { RPC_CALL_PATH } from "../../wire/paths.js";
import { encodeCall, parseCallAnswer } from "../../wire/rpc.js";
import type { Json } from "../../wire/text/json.js";

/** Sends a call once: the platform may have run one that it did not answer. */
export const callPlatform = async (
  session: PlatformSession,
  limit: number,
  method: string,
  params: unknown,
  options: WaitOptions,
): Promise<Json> => {
  const { host, counters, connections } = session;
  const call = encodeCall(method, params);
  if (!call.ok) throw counters.emitError(call.tooLarge ? "TOO_LARGE" : "BAD_VALUE", call.reason);
  const request = {
    method: "POST",
    path: RPC_CALL_PATH,
    body: host.encode(call.text),
    // On the only connection, everything else waits for the answer.
    deadlineMs: connections.sharesUplink ? EXCHANGE_MS : (options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
    limit,
    repeatable: false,
  } as const;
  const answer = parseCallAnswer(await requestText(session, "call", request, options));
  if (answer.kind === "answer") return answer.value;
  if (answer.kind === "malformed") throw counters.emitError("REFUSED", "the answer is not valid JSON");
  if (answer.error === "timeout")
    throw counters.emitError("TIMEOUT", "the platform's rule chain did not answer in time");
  throw counters.emitError("REFUSED", "the platform answered with an error");
};
