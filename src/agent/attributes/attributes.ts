// Client attributes and shared attributes. The application's calls are here; the loop that talks to the platform is in loop.ts.

import type { Events } from "../../events.js";
import { guarded } from "../../guarded.js";
import type { PlatformSession } from "../../platform/index.js";
import { ask, RequestChannel } from "../../platform/index.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { attributesQuery, checkAsked, parseAttributes } from "../../wire/attributes.js";
import { attributesPath } from "../../wire/paths.js";
import type { JsonObject } from "../../wire/text/json.js";
import type { AttributeLimits } from "../options/attributes.js";
import { ClientAttributes } from "./client-attributes.js";
import { AttributeLoop } from "./loop.js";
import { SharedValues } from "./shared-values.js";

export { MOST_CONNECTIONS } from "./polls.js";

/** Called with the new value of a shared attribute, or undefined when it was deleted. */
// The value is whatever JSON the operator set: the application says what it expects.
// biome-ignore lint/suspicious/noExplicitAny: a subscriber names the type it expects
export type Subscriber = (value: any) => void;

const READ_DEADLINE_MS = 30_000;
/** Without any key the platform answers with all there are. */
const ALL = { ok: true, query: "" } as const;

export class AttributesApi {
  private readonly _session: PlatformSession;
  private readonly _channel: RequestChannel;
  private readonly _limit: number;
  private readonly _client: ClientAttributes;
  private readonly _values: SharedValues;
  private readonly _subscribers: { key: string; call: Subscriber }[] = [];
  /** For the agent alone. */
  readonly loop: AttributeLoop;

  constructor(session: PlatformSession, events: Events, timing: PollTiming, limits: AttributeLimits) {
    this._session = session;
    this._channel = new RequestChannel(session, "uplink");
    this._limit = limits.answerBytes;
    this._client = new ClientAttributes(session);
    this._values = new SharedValues(session.host);
    this.loop = new AttributeLoop(session, events, timing, this._client, this._values, limits);
    this.loop.onChange = (keys) => this._notify(keys);
  }

  /**
   * Publishes client attributes (POST /api/v1/{token}/attributes): merged by key with those waiting, kept over a restart, sent until
   * the platform accepted them, and again after the device was provisioned again. Values as in `telemetry.record`.
   * A value equal to the one last published is not sent again. A device can't delete a client attribute.
   *
   * Throws `BAD_VALUE`, or `TOO_LARGE` beyond about 3,900 bytes of all attributes together.
   */
  publish(values: Readonly<Record<string, unknown>>): void {
    this._client.publish(values);
    this.loop.wake();
  }

  /**
   * Subscribes to a shared attribute: `call` is called at once with the last known value (also one from before a restart), then
   * once per change, with undefined when the attribute was deleted. Changes made between two polls are found by reading again:
   * within one poll, or 30 s with less than three connections. Returns what ends the subscription.
   *
   * Throws `BAD_VALUE` for a key that the platform can't be asked for (empty, or with a comma), and for what is no function.
   */
  subscribe(key: string, call: Subscriber): () => void {
    const problem = checkAsked(key);
    if (problem !== undefined) throw this._session.counters.error("BAD_VALUE", problem);
    if (typeof call !== "function")
      throw this._session.counters.error("BAD_VALUE", `the subscriber of "${key}" is no function`);
    const subscriber = { key, call };
    this._subscribers.push(subscriber);
    this.loop.want(this._keys());
    if (this._values.has(key)) this._call(subscriber);
    return () => {
      const at = this._subscribers.indexOf(subscriber);
      if (at >= 0) this._subscribers.splice(at, 1);
      this.loop.want(this._keys());
    };
  }

  /**
   * Reads attributes from the platform now (GET /api/v1/{token}/attributes). Without any keys: all of them. Keys that don't exist
   * are absent from the answer. Only one kind of keys given: the other kind is not looked up.
   *
   * Rejects with `BAD_VALUE` (a key that can't be asked for), `TOO_LARGE` (the answer is longer than `attributes.answerBytes`),
   * `TIMEOUT`, `REFUSED` or `STOPPED`.
   */
  async read(
    keys: { clientKeys?: readonly string[]; sharedKeys?: readonly string[]; deadlineMs?: number } = {},
  ): Promise<{ client: JsonObject; shared: JsonObject }> {
    const named = (keys.clientKeys?.length ?? 0) + (keys.sharedKeys?.length ?? 0) > 0;
    const query = named ? attributesQuery(keys) : ALL;
    if (!query.ok) throw this._session.counters.error("BAD_VALUE", query.reason);
    const path = attributesPath(query.query);
    const request = {
      method: "GET",
      path,
      deadlineMs: READ_DEADLINE_MS,
      limit: this._limit,
      repeatable: true,
    } as const;
    const outcome = await ask(this._session, this._channel, request, keys.deadlineMs ?? READ_DEADLINE_MS);
    if (!outcome.whole)
      throw this._session.counters.error("TOO_LARGE", `the answer is longer than ${this._limit} bytes`);
    const answer = parseAttributes(this._session.host.decode(outcome.body) ?? "");
    if (!answer.ok)
      throw this._session.counters.error("REFUSED", "the answer is not what the platform sends");
    return { client: answer.client, shared: answer.shared };
  }

  /** Forgets all that is kept: published, pending and known values; false if the store keeps any. */
  forget(): boolean {
    const gone = this._client.forget();
    return this._values.forget() && gone;
  }

  private _keys(): string[] {
    return this._subscribers
      .map((subscriber) => subscriber.key)
      .filter((key, at, all) => all.indexOf(key) === at);
  }

  private _notify(keys: readonly string[]): void {
    for (const subscriber of this._subscribers.slice()) {
      if (keys.includes(subscriber.key)) this._call(subscriber);
    }
  }

  private _call(subscriber: { key: string; call: Subscriber }): void {
    guarded(this._session.host, "a subscriber of a shared attribute threw", () =>
      subscriber.call(this._values.value(subscriber.key)),
    );
  }
}
