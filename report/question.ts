// A request of the report API: POST {prefix}/buildReport
//
//   {"viewConfigId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301",
//    "rangeStartTs":1760000000000,"rangeEndTs":1760086400000,
//    "filters":{"Building":["North","South"]}}
//
// All members except the view are optional; their default is the view's own range and filters.

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** A day before the year 10,000, beyond which a time stamp is invalid. */
const LAST_TS = 253_402_300_799_999;

/** Parameters of a report. */
export interface ReportQuestion {
  /** UUID of the saved table view. */
  readonly viewConfigId: string;
  /** ms since 1970. Default: the view's own start. */
  readonly rangeStartTs?: number | undefined;
  /** ms since 1970, not before the start. Default: the view's own end. */
  readonly rangeEndTs?: number | undefined;
  /** Allowed values by filter name of the view. */
  readonly filters?: { readonly [name: string]: readonly string[] } | undefined;
}

/** A value of a row; null if missing. Whole numbers beyond 2^53 lose their last digits. */
export type Cell = string | number | boolean | null;
/** Values by label. Look up labels with `Object.hasOwn`. */
export type Row = { readonly [label: string]: Cell };

/**
 * Receives the content of the answer. Returning false or throwing aborts it. Promises are not
 * awaited.
 */
export interface RowTaker {
  /** Called once, before or after the rows, as in the answer. */
  labels?(labels: readonly string[]): unknown;
  /** Called for each row, in order. */
  row(row: Row): unknown;
  /** Called after each piece of the answer with the number of bytes so far. */
  received?(bytes: number): unknown;
}

/** Returns why the platform would refuse or misread the request; undefined if it is valid. */
export function reportProblem(question: ReportQuestion): string | undefined {
  if (typeof question !== "object" || question === null) return "the report request must be an object";
  const { viewConfigId, rangeStartTs: start, rangeEndTs: end, filters } = question;
  if (typeof viewConfigId !== "string" || !UUID.test(viewConfigId)) return "viewConfigId must be a UUID";
  if (!isTime(start)) return "rangeStartTs must be a whole number of ms since 1970";
  if (!isTime(end)) return "rangeEndTs must be a whole number of ms since 1970";
  if (start !== undefined && end !== undefined && start > end)
    return "rangeStartTs must not be after rangeEndTs";
  if (filters === undefined) return undefined;
  if (typeof filters !== "object" || filters === null || Array.isArray(filters))
    return "filters must be an object of arrays";
  const isList = (values: unknown): boolean =>
    Array.isArray(values) && values.every((value) => typeof value === "string");
  return Object.values(filters).every(isList) ? undefined : "each filter must be an array of strings";
}

/** The request body of a valid question. */
export function reportBody({ viewConfigId, rangeStartTs, rangeEndTs, filters }: ReportQuestion): string {
  return JSON.stringify({ viewConfigId, rangeStartTs, rangeEndTs, filters });
}

const isTime = (ts: unknown): boolean => {
  return ts === undefined || (Number.isInteger(ts) && (ts as number) >= 0 && (ts as number) <= LAST_TS);
};
