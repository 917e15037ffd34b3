import type { WaitOptions } from "../../platform/wait.js";
import type { JsonObject } from "../../wire/text/json.js";

/**
 * Called with the new value of a shared attribute, or undefined when it does not exist or was
 * deleted. An operator may set any JSON value.
 */
export type Subscriber<T = unknown> = (value: T | undefined) => void;

/** Options of `attributes.read`. Without keys of either kind, all attributes are read. */
export interface ReadOptions extends WaitOptions {
  /** Keys of client attributes; a key must not contain a comma. */
  readonly clientKeys?: readonly string[] | undefined;
  /** Keys of shared attributes; a key must not contain a comma. */
  readonly sharedKeys?: readonly string[] | undefined;
}

/** Client attributes and shared attributes. */
export interface AttributesApi {
  /**
   * Publishes client attributes (POST /api/v1/{token}/attributes).
   *
   * They are merged by key, stored over restarts, sent until the platform accepts them, and sent
   * again after a new provisioning. Unchanged values are not sent again. A device cannot delete a
   * client attribute.
   *
   * Values as in `telemetry.record`. A value that cannot be held, or with which all attributes
   * together exceed about 3,900 bytes, is left out, counted, and its key is logged once. Returns
   * false if no value is left. Throws `BAD_VALUE` if `values` is not an object.
   */
  publish(values: Readonly<Record<string, unknown>>): boolean;

  /**
   * Subscribes to a shared attribute; returns a function that ends the subscription.
   *
   * `call` gets the last known value at once (even from before a restart), then each change. It
   * gets undefined once the platform has said that the attribute does not exist, and when it is
   * deleted. A change that no poll reported is found by reading: within one poll or 5 min, or
   * within 30 s with fewer than three connections. Throws `BAD_VALUE` for an empty key, a key with
   * a comma, or a `call` that is not a function.
   */
  subscribe<T = unknown>(key: string, call: Subscriber<T>): () => void;

  /**
   * Reads attributes from the platform (GET /api/v1/{token}/attributes).
   *
   * Without keys, reads all attributes; with keys of one kind only, the other kind is not read. The
   * answer has no entry for a key that does not exist. Rejects with `BAD_VALUE` (invalid key),
   * `TOO_LARGE` (the answer exceeds `attributes.answerBytes`), `TIMEOUT`, `REFUSED`, `STOPPED` or
   * `ABORTED`.
   */
  read(options?: ReadOptions): Promise<{ client: JsonObject; shared: JsonObject }>;
}
