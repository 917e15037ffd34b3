// Reports of saved table views, delivered row by row.

import { Connection, exchange } from "../http/connection.js";
import type { Outcome } from "../http/outcome.js";
import type { Request } from "../http/request.js";
import { Backoff } from "../platform/backoff.js";
import type { Host } from "../port.js";
import { escapeText } from "../wire/paths.js";
import { ASKS_JSON, type ReportQuestion, type RowTaker, reportBody, reportProblem } from "../wire/report.js";
import { ReportError, refusal } from "./errors.js";
import { type CheckedReportOptions, checkReportOptions, type ReportOptions } from "./options.js";
import { endOf, LONGEST_WAIT_MS, Pauses, waitBusy } from "./pauses.js";
import { RowSink } from "./row-sink.js";
import type { Session } from "./session.js";

const TIMEOUT_MS = 60_000;
/** Maximum number of queued reports of one client. */
const QUEUE = 128;
/** Limit for an answer that is not a report. */
const REFUSAL_BYTES = 512;

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
  /** Size of the response body, in bytes. */
  readonly bytes: number;
}

/**
 * Builds reports one after the other: the platform queues few, and a client must not compete with
 * itself.
 */
export class Reports {
  private readonly _host: Host;
  private readonly _session: Session;
  private readonly _options: CheckedReportOptions;
  private readonly _pauses: Pauses;
  private readonly _waiting: (() => void)[] = [];
  private _connection: Connection;
  private _running = false;

  /** Throws `BAD_OPTIONS`. */
  constructor(host: Host, options: ReportOptions) {
    this._options = checkReportOptions(options);
    this._host = host;
    this._session = options.session;
    this._pauses = new Pauses(host.clock);
    this._connection = new Connection(host, this._options.target);
  }

  /**
   * Requests a report and passes each row to `taker` as it arrives; rows are not stored. After an
   * error, rows passed so far are an incomplete report. Rejects with ReportError, or with the
   * exception of the taker.
   */
  async build(request: ReportRequest, taker: RowTaker): Promise<ReportEnd> {
    const problem = reportProblem(request);
    if (problem !== undefined) throw new ReportError("BAD_VALUE", problem);
    const end = endOf(this._host.clock, request.timeoutMs ?? TIMEOUT_MS);
    await this._turn(end);
    try {
      return await this._build(this._host.encode(reportBody(request)), taker, end);
    } finally {
      this._next();
    }
  }

  /**
   * Closes for good: active, queued and later reports end with `STOPPED`. The session stays open.
   */
  close(): void {
    this._pauses.close();
    this._connection.close();
  }

  /** Resolves when earlier reports are done. */
  private async _turn(end: number): Promise<void> {
    if (this._running) {
      if (this._waiting.length >= QUEUE) throw new ReportError("BUSY", `${QUEUE} reports are already queued`);
      let mine = false;
      let notify = () => {};
      const called = new Promise<void>((resolve) => {
        notify = () => {
          mine = true;
          resolve();
        };
      });
      this._waiting.push(notify);
      await this._pauses.until(end - this._host.clock.now(), called);
      if (!mine) {
        const at = this._waiting.indexOf(notify);
        if (at >= 0) this._waiting.splice(at, 1);
        this._checkOpen();
        throw new ReportError("TIMEOUT", "report: still queued at the time limit");
      }
    }
    this._running = true;
  }

  private _next(): void {
    const notify = this._waiting.shift();
    if (notify) {
      notify();
      return;
    }
    this._running = false;
    // The next report may come any time later, so close the connection.
    this._connection.fresh();
  }

  private async _build(body: Uint8Array, taker: RowTaker, end: number): Promise<ReportEnd> {
    const backoff = new Backoff(this._host, LONGEST_WAIT_MS);
    let refused: string | undefined;
    let renewed = false;
    for (;;) {
      this._checkOpen();
      const token = await this._session.token(this._left(end), refused);
      refused = undefined;
      this._checkOpen();
      const sink = new RowSink(this._host, this._options.rowBytes, taker);
      const outcome = await this._send(body, token, sink, this._left(end));
      switch (outcome.kind) {
        case "done":
          return sink.finish();
        case "refused": {
          const mayRenew = (outcome.status === 401 || outcome.status === 403) && this._session.renewable;
          if (!mayRenew || renewed) throw refusal("report", outcome.status);
          renewed = true;
          refused = token;
          break;
        }
        case "busy":
          await waitBusy(this._host, this._pauses, "report", outcome, backoff, end);
          break;
        case "lost":
          this._checkOpen();
          throw sink.lost(outcome.reason, this._host.clock.now() >= end);
      }
    }
  }

  private async _send(body: Uint8Array, token: string, sink: RowSink, deadlineMs: number): Promise<Outcome> {
    const { path, jwtIn } = this._options;
    const header = jwtIn === "bearer" ? `X-Authorization: Bearer ${token}` : `jwt: ${token}`;
    const request: Request = {
      method: "POST",
      purpose: "report",
      path: jwtIn === "query" ? `${path}?jwt=${escapeText(token)}` : path,
      headers: jwtIn === "query" ? [ASKS_JSON] : [ASKS_JSON, header],
      body,
      deadlineMs,
      limit: REFUSAL_BYTES,
      // A report changes nothing on the platform.
      repeatable: true,
      sink,
    };
    const stopWatch = this._watch(sink);
    const outcome = await exchange(this._connection, request);
    stopWatch();
    return outcome;
  }

  /** Aborts a started answer that brings no more data. */
  private _watch(sink: RowSink): () => void {
    const { clock } = this._host;
    const { target, idleMs } = this._options;
    let seen = 0;
    let cancel: (() => void) | undefined;
    const checkIdle = () => {
      if (sink.bytes > 0 && sink.bytes === seen) {
        sink.markSilent();
        const connection = this._connection;
        if (!this._pauses.closed) this._connection = new Connection(this._host, target);
        return connection.close();
      }
      seen = sink.bytes;
      cancel = clock.timer(idleMs, checkIdle);
    };
    cancel = clock.timer(idleMs, checkIdle);
    return () => cancel?.();
  }

  private _left(end: number): number {
    const left = end - this._host.clock.now();
    if (left > 0) return left;
    throw new ReportError("TIMEOUT", "report: not complete within the time limit");
  }

  private _checkOpen(): void {
    if (this._pauses.closed) throw new ReportError("STOPPED", "report: the client is closed");
  }
}
