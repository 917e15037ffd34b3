// The last value of each listed device: read once per device, then followed by events.
import { type LastValue, lastValueOf } from "./model/device-list.js";
import type { Session } from "./session.js";

export class LastValues {
  readonly end: () => void;
  readonly #session: Session;
  readonly #onChange: () => void;
  /** Undefined while a device's values are read, and for a device without any. */
  readonly #values = new Map<string, LastValue | undefined>();

  constructor(session: Session, onChange: () => void) {
    this.#session = session;
    this.#onChange = onChange;
    this.end = session.on("telemetry", ({ deviceId, ts, values }) => {
      const readings = Object.entries(values).map(([key, value]) => [key, { ts, value }] as const);
      this.#take(deviceId, lastValueOf(Object.fromEntries(readings)));
    });
  }

  of(id: string): LastValue | undefined {
    return this.#values.get(id);
  }

  /** Reads the devices that were not read before. */
  read(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.#values.has(id)) continue;
      this.#values.set(id, undefined);
      // A device that is deleted meanwhile has no values. Another failure is tried again.
      this.#session.operator.timeSeries.latest(id).then(
        (readings) => {
          this.#take(id, lastValueOf(readings));
          this.#onChange();
        },
        () => this.#values.delete(id),
      );
    }
  }

  #take(id: string, value: LastValue | undefined): void {
    const known = this.#values.get(id);
    if (value && (!known || value.ts >= known.ts)) this.#values.set(id, value);
  }
}
