// Attributes: the loop that mirrors shared attributes from the platform and sends client attributes
// to it, and the application's calls.
//
// The platform reports a change only to the polls that are open at that moment, and ends them.
// Changes between two polls are never reported. So polls overlap, and after each end that may have
// left a gap the values are read while the next poll is open.

import type { Events } from "../../events.js";
import type { DeviceRequest, Job, Loop, Pacer, PlatformSession, Wait } from "../../platform/index.js";
import { BodySender, getAttributes, post, ROOM_MS, requestText } from "../../platform/index.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { attributesQuery, checkAsked, parseAttributes } from "../../wire/attributes.js";
import { attributesPath } from "../../wire/paths.js";
import type { JsonObject } from "../../wire/text/json.js";
import type { AttributesApi, ReadOptions, Subscriber } from "./api.js";
import { type AttributeBatch, ClientAttributes } from "./client-attributes.js";
import type { AttributeLimits } from "./options.js";
import { AttributePolls, READ_EVERY_MS } from "./polls.js";
import { AttributeReader, type TrustedRead } from "./reader.js";
import { SECOND_READ_MS, SharedAttributes } from "./shared-attributes.js";

/**
 * Interval of reads beside attribute polls. A poll that the platform forgot, because the device
 * moved to another of its nodes, ends like any other.
 */
const READ_ANYWAY_MS = 300_000;
/** Reading after each of many RPCs would double the traffic. */
const AFTER_RPC_MS = 10_000;
/** Client attributes in one request. */
const MOST = 1000;
const AT_ONCE = (): Wait => 0;
/** Without keys, the platform answers with all attributes. */
const ALL = { ok: true, query: "" } as const;

/** A job that acts on shared attributes, whether the application subscribes to them or not. */
export interface AttributeFollower {
  /** At least one. */
  readonly keys: readonly string[];
  /** All `keys` were read: one that is missing in `values` does not exist. */
  offer(values: JsonObject): void;
  /** The platform reported that these attributes changed or were deleted. A read follows. */
  changed(keys: readonly string[]): void;
}

/** Client and shared attributes; the calls are documented in `AttributesApi`. */
export class Attributes implements Job, AttributesApi {
  /** Sends client attributes. */
  readonly bodies: BodySender;
  private readonly _session: PlatformSession;
  private readonly _limit: number;
  private readonly _client: ClientAttributes;
  private readonly _shared: SharedAttributes;
  private readonly _reader: AttributeReader;
  private readonly _pacer: Pacer;
  private readonly _loop: Loop;
  private readonly _polls: AttributePolls;
  private _readAt: number | undefined;
  private _lastReadAt = Number.NEGATIVE_INFINITY;
  private _firstReadDone = false;
  private _follower: AttributeFollower | undefined;

  constructor(session: PlatformSession, events: Events, timing: PollTiming, limits: AttributeLimits) {
    this._session = session;
    this._limit = limits.answerBytes;
    this._client = new ClientAttributes(session);
    this._shared = new SharedAttributes(session.host, events);
    this._reader = new AttributeReader(session, this._limit, this._client);
    this._pacer = session.pacer("attributes");
    this.bodies = new BodySender(session, "attributes", MOST, this);
    this._loop = session.loop("attributes", this);
    const readSoon = (inMs: number) => this.readSoon(inMs);
    this._polls = new AttributePolls(session, timing, this._limit, this._loop, readSoon);
  }

  publish(values: Readonly<Record<string, unknown>>): boolean {
    const taken = this._client.publish(values);
    if (taken) this._loop.notify();
    return taken;
  }

  subscribe<T = unknown>(key: string, call: Subscriber<T>): () => void {
    const { counters } = this._session;
    const problem = checkAsked(key);
    if (problem !== undefined) throw counters.emitError("BAD_VALUE", problem);
    if (typeof call !== "function")
      throw counters.emitError("BAD_VALUE", `the subscriber of "${key}" must be a function`);
    const end = this._shared.subscribe(key, call as Subscriber);
    this.readSoon();
    return end;
  }

  async read(options: ReadOptions = {}): Promise<{ client: JsonObject; shared: JsonObject }> {
    const { counters } = this._session;
    const clientKeys = options.clientKeys ?? [];
    const sharedKeys = options.sharedKeys ?? [];
    const named = clientKeys.length + sharedKeys.length > 0;
    const query = named ? attributesQuery({ clientKeys, sharedKeys }) : ALL;
    if (!query.ok) throw counters.emitError("BAD_VALUE", query.reason);
    const request = getAttributes(query.query, this._limit);
    const answer = parseAttributes(await requestText(this._session, "application", request, options));
    if (!answer.ok) throw counters.emitError("REFUSED", "the answer is malformed");
    return { client: answer.client, shared: answer.shared };
  }

  /** Reads the values as soon as possible, or `inMs` from now, because they may have changed. */
  readSoon(inMs = 0): void {
    const at = this._session.host.clock.now() + inMs;
    if (this._readAt === undefined || at < this._readAt) this._readAt = at;
    if (this._untilReadMs() !== undefined) this._loop.notify();
  }

