// The loop that mirrors shared attributes from the platform and sends client attributes to it.
//
// The platform reports a change only to the polls that are open at that moment, and ends them.
// Changes between two polls are never reported. So polls overlap, and after each end that may have
// left a gap the values are read while the next poll is open.

import type { Events } from "../../events.js";
import type { DeviceRequest, Job, Loop, Pacer, PlatformSession, Wait } from "../../platform/index.js";
import { BodySender, post, ROOM_MS } from "../../platform/index.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { attributesPath } from "../../wire/paths.js";
import type { JsonObject } from "../../wire/text/json.js";
import type { AttributeBatch, ClientAttributes } from "./client-attributes.js";
import type { AttributeLimits } from "./options.js";
import { AttributePolls } from "./polls.js";
import { AttributeReader } from "./reader.js";
import { READ_ANYWAY_MS, READ_EVERY_MS, SECOND_READ_MS, type SharedValues } from "./shared-values.js";

/** Reading after each of many RPCs would double the traffic. */
const AFTER_RPC_MS = 10_000;
/** Client attributes in one request. */
const MOST = 1000;
const AT_ONCE = (): Wait => 0;
const NO_KEYS: readonly string[] = [];

/** A job that acts on shared attributes, whether the application subscribes to them or not. */
export interface AttributeFollower {
  /** At least one. */
  readonly keys: readonly string[];
  /** All `keys` were read: one that is missing in `values` does not exist. */
  offer(values: JsonObject): void;
  /** The platform reported that these attributes changed or were deleted. A read follows. */
  changed(keys: readonly string[]): void;
}

export class AttributeLoop implements Job {
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _client: ClientAttributes;
  private readonly _values: SharedValues;
  private readonly _reader: AttributeReader;
  private readonly _pacer: Pacer;
  /** Sends client attributes. */
  readonly bodies: BodySender;
  private readonly _polls: AttributePolls;
  private readonly _loop: Loop;
  private readonly _answerBytes: number;
  private _keys: string[] = [];
  private _readAt: number | undefined;
  private _lastReadAt = Number.NEGATIVE_INFINITY;
  private _firstReadDone = false;
  private readonly _onChange: (keys: readonly string[]) => void;
  /** Needs its keys even if the application does not subscribe to them. */
  private _follower: AttributeFollower | undefined;

  /** `onChange` is called with the keys that changed or were deleted. */
  constructor(
    session: PlatformSession,
    events: Events,
    timing: PollTiming,
    client: ClientAttributes,
    values: SharedValues,
    limits: AttributeLimits,
    onChange: (keys: readonly string[]) => void,
  ) {
    this._session = session;
    this._events = events;
    this._client = client;
    this._values = values;
    this._onChange = onChange;
    this._pacer = session.pacer("attributes");
    this._reader = new AttributeReader(session, limits.answerBytes, client);
    this.bodies = new BodySender(session, "attributes", MOST, this);
    this._loop = session.loop("attributes", this);
    this._answerBytes = limits.answerBytes;
    const readSoon = (inMs: number) => this.readSoon(inMs);
    this._polls = new AttributePolls(session, timing, limits.answerBytes, this._loop, readSoon);
  }

  /** Sets the keys that the application wants. */
  setKeys(keys: string[]): void {
    this._keys = keys;
    this.readSoon();
  }

  notify(): void {
    this._loop.notify();
  }

  /** Reads the values as soon as possible, or `inMs` from now, because they may have changed. */
  readSoon(inMs = 0): void {
    const at = this._session.host.clock.now() + inMs;
    if (this._readAt === undefined || at < this._readAt) this._readAt = at;
    if (this._needsRead()) this.notify();
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
    return (
      this._firstReadDone && !this._client.dirty && (this._untilReadMs() ?? READ_EVERY_MS) > SECOND_READ_MS
    );
  }

