import type { WaitOptions } from "../../platform/wait.js";

/**
 * Handles a server-side RPC; receives its params (any JSON value; null if absent).
 *
 * The returned or resolved value is the answer; undefined answers null. Members that JSON cannot
 * hold (NaN, a function) are left out and counted, as in `telemetry.record`. An exception answers
 * `HANDLER_FAILED` with its message, `BAD_PARAMS` for a `MoteError` with that code, or the code of
 * an `RpcError`.
 */
export type RpcHandler<P = unknown> = (params: P) => unknown;

/** Options of `rpc.handle`. */
export interface HandleOptions {
  /**
   * Whether a restart must never run the handler again. Default true.
   *
   * True: the handler runs at most once, even over restarts; one small value is stored before it
   * runs. False: nothing is stored, and a restart may run it again; for handlers that only read.
   */
  once?: boolean;
  /**
   * Time limit of the handler in ms, 1 to 600,000; then the answer is `TIMEOUT`. Default 10,000,
   * like the platform's own limit.
   */
  timeoutMs?: number;
}

/** Server-side and client-side RPC. */
export interface RpcApi {
  /** Maximum size of an answer in bytes, from the options. */
  readonly answerBytes: number;

  /**
   * Registers the handler of a server-side RPC method.
   *
   * A method without a handler is answered with `METHOD_NOT_FOUND`. A second handler replaces the
   * first. Throws `BAD_VALUE` for an empty method, a handler that is not a function, or an invalid
   * `timeoutMs`.
   */
  handle<P = unknown>(method: string, handler: RpcHandler<P>, options?: HandleOptions): void;

  /**
   * Calls a client-side RPC (POST /api/v1/{token}/rpc).
   *
   * Resolves with the answer of the platform's rule chain; a server without a rule chain for RPC
   * never answers. The request is sent once. With one connection, the answer may take 35 s at most.
   * Rejects with `TIMEOUT`, `REFUSED`, `BAD_VALUE`, `TOO_LARGE`, `STOPPED` or `ABORTED`.
   */
  call<T = unknown>(method: string, params: unknown, options?: WaitOptions): Promise<T>;
}
