// Reads shared attributes so that the answer can be trusted.
//
// A database error of the platform reads as 200 `{}`, the same as "no such attributes". So each GET also asks for one client attribute
// that the agent itself published, the freshness marker: an answer without it proves nothing.
import type { Outcome } from "../../http/outcome.js";
import type { DeviceRequest, PlatformSession, RequestChannel } from "../../platform/index.js";
import { post } from "../../platform/index.js";
import { EXCHANGE_MS } from "../../platform/wait.js";
import { attributesQuery, parseAttributes, splitKeys } from "../../wire/attributes.js";
import { attributesPath } from "../../wire/paths.js";
import type { Json, JsonObject } from "../../wire/text/json.js";
import { decodeStart } from "../../wire/text/text.js";
import type { ClientAttributes } from "./client-attributes.js";
import { MARKER_KEY, MARKER_VALUE } from "./freshness-marker.js";

/** Storage may be asynchronous: the marker is given this long to appear before it is published again. */
const MARKER_LAG_MS = 10_000;
/** Of a request line the platform takes 8 KiB with all headers. */
const QUERY_LENGTH = 1500;
/** A value that was too large may be another one by now. */
const TOO_LARGE_MS = 10 * 60_000;
/** What came in its place was no answer of the platform. */
const STRANGE_MS = 30_000;

/** Values of `keys`; a key that is not in `values` does not exist, as far as one answer can show. */
export interface Trusted {
  readonly keys: string[];
  readonly values: JsonObject;
}

export class AttributeReader {
  private readonly _session: PlatformSession;
  private readonly _channel: RequestChannel;
  private readonly _limit: number;
  private readonly _client: ClientAttributes;
  /** Keys that are not asked for until then. */
  private readonly _skipped = new Map<string, number>();
  private readonly _logged: string[] = [];
  private _markerPostedAt: number | undefined;

  constructor(session: PlatformSession, channel: RequestChannel, limit: number, client: ClientAttributes) {
    this._session = session;
    this._channel = channel;
    this._limit = limit;
    this._client = client;
  }

  /** The device was provisioned again: it has no marker. */
  forgetMarker(): void {
    this._markerPostedAt = undefined;
  }

  /**
   * Reads `keys` in as few requests as their size allows. Undefined: no answer, or none that can be trusted; the channel waits. A key whose value alone is larger than the limit is logged once, left out,
   * and asked for again after 10 min; after 30 s if what came was not the platform's.
   */
  async read(keys: readonly string[]): Promise<Trusted | undefined> {
    const trusted: Trusted = { keys: [], values: Object.create(null) };
    const asked = keys.filter((key) => !this._skips(key));
    // Without keys the marker alone is asked for: a look whether the platform is there.
    let groups = keys.length === 0 ? [[]] : splitKeys(asked, QUERY_LENGTH);
    for (let group = groups.shift(); group; group = groups.shift()) {
      const query = attributesQuery({ clientKeys: [MARKER_KEY], sharedKeys: group });
      // No key gets here that can't be asked for: `subscribe` refused it.
      if (!query.ok) continue;
      const outcome = await this._channel.send(this._get(query.query));
      if (!this._session.running) return undefined;
      if (outcome.kind === "done" && !outcome.whole) {
        if (group.length === 0) {
          this._channel.hold();
          return undefined;
        }
        groups = this._smaller(group, outcome.body).concat(groups);
        continue;
      }
      if (!(await this._take(outcome, group, trusted))) return undefined;
    }
    return trusted;
  }

  private async _take(outcome: Outcome, group: string[], trusted: Trusted): Promise<boolean> {
    if (outcome.kind !== "done") {
      if (outcome.kind !== "lost")
        this._channel.hold(outcome.kind === "busy" ? outcome.retryAfterMs : undefined);
      return false;
    }
    const answer = parseAttributes(this._session.host.decode(outcome.body) ?? "");
    if (!answer.ok) {
      this._session.counters.malformed("an answer to GET attributes");
      this._channel.hold();
      return false;
    }
    const hasMarker = Object.hasOwn(answer.client, MARKER_KEY);
    if (!hasMarker || answer.client[MARKER_KEY] !== MARKER_VALUE) await this._postMarker(hasMarker);
    if (!hasMarker) {
      this._channel.hold();
      return false;
    }
    this._channel.clear();
    this._session.watcher?.proven();
    group.forEach((key) => {
      trusted.keys.push(key);
      if (Object.hasOwn(answer.shared, key)) trusted.values[key] = answer.shared[key] as Json;
    });
    return true;
  }

  /** `isOld`: the one there is of another version. */
  private async _postMarker(isOld: boolean): Promise<void> {
    const now = this._session.host.clock.now();
    if (this._markerPostedAt !== undefined && now - this._markerPostedAt < MARKER_LAG_MS) return;
    const body = this._session.host.encode(JSON.stringify({ [MARKER_KEY]: MARKER_VALUE }));
    const outcome = await this._channel.send(post(attributesPath(), body));
    if (outcome.kind !== "done") return;
    this._markerPostedAt = now;
    // It has none of the client attributes either.
    if (!isOld) this._client.again();
  }

  private _get(query: string): DeviceRequest {
    return {
      method: "GET",
      path: attributesPath(query),
      deadlineMs: EXCHANGE_MS,
      limit: this._limit,
      repeatable: true,
    };
  }

  /** `start`: of an answer for `group` that is larger than the limit. */
  private _smaller(group: string[], start: Uint8Array): string[][] {
    if (group.length > 1) return halves(group);
    // The platform writes client attributes first.
    const isPlatforms = decodeStart(start).includes(`"${MARKER_KEY}":`);
    if (!isPlatforms) this._session.counters.malformed("an answer to GET attributes");
    const until = this._session.host.clock.now() + (isPlatforms ? TOO_LARGE_MS : STRANGE_MS);
    group.forEach((key) => {
      this._skipped.set(key, until);
      if (isPlatforms) this._log(key);
    });
    return [];
  }

  private _log(key: string): void {
    if (this._logged.includes(key)) return;
    this._logged.push(key);
    const { host } = this._session;
    host.log("error", `a shared attribute is larger than ${this._limit} bytes and is left out`);
  }

  private _skips(key: string): boolean {
    return this._session.host.clock.now() < (this._skipped.get(key) ?? 0);
  }
}

const halves = (group: string[]): string[][] => {
  const half = Math.ceil(group.length / 2);
  return [group.slice(0, half), group.slice(half)];
};
