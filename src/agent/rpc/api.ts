import type { PlatformSession } from "../../platform/index.js";
import type { WaitOptions } from "../../platform/wait.js";
import { RpcCalls } from "./calls.js";
import type { HandleOptions, Handlers, RpcHandler } from "./handlers.js";

/** Server-side and client-side RPC. */
export class RpcApi {
  /** Maximum size of an answer in bytes, from the options. */
  readonly answerBytes: number;
  private readonly _handlers: Handlers;
  private readonly _calls: RpcCalls;

  constructor(session: PlatformSession, handlers: Handlers, answerBytes: number) {
    this.answerBytes = answerBytes;
    this._handlers = handlers;
    this._calls = new RpcCalls(session, answerBytes);
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
   * never answers. The request is sent once. Rejects with `TIMEOUT`, `REFUSED`, `BAD_VALUE`,
   * `TOO_LARGE`, `STOPPED` or `ABORTED`.
   */
  call<T = unknown>(method: string, params: unknown, options: WaitOptions = {}): Promise<T> {
    return this._calls.call(method, params, options) as Promise<T>;
  }
}
