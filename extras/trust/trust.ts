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
import { type Given, Trusted } from "./trusted.js";

export type { TrustHost } from "./trust-state.js";

/** Of the agent. */
export type TrustAgent = Pick<
  Agent,
  "attributes" | "firmware" | "platformTime" | "state" | "target" | "on" | "holdWake"
>;

/** What a host's start needs of it: an image without it has none. */
export interface Renewal {
  /** Of the port, by whom the device trusts at that moment. */
  readonly open: Host["open"];
  /** To be called once, before the agent is started. */
  attach(agent: TrustAgent): void;
}

export type RenewTrust = (host: TrustHost, given: Given) => Renewal;

/** To be handed to a host's start. */
export const renewTrust: RenewTrust = (host, given) => {
  const trusted = new Trusted(host, given);
  return {
    open: (name, port, secure, event) => trusted.opener()(name, port, secure, event),
    attach(agent) {
      // Over http nobody is asked for a certificate.
      if (agent.target.secure) new Trust(host, trusted, agent);
    },
  };
};

/**
 * Failed attempts are repeated after doubling delays, because each costs a handshake of seconds.
 */
const RETRY_MS = 600_000;
const DAY_MS = 86_400_000;

/** Why an announcement is not taken, for people. `isFinal`: trying it again is of no use. */
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
 * trusted CAs and their end, the CAs waiting to be dropped, and why an announcement was refused.
 * The attribute `moteTrustWarning` is not empty while the last trusted CA ends in less than 60
 * days.
 */
class Trust {
  private readonly _host: TrustHost;
  private readonly _trusted: Trusted;
  private readonly _agent: TrustAgent;
  private _announced: unknown;
  /** SHA-256 of what was found to be signed, so that a second try does not compute it again. */
  private _signed = "";
  private _refused: Refused | undefined;
  private _isBusy = false;
  private _isAsked = false;
  /** What was announced when the last turn began. */
  private _examined: unknown;
  /** Paces handshakes: the last turn that might cost one, and how long the next one waits. */
  private _triedAt = Number.NEGATIVE_INFINITY;
  private _patienceMs = RETRY_MS;
  /** The highest signed sequence number so far: only a higher one is tried at once. */
  private _attempted = 0;
  private _cancel = (): void => {};

  constructor(host: TrustHost, trusted: Trusted, agent: TrustAgent) {
    this._host = host;
    this._trusted = trusted;
    this._agent = agent;
    agent.attributes.subscribe(KEY, (value) => this._announce(value));
    agent.on("online", () => this._proceed());
    this._daily();
  }

  private _daily(): void {
    this._report();
    this._host.clock.timer(DAY_MS, () => this._daily());
  }

  private _announce(value: unknown): void {
    this._announced = value;
    this._refused = undefined;
    this._proceed();
  }

  /** The platform is there: something may be left to be tried. */
  private _proceed(): void {
    if (this._isBusy) {
      this._isAsked = true;
      return;
    }
    this._report();
    if (!this._isDue || this._agent.state !== "online") return;
    this._isBusy = true;
    const later = (): void => this._later();
    this._agent.holdWake(this._turn().then(later, later));
  }

  private get _isDue(): boolean {
    const isOpen = this._trusted.state.waiting.length > 0 || (this._isNew && this._refused?.isFinal !== true);
    return isOpen && (this._announced !== this._examined || this._waitMs === 0);
  }

  /** Until a handshake may be tried again. */
  private get _waitMs(): number {
    return Math.max(0, this._triedAt + this._patienceMs - this._host.clock.now());
  }

  /** What is announced is not what was taken last. */
  private get _isNew(): boolean {
    const announced = readAnnouncement(this._announced);
    if (!announced) return this._announced !== undefined;
    const { sequence, digest } = this._trusted.state;
    // An earlier image took it.
    if (announced.product === "" && announced.sequence <= sequence) return false;
    const isTaken = announced.sequence === sequence && this._digestOf(announced) === digest;
    return !isTaken || this._trusted.lacks(announced);
  }

