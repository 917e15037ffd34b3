// The application's handlers of server-side RPC, run under a time limit.

import { MoteError } from "../../errors.js";
import { type AppOutcome, callApp } from "../../guarded.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Redactor } from "../../port.js";
import { encodeAnswer, encodeError } from "../../wire/rpc.js";
import { characters, isMadeOf } from "../../wire/text/characters.js";
import type { Json } from "../../wire/text/json.js";
import { quoteShortened } from "../../wire/text/text.js";

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

export interface Handler {
  readonly method: string;
  readonly call: RpcHandler;
  readonly once: boolean;
  readonly timeoutMs: number;
}

export interface HandlerResult {
  readonly text: string;
  /** Code of an error answer. */
  readonly error: string | undefined;
}

const TIMEOUT_MS = 10_000;
const TIMEOUT_LIMIT_MS = 600_000;

type HandlerSession = Pick<PlatformSession, "host" | "redactor" | "counters" | "applicationCalls">;

export class Handlers {
  private readonly _session: HandlerSession;
  private readonly _answerBytes: number;
  private readonly _handlers: Handler[] = [];

  constructor(session: HandlerSession, answerBytes: number) {
    this._session = session;
    this._answerBytes = answerBytes;
  }

  /** Registers a handler. Method names must match exactly. A second handler replaces the first. */
  add(method: string, call: RpcHandler, options: HandleOptions): void {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    if (typeof method !== "string" || method === "")
      throw new MoteError("BAD_VALUE", "invalid RPC method: must be a non-empty string");
    const reject = (problem: string): never => {
      throw new MoteError("BAD_VALUE", this._session.redactor.clean(`"${method}": ${problem}`));
    };
    if (typeof call !== "function") reject("the handler must be a function");
    if (typeof timeoutMs !== "number" || !(timeoutMs >= 1 && timeoutMs <= TIMEOUT_LIMIT_MS))
      reject(`timeoutMs must be 1 to ${TIMEOUT_LIMIT_MS}`);
    const handler = { method, call, once: options.once !== false, timeoutMs };
    const at = this._handlers.findIndex((other) => other.method === method);
    if (at < 0) this._handlers.push(handler);
    else this._handlers[at] = handler;
  }

  find(method: string): Handler | undefined {
    return this._handlers.find((handler) => handler.method === method);
  }

  /** Runs the handler and returns its result or failure as the text of an answer. Never rejects. */
  call(handler: Handler, params: Json | undefined): Promise<HandlerResult> {
    const call = () => handler.call(params === undefined ? null : params);
    const { host, redactor, applicationCalls } = this._session;
    const name = redactor.clean(`the handler of ${quoteShortened(handler.method)}`);
    applicationCalls.push(name);
    return new Promise((resolve) => {
      callApp(host.clock, handler.timeoutMs, call, (outcome) => {
        applicationCalls.splice(applicationCalls.indexOf(name), 1);
        resolve(this._answer(outcome));
      });
    });
  }

  private _answer(outcome: AppOutcome<unknown>): HandlerResult {
    const { redactor, counters } = this._session;
    if (outcome.kind === "late") return failed("TIMEOUT", "the handler took too long");
    try {
      if (outcome.kind === "value") {
        const answer = encodeAnswer(outcome.value, this._answerBytes);
        if (!answer.ok) return failed(answer.code, redactor.clean(answer.reason));
        counters.countLeftOut("an RPC answer", answer.leftOut);
        return { text: redactor.cleanJson(answer.text), error: undefined };
      }
    } catch (error) {
      // Reading the application's value may throw.
      return this._answer({ kind: "threw", error });
    }
    const { code, message } = failureOf(outcome.error, redactor);
    return failed(code, message);
  }
}

/** By name and code: an image may bundle its own copies of the classes. */
const codeOf = (error: unknown, redactor: Redactor): string => {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  if (typeof code !== "string") return "HANDLER_FAILED";
  if (name === "MoteError" && code === "BAD_PARAMS") return code;
  const isOwn = name === "RpcError" && isMadeOf(code, CODE, MAX_CODE) && redactor.clean(code) === code;
  return isOwn ? code : "HANDLER_FAILED";
};

const CODE = characters("AZ09__");
const MAX_CODE = 40;

const failed = (code: string, message: string): HandlerResult => ({
  text: encodeError(code, message),
  error: code,
});

/** Maximum length of a handler's error message for the operator. */
const MAX_MESSAGE = 80;

/** The thrown value belongs to the application: even reading it may throw. */
const failureOf = (error: unknown, redactor: Redactor): { code: string; message: string } => {
  const failure: ReturnType<typeof failureOf> = { code: "HANDLER_FAILED", message: "the handler failed" };
  try {
    failure.code = codeOf(error, redactor);
    const message: unknown = error instanceof Error ? error.message : undefined;
    if (typeof message === "string") failure.message = redactor.clean(message).slice(0, MAX_MESSAGE);
  } catch {}
  return failure;
};
