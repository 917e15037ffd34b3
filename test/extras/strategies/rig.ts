// Strategies on a clock that stands still, with the agent's own telemetry; what they record is caught before it reaches the outbox.
import {
  Strategies,
  type StrategiesAgent,
  type StrategiesOptions,
} from "../../../extras/strategies/index.js";
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

export class StrategiesRig {
  readonly store = new FakeStore();
  readonly recorded: Recorded[] = [];
  readonly published: Record<string, unknown> = {};
  /** Lines that strategies logged. */
  readonly lines: string[] = [];
  host!: FakeHost;
  strategies!: Strategies;
  /** The outbox has no room. */
  full = false;
  /** Telemetry throws. */
  broken = false;
  /** The last known value of the shared attribute: outlives a restart, as the agent keeps it. */
  shared: unknown;
  #options: StrategiesOptions;
  #base = 0;
  #subscriber: ((value: unknown) => void) | undefined;
  #restart: (() => void) | undefined;

  constructor(options: StrategiesOptions = {}, wall: number | undefined = WALL) {
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
    const agent: StrategiesAgent = {
      telemetry: {
        check: (values) => telemetry.check(values),
        record: (values, options = {}) => {
          if (this.broken) throw new Error("broken");
          const text = new TextDecoder().decode(telemetry.check(values));
          if (!this.full)
            this.recorded.push({ at: this.at, values: JSON.parse(text), ...options } as Recorded);
          return !this.full;
        },
      },
      attributes: {
        publish: (values) => void Object.assign(this.published, values),
        subscribe: (_key, call) => {
          this.#subscriber = call as (value: unknown) => void;
          if (this.shared !== undefined) this.#subscriber(this.shared);
          return () => {
            this.#subscriber = undefined;
          };
        },
      },
      on: (event, call) => {
        if (event === "restart") this.#restart = () => (call as (detail: object) => void)({ reason: "test" });
        return () => {
          this.#restart = undefined;
        };
      },
    };
    this.strategies = new Strategies(agent, host, this.#options);
  }

  /** The machine is off for `ms`, and then knows the time or not. */
  async off(ms: number, wall: number | undefined): Promise<void> {
    this.#base += this.clock.now() + ms;
    this.start(wall);
  }

  /** A start with other options. */
  again(options: StrategiesOptions, batchBytes?: number): void {
    this.#options = options;
    this.start(WALL, batchBytes);
  }

  /** The operator sets the shared attribute, or deletes it. */
  set(value: unknown): void {
    this.shared = value;
    this.#subscriber?.(value);
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
