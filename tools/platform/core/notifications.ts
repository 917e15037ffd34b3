import { addBounded } from "./common/bounded.js";
import { quoted } from "./json/json.js";
import { type Value, valueJson } from "./values.js";

/** An attribute poll. Gets one notification; ignores it once ended. */
export interface AttributeSession {
  notify(json: string): void;
}

/** Changes of shared attributes, sent to the polls open at that moment and to nobody later. */
export class Notifications {
  readonly #sessions = new Set<AttributeSession>();

  subscribe(session: AttributeSession): void {
    addBounded(this.#sessions, session);
  }

  /** `{"k1":1,"k2":"x"}` */
  updated(values: readonly (readonly [string, Value])[]): void {
    if (values.length === 0) return;
    const members = values.map(([key, value]) => `${quoted(key)}:${valueJson(value)}`);
    this.#notify(`{${members.join(",")}}`);
  }

  /** `{"deleted":["k1","k2"]}`: also of keys there never were. */
  deleted(keys: readonly string[]): void {
    if (keys.length > 0) this.#notify(JSON.stringify({ deleted: keys }));
  }

  forgetSubscribers(): void {
    this.#sessions.clear();
  }

  #notify(json: string): void {
    const sessions = [...this.#sessions];
    this.#sessions.clear();
    for (const session of sessions) session.notify(json);
  }
}
