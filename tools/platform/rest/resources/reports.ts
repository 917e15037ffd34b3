// The report API: POST /apiAnalytics/publicApi/buildReport, on older servers
// /apiTrendz/publicApi/buildReport.
// The JWT comes as the query parameter or the header `jwt`, or as X-Authorization: Bearer. What is
// wrong with it is a 403, not a 401.
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refused } from "../../core/common/refused.js";
import type { Device } from "../../core/devices.js";
import { type ReportRow, reportRows, type Span } from "../../core/reports/reports.js";
import { isTime, type TableView, texts } from "../../core/reports/table-views.js";
import { isVisible, type RestContext } from "../context.js";
import { RestError } from "../error.js";
import { type Fields, isFields, objectBody, parameter, textField, uuid } from "../input.js";
import { bearer, type Tokens } from "../tokens.js";
import type { User } from "../users.js";

export const REPORT_PATHS = ["/apiAnalytics/publicApi/buildReport", "/apiTrendz/publicApi/buildReport"];
/** Characters of the answer that leave together. */
const PIECE = 16_384;

export function reportRoutes(app: FastifyInstance, context: RestContext, views: readonly TableView[]): void {
  const { clock } = context.core;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    request.user = userOf(context.tokens, request);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const body = objectBody(request);
    const viewId = uuid(textField(body, "viewConfigId") ?? "", "viewConfigId");
    const view = views.find(({ id }) => id === viewId);
    if (!view) throw new RestError(404, "View config not found");
    const span = spanOf(body, view, clock.now());
    const devices = devicesOf(body, view, context, request.user);
    const rows = reportRows(view, devices, span);
    return reply.type("application/json").send(Readable.from(pieces(view, rows), { objectMode: false }));
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
function spanOf(body: Fields, { range }: TableView, now: number): Span {
  const own = "lastMs" in range ? { startTs: now - range.lastMs, endTs: now } : range;
  const startTs = timeField(body, "rangeStartTs") ?? own.startTs;
  const endTs = timeField(body, "rangeEndTs") ?? own.endTs;
  if (startTs > endTs) throw new RestError(400, "rangeStartTs is after rangeEndTs");
  return { startTs, endTs };
}

function timeField(body: Fields, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || isTime(value)) return value;
  throw new RestError(400, `'${name}' is not a time in milliseconds`);
}

/** The user's devices that pass the view's filters, with the requested values. */
function devicesOf(body: Fields, view: TableView, { core }: RestContext, user: User | null): Device[] {
  const asked = askedFilters(body, view);
  const filters = Object.entries(view.filters).map(([name, { by, values }]) => ({
    by,
    values: asked.get(name) ?? values,
  }));
  const passes = (device: Device): boolean => {
    const known = {
      device: device.name,
      label: device.label ?? "",
      profile: core.profiles.get(device.profileId)?.name ?? "",
    };
    return filters.every(({ by, values }) => values.length === 0 || values.includes(known[by]));
  };
  return core.devices.list().filter((device) => isVisible({ user }, device) && passes(device));
}

function askedFilters({ filters }: Fields, view: TableView): Map<string, string[]> {
  if (filters === undefined || filters === null) return new Map();
  if (!isFields(filters)) throw new RestError(400, "'filters' is not an object");
  const entries = Object.entries(filters).map(([name, values]) => {
    if (!Object.hasOwn(view.filters, name))
      throw new Refused(`The view has no filter "${name.slice(0, 80)}"`);
    return [name, texts(values, `The filter "${name}"`)] as const;
  });
  return new Map(entries);
}

/** The answer's text, row by row and in pieces of some size. */
function* pieces({ columns }: TableView, rows: Iterable<ReportRow>): Generator<string> {
  let text = `{"columnLabels":${JSON.stringify(columns.map(({ label }) => label))},"dataTable":[`;
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
