import { type DeviceResponse, errorJson, type Headers, response } from "./messages.js";

export const JSON_TYPE = "application/json";
export const TEXT_TYPE = "text/plain;charset=UTF-8";

/** An error of the platform's framework: JSON, chunked. */
export function errorAnswer(
  status: number,
  message: string | null,
  now: number,
  headers: Headers = {},
): DeviceResponse {
  return { ...response(status, errorJson(status, message, now), JSON_TYPE, headers), chunked: true };
}