  /** Called after the device was provisioned again. */
  provisioned(): void {
    this._client.markAllDirty();
    this._reader.forgetMarker();
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
    const hasRoom = this._session.hasRoomFor(this._answerBytes);
    if (hasRoom) this._processPolls();
    let pollMs = hasRoom ? this._untilPollMs() : undefined;
    if (pollMs === 0) {
      this._polls.openPoll();
      pollMs = this._untilPollMs();
    }
    const readMs = hasRoom ? this._untilReadMs() : ROOM_MS;
    const batch = readMs === 0 ? undefined : this._client.batch(this.bodies.size);
    if (readMs !== 0 && !batch) return sooner(readMs, pollMs);
    // Polls go on while no other request may be sent.
    const waitMs = this._pacer.untilFreeMs;
    if (waitMs !== 0) return sooner(waitMs, pollMs);
    return (batch ? this._post(batch) : this._read()).then(AT_ONCE);
  }

  private _untilPollMs(): Wait {
    const isWanted = this._wantsAny && this._session.connections.pollsAttributes;
    return isWanted ? this._polls.dueMs() : undefined;
  }

  private get _wantsAny(): boolean {
    return this._keys.length > 0 || this._follower !== undefined;
  }

  private _wanted(): string[] {
    const followed = this._follower?.keys ?? [];
    return followed.concat(this._keys.filter((key) => !followed.includes(key)));
  }

  /** Read once at each start even without keys, which shows whether the platform is reachable. */
  private _needsRead(): boolean {
    return this._readAt !== undefined && (!this._firstReadDone || this._wantsAny);
  }

  private _untilReadMs(): number | undefined {
    if (this._readAt === undefined || !this._needsRead()) return undefined;
    return Math.max(0, this._readAt - this._session.host.clock.now());
  }

  /** Processes the polls that ended. Returns the keys that they reported. */
  private _processPolls(): readonly string[] {
    let all: readonly string[] = NO_KEYS;
    for (let ended = this._polls.ended.shift(); ended; ended = this._polls.ended.shift()) {
      const change = this._polls.processEnded(ended);
      if (!change) continue;
      const { keys, values } = change;
      all = all.concat(keys);
      this._follower?.changed(keys);
      if (values) this._changed(this._values.learn(this._keys, values), []);
      else this._changed([], this._values.remove(this._keys.filter((key) => keys.includes(key))));
    }
    return all;
  }

  private async _read(): Promise<void> {
    this._readAt = undefined;
    this._lastReadAt = this._session.host.clock.now();
    const trusted = await this._reader.readTrusted(this._wanted());
    if (!this._session.running) return;
    // A change that a poll reported meanwhile is newer than the values read.
    const reported = this._processPolls();
    const isPolling = this._session.connections.pollsAttributes && !this._polls.failing;
    this.readSoon(isPolling ? READ_ANYWAY_MS : READ_EVERY_MS);
    if (!trusted) return this.readSoon();
    this._polls.knownUntil(this._lastReadAt);
    const { skippedMs } = this._reader;
    if (skippedMs !== undefined) this.readSoon(skippedMs);
    if (!trusted.isCurrent) this.readSoon(SECOND_READ_MS);
    this._firstReadDone = true;
    const read = trusted.keys.filter((key) => !reported.includes(key));
    const keys = this._keys.filter((key) => read.includes(key));
    const changed = this._values.learn(keys, trusted.values);
    const missing = this._values.missing(keys, trusted.values);
    this._changed(changed, missing.gone);
    if (missing.absent.length > 0) this._onChange(missing.absent);
    if (missing.pending) this.readSoon(SECOND_READ_MS);
    const follower = this._follower;
    if (follower?.keys.every((key) => read.includes(key))) follower.offer(trusted.values);
  }

  private _changed(keys: string[], deleted: string[]): void {
    if (keys.length === 0 && deleted.length === 0) return;
    this._values.save();
    this._events.emit("attributes", { keys, deleted });
    this._onChange(keys.concat(deleted));
  }

  private async _post({ items, text }: AttributeBatch): Promise<void> {
    const request = post(attributesPath(), this._session.host.encode(text));
    const fate = await this.bodies.send(request, items.length, items[0]?.member ?? "");
    if (fate === "accepted") this._client.accepted(items);
    else if (fate === "drop") {
      this._session.host.log("error", "the platform refuses a client attribute: it is dropped");
      this._client.drop(items);
    }
  }
}

const sooner = (one: Wait, other: Wait): Wait =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
