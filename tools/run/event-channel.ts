import type { Sink } from "../../hosts/node/bounded-output.js";
import type { Event, FromWorker } from "./messages.js";

/** Queue of events to the supervisor; the process channel confirms each. */
export class EventChannel implements Sink<Event> {
  readonly #send: (message: FromWorker, taken: () => void) => void;
  #drained: () => void = () => {};
  /** Characters. */
  writableLength = 0;

  constructor(send: (message: FromWorker, taken: () => void) => void) {
    this.#send = send;
  }

  write(event: Event): void {
    const { length } = JSON.stringify(event);
    this.writableLength += length;
    this.#send({ kind: "event", event }, () => {
      this.writableLength -= length;
      if (this.writableLength === 0) this.#drained();
    });
  }

  on(event: "error" | "drain", listener: () => void): void {
    if (event === "drain") this.#drained = listener;
  }
}
