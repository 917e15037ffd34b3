// Client-side RPC (POST /api/v1/{token}/rpc). A stock server has no rule chain that answers.

import type { PlatformSession } from "../../platform/index.js";
import { requestUntil } from "../../platform/index.js";
import { DEFAULT_TIMEOUT_MS, type WaitOptions } from "../../platform/wait.js";
import { RPC_CALL_PATH } from "../../wire/paths.js";
import { encodeCall, parseCallAnswer } from "../../wire/rpc.js";
import type { Json } from "../../wire/text/json.js";

export class RpcCalls {
  private readonly _session: PlatformSession;
  private readonly _answerBytes: number;
  private _open = 0;

  constructor(session: PlatformSession, answerBytes: number) {
    this._session = session;
    this._answerBytes = answerBytes;
  }

  /** Sends the request once: the platform may have run a call that it did not answer. */
  async call(method: string, params: unknown, options: WaitOptions): Promise<Json> {
    const encoded = encodeCall(method, params);
    if (!encoded.ok)
      throw this._session.counters.emitError(encoded.tooLarge ? "TOO_LARGE" : "BAD_VALUE", encoded.reason);
    this._open++;
    try {
      return await this._send(encoded.text, options);
    } finally {
      this._open--;
      if (this._open === 0) this._session.connections.hangUp("call");
    }
  }

  private async _send(text: string, options: WaitOptions): Promise<Json> {
    const body = this._session.host.encode(text);
    const limit = this._answerBytes;
    const request = {
      method: "POST",
      path: RPC_CALL_PATH,
      body,
      deadlineMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      limit,
      repeatable: false,
    } as const;
    const outcome = await requestUntil(this._session, "call", request, options);
    if (!outcome.whole)
      throw this._session.counters.emitError("TOO_LARGE", `the answer is longer than ${limit} bytes`);
    const answer = parseCallAnswer(this._session.host.decode(outcome.body) ?? "");
    if (answer.kind === "answer") return answer.value;
    if (answer.kind === "malformed")
      throw this._session.counters.emitError("REFUSED", "the answer is not valid JSON");
    if (answer.error === "timeout")
      throw this._session.counters.emitError("TIMEOUT", "the platform's rule chain did not answer in time");
    throw this._session.counters.emitError("REFUSED", "the platform answered with an error");
  }
}
