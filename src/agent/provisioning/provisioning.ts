// The access token: from the options, from the store, or by POST /api/v1/provision. After a 401, it
// is tested until the platform knows it again.
//
// The platform answers 200 NOT_FOUND to a wrong secret, and 200 FAILURE to a second attempt with
// the same name. So a lost answer would lock the device out. Therefore the device proposes a random
// token, stored beforehand. If the answer is lost, `GET attributes` with the proposed token shows
// whether the platform accepted it.

import type { Events } from "../../events.js";
import type { Outcome } from "../../http/outcome.js";
import type { Job, Loop, Pacer, PlatformSession, Wait } from "../../platform/index.js";
import { PROBE, post } from "../../platform/index.js";
import { API_PREFIX, devicePrefix, PROVISION_PATH } from "../../wire/paths.js";
import { encodeProvision, parseProvision } from "../../wire/provision.js";
import { Secret } from "../../wire/secret.js";
import type { Attributes } from "../attributes/attributes.js";
import type { Reset } from "../lifecycle/index.js";
import type { ProvisioningOptions } from "./options.js";
import { FAILURE, type Refusal, RefusalBackoff } from "./refusal-backoff.js";
import { TokenStore } from "./token-store.js";

const STORE_RETRY_MS = 60_000;

/**
 * | step | what is done | next |
 * |---|---|---|
 * | `begin` | end a reset, read the tokens | `ready`; after a refusal `probe`; no token: `ask` |
 * | `probe` | GET with the token or proposed one | known: `ready`, `store`; 401: `probe`, `ask` |
 * | `ask` | POST with the proposed token | `store`; failure, no answer: `probe`; wrong key: `ask` |
 * | `store` | store the token that the platform accepted | `ready` |
 * | `ready` | nothing: the token is in use | 401 to any request: `probe` |
 *
 * A refusal (refusal-backoff.ts) and a lost request delay the next probe or question.
 */
type Step = "begin" | "probe" | "ask" | "store" | "ready";

export class Provisioning implements Job {
  private readonly _session: PlatformSession;
  readonly loop: Loop;
  private readonly _events: Events;
  readonly #secrets: { readonly key: Secret; readonly secret: Secret } | undefined;
  readonly deviceName: string | undefined;
  private readonly _tokens: TokenStore;
  private readonly _pacer: Pacer;
  private _step: Step = "begin";
  private readonly _isTokenGiven: boolean;
  /** Version of the running firmware. */
  private readonly _firmwareVersion: string;
  #token: Secret | undefined;
  #proposed: Secret | undefined;
  private _isNewToken = false;
  /** Refusals reported since the last token was accepted. */
  private _reported: string[] = [];
  private readonly _backoff: RefusalBackoff;
  private readonly _reset: Reset;
  private readonly _attributes: Attributes;

  /**
   * `reset`: a reset in progress would delete a new token too. `attributes`: notified before a new
   * token is stored, because the platform has no attributes of the device yet.
   */
  constructor(
    session: PlatformSession,
    events: Events,
    reset: Reset,
    attributes: Attributes,
    token: string | undefined,
    options: ProvisioningOptions | undefined,
    firmwareVersion = "",
  ) {
    this._reset = reset;
    this._attributes = attributes;
    this._firmwareVersion = firmwareVersion;
    this._session = session;
    this._events = events;
    if (options) {
      this.#secrets = { key: this._secret(options.key), secret: this._secret(options.secret) };
      this.deviceName = options.deviceName ?? `mote-${session.host.hardwareId}`;
    }
    this.loop = session.loop("provisioning", this);
    const { host, binding } = session;
    this._tokens = new TokenStore(host, session.redactor, binding);
    this._pacer = session.pacer("provisioning");
    this._backoff = new RefusalBackoff(host, `${binding.scheme}://${binding.address}`);
    this._isTokenGiven = token !== undefined;
    if (token !== undefined) this.#token = this._secret(token);
    for (const one of [token, options?.key, options?.secret]) session.redactor.pin(one ?? "");
  }

  private _secret(text: string): Secret {
    return new Secret(text, this._session.binding);
  }

  get hasToken(): boolean {
    return this._step === "ready";
  }

  /** The platform refused this device at the last attempt. */
  get isRefused(): boolean {
    return this._session.refusal !== undefined;
  }

  begin(): void {
    this._session.refusal = undefined;
    this._reported = [];
    this._step = "begin";
  }

  /** Deletes the token unless it was given in the options; false if the store keeps it. */
  forget(): boolean {
    this.#proposed = undefined;
    if (!this._isTokenGiven) this.#token = undefined;
    return this._tokens.forget() && this._backoff.forget();
  }