  private async _turn(): Promise<void> {
    do {
      this._isAsked = false;
      this._examined = this._announced;
      // What nobody signed must not bring the next handshake forward, nor put it off.
      const isDue = this._waitMs === 0;
      if (isDue) this._pace(2 * this._patienceMs);
      const isTaken = this._isNew && (await this._try(this._announced, isDue));
      if ((isDue || isTaken) && this._trusted.state.waiting.length > 0) await this._drop();
    } while (this._isAsked && this._isDue);
    this._report();
  }

  private _pace(nextMs: number): void {
    const isFirst = this._triedAt === Number.NEGATIVE_INFINITY;
    this._patienceMs = isFirst ? RETRY_MS : Math.min(nextMs, DAY_MS);
    this._triedAt = this._host.clock.now();
  }

  private async _try(value: unknown, isDue: boolean): Promise<boolean> {
    const refused = await this._take(value, isDue).catch(() => this._no("it failed", false));
    // Another one may have come meanwhile.
    if (value === this._announced) this._refused = refused;
    return refused === undefined;
  }

  private _later(): void {
    this._isBusy = false;
    this._cancel();
    const isLeft = this._trusted.state.waiting.length > 0 || this._refused?.isFinal === false;
    if (isLeft) this._cancel = this._host.clock.timer(this._waitMs, () => this._proceed());
  }

  private async _take(value: unknown, isDue: boolean): Promise<Refused | undefined> {
    const announced = readAnnouncement(value);
    if (!announced) return this._no("it is not an announcement");
    if (announced.product !== this._agent.firmware.title)
      return this._no(
        announced.product === ""
          ? "it names no product: push it again with a current mote-cli"
          : "it is for another product than this device's firmware.title",
      );
    const digest = this._digestOf(announced);
    const { sequence } = this._trusted.state;
    if (announced.sequence < sequence) return this._no("it is older than the last one that was taken");
    if (announced.sequence === sequence && digest !== this._trusted.state.digest)
      return this._no("another announcement with its sequence number was taken");
    // What lies behind the signature costs a handshake: nothing of it is looked at before.
    if (!(await this._isSigned(announced, digest)))
      return this._no("it is not signed with firmware.publicKey");
    if (announced.sequence > this._attempted) this._pace(RETRY_MS);
    else if (!isDue) return this._no("it is tried again later", false);
    this._attempted = Math.max(announced.sequence, this._attempted);
    const plan = this._trusted.plan(announced);
    if (typeof plan === "string") return this._no(plan);
    const fresh: Authority[] = [];
    for (const one of plan.missing) {
      const der = await readPieces(this._agent, pieceKeys(one), one.bytes);
      if (typeof der === "string") return this._no(der, false);
      if (sha256(this._host, der) !== one.sha256)
        return this._no("a certificate is not the one that was signed", false);
      const reason = unfit(der, this._now());
      // The time of day may be wrong.
      if (reason) return this._no(reason, false);
      fresh.push({ id: one.sha256, der });
    }
    // A certificate that TLS can't read would shut the device out.
    const problem = fresh.length > 0 ? await this._handshake([], fresh) : undefined;
    if (problem) return this._no(`no handshake succeeded with it: ${problem}`, false);
    if (!this._trusted.take(announced, digest, plan.waiting, fresh))
      return this._no("the change could not be stored", false);
    this._host.log("info", `trust: announcement ${announced.sequence} was taken`);
    return undefined;
  }

  private async _isSigned(announced: Announcement, digest: string): Promise<boolean> {
    if (this._signed === digest) return true;
    const text = this._host.encode(signedText(announced));
    const isSigned = await this._agent.firmware.isSigned(text, announced.signature);
    if (isSigned) this._signed = digest;
    return isSigned;
  }

  private async _drop(): Promise<void> {
    const { waiting } = this._trusted.state;
    const problem = await this._handshake(waiting, []);
    if (problem) this._host.log("info", `trust: nothing is dropped yet (${problem})`);
    else if (this._trusted.drop()) this._host.log("info", `trust: dropped ${waiting.map(short).join(", ")}`);
  }

  private _handshake(without: readonly string[], more: readonly Authority[]): Promise<string | undefined> {
    return probe(this._host.clock, this._trusted.opener(without, more), this._agent.target);
  }

  private _no(reason: string, isFinal = true): Refused {
    this._host.log("warn", `trust: an announcement is not taken: ${reason}`);
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
      this._host.log("warn", "trust: the client attributes leave no room for its state");
    }
  }
}
