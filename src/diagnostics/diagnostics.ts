// Tells how a device does: counters and the codes of what went wrong, as client attributes once an hour, and all at once by RPC.
//
//   moteQueueDepth, moteDroppedFull, moteDroppedRefused, moteDroppedUnreadable       points; as agent.telemetry has them
//   moteRoundTrips, moteRetries, moteFetchedTwice                                    since the start; as agent.counters has them
//   moteLeastFree                                                                    bytes, the least since the start; if the host tells
//   moteResets      "3x power on, panic"                                             starts by their reason, since the first one
//   moteErrors      "12x lost, busy 503, fw checksum"                                the 16 codes seen last, the latest last
//
// A code is one of these, and there are no others:
//
//   lost                     a request was not answered
//   busy STATUS              an answer that says "not now": 408, 429, 5xx; of a poll it is none
//   refused STATUS           an answer that says "no": 4xx, a 500 with a text
//   refused provisioning     wrong key or secret, or the name is taken: a 200 of the platform
//   fw NAME                  an update failed; the names are those of src/agent/firmware/failures.ts
//   rpc CODE                 an RPC was answered with an error: METHOD_NOT_FOUND, BAD_PARAMS, ...
//   BAD_VALUE, TOO_LARGE, TIMEOUT, REFUSED, STOPPED       an error that the application got (ErrorCode)
import { HealthRecord } from "./record.js";
import type { DiagnosticsAgent, DiagnosticsHost, DiagnosticsOptions, Health } from "./types.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Between two writes for codes that are new; for one that is seen again an hour. */
const STORE_MS = 600_000;

/**
 * To be made before `agent.start()`, once. Publishes on change, once an hour at the most, over restarts as well if the device or the platform knows the
 * time. Writes one value of 1.3 KB at most to the store: at a start that is counted, for the first new code after it, when it publishes, for other new codes
 * every ten minutes at the most, and before a restart that the agent asks for: 168 times a day at the worst, and three for each start.
 */
export class Diagnostics {
  readonly #agent: DiagnosticsAgent;
  readonly #host: DiagnosticsHost;
  readonly #record: HealthRecord;
  readonly #freeMemory: (() => number) | undefined;
  readonly #began: number;
  readonly #unsubscribe: (() => void)[];
  #cancel: (() => void) | undefined;
  #leastFree: number | undefined;
  #published = "";
  #publishedAt: number | undefined;
  #storedAt: number | undefined;
  #unstored: "" | "seen again" | "new" = "";

  constructor(agent: DiagnosticsAgent, host: DiagnosticsHost, options: DiagnosticsOptions = {}) {
    this.#agent = agent;
    this.#host = host;
    this.#record = new HealthRecord(host);
    this.#freeMemory = options.freeMemory;
    this.#began = host.clock.now();
    this.#unsubscribe = this.#listen();
    agent.rpc.handle("mote.health", () => this.#fitting(), { once: false });
    if (options.reset !== undefined) {
      this.#record.started(options.reset);
      this.#keep();
    }
    this.#tick();
  }

  /** All of it, as it is now. */
  get health(): Health {
    const { state, counters, telemetry } = this.#agent;
    const { full, refused, unreadable } = telemetry.dropped;
    const { roundTrips, retries, malformedAnswers, fetchedTwice } = counters;
    const { resets, errors } = this.#record;
    this.#look();
    return {
      state,
      upSeconds: Math.floor((this.#host.clock.now() - this.#began) / 1000),
      queueDepth: telemetry.waiting,
      dropped: { full, refused, unreadable },
      roundTrips,
      retries,
      malformedAnswers,
      fetchedTwice,
      leastFree: this.#leastFree ?? null,
      resets: Object.fromEntries(resets),
      errors: errors.map((one) => ({ ...one })),
    };
  }

  /** Ends it: nothing is published or stored any more. The RPC goes on answering. */
  close(): void {
    this.#cancel?.();
    for (const end of this.#unsubscribe) end();
  }

  #listen(): (() => void)[] {
    const agent = this.#agent;
    return [
      agent.on("error", ({ code }) => this.#note(code)),
      agent.on("refused", ({ what }) => {
        if (what === "provisioning") this.#note("refused provisioning");
      }),
      agent.on("rpc", ({ stage, error }) => {
        if (stage !== "received" && error !== undefined) this.#note(`rpc ${error}`);
      }),
      agent.on("online", () => this.#publish()),
      agent.on("restart", () => {
        if (this.#unstored) this.#store();
      }),
    ];
  }

  #note(code: string): void {
    const fresh = this.#record.note(code, Math.floor((this.#now() ?? 0) / 1000));
    if (fresh) this.#unstored = "new";
    else this.#unstored ||= "seen again";
    this.#storeIfDue();
  }

  #now(): number | undefined {
    return this.#host.clock.wall() ?? this.#agent.platformTime;
  }

  #tick(): void {
    this.#cancel = this.#host.clock.timer(MINUTE_MS, () => {
      this.#tick();
      this.#look();
      this.#publish();
      this.#storeIfDue();
    });
  }

  #look(): void {
    const free = this.#freeMemory?.();
    if (free !== undefined) this.#leastFree = Math.min(this.#leastFree ?? free, free);
  }

  #storeIfDue(): void {
    const since = this.#host.clock.now() - (this.#storedAt ?? Number.NEGATIVE_INFINITY);
    if (this.#unstored === "new" ? since >= STORE_MS : this.#unstored && since >= HOUR_MS) this.#store();
  }

  #store(): void {
    this.#unstored = "";
    this.#storedAt = this.#host.clock.now();
    this.#keep();
  }

  #keep(): void {
    if (!this.#record.keep())
      this.#host.log("warn", "diagnostics: what is to outlive a restart was not stored");
  }

  /** Whether an hour is over, as far as anybody knows. */
  #due(): boolean {
    const ran = this.#host.clock.now();
    if (this.#publishedAt !== undefined) return ran - this.#publishedAt >= HOUR_MS;
    const now = this.#now();
    // A run before this one may have published just now.
    if (now === undefined) return ran - this.#began >= HOUR_MS;
    if (this.#record.publishedAt > now) this.#record.publishedAt = now;
    return now - this.#record.publishedAt >= HOUR_MS;
  }

  #publish(): void {
    if (!this.#due()) return;
    const values = this.#attributes();
    const text = JSON.stringify(values);
    if (text === this.#published) return;
    try {
      this.#agent.attributes.publish(values);
    } catch {
      this.#tooLarge();
      return;
    }
    this.#published = text;
    this.#publishedAt = this.#host.clock.now();
    this.#record.publishedAt = Math.floor(this.#now() ?? 0);
    this.#store();
  }

  /** The application's own attributes leave no room: it is tried again in an hour. */
  #tooLarge(): void {
    this.#publishedAt = this.#host.clock.now();
    this.#host.log("warn", "diagnostics: the client attributes leave no room; the RPC mote.health tells all");
  }

  #attributes(): Record<string, number | string> {
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

  /** As much of it as an answer may hold. */
  #fitting(): Health {
    let health = this.health;
    while (
      health.errors.length > 0 &&
      this.#host.encode(JSON.stringify(health)).length > this.#agent.rpc.answerBytes
    )
      health = { ...health, errors: health.errors.slice(1) };
    return health;
  }
}

function list(counted: [name: string, times: number][]): string {
  return counted.map(([name, times]) => (times > 1 ? `${times}x ${name}` : name)).join(", ");
}
