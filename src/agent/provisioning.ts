// How the device gets its access token: given, kept from before, or by POST /api/v1/provision.
//
// The platform answers a wrong secret with 200 NOT_FOUND and a second attempt under the same name with 200 FAILURE, so a lost
// answer would lose the device. Therefore a random token is proposed, and stored before it is proposed: whatever happens to the
// answer, `GET attributes` with the proposed token tells whether the platform took it.
import { Backoff } from "../net/backoff.js";
import type { Outcome } from "../net/outcome.js";
import { API_PREFIX, devicePrefix, PROVISION_PATH } from "../wire/paths.js";
import { encodeProvision, parseProvision } from "../wire/provision.js";
import type { Events } from "./events.js";
import type { Link } from "./link.js";
import type { Job, Loop, Wait } from "./loop.js";
import type { ProvisioningOptions } from "./options.js";
import { PROBE, post } from "./requests.js";
import { TokenRefusals } from "./token-refusals.js";
import { TokenStore } from "./token-store.js";

const RETRY_MS = 10 * 60_000;
const STORE_RETRY_MS = 60_000;

/**
 * - `begin`: what is kept is read, once no reset is under way any more.
 * - `probe`: find out whether the platform knows the token in hand.
 * - `ask`: provision with the proposed token.
 * - `keep`: the answer is there, the token goes to the store.
 * - `ready`: the token is in use.
 */
const STEPS = { begin: "begin", probe: "probe", ask: "ask", keep: "keep", ready: "ready" } as const;
type Step = keyof typeof STEPS;

export class Provisioning implements Job {
  readonly #link: Link;
  readonly loop: Loop;
  readonly #events: Events;
  readonly #options: ProvisioningOptions | undefined;
  readonly #tokens: TokenStore;
  readonly #backoff: Backoff;
  #step: Step = "begin";
  readonly #given: boolean;
  #token: string | undefined;
  #proposed: string | undefined;
  #fresh = false;
  #told: string | undefined;
  readonly #refusals: TokenRefusals;
  #probeAt = 0;
  /** With its mark in the store a new token would be forgotten, too. */
  reset: { finish(): boolean } | undefined;
  /** Told before a new token is kept: the platform knows nothing of the device yet. */
  attributes: { provisioned(): void } | undefined;
  /** The platform will not have this device, as far as it was asked. */
  refused = false;

  constructor(
    link: Link,
    events: Events,
    token: string | undefined,
    options: ProvisioningOptions | undefined,
  ) {
    this.#link = link;
    this.#events = events;
    this.#options = options;
    this.loop = link.loop("provisioning", this);
    const { secure, authority, prefix } = link.target;
    this.#tokens = new TokenStore(link.host, `${secure ? "https" : "http"}://${authority}${prefix}`);
    this.#backoff = new Backoff(link.host);
    this.#refusals = new TokenRefusals(link.host);
    this.#given = token !== undefined;
    this.#token = token;
  }

  /** The name under which the device provisions itself. */
  get deviceName(): string | undefined {
    return this.#options && (this.#options.deviceName ?? `mote-${this.#link.host.hardwareId}`);
  }

  /** A token is in use. */
  get ready(): boolean {
    return this.#step === "ready";
  }

  begin(): void {
    this.refused = false;
    this.#step = "begin";
  }

