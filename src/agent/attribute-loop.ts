// The loop that keeps shared attributes equal to the platform's and brings client attributes there.
//
// The platform tells a change only to a poll that is open at that instant, and ends the poll with the first of them; what changes
// between two polls is never told. So a poll is only a hint: first the poll is opened, then the values are read.
import type { Outcome } from "../net/outcome.js";
import type { PollTiming } from "../net/poll.js";
import { parseNotification } from "../wire/attributes.js";
import { attributesPath, updatesPath } from "../wire/paths.js";
import { AttributeReader } from "./attribute-reader.js";
import type { Batch, ClientAttributes } from "./client-attributes.js";
import type { Events } from "./events.js";
import type { Firmware } from "./firmware.js";
import { Lane } from "./lane.js";
import type { Link } from "./link.js";
import type { AttributeLimits } from "./options.js";
import { PROBE, post } from "./requests.js";
import { SECOND_LOOK_MS, type SharedValues } from "./shared-values.js";
import type { Signal } from "./signal.js";

/** After the next poll was written, so that it is registered before the values are read. */
const READ_AFTER_POLL_MS = 500;
/** Where there is no attribute poll. */
const READ_EVERY_MS = 30_000;
/** Attribute polls begin so far apart at least, however fast they are answered. */
const POLL_PACE_MS = 500;
/** Statuses by which the platform refuses a content. Others say that the address or a proxy is wrong. */
const CONTENT = [400, 403, 413, 422, 500];

export class AttributeLoop {
  readonly #link: Link;
  readonly #events: Events;
  readonly #timing: PollTiming;
  readonly #client: ClientAttributes;
  readonly #values: SharedValues;
  readonly #reader: AttributeReader;
  readonly #uplink: Lane;
  readonly #pollLane: Lane;
  readonly #limit: number;
  readonly #signal: Signal;
  #keys: string[] = [];
  // The poll that is open, or waits to be.
  #poll: object | undefined;
  /** No poll is let through: the values are read as if there were none. */
  #blocked = false;
  #ended: { outcome: Outcome; tookMs: number; heard: boolean } | undefined;
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
    this.#timing = timing;
    this.#client = client;
    this.#values = values;
    this.#uplink = new Lane(link, "uplink");
    this.#pollLane = new Lane(link, "attributes");
    this.#limit = limits.answerBytes;
    this.#reader = new AttributeReader(link, this.#uplink, limits.answerBytes);
    this.#reader.onUnmarked = () => client.again();
    this.#signal = link.signal();
  }

  /** The application's keys. */
  want(keys: string[]): void {
    this.#keys = keys;
    this.readSoon();
  }

  wake(): void {
    this.#signal.notify();
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

  /** Ends with the link. */
  async run(): Promise<void> {
    this.#poll = undefined;
    this.#ended = undefined;
    this.#greeted = false;
    this.readSoon();
    while (this.#link.running) {
      await this.#uplink.ready();
      if (!this.#link.running) return;
      this.#judgePoll();
      this.#openPoll();
      if (this.#restMs() === 0) await this.#read();
      else if (this.#client.dirty) await this.#post();
      else await this.#signal.wait(this.#restMs());
    }
  }

  #wanted(): string[] {
    const firmware = this.firmware?.keys ?? [];
    return [...firmware, ...this.#keys.filter((key) => !firmware.includes(key))];
  }

  /** One look at each start, even with nothing to look for: it tells soon whether the platform is there. */
  #looks(): boolean {
    return this.#readAt !== undefined && (!this.#greeted || this.#wanted().length > 0);
  }

  #restMs(): number | undefined {
    if (this.#readAt === undefined || !this.#looks()) return undefined;
    return Math.max(0, this.#readAt - this.#link.host.clock.now());
  }

  #openPoll(): void {
    if (this.#link.mode !== 3 || this.#poll || this.#wanted().length === 0) return;
    const poll = {};
    this.#poll = poll;
    const clock = this.#link.host.clock;
    const askedMs = this.#timing.askedMs;
    let since = 0;
    const send = () => {
      since = clock.now();
      return this.#pollLane.send({
        method: "GET",
        path: updatesPath(askedMs),
        deadlineMs: this.#timing.deadlineMs,
        limit: this.#limit,
        repeatable: true,
        sent: () => this.readSoon(READ_AFTER_POLL_MS),
      });
    };
    // The poll's own back-off may still run while the uplink is free.
    this.#pollLane
      .ready()
      .then(() => (this.#poll === poll ? send() : undefined))
      .then((outcome) => {
        // One of before a stop is of no interest.
        if (this.#poll !== poll || !outcome) return;
        this.#ended = { outcome, tookMs: clock.now() - since, heard: this.#pollLane.heard(since) };
        this.wake();
      });
  }

  #judgePoll(): void {
    const ended = this.#ended;
    if (!ended) return;
    this.#ended = undefined;
    this.#poll = undefined;
    const verdict = this.#timing.judge(ended.outcome, ended.tookMs, ended.heard);
    if (verdict === "ended") this.#pollLane.clear();
    if (verdict === "busy") this.#pollLane.hold();
    this.#blocked = verdict === "busy" || verdict === "lost";
    if (verdict === "delivered" && ended.outcome.kind === "done") this.#notified(ended.outcome, ended.tookMs);
    if (this.#blocked) this.readSoon(READ_EVERY_MS);
  }

  #notified({ body, whole }: Outcome & { kind: "done" }, tookMs: number): void {
    const told = parseNotification((whole && this.#link.host.decode(body)) || "");
    if (told.kind === "updated") this.firmware?.told(Object.keys(told.values));
    if (told.kind === "deleted") this.firmware?.told(told.keys);
    if (told.kind === "updated" && Object.keys(told.values).length > 0)
      this.#changed(this.#values.update(this.#keys, told.values), []);
    else if (told.kind === "deleted")
      this.#changed([], this.#values.remove(this.#keys.filter((key) => told.keys.includes(key))));
    else {
      if (whole) this.#link.counters.malformed("a notification of shared attributes");
      this.#pollLane.hold();
      this.#blocked = true;
    }
    if (this.#blocked) return;
    this.#pollLane.clear();
    if (tookMs < POLL_PACE_MS) this.#pollLane.pause(POLL_PACE_MS - tookMs);
  }

  async #read(): Promise<void> {
    this.#readAt = undefined;
    const trusted = await this.#reader.read(this.#wanted());
    if (!this.#link.running) return;
    // A notification that came meanwhile is newer than what was read; its poll's successor asks for another read.
    if (this.#ended && this.#ended.outcome.kind === "done") return this.readSoon(READ_AFTER_POLL_MS);
    if (this.#link.mode !== 3 || this.#blocked) this.readSoon(READ_EVERY_MS);
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
    this.onChange?.([...keys, ...deleted]);
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
