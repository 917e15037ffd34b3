// The durable queue of version 0.1.0, whose stored data this version reads and counts.
import type { Outbox } from "../../src/agent/queue/outbox.js";
import { Outbox as OlderOutbox } from "./fixtures/queue-0.1.0.mjs";

export { Time as OldTime } from "./fixtures/queue-0.1.0.mjs";

/** Its type is this version's, but it named one member otherwise. */
export class OldOutbox extends OlderOutbox {
  declare readonly refuse: Outbox["dropRefused"];

  override dropRefused(number: number): void {
    this.refuse(number);
  }
}
