// The stored record: the last codes, the starts by reason, and the time of the last publication.
//
//    as src/store.ts stores it, with the latest code last:
//    {"at":MS,"resets":[[REASON,TIMES],...],"errors":[[CODE,TIMES,SECONDS],...]}
import { isObject, readStored, writeStored } from "../../src/board-module.js";
import type { StoreHost } from "../../src/store.js";
import type { JsonObject } from "../../src/wire/text/json.js";

const KEY = "health";
const MOST_CODES = 16;
const MOST_REASONS = 16;
/** Maximum length of a code or reason. */
const LONGEST = 32;

/**
 * An error code, its count while it was among the sixteen, and the last time: seconds since 1970, 0
 * if unknown.
 */
export interface Noted {
  readonly code: string;
  times: number;
  at: number;
}

export class HealthRecord {
  private readonly _host: StoreHost;
  /** Time of the last publication, ms since 1970; 0: unknown. */
  private _publishedAt = 0;
  readonly resets: [reason: string, times: number][] = [];
  readonly errors: Noted[] = [];

  constructor(host: StoreHost) {
    this._host = host;
    const stored = readStored(host, KEY);
    if (isObject(stored)) this._read(stored);
  }

  /** True if the code is not among the sixteen, which justifies a write. */
  note(code: string, at: number): boolean {
    const name = code.slice(0, LONGEST);
    const known = this.errors.find((one) => one.code === name);
    if (known) this.errors.splice(this.errors.indexOf(known), 1);
    this.errors.push({ code: name, times: (known?.times ?? 0) + 1, at });
    if (this.errors.length > MOST_CODES) this.errors.shift();
    return !known;
  }

  started(reason: string): void {
    const name = reason.slice(0, LONGEST);
    const known = this.resets.find(([one]) => one === name);
    if (known) known[1]++;
    else if (this.resets.length < MOST_REASONS) this.resets.push([name, 1]);
  }

  /** Notes a publication at `now`, in ms since 1970; 0: unknown. */
  published(now: number): void {
    this._publishedAt = Math.floor(now);
  }

  /** ms since the last publication. A time after `now` was wrong and counts as `now`. */
  sincePublished(now: number): number {
    this._publishedAt = Math.min(this._publishedAt, now);
    return now - this._publishedAt;
  }

  save(): void {
    const { resets, errors } = this;
    const rows = errors.map(({ code, times, at }) => [code, times, at]);
    writeStored(this._host, KEY, { at: this._publishedAt, resets, errors: rows });
  }

  private _read({ at, resets, errors }: JsonObject): void {
    this._publishedAt = count(at);
    for (const [name, times] of rows(resets, MOST_REASONS)) this.resets.push([name, count(times)]);
    for (const [code, times, seen] of rows(errors, MOST_CODES))
      this.errors.push({ code, times: count(times), at: count(seen) });
  }
}

const rows = (value: unknown, most: number): [string, unknown, unknown][] => {
  const all: unknown[] = Array.isArray(value) ? value.slice(-most) : [];
  return all.filter(
    (row): row is [string, unknown, unknown] =>
      Array.isArray(row) && typeof row[0] === "string" && row[0].length <= LONGEST,
  );
};

const count = (value: unknown): number => {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
};
