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
import type { ProvisioningOptions } from "./options.js";
import type { Signal } from "./signal.js";
import { readStored, writeStored } from "./stored.js";

const DEADLINE_MS = 30_000;
const RETRY_MS = 10 * 60_000;
const STORE_RETRY_MS = 60_000;
const TOKEN_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
const TOKEN_LENGTH = 20;

/**
 * - `probe`: find out whether the platform knows the token in hand.
 * - `ask`: provision with the proposed token.
 * - `keep`: the answer is there, the token goes to the store.
 * - `ready`: the token is in use.
 */
const STEPS = { probe: "probe", ask: "ask", keep: "keep", ready: "ready" } as const;
type Step = keyof typeof STEPS;

export class Provisioning {
  readonly #link: Link;
  readonly #events: Events;
  readonly #options: ProvisioningOptions | undefined;
  readonly #signal: Signal;
  readonly #base: string;
  readonly #backoff: Backoff;
  #step: Step = "ask";
  #token: string | undefined;
  #proposed: string | undefined;
  #fresh = false;
  #told: string | undefined;
  /** Called once a token is in use; `fresh` if the device was provisioned just now. */
  onReady: ((fresh: boolean) => void) | undefined;

  constructor(
    link: Link,
    events: Events,
    token: string | undefined,
    options: ProvisioningOptions | undefined,
  ) {
    this.#link = link;
    this.#events = events;
    this.#options = options;
    this.#signal = link.signal();
    this.#base = `${link.target.secure ? "https" : "http"}://${link.target.authority}${link.target.prefix}`;
    this.#backoff = new Backoff(link.host);
    this.#token = token;
    link.onUnauthorized = () => this.#unauthorized();
  }

  /** The name under which the device is provisioned. */
  get deviceName(): string | undefined {
    if (!this.#options) return undefined;
    return this.#options.deviceName ?? `mote-${this.#link.host.hardwareId}`;
  }

  /** Ends with the link. */
  async run(): Promise<void> {
    this.#begin();
    while (this.#link.running) {
      const wait = await this.#turn();
      if (!this.#link.running) return;
      if (wait !== 0) await this.#signal.wait(wait);
    }
  }

  /** Forgets the token for good. */
  forget(): void {
    this.#link.host.store.delete("token");
    this.#link.host.store.delete("proposed");
    this.#proposed = undefined;
    if (this.#options) this.#token = undefined;
  }

  #begin(): void {
    this.#fresh = false;
    if (!this.#token) this.#token = this.#kept("token");
    if (this.#token) {
      this.#ready(true);
      return;
    }
    this.#proposed = this.#kept("proposed");
    this.#step = this.#proposed ? "probe" : "ask";
  }

  /** A token is only ever sent to the base URL that it was got from. */
  #kept(key: string): string | undefined {
    const value = readStored(this.#link.host, key);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (value.url !== this.#base) {
      this.#link.host.log("warn", `the stored ${key} belongs to another base URL and is not used`);
      return undefined;
    }
    return typeof value.token === "string" ? value.token : undefined;
  }

  /** One step; returns how long to wait before the next: undefined for "until something happens". */
  async #turn(): Promise<number | undefined> {
    switch (this.#step) {
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
    const token = this.#token ?? this.#proposed ?? "";
    const outcome = await this.#link.probe(devicePrefix(token));
    if (!this.#link.running) return 0;
    if (outcome.kind === "done") {
      this.#step = this.#token ? "ready" : "keep";
      if (this.#token) this.#ready(true);
      return 0;
    }
    if (outcome.kind !== "refused" || outcome.status !== 401) return this.#later();
    if (this.#token) return RETRY_MS;
    this.#step = "ask";
    return 0;
  }

  async #ask(): Promise<number> {
    const options = this.#options;
    if (!options) return RETRY_MS;
    if (!this.#propose()) return STORE_RETRY_MS;
    const { host } = this.#link;
    const body = encodeProvision({
      deviceName: this.deviceName ?? "",
      key: options.key,
      secret: options.secret,
      token: this.#proposed,
    });
    const outcome = await this.#link.sendTo(
      "uplink",
      {
        method: "POST",
        path: PROVISION_PATH,
        body: host.encode(body),
        deadlineMs: DEADLINE_MS,
        limit: 1024,
        repeatable: false,
      },
      API_PREFIX,
    );
    return this.#link.running ? this.#judge(outcome) : 0;
  }

  #propose(): boolean {
    if (this.#proposed) return true;
    const letters = new Uint8Array(TOKEN_LENGTH);
    this.#link.host.random(letters);
    let token = "";
    // 256 is no multiple of 56: the bias costs less than a bit of the 116.
    for (const letter of letters) token += TOKEN_LETTERS.charAt(letter % TOKEN_LETTERS.length);
    if (!writeStored(this.#link.host, "proposed", { url: this.#base, token })) return false;
    this.#proposed = token;
    return true;
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
      this.#events.emit("refused", { what: "provisioning", reason });
    }
    return RETRY_MS;
  }

  #keep(): number {
    const token = this.#proposed ?? "";
    // Without a kept token the next start could not prove who it is.
    if (!writeStored(this.#link.host, "token", { url: this.#base, token })) return STORE_RETRY_MS;
    this.#link.host.store.delete("proposed");
    this.#token = token;
    this.#proposed = undefined;
    this.#ready(!this.#fresh);
    return 0;
  }

  #ready(adopted: boolean): void {
    this.#step = "ready";
    this.#told = undefined;
    this.#backoff.reset();
    this.#link.authorize(devicePrefix(this.#token ?? ""));
    this.#events.emit("provisioned", { deviceName: this.deviceName, adopted });
    this.onReady?.(!adopted);
  }

  #unauthorized(): void {
    if (this.#step !== "ready") return;
    this.#step = "probe";
    this.#link.authorize(undefined);
    const reason = "the platform does not know the access token (401)";
    this.#link.host.log("error", `${reason}; asking again every 10 minutes, recording goes on`);
    this.#events.emit("refused", { what: "token", reason });
    this.#signal.notify();
  }
}
