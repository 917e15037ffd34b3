// What is asked of the report API: POST {prefix}/buildReport
//
//   {"viewConfigId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","rangeStartTs":1760000000000,"rangeEndTs":1760086400000,
//    "filters":{"Building":["North","South"]}}
//
// All but the view may be missing: the view's own range and filters hold then.

import { HEX, isMadeOf } from "./text/characters.js";
import { isObject } from "./text/json.js";
import { quote } from "./text/text.js";

const UUID = [8, 4, 4, 4, 12] as const;
/** A day before the year 10,000: beyond, a time stamp is no time. */
const LAST_TS = 253_402_300_799_999;

/** A header of each request of the report API and its login: its servers are asked for JSON by name. */
export const ASKS_JSON = "Accept: application/json";

/** What a report is asked for. */
export interface ReportQuestion {
  /** UUID of the saved table view. */
  readonly viewConfigId: string;
  /** ms since 1970. Default: the view's own. */
  readonly rangeStartTs?: number | undefined;
  /** ms since 1970, not before the start. Default: the view's own. */
  readonly rangeEndTs?: number | undefined;
  /** Name of a filter of the view -> the values that pass it. */
  readonly filters?: { readonly [name: string]: readonly string[] } | undefined;
}

/** A value of a row. Null where the platform has none. Whole numbers beyond 2^53 lose their last digits, as everywhere in JavaScript. */
export type Cell = string | number | boolean | null;
/** By label. Look a label up with `Object.hasOwn`. */
export type Row = { readonly [label: string]: Cell };

/** Called with what the answer holds. Returning false gives the rest up; so does throwing. A promise is not waited for. */
export interface RowTaker {
  /** Once; before the rows or after them, as the answer has it. */
  labels?(labels: readonly string[]): unknown;
  /** Zero or more times, in the answer's order. */
  row(row: Row): unknown;
  /** After each piece of the answer: bytes of it so far. */
  received?(bytes: number): unknown;
}

/** Says what the platform would refuse, or understand as something else; undefined if it is a question. */
export const reportProblem = (question: ReportQuestion): string | undefined => {
  if (!isObject(question)) return "a report is asked for by an object";
  const { viewConfigId, rangeStartTs: start, rangeEndTs: end, filters } = question;
  if (typeof viewConfigId !== "string" || !isUuid(viewConfigId)) return "viewConfigId is a UUID";
  if (!isTime(start)) return "rangeStartTs is a whole number of ms since 1970";
  if (!isTime(end)) return "rangeEndTs is a whole number of ms since 1970";
  if (start !== undefined && end !== undefined && start > end) return "rangeStartTs is after rangeEndTs";
  if (filters === undefined) return undefined;
  if (!isObject(filters)) return "filters is an object of arrays";
  const isList = (name: string): boolean => {
    const values: unknown = (filters as Record<string, unknown>)[name];
    return Array.isArray(values) && values.every((value) => typeof value === "string");
  };
  return Object.keys(filters).every(isList) ? undefined : "a filter is an array of strings";
};

const isUuid = (text: string): boolean => {
  const parts = text.split("-");
  return (
    parts.length === UUID.length && parts.every((part, i) => part.length === UUID[i] && isMadeOf(part, HEX))
  );
};

/** The body of the request; of a question without a problem. */
export const reportBody = ({ viewConfigId, rangeStartTs, rangeEndTs, filters }: ReportQuestion): string => {
  let text = `{"viewConfigId":${quote(viewConfigId)}`;
  if (rangeStartTs !== undefined) text += `,"rangeStartTs":${rangeStartTs}`;
  if (rangeEndTs !== undefined) text += `,"rangeEndTs":${rangeEndTs}`;
  if (filters !== undefined) {
    const members = Object.keys(filters).map(
      (name) => `${quote(name)}:[${(filters[name] ?? []).map(quote).join(",")}]`,
    );
    text += `,"filters":{${members.join(",")}}`;
  }
  return `${text}}`;
};

const isTime = (ts: unknown): boolean => {
  return ts === undefined || (Number.isInteger(ts) && (ts as number) >= 0 && (ts as number) <= LAST_TS);
};
