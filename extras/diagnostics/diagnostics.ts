// Reports the health of a device: counters and error codes, as client attributes at most once an
// hour, and completely by the RPC mote.health.
//
//   moteQueueDepth, moteDroppedFull, moteDroppedRefused, moteDroppedUnreadable
//                         points, as in agent.telemetry
//   moteRoundTrips, moteRetries, moteFetchedTwice
//                         since the start, as in agent.counters
//   moteLeastFree         minimum of free bytes since the start, if the host knows it
//   moteResets            "3x power on, panic": starts by reason, since the first one
//   moteErrors            "12x lost, busy 503, fw checksum": the last 16 codes, latest last
//
// The error codes:
//
//   lost                  a request got no answer
//   busy STATUS           "try later": 408, 429, 5xx, except for polls
//   refused STATUS        4xx, or a 500 with a text
//   refused provisioning  wrong key or secret, or a taken name (the platform answers 200)
//   fw NAME               a failed update; names as in src/agent/firmware/failures.ts
//   rpc CODE              an RPC was answered with an error: METHOD_NOT_FOUND, BAD_PARAMS, ...
//   BAD_VALUE, TOO_LARGE, TIMEOUT, REFUSED, STOPPED
//                         an error that the application received (ErrorCode)
import { HealthRecord } from "./record.js";
import type { DiagnosticsAgent, DiagnosticsHost, DiagnosticsOptions, Health } from "./types.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Minimum interval between two writes for new codes, and for repeated ones: one hour. */
const STORE_MS = 600_000;

/**
 * Publishes the health of a device: counters and error codes, as client attributes and by RPC.
 *
 * Create it once, before `agent.start()`. Publishes when a value other than `moteRoundTrips`
 * changed, at most once an hour, even over restarts if the time is known. Writes a value of at most
 * 1.3 KB to the store: at a counted start, for the first new code after it, when publishing, for
 * other new codes at most every ten minutes, and before a requested restart. That is at most 168
 * writes a day, and three for each start.
 */
export class Diagnostics {
  private readonly _agent: DiagnosticsAgent;
  private readonly _host: DiagnosticsHost;
  private readonly _record: HealthRecord;
  private readonly _freeMemory: (() => number) | undefined;
  private readonly _memory: DiagnosticsOptions["memory"];
  private readonly _began: number;
  private readonly _unsubscribe: (() => void)[];
  private _cancel: (() => void) | undefined;
  private _leastFree: number | undefined;
  private _published = "";
  private _publishedAt: number | undefined;
  private _storedAt: number | undefined;
  private _unstored: "" | "seen again" | "new" = "";

  constructor(agent: DiagnosticsAgent, host: DiagnosticsHost, options: DiagnosticsOptions = {}) {
    this._agent = agent;
    this._host = host;
    this._record = new HealthRecord(host);
    this._freeMemory = options.freeMemory;
    this._memory = options.memory;
    this._began = host.clock.now();
    this._unsubscribe = this._listen();
    agent.rpc.handle("mote.health", () => this._fitting(), { once: false });
    const { lastRun } = host;
    // A wake from sleep is not counted as a start.
    if (lastRun && lastRun.sleptMs === undefined) {
      this._record.started(lastRun.reset);
      this._record.save();
    }
    this._tick();
  }

  /** All current values. */
  get health(): Health {
    const { state, counters, telemetry } = this._agent;
    const { full, refused, unreadable } = telemetry.dropped;
    const { roundTrips, retries, malformedAnswers, fetchedTwice } = counters;
    const { resets, errors } = this._record;
    this._measureMemory();
    return {
      state,
      upSeconds: Math.floor((this._host.clock.now() - this._began) / 1000),
      queueDepth: telemetry.waiting,
      dropped: { full, refused, unreadable },
      roundTrips,
      retries,
      malformedAnswers,
      fetchedTwice,
      leastFree: this._leastFree ?? null,
      ...(this._memory && { memory: this._memory() }),
      resets: Object.fromEntries(resets),
      errors: errors.map((one) => ({ ...one })),
    };
  }

