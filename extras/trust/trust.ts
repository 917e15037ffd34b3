// Changes the trusted CAs remotely: a signed announcement adds CAs and drops others.
//
// No change is stored before a handshake with it succeeded. Otherwise a CA that TLS cannot read, or
// the drop of the server's own CA, would lock the device out.
import type { Agent } from "../../src/index.js";
import type { Host } from "../../src/port.js";
import { type Announcement, KEY, pieceKeys, readAnnouncement, short, signedText } from "./announcement.js";
import { type Authority, sha256, unfit } from "./authority.js";
import { readPieces } from "./pieces.js";
import { probe } from "./probe.js";
import { reported } from "./report.js";
import type { TrustHost } from "./trust-state.js";
import { type InitialTrust, Trusted } from "./trusted.js";

export type { TrustHost } from "./trust-state.js";

/** The part of the agent that a change of trust needs. */
export type TrustAgent = Pick<
  Agent,
  "attributes" | "firmware" | "platformTime" | "state" | "target" | "on" | "holdWake"
>;

/** The renewable trust of a device. Only an image with this extra has one. */
export interface Renewal {
  /** Opens a connection with the CAs that the device trusts at that moment. */
  readonly open: Host["open"];
  /** Follows the announcements that `agent` receives. Call once, before the agent starts. */
  attach(agent: TrustAgent): void;
}

export type RenewTrust = (host: TrustHost, initial: InitialTrust) => Renewal;

/** Makes the trust of a device renewable. Pass this function to the host's start. */
export const renewTrust: RenewTrust = (host, initial) => {
  const trusted = new Trusted(host, initial);
  return {
    open: (name, port, secure, event) => trusted.opener()(name, port, secure, event),
    attach(agent) {
      // Over plain HTTP the server shows no certificate.
      if (agent.target.secure) new Trust(host, trusted, agent);
    },
  };
};

/** First delay after a failed attempt. It doubles, because each handshake takes seconds. */
const RETRY_MS = 600_000;
const DAY_MS = 86_400_000;

/** Why an announcement was refused, for people. `isFinal`: a retry cannot succeed. */
class Refused {
  readonly reason: string;
  readonly isFinal: boolean;

  constructor(reason: string, isFinal: boolean) {
    this.reason = reason;
    this.isFinal = isFinal;
  }
}

/**
 * Follows the shared attribute `moteTrust`. Reports as client attribute `moteTrustState`: the
 * trusted CAs and their expiry, the CAs waiting to be dropped, and why an announcement was refused.
 * The attribute `moteTrustWarning` is not empty while the last trusted CA expires in less than 60
 * days.
 */
class Trust {
  private readonly _host: TrustHost;
  private readonly _trusted: Trusted;
  private readonly _agent: TrustAgent;
  private _announced: unknown;
  /** SHA-256 of the last text with a valid signature, so that a retry need not verify it again. */
  private _signedDigest = "";
  private _refused: Refused | undefined;
  private _isBusy = false;
  private _mustRepeat = false;
  /** The announcement at the start of the last run. */
  private _tried: unknown;
  /** When the last attempt began that may have made a handshake, and the delay before the next. */
  private _attemptedAt = Number.NEGATIVE_INFINITY;
  private _retryMs = RETRY_MS;
  /** The highest signed sequence number that was tried. A higher one is tried without delay. */
  private _highestTried = 0;
  private _cancelRetry = (): void => {};

  constructor(host: TrustHost, trusted: Trusted, agent: TrustAgent) {
    this._host = host;
    this._trusted = trusted;
    this._agent = agent;
    agent.attributes.subscribe(KEY, (value) => this._receive(value));
    agent.on("online", () => this._proceed());
    this._daily();
  }

  private _daily(): void {
    this._report();
    this._host.clock.timer(DAY_MS, () => this._daily());
  }

  private _receive(value: unknown): void {
    this._announced = value;
    this._refused = undefined;
    this._proceed();
  }

  /** Starts a run if the device is online and something is due. */
  private _proceed(): void {
    if (this._isBusy) {
      this._mustRepeat = true;
      return;
    }
    this._report();
    if (!this._isDue || this._agent.state !== "online") return;
    this._isBusy = true;
    const finish = (): void => this._finish();
    this._agent.holdWake(this._run().then(finish, finish));
  }

  private get _isDue(): boolean {
    const isOpen = this._trusted.state.waiting.length > 0 || (this._isNew && this._refused?.isFinal !== true);
    return isOpen && (this._announced !== this._tried || this._waitMs === 0);
  }

  /** Milliseconds until the next handshake may be tried. */
  private get _waitMs(): number {
    return Math.max(0, this._attemptedAt + this._retryMs - this._host.clock.now());
  }

  /** True unless the announcement was already accepted and its CAs are still stored. */
  private get _isNew(): boolean {
    const announced = readAnnouncement(this._announced);
    if (!announced) return this._announced !== undefined;
    const { sequence, digest } = this._trusted.state;
    // An earlier image, which knew no products, accepted it.
    if (announced.product === "" && announced.sequence <= sequence) return false;
    const isAccepted = announced.sequence === sequence && this._digestOf(announced) === digest;
    return !isAccepted || this._trusted.lacks(announced);
  }

