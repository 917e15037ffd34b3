// Reads shared attributes so that the answer can be trusted.
//
// After a database error the platform answers 200 `{}`, as if no attribute existed. So each GET
// also requests a client attribute that the agent published, the freshness marker. An answer
// without the marker proves nothing.
import type { Outcome } from "../../http/outcome.js";
import type { DeviceRequest, Pacer, PlatformSession } from "../../platform/index.js";
import { getAttributes, post } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { VERSION } from "../../version.js";
import { attributesQuery, parseAttributes, splitKeys } from "../../wire/attributes.js";
import { toHex } from "../../wire/crypto/hex.js";
import { attributesPath } from "../../wire/paths.js";
import type { Json, JsonObject } from "../../wire/text/json.js";
import { decodeStart, quoteShortened } from "../../wire/text/text.js";
import { type ClientAttributes, MARKER_KEY } from "./client-attributes.js";

/** The marker of any version begins like this. */
const MARKER_START = "mote";
const MARKER_VALUE = `${MARKER_START} ${VERSION}`;
/**
 * The platform's storage may be asynchronous, so wait this long before publishing the marker again.
 */
const MARKER_LAG_MS = 10_000;
/** Limit of the query. The platform accepts 8 KiB for the request line and all headers. */
const QUERY_LENGTH = 1500;
/** Delay before a value that was too large is requested again. */
const TOO_LARGE_MS = 10 * 60_000;

/**
 * Values of `keys`. A key that is missing in `values` does not exist, as far as one answer can
 * tell.
 */
export interface TrustedRead {
  readonly keys: string[];
  readonly values: JsonObject;
  /** False while a new image is on trial and the platform did not give back its marker yet. */
  isCurrent: boolean;
}

export class AttributeReader {
  private readonly _session: PlatformSession;
  private readonly _pacer: Pacer;
  private readonly _limit: number;
  private readonly _client: ClientAttributes;
  /** Keys whose value is too large, and the time when they are requested again. */
  private readonly _tooLarge = new Map<string, number>();
  /** An answer lacked the marker of this version, which is published next. */
  markerIsDue = false;
  /** That answer had no marker of another version either. */
  private _markerIsMissing = false;
  /** Until then, the platform may not give back the marker that it accepted. */
  private _markerLagEnd = 0;
  /**
   * While a new image is on trial, the marker ends with a random number: a host that repeats an
   * earlier answer of the platform must not confirm the image.
   */
  private readonly _nonce: string;

  constructor(session: PlatformSession, limit: number, client: ClientAttributes) {
    this._session = session;
    this._nonce = session.host.slot.state() === "pending" ? ` ${nonceOf(session.host)}` : "";
    this._pacer = session.pacer("attributes");
    this._limit = limit;
    this._client = client;
  }

  /** Called after the device was provisioned again: the platform has no marker. */
  forgetMarker(): void {
    this._markerLagEnd = 0;
  }

  /**
   * Reads `keys` in as few requests as their size allows. Undefined without a trusted answer; the
   * channel then waits. A key whose value alone exceeds the limit is logged once, left out, and
   * requested again after 10 min.
   */
  async readTrusted(keys: readonly string[]): Promise<TrustedRead | undefined> {
    const now = this._session.host.clock.now();
    const read: TrustedRead = { keys: [], values: Object.create(null), isCurrent: true };
    let groups = splitKeys(
      keys.filter((key) => (this._tooLarge.get(key) ?? now) <= now),
      QUERY_LENGTH,
    );
    // Without keys, request only the marker to see whether the platform is reachable.
    if (groups.length === 0) groups.push([]);
    for (let group = groups.shift(); group; group = groups.shift()) {
      const query = attributesQuery({ clientKeys: [MARKER_KEY], sharedKeys: group });
      // Invalid keys were rejected by `subscribe`.
      if (!query.ok) continue;
      const outcome = await this._session.send("attributes", getAttributes(query.query, this._limit));
      if (!this._session.running) return undefined;
      if (isTooLarge(outcome)) groups = this._split(group).concat(groups);
      else if (!this._applyAnswer(outcome, group, read)) return undefined;
    }
    return read;
  }

  private _applyAnswer(outcome: Outcome, group: string[], read: TrustedRead): boolean {
    if (outcome.kind !== "done") {
      this._pacer.after(outcome);
      return false;
    }
    const answer = parseAttributes((outcome.whole && this._session.host.decode(outcome.body)) || "");
    if (!answer.ok) this._session.counters.countMalformed("an answer to GET attributes");
    const marker = answer.ok && Object.hasOwn(answer.client, MARKER_KEY) && answer.client[MARKER_KEY];
    // Of any version: a host that echoes what was asked for knows no value.
    const hasMarker = typeof marker === "string" && marker.startsWith(MARKER_START);
    const isCurrent = hasMarker && marker.startsWith(MARKER_VALUE) && marker.endsWith(this._nonce);
    this._markerIsMissing = !hasMarker;
    this.markerIsDue = !isCurrent && this._session.host.clock.now() >= this._markerLagEnd;
    if (!answer.ok || !hasMarker) {
      // Otherwise the marker goes first.
      if (!this.markerIsDue) this._pacer.slow();
      return false;
    }
    this._pacer.clear();
    this._session.watcher.tokenProven();
    if (isCurrent) this._session.watcher.writeProven();
    read.isCurrent = isCurrent || this._nonce === "";
    for (const key of group) {
      read.keys.push(key);
      if (Object.hasOwn(answer.shared, key)) read.values[key] = answer.shared[key] as Json;
    }
    return true;
  }

  /** Publishes the marker, which is due. */
  publishMarker(): Promise<void> {
    this.markerIsDue = false;
    return this._session.send("attributes", this.marker()).then((outcome) => {
      // Without a marker, the platform lacks the other client attributes too.
      if (this._markerIsMissing) this._pacer.slow(outcome);
      if (outcome.kind !== "done") return;
      this._markerLagEnd = this._session.host.clock.now() + MARKER_LAG_MS;
      if (this._markerIsMissing) this._client.markAllDirty();
    });
  }

  /** The request that publishes the marker, which any platform accepts. */
  marker(): DeviceRequest {
    const body = this._session.host.encode(JSON.stringify({ [MARKER_KEY]: MARKER_VALUE + this._nonce }));
    return post(attributesPath(), body);
  }

  /** Splits `group`, whose answer exceeded the limit, or leaves out its only key for a while. */
  private _split(group: string[]): string[][] {
    const half = group.length >> 1;
    if (half > 0) return [group.slice(0, half), group.slice(half)];
    for (const key of group) this._leaveOut(key);
    return [];
  }

  private _leaveOut(key: string): void {
    const { host, redactor } = this._session;
    if (!this._tooLarge.has(key)) {
      const name = redactor.clean(quoteShortened(key));
      host.log("error", `the shared attribute ${name} is larger than ${this._limit} bytes and is ignored`);
    }
    this._tooLarge.set(key, host.clock.now() + TOO_LARGE_MS);
  }
}

/** The platform writes the marker first. Without it, a long answer comes from elsewhere. */
const isTooLarge = (outcome: Outcome): boolean =>
  outcome.kind === "done" &&
  !outcome.whole &&
  decodeStart(outcome.body).includes(`"${MARKER_KEY}":"${MARKER_START}`);

const nonceOf = (host: Host): string => {
  const bytes = new Uint8Array(4);
  host.random(bytes);
  return toHex(bytes);
};
