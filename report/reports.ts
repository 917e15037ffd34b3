// Reports of saved table views, delivered row by row.

import { type Call, Calls, type Clock, discard, systemClock } from "./call.js";
import { ReportError, refusal } from "./errors.js";
import { type CheckedReportOptions, checkReportOptions, type ReportOptions } from "./options.js";
import { type ReportQuestion, type RowTaker, reportBody, reportProblem } from "./question.js";
import { RowReader } from "./row-reader.js";
import type { Session } from "./session.js";

const TIMEOUT_MS = 60_000;

export interface ReportRequest extends ReportQuestion {
  /**
   * Time limit in ms for the queue, the login, a busy platform and the whole answer. Default
   * 60,000; at most 20 days.
   */
  readonly timeoutMs?: number | undefined;
}

/** The result of a report. */
export interface ReportEnd {
  readonly rows: number;
  /** Size of the response body, decompressed, in bytes. */
  readonly bytes: number;
}

/**
 * Builds reports one after the other: the platform queues few, and a client must not compete with
 * itself.
 */
export class Reports {
  readonly #session: Session;
  readonly #options: CheckedReportOptions;
  readonly #fetch: typeof fetch;
  readonly #calls: Calls;
  /** Settles when all earlier reports are done. */
  #earlier: Promise<unknown> = Promise.resolve();

  /** Throws `BAD_OPTIONS`. `io`: replaced by tests. */
  constructor(options: ReportOptions, io: { fetch?: typeof fetch; clock?: Clock } = {}) {
    this.#options = checkReportOptions(options);
    this.#session = options.session;
    this.#fetch = io.fetch ?? fetch;
    this.#calls = new Calls(io.clock ?? systemClock, "report");
  }

  /**
   * Requests a report and passes each row to `taker` as it arrives; rows are not stored. After an
   * error, rows passed so far are an incomplete report. Rejects with ReportError, or with the
   * exception of the taker.
   */
  async build(request: ReportRequest, taker: RowTaker): Promise<ReportEnd> {
    const problem = reportProblem(request);
    if (problem !== undefined) throw new ReportError("BAD_VALUE", problem);
    const body = reportBody(request);
    return this.#calls.run(request.timeoutMs ?? TIMEOUT_MS, (call) => {
      const earlier = this.#earlier;
      const mine = call.until(earlier).then(() => this.#build(call, body, taker));
      this.#earlier = Promise.allSettled([earlier, mine]).then(() => {});
      return mine;
    });
  }

  /**
   * Closes for good: active, queued and later reports end with `STOPPED`. The session stays open.
   */
  close(): void {
    this.#calls.close();
  }

  async #build(call: Call, body: string, taker: RowTaker): Promise<ReportEnd> {
    let refused: string | undefined;
    for (;;) {
      const token = await this.#session.token(call.left, refused, call.signal);
      const response = await this.#send(call, body, token);
      const { status } = response;
      if (status === 200) return this.#read(call, response, taker);
      await discard(response);
      const mayRenew = (status === 401 || status === 403) && this.#session.renewable;
      if (!mayRenew || refused !== undefined) throw refusal("report", status);
      refused = token;
    }
  }

  #send(call: Call, body: string, token: string): Promise<Response> {
    return call.post(this.#fetch, this.#options.url, body, { jwt: token });
  }

  async #read(call: Call, response: Response, taker: RowTaker): Promise<ReportEnd> {
    const { rowBytes, idleMs } = this.#options;
    const rows = new RowReader(rowBytes, taker);
    const reader = response.body?.getReader();
    let bytes = 0;
    let seen = 0;
    const stopWatch = call.every(idleMs, () => {
      if (bytes === seen) call.abort(new ReportError("TIMEOUT", "report: no more data from the platform"));
      seen = bytes;
    });
    try {
      for (;;) {
        const piece = reader && (await call.piece(reader).catch((error) => afterRows(error, rows.rows)));
        if (!piece) break;
        bytes += piece.length;
        if (!rows.feed(piece)) break;
        taker.received?.(bytes);
      }
      rows.end();
      if (rows.problem !== undefined) throw invalid(rows);
      return { rows: rows.rows, bytes };
    } finally {
      stopWatch();
      reader?.cancel().catch(() => {});
    }
  }
}

/** Names the rows that were passed on before the error. */
function afterRows(error: unknown, rows: number): never {
  if (!(error instanceof ReportError) || rows === 0) throw error;
  throw new ReportError(error.code, `${error.message} after ${rows} rows`);
}

function invalid({ problem, rows }: RowReader): ReportError {
  const row = rows + 1;
  switch (problem) {
    case "too large":
      return new ReportError(
        "TOO_LARGE",
        `report: row ${row}, or the list of labels, is larger than allowed`,
      );
    case "given up":
      return new ReportError("STOPPED", "report: aborted by the row taker");
    default:
      return new ReportError("MALFORMED", `report: the answer is malformed or incomplete (row ${row})`);
  }
}