  /** Forgets the token for good, unless it was given; false if the store keeps it. */
  forget(): boolean {
    this.#proposed = undefined;
    if (!this.#given) this.#token = undefined;
    return this.#tokens.forget();
  }

  #begin(): Wait {
    if (this.reset?.finish() === false) return STORE_RETRY_MS;
    this.#fresh = false;
    if (!this.#token) {
      this.#token = this.#tokens.get("token");
      this.#proposed = this.#tokens.get("proposed");
    }
    if (this.#token) this.#ready(true);
    else this.#step = this.#proposed ? "probe" : "ask";
    return 0;
  }

  turn(): Wait | Promise<Wait> {
    switch (this.#step) {
      case "begin":
        return this.#begin();
      case "ready":
        return undefined;
      case "probe":
        return this.#probe();
      case "ask":
        return this.#ask();
      case "keep":
        return this.#keep();
    }
  }

  async #probe(): Promise<number> {
    const early = this.#probeAt - this.#link.host.clock.now();
    if (early > 0) return early;
    const token = this.#token ?? this.#proposed ?? "";
    const outcome = await this.#link.sendTo("uplink", PROBE, devicePrefix(token));
    if (!this.#link.running) return 0;
    if (outcome.kind === "done") {
      this.#step = this.#token ? "ready" : "keep";
      if (this.#token) this.#ready(true);
      return 0;
    }
    if (outcome.kind !== "refused" || outcome.status !== 401) return this.#later();
    if (this.#token && this.#token !== this.#proposed) return RETRY_MS;
    // It was only taken for accepted: by an answer that was not the platform's, perhaps.
    this.#token = undefined;
    this.#step = "ask";
    return 0;
  }

  async #ask(): Promise<number> {
    const options = this.#options;
    if (!options) return RETRY_MS;
    this.#proposed ??= this.#tokens.propose();
    if (this.#proposed === undefined) return STORE_RETRY_MS;
    const { host } = this.#link;
    const body = encodeProvision({
      deviceName: this.deviceName ?? "",
      key: options.key,
      secret: options.secret,
      token: this.#proposed,
    });
    const request = { ...post(PROVISION_PATH, host.encode(body)), repeatable: false };
    const outcome = await this.#link.sendTo("uplink", request, API_PREFIX);
    return this.#link.running ? this.#judge(outcome) : 0;
  }

  #judge(outcome: Outcome): number {
    if (outcome.kind === "refused") return this.#refused(`the platform answered ${outcome.status}`);
    if (outcome.kind !== "done") {
      // The platform may have created the device all the same.
      this.#step = "probe";
      return this.#later();
    }
    const answer = parseProvision(this.#link.host.decode(outcome.body) ?? "");
    switch (answer.kind) {
      case "success":
        this.#proposed = answer.token;
        this.#fresh = true;
        this.#step = "keep";
        return 0;
      case "not-found":
        return this.#refused("wrong provisioning key or secret");
      case "failure":
        this.#step = "probe";
        return this.#refused(
          "the device name is taken, or a pre-provisioned device was provisioned before and its answer was lost",
        );
      case "malformed":
        this.#step = "probe";
        return this.#refused(answer.reason);
    }
  }

  #later(): number {
    return Math.max(this.#link.delay(), this.#backoff.next());
  }

  #refused(reason: string): number {
    if (this.#told !== reason) {
      this.#told = reason;
      this.#link.host.log("error", `provisioning refused: ${reason}; trying again every 10 minutes`);
      this.refused = true;
      this.#events.emit("refused", { what: "provisioning", reason });
    }
    return RETRY_MS;
  }

  #keep(): number {
    const token = this.#proposed ?? "";
    // Also if the answer was lost and the token found accepted later, or the power goes between these steps.
    this.attributes?.provisioned();
    // Without a kept token the next start could not prove who it is.
    if (!this.#tokens.keep(token, this.deviceName)) return STORE_RETRY_MS;
    this.#token = token;
    if (this.#fresh) this.#forgetProposed();
    this.#ready(!this.#fresh);
    return 0;
  }

  #ready(adopted: boolean): void {
    this.#step = "ready";
    this.#told = undefined;
    this.refused = false;
    this.#backoff.reset();
    this.#link.authorize(devicePrefix(this.#token ?? ""));
    this.#events.emit("provisioned", { deviceName: this.#given ? undefined : this.#tokens.name, adopted });
    this.#refusals.ready();
  }

  #forgetProposed(): void {
    this.#proposed = undefined;
    this.#tokens.proven();
  }

  /** A token found accepted by a 200 alone stays proposed until the platform gave back what was published with it. */
  proven(): void {
    if (this.#step === "ready" && this.#proposed !== undefined) this.#forgetProposed();
  }

  /** The platform does not know the token in use. */
  unauthorized(): void {
    if (this.#step !== "ready") return;
    this.#step = "probe";
    this.#link.authorize(undefined);
    const { waitMs, isNews } = this.#refusals.refused();
    this.#probeAt = this.#link.host.clock.now() + waitMs;
    const reason = "the platform does not know the access token (401)";
    if (isNews) this.#link.host.log("error", `${reason}; asking again every 10 minutes, recording goes on`);
    this.refused = true;
    this.#events.emit("refused", { what: "token", reason });
    this.loop.notify();
  }
}
