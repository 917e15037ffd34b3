// Tells the platform, the application and the event listeners how an update goes.
import type { Host } from "../../port.js";
import type { Events } from "../events.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import { STATES, type UpdateRecord } from "./states.js";

/** Where reports go: the agent's telemetry. */
export interface Reports {
  record(values: Record<string, unknown>, options?: { ts?: number }): unknown;
  flush(deadlineMs: number): Promise<boolean>;
}

const PROGRESS_PERCENT = 5;
const PROGRESS_MS = 5000;

export class Reporter {
  readonly #host: Host;
  readonly #events: Events;
  readonly #reports: Reports;
  readonly #options: FirmwareOptions;
  #running = false;
  #percent = 0;
  #toldAt = 0;

  constructor(host: Host, events: Events, reports: Reports, options: FirmwareOptions) {
    this.#host = host;
    this.#events = events;
    this.#reports = reports;
    this.#options = options;
  }

  /** Reports the running firmware, once. */
  running(): void {
    if (this.#running) return;
    this.#running = true;
    this.#record(this.#current());
  }

  /** Reports the record's state under the record's time stamp, if there is one. */
  state(record: UpdateRecord): void {
    const reported = STATES[record.state].reported;
    if (reported === undefined) return;
    this.#running = true;
    this.#record({ ...this.#current(), fw_state: reported, fw_error: record.error }, record.at);
    const detail = { state: reported, version: record.version };
    this.#events.emit("firmware", record.error === "" ? detail : { ...detail, error: record.error });
  }

  failed(failure: Failure): void {
    this.#events.emit("error", { code: `fw ${failure}` });
  }

  /** A download begins, or goes on, with `percent` done. */
  begin(percent: number): void {
    this.#percent = percent;
    this.#toldAt = this.#host.clock.now();
  }

  /** Called at any rate; tells the progress every 5 percent, or every 5 s if that is slower. */
  progress(version: string, bytes: number, size: number): void {
    const percent = Math.floor((100 * bytes) / size);
    const now = this.#host.clock.now();
    if (percent === this.#percent) return;
    if (percent - this.#percent < PROGRESS_PERCENT && now - this.#toldAt < PROGRESS_MS) return;
    this.#percent = percent;
    this.#toldAt = now;
    this.#record({ fw_progress: percent });
    this.#events.emit("firmware", { state: "DOWNLOADING", version, progress: percent });
    try {
      this.#options.onProgress?.(percent);
    } catch {
      this.#host.log("error", "firmware.onProgress threw");
    }
  }

  /** Tries to bring the reports to the platform before a restart. */
  flush(deadlineMs: number): Promise<boolean> {
    return this.#reports.flush(deadlineMs);
  }

  /** The application is told of the restart that follows. */
  restart(): void {
    this.#events.emit("restart", { reason: "firmware" });
  }

  #current(): Record<string, unknown> {
    return { current_fw_title: this.#options.title, current_fw_version: this.#options.version };
  }

  #record(values: Record<string, unknown>, at = 0): void {
    try {
      if (at === 0) this.#reports.record(values);
      else this.#reports.record(values, { ts: at });
    } catch {
      this.#host.log("error", "a firmware report could not be recorded");
    }
  }
}
