// The loop that keeps shared attributes equal to the platform's and brings client attributes there.
//
// The platform sends a change only to a poll that is open at that instant, and ends the poll with the first of them; what changes
// between two polls is never sent. So a poll is only a hint: first the poll is opened, then the values are read.

import type { Events } from "../../events.js";
import type { Job, Loop, PlatformSession, Wait } from "../../platform/index.js";
import { CONTENT, PROBE, post, RequestChannel } from "../../platform/index.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { EXCHANGE_MS } from "../../platform/wait.js";
import { attributesPath } from "../../wire/paths.js";
import type { Firmware } from "../firmware/firmware.js";
import type { AttributeLimits } from "../options/attributes.js";
import type { Batch, ClientAttributes } from "./client-attributes.js";
import { AttributePolls, READ_AFTER_POLL_MS } from "./polls.js";
import { AttributeReader } from "./reader.js";
import { READ_EVERY_MS, SECOND_LOOK_MS, type SharedValues } from "./shared-values.js";

/** In good times a look may be due every 30 s: in bad ones it needs not be much rarer, and a change is seen within a minute once they are over. */
const LONGEST_HOLD_MS = 55_000;
const AT_ONCE = (): Wait => 0;

export class AttributeLoop implements Job {
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _client: ClientAttributes;
  private readonly _values: SharedValues;
  private readonly _reader: AttributeReader;
  private readonly _uplink: RequestChannel;
  private readonly _polls: AttributePolls;
  private readonly _loop: Loop;
  private _keys: string[] = [];
  private _readAt: number | undefined;
  private _lookedAt = Number.NEGATIVE_INFINITY;
  private _alone = false;
  private _firstReadDone = false;
  /** Called with the keys whose value changed, or that are gone. */
  onChange: ((keys: readonly string[]) => void) | undefined;
  /** Offered every trusted look at the firmware's keys. */
  firmware: Firmware | undefined;

  constructor(
    session: PlatformSession,
    events: Events,
    timing: PollTiming,
    client: ClientAttributes,
    values: SharedValues,
    limits: AttributeLimits,
  ) {
    this._session = session;
    this._events = events;
    this._client = client;
    this._values = values;
    this._uplink = new RequestChannel(session, "attributes", LONGEST_HOLD_MS);
    this._polls = new AttributePolls(session, timing, limits.answerBytes, this);
    this._reader = new AttributeReader(session, this._uplink, limits.answerBytes, client);
    this._loop = session.loop("attributes", this);
  }

  /** The application's keys. */
  want(keys: string[]): void {
    this._keys = keys;
    this.readSoon();
  }

  wake(): void {
    this._loop.notify();
  }

  /** Something may have changed: the values are read as soon as possible, or `inMs` from now. */
  readSoon(inMs = 0): void {
    const at = this._session.host.clock.now() + inMs;
    if (this._readAt === undefined || at < this._readAt) this._readAt = at;
    if (this._looks()) this.wake();
  }

  /** As `readSoon`, but not before the last look is `sinceMs` old. */
  readAgain(sinceMs: number): void {
    this.readSoon(Math.max(0, this._lookedAt + sinceMs - this._session.host.clock.now()));
  }

  /** All was read and sent, and nothing is to be read again in a moment. */
  get idle(): boolean {
    return this._firstReadDone && !this._client.dirty && (this._restMs() ?? READ_EVERY_MS) > SECOND_LOOK_MS;
  }

  /** The device was provisioned again. */
  provisioned(): void {
    this._client.again();
    this._reader.forgetMarker();
  }

  begin(): void {
    this._polls.clear();
    this._firstReadDone = false;
    this.readSoon();
  }

  async turn(): Promise<Wait> {
    await this._uplink.ready();
    if (!this._session.running) return 0;
    this._hear();
    if (this._wantsAny) this._polls.open();
    if (this._restMs() === 0) return this._read().then(AT_ONCE);
    const batch = this._client.batch(this._alone);
    return batch ? this._post(batch).then(AT_ONCE) : this._restMs();
  }

  private get _wantsAny(): boolean {
    return this._keys.length > 0 || (this.firmware !== undefined && this.firmware.keys.length > 0);
  }

  private _wanted(): string[] {
    const firmware = this.firmware?.keys ?? [];
    return firmware.concat(this._keys.filter((key) => !firmware.includes(key)));
  }

  /** One look at each start, even with nothing to look for: it shows soon whether the platform is there. */
  private _looks(): boolean {
    return this._readAt !== undefined && (!this._firstReadDone || this._wantsAny);
  }

  private _restMs(): number | undefined {
    if (this._readAt === undefined || !this._looks()) return undefined;
    return Math.max(0, this._readAt - this._session.host.clock.now());
  }

  private _hear(): void {
    const change = this._polls.take();
    if (!change) return;
    const keys = change.kind === "updated" ? Object.keys(change.values) : change.keys;
    this.firmware?.changed(keys);
    // What waited until a refused token was good again, or a back-off over, may be long past: what holds now is read.
    if (this._polls.waitedMs > EXCHANGE_MS) this.readSoon(READ_AFTER_POLL_MS);
    else if (change.kind === "updated") this._changed(this._values.update(this._keys, change.values), []);
    else this._changed([], this._values.remove(this._keys.filter((key) => keys.includes(key))));
  }

  private async _read(): Promise<void> {
    this._readAt = undefined;
    this._lookedAt = this._session.host.clock.now();
    const trusted = await this._reader.read(this._wanted());
    if (!this._session.running) return;
    // A notification that came meanwhile is newer than what was read; its poll's successor asks for another read.
    if (this._polls.hasNews) return this.readSoon(READ_AFTER_POLL_MS);
    if (this._session.mode !== 3 || this._polls.blocked) this.readSoon(READ_EVERY_MS);
    if (!trusted) return this.readSoon();
    this._firstReadDone = true;
    const changed = this._values.update(this._keys, trusted.values);
    const missing = this._values.missing(
      this._keys.filter((key) => trusted.keys.includes(key)),
      trusted.values,
    );
    this._changed(changed, missing.gone);
    if (missing.pending) this.readSoon(SECOND_LOOK_MS);
    const firmware = this.firmware;
    if (firmware?.keys.every((key) => trusted.keys.includes(key))) firmware.offer(trusted.values);
  }

  private _changed(keys: string[], deleted: string[]): void {
    if (keys.length === 0 && deleted.length === 0) return;
    this._values.keep();
    this._events.emit("attributes", { keys, deleted });
    this.onChange?.(keys.concat(deleted));
  }

  private async _post(batch: Batch): Promise<void> {
    const outcome = await this._uplink.send(post(attributesPath(), this._session.host.encode(batch.text)));
    if (!this._session.running) return;
    if (outcome.kind === "done") {
      this._alone = false;
      this._uplink.clear();
      this._client.accepted(batch);
    } else if (outcome.kind === "busy") this._uplink.hold(outcome.retryAfterMs);
    else if (outcome.kind === "refused") await this._refused(batch, outcome.status);
  }

  /** Only what the platform refuses alone, while it accepts the token, is dropped. */
  private async _refused(batch: Batch, status: number): Promise<void> {
    if (!CONTENT.includes(status)) return this._uplink.hold();
    const probe = await this._uplink.send(PROBE);
    if (!this._session.running) return;
    if (probe.kind !== "done") return this._uplink.hold();
    if (batch.items.length > 1) {
      this._alone = true;
      return;
    }
    this._session.host.log("error", `the platform refuses a client attribute (${status}); it is dropped`);
    this._client.drop(batch);
  }
}
