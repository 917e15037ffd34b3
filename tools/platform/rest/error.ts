import type { FastifyError } from "fastify";
import { Refused } from "../core/common/refused.js";
import { ERROR_CODES } from "../device/messages.js";

/** `{"message":"…","errorCode":32,"status":404,"timestamp":1700000000000}` */
export class RestError extends Error {
  override name = "RestError";
  readonly status: number;
  readonly errorCode: number;

  constructor(status: number, message: string, errorCode = ERROR_CODES[status] ?? 2) {
    super(message);
    this.status = status;
    this.errorCode = errorCode;
  }
}

export function errorBody({ status, message, errorCode }: RestError, timestamp: number): object {
  return { message, errorCode, status, timestamp };
}

/** What went wrong, as an answer; undefined for a fault of the local platform's own. */
export function toRestError(error: Error | FastifyError): RestError | undefined {
  if (error instanceof RestError) return error;
  if (error instanceof Refused) return new RestError(400, error.message);
  const status = "statusCode" in error ? error.statusCode : undefined;
  return status !== undefined && status >= 400 && status < 500
    ? new RestError(status, error.message)
    : undefined;
}

export function found<T>(entity: T | undefined): T {
  if (entity === undefined) throw new RestError(404, "Requested item wasn't found!");
  return entity;
}
