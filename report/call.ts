// One call of the API: its time limit, its requests and its pauses.

import { type Purpose, ReportError } from "./errors.js";

/** Limit of a timer. */
const LONGEST_MS = 20 * 86_400_000;
/** Range of the delay between two attempts without Retry-After. Short, because a user waits. */
const BACKOFF_MS = { first: 1000, most: 30_000 } as const;
const JSON_TYPE = "application/json";

/** Time of a process. Tests replace it. */
export interface Clock {
  /** Monotonic ms. */
  now(): number;
  /** Calls `due` once after `ms`; the result cancels it. */
  timer(ms: number, due: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  timer(ms, due) {
    const timer = setTimeout(due, ms);
    return () => clearTimeout(timer);
  },
};

/** The calls of one client, which closing the client ends. */
export class Calls {
  readonly #clock: Clock;
  readonly #what: Purpose;
  readonly #active = new Set<Call>();
  #closed = false;

  constructor(clock: Clock, what: Purpose) {
    this.#clock = clock;
    this.#what = what;
  }

  /**
   * Runs `work` with a time limit. Throws `BAD_VALUE` unless `timeoutMs` is above 0 and at most 20
   * days, and `STOPPED` after `close`.
   */
  async run<T>(timeoutMs: number, work: (call: Call) => Promise<T>, outer?: AbortSignal): Promise<T> {
    if (!(timeoutMs > 0 && timeoutMs <= LONGEST_MS))
      throw new ReportError(
        "BAD_VALUE",
        "invalid timeoutMs: expected a number of ms, more than 0 and up to 20 days",
      );
    if (this.#closed) throw this.#stopped();
    const call = new Call(this.#clock, this.#what, timeoutMs);
    const stop = (): void => call.abort(outer?.reason);
    outer?.addEventListener("abort", stop);
    if (outer?.aborted) stop();
    this.#active.add(call);
    try {
      return await work(call);
    } finally {
      this.#active.delete(call);
      outer?.removeEventListener("abort", stop);
      call.end();
    }
  }

  /** Ends active and later calls with `STOPPED`. */
  close(): void {
    this.#closed = true;
    for (const call of this.#active) call.abort(this.#stopped());
  }

  #stopped(): ReportError {
    return new ReportError("STOPPED", `${this.#what}: the client is closed`);
  }
}

export class Call {
  readonly #clock: Clock;
  readonly #what: Purpose;
  readonly #controller = new AbortController();
  readonly #endsAt: number;
  readonly #cancel: () => void;

  constructor(clock: Clock, what: Purpose, timeoutMs: number) {
    this.#clock = clock;
    this.#what = what;
    this.#endsAt = clock.now() + timeoutMs;
    this.#cancel = clock.timer(timeoutMs, () =>
      this.abort(new ReportError("TIMEOUT", `${what}: not complete within the time limit`)),
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Remaining ms. */
  get left(): number {
    return this.#endsAt - this.#clock.now();
  }

  /** Ends the call with this error. */
  abort(error: unknown): void {
    this.#controller.abort(error);
  }

  end(): void {
    this.#cancel();
  }

  /** Settles like `work`, or rejects when the call ends first. */
  async until<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    let stop = (): void => {};
    const ended = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop);
    });
    try {
      return await Promise.race([work, ended]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async pause(ms: number): Promise<void> {
    let cancel = (): void => {};
    try {
      await this.until(
        new Promise<void>((resolve) => {
          cancel = this.#clock.timer(ms, resolve);
        }),
      );
    } finally {
      cancel();
    }
  }

  /** Calls `check` every `ms` until the result is called. */
  every(ms: number, check: () => void): () => void {
    let cancel = (): void => {};
    const next = (): void => {
      cancel = this.#clock.timer(ms, () => {
        next();
        check();
      });
    };
    next();
    return () => cancel();
  }

  /**
   * Sends a POST, again while the platform is busy (429, 503), with the pauses that it asks for.
   * Follows no redirect: the JWT would go with it.
   */
  async post(
    fetch: typeof globalThis.fetch,
    url: string,
    body: string,
    more: Record<string, string> = {},
  ): Promise<Response> {
    const headers = { "Content-Type": JSON_TYPE, Accept: JSON_TYPE, ...more };
    const init = { method: "POST", body, headers, redirect: "manual", signal: this.signal } as const;
    for (let tries = 0; ; tries++) {
      const response = await this.#once(() => fetch(url, init));
      const { status } = response;
      if (status !== 429 && status !== 503) return response;
      await discard(response);
      const ms = retryAfterMs(response.headers) + backoffMs(tries);
      if (ms >= this.left) {
        const text = status === 429 ? "too many requests" : "not available";
        throw new ReportError("BUSY", `${this.#what}: ${text} (${status}) until the time limit`, status);
      }
      await this.pause(ms);
    }
  }

  /** Reads the next piece of an answer. */
  async piece(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
    const { done, value } = await this.until(reader.read()).catch((error) => {
      throw this.#asLost(error);
    });
    return done ? undefined : value;
  }

  /** The platform may have closed an idle connection just now, so tries once more. */
  async #once(send: () => Promise<Response>): Promise<Response> {
    try {
      return await this.until(send()).catch((error) => {
        if (this.signal.aborted || !DROPPED.includes(codeOf(error))) throw error;
        return this.until(send());
      });
    } catch (error) {
      throw this.#asLost(error);
    }
  }

  #asLost(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    const code = codeOf(error);
    if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT")
      return new ReportError("TIMEOUT", `${this.#what}: nothing from the platform for 5 minutes`);
    return new ReportError("LOST", `${this.#what}: ${REASONS[code] ?? `connection failed (${code})`}`);
  }
}

/** Ends an answer that nobody reads. */
export const discard = async ({ body }: Response): Promise<void> => {
  await body?.cancel().catch(() => {});
};

const DROPPED = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection lost",
  ENOTFOUND: "host name not found",
  EPIPE: "connection lost",
  UND_ERR_SOCKET: "connection lost",
};

/** The code of a network error, which `fetch` keeps in the cause. */
function codeOf(error: unknown): string {
  const { code } = ((error as { cause?: unknown } | undefined)?.cause ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "unknown reason";
}

/** Seconds, or a date by the platform's own clock; 0 without one. */
function retryAfterMs(headers: Headers): number {
  const text = headers.get("retry-after") ?? "";
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? ms : 0;
}

/** Random, so that clients do not come back at the same time. */
function backoffMs(tries: number): number {
  return Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** tries) * (0.5 + Math.random() / 2);
}
