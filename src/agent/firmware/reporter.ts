// Reports the progress of an update to the platform, the application and the event listeners.

import type { Events } from "../../events.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Signal } from "../../platform/signal.js";
import type { Host } from "../../port.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import { STATES } from "./states.js";
import { runningImage, type UpdateRecord } from "./update-record.js";

const PROGRESS_PERCENT = 5;
const PROGRESS_MS = 5000;

export class Reporter {
  private readonly _host: Host;
  private readonly _events: Events;
  private readonly _telemetry: Telemetry;
  private readonly _options: FirmwareOptions;
  private _running = false;
  private _percent = 0;
  private _reportedAt = 0;

  constructor(host: Host, events: Events, telemetry: Telemetry, options: FirmwareOptions) {
    this._host = host;
    this._events = events;
    this._telemetry = telemetry;
    this._options = options;
  }

  /** Reports the running firmware, once. */
  running(record: UpdateRecord): void {
    if (this._running) return;
    this._running = true;
    this._record(this._current(record));
  }

  /** Reports the state of the record, with the record's time stamp if there is one. */
  report(record: UpdateRecord): void {
    const reported = STATES[record.state].reported;
    if (record.state === "idle") this.running(record);
    if (reported === undefined) return;
    this._running = true;
    this._record({ ...this._current(record), fw_state: reported, fw_error: record.error }, record.at);
    const detail = { state: reported, version: record.version };
    this._events.emit("firmware", record.error === "" ? detail : { ...detail, error: record.error });
  }

  /** Reports from the new image that it is on trial. Not its version: it may be rolled back. */
  onTrial(): void {
    this._record({ fw_state: STATES.updating.reported, fw_error: "" });
  }

  failed(failure: Failure): void {
    this._events.emit("error", { code: `fw ${failure}` });
  }

  /** A download starts or resumes with `percent` done. */
  progressFrom(percent: number): void {
    this._percent = percent;
    this._reportedAt = this._host.clock.now();
  }

  /**
   * May be called at any rate. Reports every 5 percent or, if slower, every 5 s; and 100 percent.
   */
  progress(version: string, bytes: number, size: number): void {
    const percent = Math.floor((100 * bytes) / size);
    const now = this._host.clock.now();
    if (percent === this._percent) return;
    const isDue = percent - this._percent >= PROGRESS_PERCENT || now - this._reportedAt >= PROGRESS_MS;
    if (percent < 100 && !isDue) return;
    this._percent = percent;
    this._reportedAt = now;
    this._record({ fw_progress: percent });
    this._events.emit("firmware", { state: "DOWNLOADING", version, progress: percent });
  }

  /** Tries to deliver the reports before a restart. */
  flush(timeoutMs: number): Promise<unknown> {
    return this._telemetry.flush({ timeoutMs });
  }

  /** Restarts the machine. Resolves only if the session stops instead. */
  async restart(session: PlatformSession, signal: Signal): Promise<void> {
    this._events.emit("restart", { reason: "firmware" });
    session.host.restart("firmware");
    while (session.running) await signal.wait();
  }

  private _current(record: UpdateRecord): Record<string, unknown> {
    const { title, version } = this._options;
    // Empty if unknown, so that an earlier value does not stay on the platform.
    const checksum = runningImage(this._host, record).split(" ")[1] ?? "";
    return { current_fw_title: title, current_fw_version: version, current_fw_checksum: checksum };
  }

  private _record(values: Record<string, unknown>, at = 0): void {
    try {
      if (at === 0) this._telemetry.record(values);
      else this._telemetry.record(values, { ts: at });
    } catch {
      this._host.log("error", "could not record a firmware report");
    }
  }
}
