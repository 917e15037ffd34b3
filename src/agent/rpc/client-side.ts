// Client-side RPC: POST /api/v1/{token}/rpc. The platform answers through a rule chain; a stock server has none and never answers.

import { RPC_CALL_PATH } from "../../wire/paths.js";
import { encodeCall, parseCallAnswer } from "../../wire/rpc.js";
import type { Json } from "../../wire/text/json.js";
import type { Link } from "../session/index.js";
import { ask, Lane } from "../session/index.js";

const TIMEOUT_MS = 30_000;

export class RpcCalls {
  private readonly _link: Link;
  private readonly _lane: Lane;
  private readonly _answerBytes: number;
  private _open = 0;

  constructor(link: Link, answerBytes: number) {
    this._link = link;
    this._lane = new Lane(link, "call");
    this._answerBytes = answerBytes;
  }

  /** Sent once only: the platform may run what it does not answer. */
  async call(method: string, params: unknown, timeoutMs = TIMEOUT_MS): Promise<Json> {
    const encoded = encodeCall(method, params);
    if (!encoded.ok)
      throw this._link.counters.error(encoded.tooLarge ? "TOO_LARGE" : "BAD_VALUE", encoded.reason);
    this._open++;
    try {
      return await this._send(encoded.text, timeoutMs);
    } finally {
      this._open--;
      if (this._open === 0) this._lane.hangUp();
    }
  }

  private async _send(text: string, timeoutMs: number): Promise<Json> {
    const body = this._link.host.encode(text);
    const limit = this._answerBytes;
    const request = {
      method: "POST",
      path: RPC_CALL_PATH,
      body,
      deadlineMs: timeoutMs,
      limit,
      repeatable: false,
    } as const;
    const outcome = await ask(this._link, this._lane, request, timeoutMs);
    if (!outcome.whole)
      throw this._link.counters.error("TOO_LARGE", `the answer is longer than ${limit} bytes`);
    const answer = parseCallAnswer(this._link.host.decode(outcome.body) ?? "");
    if (answer.kind === "answer") return answer.value;
    if (answer.kind === "malformed") throw this._link.counters.error("REFUSED", "the answer is no JSON");
    if (answer.error === "timeout")
      throw this._link.counters.error("TIMEOUT", "the platform waited in vain for its rule chain");
    throw this._link.counters.error("REFUSED", "the platform answered with an error");
  }
}
