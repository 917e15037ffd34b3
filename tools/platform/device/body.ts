// The body as the platform's framework hands it to the platform: as text.

import { parseQuery } from "../spring/convert.js";
import { type MediaType, MediaTypeError, parseMediaType, unquoted } from "../spring/media-type.js";
import type { DeviceRequest } from "./messages.js";

/** What the framework can read, as it says to who sends something else. */
export const READABLE =
  "application/json, text/plain, application/cbor, application/yaml, application/xml;charset=UTF-8, text/xml;charset=UTF-8, application/*+json, application/*+xml;charset=UTF-8, */*";

const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true });
const NO_PARTS = "Failed to parse multipart servlet request";
const FORM = "application/x-www-form-urlencoded";

export type BodyText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly message: string }
  /** A content type that the framework's own code stumbles over. */
  | { readonly kind: "fault"; readonly message: string };

/** Empty where there is no body, and of a body in parts, which is read elsewhere. */
export function bodyText({ headers, body, url, method }: DeviceRequest): BodyText {
  const header = headers["content-type"];
  if (header === undefined || header === "") return text(UTF_8.decode(body));
  let type: MediaType;
  try {
    type = parseMediaType(header);
  } catch (error) {
    if (!(error instanceof MediaTypeError)) throw error;
    return { kind: "unreadable", message: error.message };
  }
  const { charset } = type.parameters;
  if (charset === undefined && type.type === "*")
    return { kind: "fault", message: "Content-Type cannot contain wildcard type '*'" };
  if (charset === undefined && type.subtype === "*")
    return { kind: "fault", message: "Content-Type cannot contain wildcard subtype '*'" };
  if (type.type === "multipart")
    return type.parameters.boundary === undefined ? { kind: "fault", message: NO_PARTS } : text("");
  // A form is put together again from its parameters, and JSON doesn't survive that.
  if (header.includes(FORM) && method === "POST" && !url.includes("?"))
    return text(rebuilt(UTF_8.decode(body)));
  return text(decoded(body, charset && unquoted(charset)));
}

function text(value: string): BodyText {
  return { kind: "text", text: value };
}

function rebuilt(body: string): string {
  const form = new URLSearchParams();
  for (const [name, values] of parseQuery(body)) for (const value of values) form.append(name, value);
  return form.toString();
}

function decoded(body: Uint8Array, charset = "utf-8"): string {
  const name = charset.toLowerCase();
  if (name === "utf-8" || name === "utf8") return UTF_8.decode(body);
  if (name === "iso-8859-1" || name === "latin1") return Buffer.from(body).toString("latin1");
  return new TextDecoder(name, { ignoreBOM: true }).decode(body);
}
