// The loop that keeps shared attributes equal to the platform's and brings client attributes there.
//
// The platform tells a change only to a poll that is open at that instant, and ends the poll with the first of them; what changes
// between two polls is never told. So a poll is only a hint: first the poll is opened, then the values are read.
import type { PollTiming } from "../net/poll.js";
import { attributesPath } from "../wire/paths.js";
import { AttributePolls, READ_AFTER_POLL_MS } from "./attribute-polls.js";
import { AttributeReader } from "./attribute-reader.js";
import type { Batch, ClientAttributes } from "./client-attributes.js";
import { EXCHANGE_MS } from "./deadline.js";
import type { Events } from "./events.js";
import type { Firmware } from "./firmware.js";
import { Lane } from "./lane.js";
import type { Link } from "./link.js";
import type { Job, Loop, Wait } from "./loop.js";
import type { AttributeLimits } from "./options.js";
import { CONTENT, PROBE, post } from "./requests.js";
import { READ_EVERY_MS, SECOND_LOOK_MS, type SharedValues } from "./shared-values.js";

/** In good times a look may be due every 30 s: in bad ones it needs not be much rarer, and a change is seen within a minute once they are over. */
const LONGEST_HOLD_MS = 55_000;

export class AttributeLoop implements Job {
  readonly #link: Link;
  readonly #events: Events;
  readonly #client: ClientAttributes;
  readonly #values: SharedValues;
  readonly #reader: AttributeReader;
  readonly #uplink: Lane;
  readonly #polls: AttributePolls;
  readonly #loop: Loop;
  #keys: string[] = [];
  #readAt: number | undefined;
  #alone = false;
  #greeted = false;
  /** Called with the keys whose value changed, or that are gone. */
  onChange: ((keys: readonly string[]) => void) | undefined;
  /** Offered every trusted look at the firmware's keys. */
  firmware: Firmware | undefined;

  constructor(
    link: Link,
    events: Events,
    timing: PollTiming,
    client: ClientAttributes,
    values: SharedValues,
    limits: AttributeLimits,
  ) {
    this.#link = link;
    this.#events = events;
    this.#client = client;
    this.#values = values;
    this.#uplink = new Lane(link, "uplink", LONGEST_HOLD_MS);
    this.#polls = new AttributePolls(link, timing, limits.answerBytes, this);
    this.#reader = new AttributeReader(link, this.#uplink, limits.answerBytes, client);
    this.#loop = link.loop("attributes", this);
  }

  /** The application's keys. */
  want(keys: string[]): void {
    this.#keys = keys;
    this.readSoon();
  }

  wake(): void {
    this.#loop.notify();
  }

  /** Something may have changed: the values are read as soon as possible, or `inMs` from now. */
  readSoon(inMs = 0): void {
    const at = this.#link.host.clock.now() + inMs;
    if (this.#readAt === undefined || at < this.#readAt) this.#readAt = at;
    if (this.#looks()) this.wake();
  }

  /** All was read and sent, and nothing is to be read again in a moment. */
  get settled(): boolean {
    return this.#greeted && !this.#client.dirty && (this.#restMs() ?? READ_EVERY_MS) > SECOND_LOOK_MS;
  }

  /** The device was provisioned anew. */
  provisioned(): void {
    this.#client.again();
    this.#reader.forgetMark();
  }

  begin(): void {
    this.#polls.clear();
    this.#greeted = false;
    this.readSoon();
  }

  async turn(): Promise<Wait> {
    await this.#uplink.ready();
    if (!this.#link.running) return 0;
    this.#hear();
    if (this.#wanted().length > 0) this.#polls.open();
    if (this.#restMs() === 0) await this.#read();
    else if (this.#client.dirty) await this.#post();
    else return this.#restMs();
    return 0;
  }

  #wanted(): string[] {
    const firmware = this.firmware?.keys ?? [];
    return firmware.concat(this.#keys.filter((key) => !firmware.includes(key)));
  }

  /** One look at each start, even with nothing to look for: it tells soon whether the platform is there. */
  #looks(): boolean {
    return this.#readAt !== undefined && (!this.#greeted || this.#wanted().length > 0);
  }

  #restMs(): number | undefined {
    if (this.#readAt === undefined || !this.#looks()) return undefined;
    return Math.max(0, this.#readAt - this.#link.host.clock.now());
  }

  #hear(): void {
    const told = this.#polls.take();
    if (!told) return;
    const keys = told.kind === "updated" ? Object.keys(told.values) : told.keys;
    this.firmware?.told(keys);
    // What waited until a refused token was good again, or a back-off over, may be long past: what holds now is read.
    if (this.#polls.waitedMs > EXCHANGE_MS) this.readSoon(READ_AFTER_POLL_MS);
    else if (told.kind === "updated") this.#changed(this.#values.update(this.#keys, told.values), []);
    else this.#changed([], this.#values.remove(this.#keys.filter((key) => keys.includes(key))));
  }

  async #read(): Promise<void> {
    this.#readAt = undefined;
    const trusted = await this.#reader.read(this.#wanted());
    if (!this.#link.running) return;
    // A notification that came meanwhile is newer than what was read; its poll's successor asks for another read.
    if (this.#polls.hasNews) return this.readSoon(READ_AFTER_POLL_MS);
    if (this.#link.mode !== 3 || this.#polls.blocked) this.readSoon(READ_EVERY_MS);
    if (!trusted) return this.readSoon();
    this.#greeted = true;
    const changed = this.#values.update(this.#keys, trusted.values);
    const missing = this.#values.missing(
      this.#keys.filter((key) => trusted.keys.includes(key)),
      trusted.values,
    );
    this.#changed(changed, missing.gone);
    if (missing.pending) this.readSoon(SECOND_LOOK_MS);
    const firmware = this.firmware;
    if (firmware?.keys.every((key) => trusted.keys.includes(key))) firmware.offer(trusted.values);
  }

  #changed(keys: string[], deleted: string[]): void {
    if (keys.length === 0 && deleted.length === 0) return;
    this.#values.keep();
    this.#events.emit("attributes", { keys, deleted });
    this.onChange?.(keys.concat(deleted));
  }

  async #post(): Promise<void> {
    const batch = this.#client.batch(this.#alone);
    if (!batch) return;
    const outcome = await this.#uplink.send(post(attributesPath(), this.#link.host.encode(batch.text)));
    if (!this.#link.running) return;
    if (outcome.kind === "done") {
      this.#alone = false;
      this.#uplink.clear();
      this.#client.accepted(batch);
    } else if (outcome.kind === "busy") this.#uplink.hold(outcome.retryAfterMs);
    else if (outcome.kind === "refused") await this.#refused(batch, outcome.status);
  }

  /** Only what the platform refuses alone, while it accepts the token, is dropped. */
  async #refused(batch: Batch, status: number): Promise<void> {
    if (!CONTENT.includes(status)) return this.#uplink.hold();
    const probe = await this.#uplink.send(PROBE);
    if (!this.#link.running) return;
    if (probe.kind !== "done") return this.#uplink.hold();
    if (batch.items.length > 1) {
      this.#alone = true;
      return;
    }
    this.#link.host.log("error", `the platform refuses a client attribute (${status}); it is dropped`);
    this.#client.drop(batch);
  }
}
