// Keeps a poll for changes of shared attributes open (GET .../attributes/updates?timeout=MS): with three connections, one of which is for it alone.
import type { Outcome } from "../net/outcome.js";
import type { PollTiming } from "../net/poll.js";
import { type Notification, parseNotification } from "../wire/attributes.js";
import { updatesPath } from "../wire/paths.js";
import type { AttributeLoop } from "./attribute-loop.js";
import { Lane } from "./lane.js";
import type { Link } from "./link.js";
import { READ_EVERY_MS } from "./shared-values.js";

/** After the next poll was written, so that it is registered before the values are read. */
export const READ_AFTER_POLL_MS = 500;
/** Polls begin so far apart at least, however fast they are answered. */
const PACE_MS = 500;
/** Of the option `connections`. */
export const MOST_CONNECTIONS = 3;

type News = Exclude<Notification, { kind: "malformed" }>;

export class AttributePolls {
  readonly #link: Link;
  readonly #timing: PollTiming;
  readonly #lane: Lane;
  readonly #limit: number;
  readonly #loop: AttributeLoop;
  /** That is open, or waits to be. */
  #poll: { since: number } | undefined;
  #ended: { outcome: Outcome; at: number; tookMs: number; heard: boolean; askedMs: number } | undefined;
  #lost = false;
  /** No poll is let through: the values are to be read as if there were none. */
  blocked = false;
  /** For how long what `take` gave last had waited to be taken. */
  waitedMs = 0;

  constructor(link: Link, timing: PollTiming, limit: number, loop: AttributeLoop) {
    this.#link = link;
    this.#timing = timing;
    this.#lane = new Lane(link, "attributes");
    this.#limit = limit;
    this.#loop = loop;
  }

  /** A new start: what an earlier one left open is of no interest. */
  clear(): void {
    this.#poll = undefined;
    this.#ended = undefined;
  }

  /** A notification came that `take` did not give yet. */
  get hasNews(): boolean {
    return this.#ended?.outcome.kind === "done";
  }

  /** Opens a poll, if there is none and the connections allow for it. */
  open(): void {
    if (this.#link.mode !== 3 || this.#poll) return;
    const poll = { since: 0 };
    this.#poll = poll;
    const timing = this.#timing;
    const askedMs = this.#lost ? timing.afterLoss(this.#link.host) : timing.askedMs;
    const deadlineMs = timing.deadlineMs - timing.askedMs + askedMs;
    // The poll's own back-off may still run while the uplink is free.
    void this.#lane.ready().then(() => this.#poll === poll && this.#send(poll, askedMs, deadlineMs));
  }

  #send(poll: { since: number }, askedMs: number, deadlineMs: number): void {
    const { clock } = this.#link.host;
    poll.since = clock.now();
    const request = {
      method: "GET",
      path: updatesPath(askedMs),
      deadlineMs,
      limit: this.#limit,
      repeatable: true,
      sent: () => this.#loop.readSoon(READ_AFTER_POLL_MS),
    } as const;
    this.#lane.dispatch(request, (outcome) => {
      // One of before a stop is of no interest.
      if (this.#poll !== poll) return;
      const { since } = poll;
      const at = clock.now();
      this.#ended = { outcome, at, tookMs: at - since, heard: this.#lane.heard(since), askedMs };
      this.#loop.wake();
    });
  }

  /** What the poll that ended brought, if there is one and it brought anything. */
  take(): News | undefined {
    if (!this.#ended) return undefined;
    const { outcome, at, tookMs, heard, askedMs } = this.#ended;
    this.waitedMs = this.#link.host.clock.now() - at;
    this.clear();
    const verdict = this.#timing.judge(outcome, tookMs, heard, askedMs);
    this.#lost = verdict === "lost";
    if (verdict === "ended") this.#lane.clear();
    if (verdict === "busy") this.#lane.hold();
    this.blocked = verdict === "busy" || verdict === "lost";
    const told = verdict === "delivered" && outcome.kind === "done" ? this.#read(outcome, tookMs) : undefined;
    if (this.blocked) this.#loop.readSoon(READ_EVERY_MS);
    return told;
  }

  #read({ body, whole }: Outcome & { kind: "done" }, tookMs: number): News | undefined {
    const told = parseNotification((whole && this.#link.host.decode(body)) || "");
    if (told.kind === "malformed" || (told.kind === "updated" && Object.keys(told.values).length === 0)) {
      if (whole) this.#link.counters.malformed("a notification of shared attributes");
      this.#lane.hold();
      this.blocked = true;
      return undefined;
    }
    this.#lane.clear();
    if (tookMs < PACE_MS) this.#lane.pause(PACE_MS - tookMs);
    return told;
  }
}