  /** Stops publishing and storing. The RPC keeps answering. */
  close(): void {
    this._cancel?.();
    for (const end of this._unsubscribe) end();
  }

  private _listen(): (() => void)[] {
    const agent = this._agent;
    return [
      agent.on("error", ({ code }) => this._note(code)),
      agent.on("refused", ({ what }) => {
        if (what === "provisioning") this._note("refused provisioning");
      }),
      agent.on("rpc", ({ stage, error }) => {
        if (stage !== "received" && error !== undefined) this._note(`rpc ${error}`);
      }),
      agent.on("online", () => this._publish()),
      agent.on("restart", () => {
        if (this._unstored) this._store();
      }),
    ];
  }

  private _note(code: string): void {
    const fresh = this._record.note(code, Math.floor((this._now() ?? 0) / 1000));
    if (fresh) this._unstored = "new";
    else this._unstored ||= "seen again";
    this._storeIfDue();
  }

  private _now(): number | undefined {
    return this._host.clock.wall() ?? this._agent.platformTime;
  }

  private _tick(): void {
    this._cancel = this._host.clock.timer(MINUTE_MS, () => {
      this._tick();
      this._measureMemory();
      this._publish();
      this._storeIfDue();
    });
  }

  private _measureMemory(): void {
    const free = this._freeMemory?.();
    if (free !== undefined) this._leastFree = Math.min(this._leastFree ?? free, free);
  }

  private _storeIfDue(): void {
    const since = this._host.clock.now() - (this._storedAt ?? Number.NEGATIVE_INFINITY);
    if (this._unstored === "new" ? since >= STORE_MS : this._unstored && since >= HOUR_MS) this._store();
  }

  private _store(): void {
    this._unstored = "";
    this._storedAt = this._host.clock.now();
    this._record.save();
  }

  /** True if an hour has passed, as far as known. */
  private _due(): boolean {
    const ran = this._host.clock.now();
    if (this._publishedAt !== undefined) return ran - this._publishedAt >= HOUR_MS;
    const now = this._now();
    // The last run may have published just before.
    if (now === undefined) return ran - this._began >= HOUR_MS;
    return this._record.sincePublished(now) >= HOUR_MS;
  }

  private _publish(): void {
    if (!this._due()) return;
    const values = this._attributes();
    // Every request counts as a round trip, so that count alone is not a change.
    const text = JSON.stringify({ ...values, moteRoundTrips: 0 });
    if (text === this._published) return;
    if (!this._agent.attributes.publish(values)) {
      this._tooLarge();
      return;
    }
    this._published = text;
    this._publishedAt = this._host.clock.now();
    this._record.published(this._now() ?? 0);
    this._store();
  }

  /** The application's attributes leave no room: retry in an hour. */
  private _tooLarge(): void {
    this._publishedAt = this._host.clock.now();
    this._host.log("warn", "diagnostics: no room in the client attributes; use the RPC mote.health");
  }

  private _attributes(): Record<string, number | string> {
    const { queueDepth, dropped, roundTrips, retries, fetchedTwice, leastFree, resets, errors } = this.health;
    return {
      moteQueueDepth: queueDepth,
      moteDroppedFull: dropped.full,
      moteDroppedRefused: dropped.refused,
      moteDroppedUnreadable: dropped.unreadable,
      moteRoundTrips: roundTrips,
      moteRetries: retries,
      moteFetchedTwice: fetchedTwice,
      ...(leastFree !== null && { moteLeastFree: leastFree }),
      moteResets: list(Object.entries(resets)),
      moteErrors: list(errors.map(({ code, times }) => [code, times])),
    };
  }

  /** As many values as fit into an answer. */
  private _fitting(): Health {
    let health = this.health;
    while (
      health.errors.length > 0 &&
      this._host.encode(JSON.stringify(health)).length > this._agent.rpc.answerBytes
    )
      health = { ...health, errors: health.errors.slice(1) };
    return health;
  }
}

const list = (counted: [name: string, times: number][]): string => {
  return counted.map(([name, times]) => (times > 1 ? `${times}x ${name}` : name)).join(", ");
};