  private _begin(): Wait {
    if (!this._reset.finish()) return STORE_RETRY_MS;
    this._isNewToken = false;
    if (!this.#token) {
      this.#token = this._tokens.get("token");
      this.#proposed = this._tokens.get("proposed");
    }
    // Another image may ask at once: after a rollback, it has a result to report.
    const own = this._isTokenGiven && this.#token ? [this.#token] : [];
    const { key, secret } = this.#secrets ?? {};
    const secrets = this._isTokenGiven || !key || !secret ? own : [key, secret];
    const who = this._isTokenGiven ? this._firmwareVersion : `${this.deviceName} ${this._firmwareVersion}`;
    if (this._backoff.identify(who, secrets)) {
      this._session.refusal = "it did so before the restart";
      this._session.host.log(
        "warn",
        "the platform refused this device before: waiting before the next attempt",
      );
    }
    if (this.#token && this._backoff.count === 0) this._ready(true, false);
    else this._step = this.#token || this.#proposed ? "probe" : "ask";
    return 0;
  }

  turn(): Wait | Promise<Wait> {
    switch (this._step) {
      case "begin":
        return this._begin();
      case "ready":
        return undefined;
      case "probe":
        return this._waitMs || this._probe();
      case "ask":
        return this._waitMs || this._ask();
      case "store":
        return this._storeToken();
    }
  }

  private get _waitMs(): number {
    return Math.max(this._backoff.wait, this._session.delayMs, this._pacer.delayMs);
  }

  private async _probe(): Promise<number> {
    const token = this.#token ?? this.#proposed;
    if (!token) {
      this._step = "ask";
      return 0;
    }
    const outcome = await this._session.send("provisioning", PROBE, devicePrefix(token));
    if (!this._session.running) return 0;
    if (outcome.kind === "done") {
      this._step = this.#token ? "ready" : "store";
      if (this.#token) this._ready(true);
      return 0;
    }
    if (outcome.kind !== "refused" || outcome.status !== 401) return this._later(outcome);
    if (this.#token && !this.#token.equals(this.#proposed)) return this._tokenRefused();
    // An earlier 200 did not come from the platform; provision again.
    this.#token = undefined;
    this._step = "ask";
    return 0;
  }

  private async _ask(): Promise<number> {
    const secrets = this.#secrets;
    if (!secrets) return this._backoff.noteRefusal("unknown");
    this.#proposed ??= this._tokens.propose();
    if (this.#proposed === undefined) return STORE_RETRY_MS;
    const body = encodeProvision({ deviceName: this.deviceName ?? "", ...secrets, token: this.#proposed });
    let wasSent = false;
    const sent = () => {
      wasSent = true;
    };
    const asked = post(PROVISION_PATH, this._session.host.encode(body));
    const request = { ...asked, isReceipt: false, repeatable: false, sent };
    const outcome = await this._session.send("provisioning", request, this._secret(API_PREFIX));
    return this._session.running ? this._applyOutcome(outcome, wasSent) : 0;
  }

  private _applyOutcome(outcome: Outcome, wasSent: boolean): number {
    if (outcome.kind === "refused")
      return this._refused("provisioning", `the platform answered ${outcome.status}`, "notCreated");
    if (outcome.kind !== "done") {
      // The platform may have created the device if it received the whole request.
      if (wasSent) this._step = "probe";
      return this._later(outcome);
    }
    const answer = parseProvision(this._session.host.decode(outcome.body) ?? "");
    switch (answer.kind) {
      case "success":
        this.#proposed = this._secret(answer.token);
        this._isNewToken = true;
        this._step = "store";
        return 0;
      case "not-found":
        return this._refused("provisioning", "wrong provisioning key or secret", "unknown");
      case "failure":
        this._step = "probe";
        return this._refused("provisioning", FAILURE, "notCreated");
      case "malformed":
        this._step = "probe";
        return this._refused("provisioning", answer.reason, "notCreated");
    }
  }

  private _later(outcome: Outcome): number {
    this._pacer.slow(outcome);
    return this._waitMs;
  }

  private _storeToken(): number {
    const token = this.#proposed;
    // Also needed if the answer was lost and the token found valid later, or after a power loss in
    // between.
    this._attributes.provisioned();
    // Without a stored token, the next start could not authenticate.
    if (!token || !this._tokens.save(token, this.deviceName)) return STORE_RETRY_MS;
    this.#token = token;
    if (this._isNewToken) this._forgetProposed();
    this._ready(!this._isNewToken);
    return 0;
  }

  /** `isAccepted`: false for a stored token that this run has not tried yet. */
  private _ready(adopted: boolean, isAccepted = true): void {
    this._step = "ready";
    this._session.refusal = undefined;
    this._pacer.clear();
    this._session.authorize(this.#token && devicePrefix(this.#token));
    this._events.emit("provisioned", {
      deviceName: this._isTokenGiven ? undefined : this._tokens.name,
      adopted,
    });
    this._backoff.tokenInUse(isAccepted);
  }

  private _forgetProposed(): void {
    this.#proposed = undefined;
    this._tokens.deleteProposed();
  }

  /**
   * A token accepted only by a 200 stays proposed until the platform returned data published with
   * it.
   */
  tokenProven(): void {
    if (this._step === "ready" && this.#proposed !== undefined) this._forgetProposed();
  }

  /** The platform does not know the token in use. */
  unauthorized(): void {
    if (this._step !== "ready") return;
    this._step = "probe";
    this._tokenRefused();
    this.loop.notify();
  }

  private _tokenRefused(): number {
    return this._refused("token", "the platform does not know the access token (401)", "unknown");
  }

  /** Reports each reason once in a series of refusals. Returns the delay. */
  private _refused(what: "provisioning" | "token", reason: string, refusal: Refusal): number {
    const wait = this._backoff.noteRefusal(refusal);
    if (this._backoff.count === 1) this._reported = [];
    this._session.refusal = reason;
    if (this._reported.includes(reason)) return wait;
    this._reported.push(reason);
    const { host } = this._session;
    host.log("error", `${what} refused: ${reason}; retrying at growing intervals of up to 10 minutes`);
    this._events.emit("refused", { what, reason });
    return wait;
  }
}
