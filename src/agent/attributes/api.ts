import type { WaitOptions } from "../../platform/wait.js";
import type { JsonObject } from "../../wire/text/json.js";
import type { Attributes } from "./attributes.js";

/** Called with the new value of a shared attribute, or undefined when it was deleted. The operator may set any JSON. */
export type Subscriber<T = unknown> = (value: T | undefined) => void;

export interface ReadOptions extends WaitOptions {
  readonly clientKeys?: readonly string[] | undefined;
  readonly sharedKeys?: readonly string[] | undefined;
}

/** Client attributes and shared attributes. */
export class AttributesApi {
  private readonly _attributes: Attributes;

  constructor(attributes: Attributes) {
    this._attributes = attributes;
  }

  /**
   * Publishes client attributes (POST /api/v1/{token}/attributes). They are merged by key with those that wait, kept
   * over a restart, sent until the platform accepted them, and sent again after a new provisioning. Values as in
   * `telemetry.record`. An unchanged value is not sent again. A device cannot delete a client attribute.
   * Throws `BAD_VALUE`, or `TOO_LARGE` if all attributes together exceed about 3,900 bytes.
   */
  publish(values: Readonly<Record<string, unknown>>): void {
    this._attributes.publish(values);
  }

  /**
   * Subscribes to a shared attribute. `call` gets the last known value at once (also one from before a restart), then
   * each change, and undefined when the attribute is deleted. A change between two polls is found by reading again:
   * within one poll, or 30 s with fewer than three connections. Returns a function that ends the subscription.
   * Throws `BAD_VALUE` for an empty key, a key with a comma, or a `call` that is not a function.
   */
  subscribe<T = unknown>(key: string, call: Subscriber<T>): () => void {
    return this._attributes.subscribe(key, call as Subscriber);
  }

  /**
   * Reads attributes from the platform now (GET /api/v1/{token}/attributes). Without keys: all attributes. A key that
   * does not exist is absent from the answer. With one kind of keys only, the other kind is not read. Rejects with
   * `BAD_VALUE` (an invalid key), `TOO_LARGE` (the answer exceeds `attributes.answerBytes`), `TIMEOUT`, `REFUSED`,
   * `STOPPED` or `ABORTED`.
   */
  read(options: ReadOptions = {}): Promise<{ client: JsonObject; shared: JsonObject }> {
    return this._attributes.read(options);
  }
}
