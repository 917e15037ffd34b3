import type { DeviceRequest } from "./messages.js";

const FORM = "application/x-www-form-urlencoded";

/** The body as text. */
export function bodyText({ headers, body }: DeviceRequest): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  // A server rebuilds a form from its parameters, so JSON sent as a form does not survive. Some
  // clients call every body a form by default, curl -d for example.
  return headers["content-type"]?.includes(FORM) ? new URLSearchParams(text).toString() : text;
}
