// The report API: POST /apiAnalytics/publicApi/buildReport, on older servers
// /apiTrendz/publicApi/buildReport.
// The JWT comes as the query parameter or the header `jwt`, or as X-Authorization: Bearer. What is
// wrong with it is a 403, not a 401.
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Device } from "../../core/devices.js";
import {
  FILTER,
  LABELS,
  LAST_MS,
  type ReportRow,
  reportRows,
  type Span,
  VIEW_ID,
} from "../../core/reports/reports.js";
import { isVisible, type RestContext } from "../context.js";
import { RestError } from "../error.js";
import { type Fields, isFields, objectBody, parameter, textField, uuid } from "../input.js";
import { bearer, type Tokens } from "../tokens.js";
import type { User } from "../users.js";

export const REPORT_PATHS = ["/apiAnalytics/publicApi/buildReport", "/apiTrendz/publicApi/buildReport"];
/** Characters of the answer that leave together. */
const PIECE = 16_384;

export function reportRoutes(app: FastifyInstance, context: RestContext): void {
  const { clock } = context.core;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    request.user = userOf(context.tokens, request);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const body = objectBody(request);
    const viewId = uuid(textField(body, "viewConfigId") ?? "", "viewConfigId");
    if (viewId !== VIEW_ID) throw new RestError(404, "View config not found");
    const rows = reportRows(devicesOf(body, context, request.user), spanOf(body, clock.now()));
    return reply.type("application/json").send(Readable.from(pieces(rows), { objectMode: false }));
  };
  for (const path of REPORT_PATHS) app.post(path, { onRequest }, handler);
}

function userOf(tokens: Tokens, request: FastifyRequest): User {
  const { jwt } = request.headers;
  const token = parameter(request, "jwt") ?? (typeof jwt === "string" ? jwt : bearer(request)) ?? "";
  try {
    return tokens.user(token);
  } catch (error) {
    if (error instanceof RestError) throw new RestError(403, "JWT token is not valid or expired");
    throw error;
  }
}

/** Either end of the view's own range is replaced by the one that is asked for. */
function spanOf(body: Fields, now: number): Span {
  const startTs = timeField(body, "rangeStartTs") ?? now - LAST_MS;
  const endTs = timeField(body, "rangeEndTs") ?? now;
  if (startTs > endTs) throw new RestError(400, "rangeStartTs is after rangeEndTs");
  return { startTs, endTs };
}

function timeField(body: Fields, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || (typeof value === "number" && Number.isSafeInteger(value) && value >= 0))
    return value;
  throw new RestError(400, `'${name}' is not a time in milliseconds`);
}

/** The user's devices that pass the filter; no values: all. */
function devicesOf({ filters = {} }: Fields, { core }: RestContext, user: User | null): Device[] {
  const asked = filters ?? {};
  if (!isFields(asked)) throw new RestError(400, "'filters' is not an object");
  for (const [name, values] of Object.entries(asked)) {
    if (name !== FILTER) throw new RestError(400, `The view has no filter "${name.slice(0, 80)}"`);
    if (!Array.isArray(values)) throw new RestError(400, `The filter "${name}" must be a list of strings`);
  }
  const names = (asked[FILTER] ?? []) as readonly unknown[];
  const passes = ({ name }: Device): boolean => names.length === 0 || names.includes(name);
  return core.devices.list().filter((device) => isVisible({ user }, device) && passes(device));
}

/** The answer's text, row by row and in pieces of some size. */
function* pieces(rows: Iterable<ReportRow>): Generator<string> {
  let text = `{"columnLabels":${JSON.stringify(LABELS)},"dataTable":[`;
  let comma = "";
  for (const row of rows) {
    text += comma + JSON.stringify(row);
    comma = ",";
    if (text.length < PIECE) continue;
    yield text;
    text = "";
  }
  yield `${text}]}`;
}
