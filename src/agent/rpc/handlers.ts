// The application's handlers of server-side RPC, run under a time limit.

import { MoteError } from "../../errors.js";
import { type AppOutcome, callApp } from "../../guarded.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Redactor } from "../../port.js";
import { encodeAnswer, encodeError, RPC_ERRORS } from "../../wire/rpc.js";
import { characters, isMadeOf } from "../../wire/text/characters.js";
import type { Json } from "../../wire/text/json.js";
import { quoteShortened } from "../../wire/text/text.js";
import type { HandleOptions, RpcHandler } from "./api.js";

export interface Handler {
  readonly method: string;
  readonly call: RpcHandler;
  readonly once: boolean;
  readonly timeoutMs: number;
}

/** The answer to an RPC. */
export interface RpcAnswer {
  readonly text: string;
  /** Code of an error answer. */
  readonly error: string | undefined;
}

const TIMEOUT_MS = 10_000;
const TIMEOUT_LIMIT_MS = 600_000;

export class Handlers {
  private readonly _session: PlatformSession;
  private readonly _answerBytes: number;
  private readonly _handlers: Handler[] = [];

  constructor(session: PlatformSession, answerBytes: number) {
    this._session = session;
    this._answerBytes = answerBytes;
  }

  /** Registers a handler. Method names must match exactly. A second handler replaces the first. */
  add(method: string, call: RpcHandler, { once, timeoutMs = TIMEOUT_MS }: HandleOptions): void {
    if (typeof method !== "string" || method === "")
      throw new MoteError("BAD_VALUE", "invalid RPC method: must be a non-empty string");
    const reject = (problem: string): never => {
      throw new MoteError("BAD_VALUE", this._session.redactor.clean(`"${method}": ${problem}`));
    };
    if (typeof call !== "function") reject("the handler must be a function");
    if (typeof timeoutMs !== "number" || !(timeoutMs >= 1 && timeoutMs <= TIMEOUT_LIMIT_MS))
      reject(`timeoutMs must be 1 to ${TIMEOUT_LIMIT_MS}`);
    const handler = { method, call, once: once !== false, timeoutMs };
    const at = this._handlers.findIndex((other) => other.method === method);
    this._handlers[at < 0 ? this._handlers.length : at] = handler;
  }

  find(method: string): Handler | undefined {
    return this._handlers.find((handler) => handler.method === method);
  }

  /** Runs the handler. Resolves with its result or failure; never rejects. */
  run({ method, call, timeoutMs }: Handler, params: Json | undefined): Promise<RpcAnswer> {
    const { host, applicationCalls } = this._session;
    const name = `the handler of ${quoteShortened(method)}`;
    applicationCalls.push(name);
    return new Promise((resolve) => {
      callApp(
        host.clock,
        timeoutMs,
        () => call(params),
        (outcome) => {
          applicationCalls.splice(applicationCalls.indexOf(name), 1);
          resolve(this._answerOf(outcome));
        },
      );
    });
  }

  private _answerOf(outcome: AppOutcome<unknown>): RpcAnswer {
    const { redactor, counters } = this._session;
    if (outcome.kind === "late") return errorAnswer("TIMEOUT");
    if (outcome.kind === "threw") return failureOf(outcome.error, redactor);
    const answer = encodeAnswer(outcome.value, this._answerBytes);
    if (!answer.ok) return errorAnswer(answer.code, redactor.clean(answer.reason));
    counters.countLeftOut("an RPC answer", answer.leftOut);
    return { text: redactor.cleanJson(answer.text), error: undefined };
  }
}

/** `message`: default for a code of `RPC_ERRORS`. */
export const errorAnswer = (error: string, message?: string): RpcAnswer => ({
  text: encodeError(error, message),
  error,
});

const CODE = characters("AZ09__");
const MAX_CODE = 40;
/** Maximum length of a handler's error message for the operator. */
const MAX_MESSAGE = 80;

/** The thrown value belongs to the application: even reading it may throw. */
const failureOf = (thrown: unknown, redactor: Redactor): RpcAnswer => {
  let code = "HANDLER_FAILED";
  let message: string = RPC_ERRORS.HANDLER_FAILED;
  try {
    if (isOwnCode(thrown, redactor)) code = thrown.code;
    const text: unknown = thrown instanceof Error ? thrown.message : undefined;
    if (typeof text === "string") message = redactor.clean(text).slice(0, MAX_MESSAGE);
  } catch {}
  return errorAnswer(code, message);
};

/** By name and code: an image may bundle its own copies of the classes. */
const isOwnCode = (thrown: unknown, redactor: Redactor): thrown is { code: string } => {
  const { name, code } = (thrown ?? {}) as { name?: unknown; code?: unknown };
  if (name === "MoteError") return code === "BAD_PARAMS";
  if (name !== "RpcError" || typeof code !== "string") return false;
  return isMadeOf(code, CODE, MAX_CODE) && redactor.clean(code) === code;
};
