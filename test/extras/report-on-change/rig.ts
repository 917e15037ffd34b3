// Report on change with a stopped clock and the agent's own telemetry; records are caught before
// they reach the outbox.
import {
  ReportOnChange,
  type ReportOnChangeAgent,
  type ReportOnChangeOptions,
} from "../../../extras/report-on-change/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { type FakeHost, FakeStore } from "../../fakes/host.js";
import { TelemetryRig } from "../../src/agent/telemetry/rig.js";

export const WALL = Date.UTC(2026, 0, 1);

export interface Recorded {
  /** ms since the first start, sleeps included. */
  readonly at: number;
  readonly values: Record<string, unknown>;
  readonly ts?: number;
}

export class ReportRig {
  readonly store = new FakeStore();
  readonly recorded: Recorded[] = [];
  /** Logged lines. */
  readonly lines: string[] = [];
  host!: FakeHost;
  reports!: ReportOnChange;
  /** The outbox has no room. */
  full = false;
  /** Telemetry throws. */
  broken = false;
  #options: ReportOnChangeOptions;
  #base = 0;
  #restart: (() => void) | undefined;

  constructor(options: ReportOnChangeOptions = { keys: {} }, wall: number | undefined = WALL) {
    this.#options = options;
    this.start(wall);
  }

  get clock(): FakeClock {
    return this.host.clock;
  }

  get at(): number {
    return this.#base + this.clock.now();
  }

  /** A machine that starts: its monotonic clock starts again. */
  start(wall: number | undefined, batchBytes = 8192): void {
    const clock = new FakeClock(wall);
    // Nothing here waits for a promise.
    clock.settled = () => Promise.resolve();
    const { telemetry, host } = new TelemetryRig({ batchBytes }, { clock, store: this.store });
    this.host = host;
    host.log = (level, line) => void this.lines.push(`${level}: ${line}`);
    const agent: ReportOnChangeAgent = {
      telemetry: {
        check: (values) => telemetry.check(values),
        record: (values, options = {}) => {
          if (this.broken) throw new Error("broken");
          const text = telemetry.check(values);
          if (!text || this.full) return false;
          const recorded = JSON.parse(new TextDecoder().decode(text));
          this.recorded.push({ at: this.at, values: recorded, ...options } as Recorded);
          return true;
        },
      },
      on: (event, call) => {
        if (event === "restart") this.#restart = () => (call as (detail: object) => void)({ reason: "test" });
        return () => {
          this.#restart = undefined;
        };
      },
    };
    this.reports = new ReportOnChange(agent, host, this.#options);
  }

  /** The machine is off for `ms`, and then knows the time or not. */
  async off(ms: number, wall: number | undefined): Promise<void> {
    this.#base += this.clock.now() + ms;
    this.start(wall);
  }

  /** A start with other options. */
  again(options: ReportOnChangeOptions, batchBytes?: number): void {
    this.#options = options;
    this.start(WALL, batchBytes);
  }

  /** The agent is about to restart the machine. */
  restarting(): void {
    this.#restart?.();
  }

  pass(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  /** What was recorded since the last look: values alone. */
  taken(): Record<string, unknown>[] {
    return this.recorded.splice(0).map(({ values }) => values);
  }
}
