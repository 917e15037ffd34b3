import type { PlatformSession } from "../../platform/index.js";
import { EXCHANGE_MS, requestUntil } from "../../platform/index.js";
import { DEFAULT_TIMEOUT_MS, type WaitOptions } from "../../platform/wait.js";
import { RPC_CALL_PATH } from "../../wire/paths.js";
import { encodeCall, parseCallAnswer } from "../../wire/rpc.js";
import type { Json } from "../../wire/text/json.js";
import type { HandleOptions, Handlers, RpcHandler } from "./handlers.js";

/** Server-side and client-side RPC. */
export class RpcApi {
  /** Maximum size of an answer in bytes, from the options. */
  readonly answerBytes: number;
  private readonly _session: PlatformSession;
  private readonly _handlers: Handlers;
  private _openCalls = 0;

  constructor(session: PlatformSession, handlers: Handlers, answerBytes: number) {
    this.answerBytes = answerBytes;
    this._handlers = handlers;
    this._session = session;
  }

  /**
   * Registers the handler of a server-side RPC method.
   *
   * A method without a handler is answered with `METHOD_NOT_FOUND`. A second handler replaces the
   * first. Throws `BAD_VALUE` for an empty method, a handler that is not a function, or an invalid
   * `timeoutMs`.
   */
  handle<P = unknown>(method: string, handler: RpcHandler<P>, options: HandleOptions = {}): void {
    this._handlers.add(method, handler as RpcHandler, options);
  }

  /**
   * Calls a client-side RPC (POST /api/v1/{token}/rpc).
   *
   * Resolves with the answer of the platform's rule chain; a server without a rule chain for RPC
   * never answers. The request is sent once. With one connection, the answer may take 35 s at most.
   * Rejects with `TIMEOUT`, `REFUSED`, `BAD_VALUE`, `TOO_LARGE`, `STOPPED` or `ABORTED`.
   */
  async call<T = unknown>(method: string, params: unknown, options: WaitOptions = {}): Promise<T> {
    const encoded = encodeCall(method, params);
    if (!encoded.ok)
      throw this._session.counters.emitError(encoded.tooLarge ? "TOO_LARGE" : "BAD_VALUE", encoded.reason);
    this._openCalls++;
    try {
      return (await this._send(encoded.text, options)) as T;
    } finally {
      this._openCalls--;
      if (this._openCalls === 0) this._session.connections.hangUp("call");
    }
  }

  /** Sends the call once: the platform may have run one that it did not answer. */
  private async _send(text: string, options: WaitOptions): Promise<Json> {
    const body = this._session.host.encode(text);
    const limit = this.answerBytes;
    const request = {
      method: "POST",
      path: RPC_CALL_PATH,
      body,
      // On the only connection, everything else waits for the answer.
      deadlineMs: this._session.connections.sharesUplink
        ? EXCHANGE_MS
        : (options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
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