  /** An RPC poll ended. Without a poll for attributes, read them again then. */
  rpcPollEnded(delivered: boolean): void {
    const { pollsAttributes, shortPolls } = this._session.connections;
    if (pollsAttributes || shortPolls) return;
    const since = delivered ? AFTER_RPC_MS : 0;
    this.readSoon(Math.max(0, this._lastReadAt + since - this._session.host.clock.now()));
  }

  /** From now on, `follower` gets every trusted read of its keys. */
  follow(follower: AttributeFollower): void {
    this._follower = follower;
  }

  /** True if all is read and sent, and no read is due soon. */
  get idle(): boolean {
    const isSent = !this._client.dirty && !this._reader.markerIsDue;
    return this._firstReadDone && isSent && (this._untilReadMs() ?? READ_EVERY_MS) > SECOND_READ_MS;
  }

  /** Called after the device was provisioned again. */
  provisioned(): void {
    this._client.markAllDirty();
    this._reader.forgetMarker();
  }

  /** Forgets published, pending and known values; false if the store keeps any. */
  forget(): boolean {
    const gone = this._client.forget();
    return this._shared.forget() && gone;
  }

  /** Called by `bodies`. */
  probe(): DeviceRequest {
    return this._reader.marker();
  }

  begin(): void {
    this._polls.forgetOpen();
    this._firstReadDone = false;
    this.readSoon();
  }

  turn(): Wait | Promise<Wait> {
    const hasRoom = this._session.hasRoomFor(this._limit);
    if (hasRoom) this._processPolls();
    const pollMs = hasRoom ? this._openPoll() : undefined;
    const readMs = hasRoom ? this._untilReadMs() : ROOM_MS;
    const { markerIsDue } = this._reader;
    const batch = readMs === 0 || markerIsDue ? undefined : this._client.batch(this.bodies.size);
    if (readMs !== 0 && !batch && !markerIsDue) return sooner(readMs, pollMs);
    // Polls go on while no other request may be sent.
    const waitMs = this._pacer.untilFreeMs;
    if (waitMs !== 0) return sooner(waitMs, pollMs);
    const sent = markerIsDue ? this._reader.publishMarker() : batch ? this._publish(batch) : this._mirror();
    return sent.then(AT_ONCE);
  }

  private get _wanted(): readonly string[] {
    const followed = this._follower?.keys ?? [];
    return followed.concat(this._shared.keys.filter((key) => !followed.includes(key)));
  }

  private get _wantsAny(): boolean {
    return this._follower !== undefined || this._shared.keys.length > 0;
  }

  /** Opens a poll that is due. Returns the time until the next one. */
  private _openPoll(): Wait {
    if (!this._wantsAny || !this._session.connections.pollsAttributes) return undefined;
    if (this._polls.dueMs() === 0) this._polls.openPoll();
    return this._polls.dueMs();
  }

  /** Read once at each start even without keys, which shows whether the platform is reachable. */
  private _untilReadMs(): number | undefined {
    if (this._readAt === undefined || (this._firstReadDone && !this._wantsAny)) return undefined;
    return Math.max(0, this._readAt - this._session.host.clock.now());
  }

  /** Processes the polls that ended. Returns the keys that they reported. */
  private _processPolls(): readonly string[] {
    const reported: string[] = [];
    for (let ended = this._polls.ended.shift(); ended; ended = this._polls.ended.shift()) {
      const change = this._polls.processEnded(ended);
      if (!change) continue;
      for (const key of change.keys) reported.push(key);
      this._follower?.changed(change.keys);
      this._shared.applyChange(change);
    }
    return reported;
  }

  /** Reads all wanted shared attributes, and tells what is new. */
  private _mirror(): Promise<void> {
    this._readAt = undefined;
    this._lastReadAt = this._session.host.clock.now();
    return this._reader.readTrusted(this._wanted).then((read) => this._applyRead(read));
  }

  private _applyRead(read: TrustedRead | undefined): void {
    if (!this._session.running) return;
    // A change that a poll reported meanwhile is newer than the values read.
    const reported = this._processPolls();
    const isPolling = this._session.connections.pollsAttributes && !this._polls.failing;
    this.readSoon(isPolling ? READ_ANYWAY_MS : READ_EVERY_MS);
    if (!read) {
      this.readSoon();
      return;
    }
    this._polls.knownUntil(this._lastReadAt);
    this._firstReadDone = true;
    const { values, isCurrent } = read;
    const keys = read.keys.filter((key) => !reported.includes(key));
    const isPending = this._shared.applyRead(keys, values);
    if (isPending || !isCurrent) this.readSoon(SECOND_READ_MS);
    const follower = this._follower;
    if (follower?.keys.every((key) => keys.includes(key))) follower.offer(values);
  }

  private _publish({ items, text }: AttributeBatch): Promise<void> {
    const request = post(attributesPath(), this._session.host.encode(text));
    return this.bodies.send(request, items.length, items[0]?.member ?? "").then((fate) => {
      if (fate === "accepted") this._client.accepted(items);
      if (fate !== "drop") return;
      this._session.host.log("error", "the platform refuses a client attribute: it is dropped");
      this._client.drop(items);
    });
  }
}

const sooner = (one: Wait, other: Wait): Wait =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
