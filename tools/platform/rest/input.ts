import type { FastifyRequest } from "fastify";
import type { Json, JsonObject } from "../core/json/json.js";
import { JsonSyntaxError, parseJson } from "../core/json/json-reader.js";
import { RestError } from "./error.js";

export type Fields = Record<string, unknown>;

/** The body as a JSON object. Throws RestError 400. */
export function objectBody({ body }: FastifyRequest): Fields {
  let value: unknown;
  try {
    value = typeof body === "string" ? JSON.parse(body) : undefined;
  } catch {
    throw new RestError(400, "JSON parse error");
  }
  if (!isFields(value)) throw new RestError(400, "Request body is not a JSON object");
  return value;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The body as a JSON object with its numbers as they were spelt. Throws RestError 400. */
export function spelledBody({ body }: FastifyRequest): JsonObject {
  let value: Json;
  try {
    value = parseJson(typeof body === "string" ? body : "");
  } catch (error) {
    throw new RestError(400, error instanceof JsonSyntaxError ? error.message : "JSON parse error");
  }
  if (!(value instanceof Map)) throw new RestError(400, "Request is not a JSON object");
  return value;
}

/** A text member; undefined if absent or null. Throws RestError 400 for other types. */
export function textField(fields: Fields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new RestError(400, `'${name}' is not a string`);
  return value;
}

/** Reads `{"entityType":"DEVICE","id":"…"}`. Throws RestError 400. */
export function idField(fields: Fields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (value === undefined || value === null) return undefined;
  const id = typeof value === "object" ? (value as { id?: unknown }).id : undefined;
  if (typeof id !== "string") throw new RestError(400, `'${name}' is not an entity id`);
  return uuid(id, name);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Throws RestError 400 if it is none. */
export function uuid(text: string, name: string): string {
  if (!UUID.test(text)) throw new RestError(400, `Incorrect ${name}: it is not a UUID`, 30);
  return text.toLowerCase();
}

/** One query parameter; undefined if it is absent. */
export function parameter({ query }: FastifyRequest, name: string): string | undefined {
  const value = (query as Record<string, unknown>)[name];
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : undefined;
}

/** A whole number. Throws RestError 400. */
export function numberParameter(request: FastifyRequest, name: string): number | undefined {
  const text = parameter(request, name);
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RestError(400, `'${name}' is not a number`);
  return value;
}

/** Names from a list with commas; undefined if the parameter is absent or empty. */
export function keysParameter(request: FastifyRequest, name = "keys"): string[] | undefined {
  const keys = (parameter(request, name) ?? "").split(",").filter((key) => key !== "");
  return keys.length === 0 ? undefined : keys;
}

export interface Page<T> {
  data: T[];
  totalPages: number;
  totalElements: number;
  hasNext: boolean;
}

/** The requested page of entities whose name contains `textSearch`. Throws RestError 400. */
export function pageOf<T, V>(
  request: FastifyRequest,
  all: readonly T[],
  name: (entity: T) => string,
  view: (entity: T) => V,
): Page<V> {
  const pageSize = needed(request, "pageSize");
  const page = needed(request, "page");
  if (pageSize < 1) throw new RestError(400, "Incorrect page link page size must be greater than zero.", 30);
  if (page < 0) throw new RestError(400, "Incorrect page link page must be positive integer.", 30);
  const search = (parameter(request, "textSearch") ?? "").toLowerCase();
  const matching = all.filter((entity) => name(entity).toLowerCase().includes(search));
  return slice(matching, page, pageSize, view);
}

/** One page of all matching entities. */
export function slice<T, V>(
  all: readonly T[],
  page: number,
  pageSize: number,
  view: (entity: T) => V,
): Page<V> {
  const data = all.slice(page * pageSize, (page + 1) * pageSize).map(view);
  const totalPages = Math.ceil(all.length / pageSize);
  return { data, totalPages, totalElements: all.length, hasNext: page + 1 < totalPages };
}

function needed(request: FastifyRequest, name: string): number {
  const value = numberParameter(request, name);
  if (value !== undefined) return value;
  throw new RestError(
    400,
    `Required request parameter '${name}' for method parameter type int is not present`,
  );
}
