import type { PlatformSession } from "../../platform/index.js";
import type { Json } from "../../wire/text/json.js";
import { RpcCalls } from "./client-side.js";
import type { HandleOptions, Handlers, RpcHandler } from "./handlers.js";

/** Server-side and client-side RPC. */
export class RpcApi {
  /** Longest answer, in bytes, as the options say. */
  readonly answerBytes: number;
  private readonly _handlers: Handlers;
  private readonly _calls: RpcCalls;

  constructor(session: PlatformSession, handlers: Handlers, answerBytes: number) {
    this.answerBytes = answerBytes;
    this._handlers = handlers;
    this._calls = new RpcCalls(session, answerBytes);
  }

  /** Handles a server-side RPC. A call of a method without a handler is answered `METHOD_NOT_FOUND`.
   *  Throws `BAD_VALUE` for an empty method, what is no function, and a `timeoutMs` out of its range. */
  handle(method: string, handler: RpcHandler, options: HandleOptions = {}): void {
    this._handlers.add(method, handler, options);
  }

  /**
   * A client-side RPC (POST /api/v1/{token}/rpc): resolves with the answer of the platform's rule chain. A stock platform has none for it and never answers.
   * Sent once. Rejects with `TIMEOUT` (default 30,000 ms), `REFUSED`, `BAD_VALUE`, `TOO_LARGE` or `STOPPED`.
   */
  call(method: string, params: unknown, options: { timeoutMs?: number } = {}): Promise<Json> {
    return this._calls.call(method, params, options.timeoutMs);
  }
}
