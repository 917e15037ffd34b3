import type { DeviceRequest } from "./messages.js";

const FORM = "application/x-www-form-urlencoded";
const LATIN = /charset="?(?:iso-8859-1|latin1)/i;

/** The body as text: UTF-8 unless the content type says Latin-1. */
export function bodyText({ headers, body, url, method }: DeviceRequest): string {
  const type = headers["content-type"] ?? "";
  const text = new TextDecoder(LATIN.test(type) ? "latin1" : "utf-8", { ignoreBOM: true }).decode(body);
  // A server rebuilds a form from its parameters, so JSON sent by `curl -d` without a type does not
  // survive.
  const isForm = type.includes(FORM) && method === "POST" && !url.includes("?");
  return isForm ? new URLSearchParams(text).toString() : text;
}