  private async _run(): Promise<void> {
    do {
      this._mustRepeat = false;
      this._tried = this._announced;
      // An unsigned announcement must not change when the next handshake happens.
      const isDue = this._waitMs === 0;
      if (isDue) this._delayNext(2 * this._retryMs);
      const isAccepted = this._isNew && (await this._try(this._announced, isDue));
      if ((isDue || isAccepted) && this._trusted.state.waiting.length > 0) await this._dropWaiting();
    } while (this._mustRepeat && this._isDue);
    this._report();
  }

  private _delayNext(nextMs: number): void {
    const isFirst = this._attemptedAt === Number.NEGATIVE_INFINITY;
    this._retryMs = isFirst ? RETRY_MS : Math.min(nextMs, DAY_MS);
    this._attemptedAt = this._host.clock.now();
  }

  private async _try(value: unknown, isDue: boolean): Promise<boolean> {
    const refused = await this._accept(value, isDue).catch(() => this._refuse("it failed", false));
    // Another announcement may have arrived meanwhile.
    if (value === this._announced) this._refused = refused;
    return refused === undefined;
  }

  private _finish(): void {
    this._isBusy = false;
    this._cancelRetry();
    const isLeft = this._trusted.state.waiting.length > 0 || this._refused?.isFinal === false;
    if (isLeft) this._cancelRetry = this._host.clock.timer(this._waitMs, () => this._proceed());
  }

  private async _accept(value: unknown, isDue: boolean): Promise<Refused | undefined> {
    const announced = readAnnouncement(value);
    if (!announced) return this._refuse("it is not an announcement");
    if (announced.product !== this._agent.firmware.title)
      return this._refuse(
        announced.product === ""
          ? "it names no product: push it again with a current mote-cli"
          : "it is for another product than this device's firmware.title",
      );
    const digest = this._digestOf(announced);
    const { sequence } = this._trusted.state;
    if (announced.sequence < sequence) return this._refuse("it is older than the last accepted announcement");
    if (announced.sequence === sequence && digest !== this._trusted.state.digest)
      return this._refuse("another announcement with the same sequence number was accepted");
    // Verify the signature first: the checks below read attributes and make a handshake.
    if (!(await this._isSigned(announced, digest)))
      return this._refuse("it is not signed with firmware.publicKey");
    if (announced.sequence > this._highestTried) this._delayNext(RETRY_MS);
    else if (!isDue) return this._refuse("it will be retried later", false);
    this._highestTried = Math.max(announced.sequence, this._highestTried);
    const change = this._trusted.changeFor(announced);
    if (typeof change === "string") return this._refuse(change);
    const fresh: Authority[] = [];
    for (const one of change.missing) {
      const der = await readPieces(this._agent, pieceKeys(one), one.bytes);
      if (typeof der === "string") return this._refuse(der, false);
      if (sha256(this._host, der) !== one.sha256)
        return this._refuse("a certificate is not the one that was signed", false);
      const reason = unfit(der, this._now());
      // Not final: the device's time may be wrong.
      if (reason) return this._refuse(reason, false);
      fresh.push({ id: one.sha256, der });
    }
    // A certificate that TLS cannot read would lock the device out.
    const problem = fresh.length > 0 ? await this._tryHandshake([], fresh) : undefined;
    if (problem) return this._refuse(`no handshake succeeded with it: ${problem}`, false);
    if (!this._trusted.accept(announced, digest, change.waiting, fresh))
      return this._refuse("the change could not be stored", false);
    this._host.log("info", `trust: accepted announcement ${announced.sequence}`);
    return undefined;
  }

  private async _isSigned(announced: Announcement, digest: string): Promise<boolean> {
    if (this._signedDigest === digest) return true;
    const text = this._host.encode(signedText(announced));
    const isSigned = await this._agent.firmware.isSigned(text, announced.signature);
    if (isSigned) this._signedDigest = digest;
    return isSigned;
  }

  private async _dropWaiting(): Promise<void> {
    const { waiting } = this._trusted.state;
    const problem = await this._tryHandshake(waiting, []);
    if (problem) this._host.log("info", `trust: no CA dropped yet: no handshake without it (${problem})`);
    else if (this._trusted.dropWaiting())
      this._host.log("info", `trust: dropped ${waiting.map(short).join(", ")}`);
  }

  private _tryHandshake(without: readonly string[], more: readonly Authority[]): Promise<string | undefined> {
    return probe(this._host.clock, this._trusted.opener(without, more), this._agent.target);
  }

  private _refuse(reason: string, isFinal = true): Refused {
    this._host.log("warn", `trust: announcement refused: ${reason}`);
    return new Refused(reason, isFinal);
  }

  private _digestOf(announced: Announcement): string {
    return sha256(this._host, this._host.encode(signedText(announced)));
  }

  private _now(): number | undefined {
    return this._host.clock.wall() ?? this._agent.platformTime;
  }

  private _report(): void {
    const sequence = readAnnouncement(this._announced)?.sequence;
    const refused = this._refused && {
      reason: this._refused.reason,
      ...(sequence !== undefined && { sequence }),
    };
    const values = reported(this._trusted, refused, this._now());
    try {
      this._agent.attributes.publish(values);
    } catch {
      this._host.log("warn", "trust: not reported: too many client attributes");
    }
  }
}
