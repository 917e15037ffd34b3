// Reports of saved table views, row by row as they come in.
import { Backoff } from "../net/backoff.js";
import { Connection } from "../net/connection.js";
import { exchange } from "../net/exchange.js";
import type { Outcome } from "../net/outcome.js";
import type { Request } from "../net/request.js";
import type { Host } from "../port.js";
import { escapeText } from "../wire/paths.js";
import { type ReportQuestion, type RowTaker, reportBody, reportFlaw } from "../wire/report.js";
import { ReportError, refusal } from "./errors.js";
import { type CheckedReportOptions, checkReportOptions, type ReportOptions } from "./options.js";
import { endOf, LONGEST_WAIT_MS, Pauses, waitBusy } from "./pause.js";
import { RowSink } from "./row-sink.js";
import type { Session } from "./session.js";

const DEADLINE_MS = 60_000;
/** Reports of one client that wait for their turn. */
const QUEUE = 128;
/** Of an answer that is no report. */
const REFUSAL_BYTES = 512;

export interface ReportRequest extends ReportQuestion {
  /** ms for all of it: its turn, the login, waiting for a busy platform, and the whole answer. Default 60,000; 20 days at most. */
  readonly deadlineMs?: number | undefined;
}

/** What a report came to. */
export interface ReportEnd {
  readonly rows: number;
  /** Of the answer's body. */
  readonly bytes: number;
}

/** Builds reports, one after the other: the platform lets few wait, and a client must not crowd out itself. */
export class Reports {
  readonly #host: Host;
  readonly #session: Session;
  readonly #options: CheckedReportOptions;
  readonly #pauses: Pauses;
  readonly #waiting: (() => void)[] = [];
  #connection: Connection;
  #running = false;

  /** Throws `BAD_OPTIONS`. */
  constructor(host: Host, options: ReportOptions) {
    this.#options = checkReportOptions(options);
    this.#host = host;
    this.#session = options.session;
    this.#pauses = new Pauses(host.clock);
    this.#connection = new Connection(host, this.#options.target);
  }

  /**
   * Asks for a report and hands each row to `taker` as it comes in; rows are not kept. Rows that were handed over before an error
   * are part of a report that never became whole. Rejects with ReportError, or with what the taker threw.
   */
  async build(request: ReportRequest, taker: RowTaker): Promise<ReportEnd> {
    const flaw = reportFlaw(request);
    if (flaw !== undefined) throw new ReportError("BAD_VALUE", flaw);
    const end = endOf(this.#host.clock, request.deadlineMs ?? DEADLINE_MS);
    await this.#turn(end);
    try {
      return await this.#build(this.#host.encode(reportBody(request)), taker, end);
    } finally {
      this.#next();
    }
  }

  /** For good: reports under way and waiting end with `STOPPED`, and so does every later one. The session is left as it is. */
  close(): void {
    this.#pauses.close();
    this.#connection.close();
  }

  /** Resolves when those before are over. */
  async #turn(end: number): Promise<void> {
    if (this.#running) {
      if (this.#waiting.length >= QUEUE) throw new ReportError("BUSY", `${QUEUE} reports wait already`);
      let mine = false;
      let wake = () => {};
      const called = new Promise<void>((resolve) => {
        wake = () => {
          mine = true;
          resolve();
        };
      });
      this.#waiting.push(wake);
      await this.#pauses.until(end - this.#host.clock.now(), called);
      if (!mine) {
        const at = this.#waiting.indexOf(wake);
        if (at >= 0) this.#waiting.splice(at, 1);
        this.#checkOpen();
        throw new ReportError("TIMEOUT", "report: its turn did not come before the deadline");
      }
    }
    this.#running = true;
  }

  #next(): void {
    const wake = this.#waiting.shift();
    if (wake) {
      wake();
      return;
    }
    this.#running = false;
    // Nobody knows when the next one comes: the connection is not kept for it.
    this.#connection.fresh();
  }

  async #build(body: Uint8Array, taker: RowTaker, end: number): Promise<ReportEnd> {
    const backoff = new Backoff(this.#host, LONGEST_WAIT_MS);
    let refused: string | undefined;
    let renewed = false;
    for (;;) {
      this.#checkOpen();
      const token = await this.#session.token(this.#left(end), refused);
      refused = undefined;
      this.#checkOpen();
      const sink = new RowSink(this.#host, this.#options.rowBytes, taker);
      const outcome = await this.#send(body, token, sink, this.#left(end));
      switch (outcome.kind) {
        case "done":
          return sink.finish();
        case "refused": {
          const mayRenew = (outcome.status === 401 || outcome.status === 403) && this.#session.renewable;
          if (!mayRenew || renewed) throw refusal("report", outcome.status);
          renewed = true;
          refused = token;
          break;
        }
        case "busy":
          await waitBusy(this.#host, this.#pauses, "report", outcome, backoff, end);
          break;
        case "lost":
          this.#checkOpen();
          throw sink.lost(outcome.reason, this.#host.clock.now() >= end);
      }
    }
  }

  async #send(body: Uint8Array, token: string, sink: RowSink, deadlineMs: number): Promise<Outcome> {
    const { path, jwtIn } = this.#options;
    const header = jwtIn === "bearer" ? `X-Authorization: Bearer ${token}` : `jwt: ${token}`;
    const request: Request = {
      method: "POST",
      path: jwtIn === "query" ? `${path}?jwt=${escapeText(token)}` : path,
      ...(jwtIn !== "query" && { header }),
      body,
      deadlineMs,
      limit: REFUSAL_BYTES,
      // It changes nothing on the platform.
      repeatable: true,
      sink,
    };
    const stopWatch = this.#watch(sink);
    const outcome = await exchange(this.#connection, request);
    stopWatch();
    return outcome;
  }

  /** Gives an answer up that has begun and brings nothing more. */
  #watch(sink: RowSink): () => void {
    const { clock } = this.#host;
    const { target, idleMs } = this.#options;
    let seen = 0;
    let cancel: (() => void) | undefined;
    const look = () => {
      if (sink.bytes > 0 && sink.bytes === seen) {
        sink.silent = true;
        const connection = this.#connection;
        if (!this.#pauses.closed) this.#connection = new Connection(this.#host, target);
        return connection.close();
      }
      seen = sink.bytes;
      cancel = clock.timer(idleMs, look);
    };
    cancel = clock.timer(idleMs, look);
    return () => cancel?.();
  }

  #left(end: number): number {
    const left = end - this.#host.clock.now();
    if (left > 0) return left;
    throw new ReportError("TIMEOUT", "report: not over before the deadline");
  }

  #checkOpen(): void {
    if (this.#pauses.closed) throw new ReportError("STOPPED", "report: the client is closed");
  }
}
