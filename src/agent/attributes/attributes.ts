import type { Events } from "../../events.js";
import { guarded } from "../../guarded.js";
import type { PlatformSession } from "../../platform/index.js";
import { getAttributes, requestUntil } from "../../platform/index.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { attributesQuery, checkAsked, parseAttributes } from "../../wire/attributes.js";
import type { JsonObject } from "../../wire/text/json.js";
import type { AttributesApi, ReadOptions, Subscriber } from "./api.js";
import { ClientAttributes } from "./client-attributes.js";
import { AttributeLoop } from "./loop.js";
import type { AttributeLimits } from "./options.js";
import { SharedValues } from "./shared-values.js";

/** Without keys, the platform answers with all attributes. */
const ALL = { ok: true, query: "" } as const;

/** Client and shared attributes; the calls are documented in `AttributesApi`. */
export class Attributes implements AttributesApi {
  private readonly _session: PlatformSession;
  private readonly _limit: number;
  private readonly _client: ClientAttributes;
  private readonly _values: SharedValues;
  private readonly _subscribers: { key: string; call: Subscriber }[] = [];
  readonly loop: AttributeLoop;

  constructor(session: PlatformSession, events: Events, timing: PollTiming, limits: AttributeLimits) {
    this._session = session;
    this._limit = limits.answerBytes;
    this._client = new ClientAttributes(session);
    this._values = new SharedValues(session.host);
    const changed = (keys: readonly string[]) => this._notify(keys);
    this.loop = new AttributeLoop(session, events, timing, this._client, this._values, limits, changed);
  }

  publish(values: Readonly<Record<string, unknown>>): boolean {
    const taken = this._client.publish(values);
    if (taken) this.loop.notify();
    return taken;
  }

  subscribe<T = unknown>(key: string, call: Subscriber<T>): () => void {
    const problem = checkAsked(key);
    if (problem !== undefined) throw this._session.counters.emitError("BAD_VALUE", problem);
    if (typeof call !== "function")
      throw this._session.counters.emitError("BAD_VALUE", `the subscriber of "${key}" must be a function`);
    const subscriber = { key, call: call as Subscriber };
    this._subscribers.push(subscriber);
    this.loop.setKeys(this._keys());
    if (this._values.isKnown(key)) this._call(subscriber);
    return () => {
      const at = this._subscribers.indexOf(subscriber);
      if (at >= 0) this._subscribers.splice(at, 1);
      this.loop.setKeys(this._keys());
    };
  }

  async read(options: ReadOptions = {}): Promise<{ client: JsonObject; shared: JsonObject }> {
    const clientKeys = options.clientKeys ?? [];
    const sharedKeys = options.sharedKeys ?? [];
    const named = clientKeys.length + sharedKeys.length > 0;
    const query = named ? attributesQuery({ clientKeys, sharedKeys }) : ALL;
    if (!query.ok) throw this._session.counters.emitError("BAD_VALUE", query.reason);
    const request = getAttributes(query.query, this._limit);
    const outcome = await requestUntil(this._session, "application", request, options);
    if (!outcome.whole)
      throw this._session.counters.emitError("TOO_LARGE", `the answer is longer than ${this._limit} bytes`);
    const answer = parseAttributes(this._session.host.decode(outcome.body) ?? "");
    if (!answer.ok) throw this._session.counters.emitError("REFUSED", "the answer is malformed");
    return { client: answer.client, shared: answer.shared };
  }

  /** Forgets published, pending and known values; false if the store keeps any. */
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
      // A call before this one may have ended the subscription.
      if (keys.includes(subscriber.key) && this._subscribers.includes(subscriber)) this._call(subscriber);
    }
  }

  private _call(subscriber: { key: string; call: Subscriber }): void {
    guarded(this._session.host, "a subscriber of a shared attribute threw", () =>
      subscriber.call(this._values.value(subscriber.key)),
    );
  }
}
