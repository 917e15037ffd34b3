// The RPC `mote.wifi` changes the Wi-Fi remotely, on trial. The new network is stored only after
// the platform was reached through it. Otherwise, and after a power loss, the board joins the
// previous network. Nothing is stored before, so an interruption cannot leave the board without a
// working network. A second network is stored without a trial: the first remains, and the second
// router may not be switched on yet.
//
// Over http, the owner of a Wi-Fi can read the access token. So over http the params must contain
// it as `token`. Otherwise a person who may only call the device could learn the token with a Wi-Fi
// of their own.

import { checkNetwork } from "../../../extras/commissioning/values.js";
import { pinAll } from "../../../src/board-module.js";
import { type Agent, type Json, MoteError } from "../../../src/index.js";
import { isObject } from "../../../src/wire/text/json.js";
import type { BoardHost } from "../host.js";
import type { AccessPoint, Network, Wifi } from "../network/wifi.js";
import { type JoinReason, reasonOf } from "./wifi-joiner.js";

const METHOD = "mote.wifi";
/** Delay for delivering the answer. */
const BEGIN_MS = 3000;
const TRIAL_MS = 300_000;
const CHECK_MS = 5000;
/** A handshake takes a chip seconds. */
const READ_MS = 15_000;
/** Number of refusals that mean a wrong password; a busy access point refuses right ones too. */
const REFUSALS = 3;

export interface RemoteWifiOptions {
  readonly agent: Agent;
  /** Undefined: the board sleeps and cannot try a network. */
  readonly wifi: Wifi | undefined;
  readonly host: BoardHost;
  readonly native: JoinReason;
  /** The networks to join. */
  readonly network: Network;
  /** The device's current access token. */
  token(): string | undefined;
  /** Stores another first network; false if that failed. */
  storeNetwork(network: AccessPoint): boolean;
  /** Stores another second network, or none if undefined; false if that failed. */
  storeSecond(second: AccessPoint | undefined): boolean;
}

/** Throws `BAD_PARAMS` with the reason. */
const accessPointOf = (params: Json): AccessPoint => {
  const { ssid, password } = isObject(params) ? params : {};
  const finding = checkNetwork(ssid, password);
  if (finding) throw new MoteError("BAD_PARAMS", finding.reason);
  return { ssid: ssid as string, ...(password ? { password: password as string } : {}) };
};

/**
 * The client attribute `moteWifi` reports the result of a trial: "kept", or "not kept: " and why.
 * No password appears in it, in an answer or in a log.
 */
export class RemoteWifi {
  private readonly _options: RemoteWifiOptions;
  private _network: Network;
  /** The network on trial, its deadline, and the findings so far. */
  private _tried: AccessPoint | undefined;
  private _endsAt = 0;
  private _refusals = 0;
  private _reason = "the Wi-Fi was not joined";

  constructor(options: RemoteWifiOptions) {
    this._options = options;
    this._network = options.network;
    options.agent.rpc.handle<Json>(METHOD, (params) => this._asked(params));
  }

  private _asked(params: Json): Json {
    const { host, wifi } = this._options;
    const { second } = isObject(params) ? params : {};
    // Even a refused password may be a real secret.
    for (const one of [params, second])
      if (isObject(one) && typeof one.password === "string") host.redactor.conceal(one.password);
    if (this._tried) throw new Error("another Wi-Fi is on trial");
    this._checkToken(params);
    if (second !== undefined) return this._setSecond(second === null ? undefined : accessPointOf(second));
    const tried = accessPointOf(params);
    if (!wifi) throw new Error("a board that sleeps accepts only a second Wi-Fi");
    this._tried = tried;
    host.clock.timer(BEGIN_MS, () => this._begin(wifi, tried));
    return { trial: "begins", seconds: TRIAL_MS / 1000 };
  }

  /** Throws `BAD_PARAMS` over http unless `params` contain the device's token. */
  private _checkToken(params: Json): void {
    const { agent, token } = this._options;
    if (agent.target.secure) return;
    const given = isObject(params) ? params.token : undefined;
    if (typeof given !== "string" || given !== token())
      throw new MoteError("BAD_PARAMS", "over http the Wi-Fi's owner can read the token: add it as token");
  }

  private _setSecond(second: AccessPoint | undefined): Json {
    const { wifi, storeSecond } = this._options;
    pinAll(second, this._options.host.redactor);
    if (!storeSecond(second)) throw new Error("the Wi-Fi could not be stored");
    this._network = { ...this._network, second };
    wifi?.setSecond(second);
    return { second: second ? "kept" : "forgotten" };
  }

  private _begin(wifi: Wifi, network: AccessPoint): void {
    const { host, native } = this._options;
    this._endsAt = host.clock.now() + TRIAL_MS;
    this._refusals = 0;
    this._reason = "the Wi-Fi was not joined";
    native.mote_wifi_reason();
    host.log("info", "Wi-Fi: another one is on trial");
    wifi.use(network);
    this._later(wifi);
  }

  private _later(wifi: Wifi): void {
    this._options.host.clock.timer(CHECK_MS, () => {
      this._checkTrial(wifi).catch(() => this._endTrial(wifi, false));
    });
  }

  private async _checkTrial(wifi: Wifi): Promise<void> {
    const { host, native } = this._options;
    if (wifi.online && (await this._reached())) return this._endTrial(wifi, true);
    const found = reasonOf(native.mote_wifi_reason());
    if (found) this._reason = found.reason;
    else if (wifi.online) this._reason = "the Wi-Fi was joined, but the platform was not reached";
    if (found?.field === "password") this._refusals++;
    if (this._refusals >= REFUSALS || host.clock.now() >= this._endsAt) this._endTrial(wifi, false);
    else this._later(wifi);
  }

  /** Earlier requests cannot be answered through the new network. */
  private async _reached(): Promise<boolean> {
    try {
      await this._options.agent.attributes.read({ clientKeys: ["mac"], timeoutMs: READ_MS });
      return true;
    } catch {
      return false;
    }
  }

  private _endTrial(wifi: Wifi, isReached: boolean): void {
    const { agent, host, storeNetwork } = this._options;
    const tried = { ...(this._tried as AccessPoint), second: this._network.second };
    const isKept = isReached && storeNetwork(tried);
    if (isReached && !isKept) this._reason = "the Wi-Fi could not be stored";
    this._tried = undefined;
    if (isKept) {
      this._network = tried;
      pinAll(tried, host.redactor);
    }
    if (isKept) wifi.setSecond(tried.second);
    else wifi.use(this._network);
    const moteWifi = isKept ? "kept" : `not kept: ${this._reason}`;
    host.log(isKept ? "info" : "error", `Wi-Fi: another one is ${moteWifi}`);
    if (!agent.attributes.publish({ moteWifi }))
      host.log("warn", "the client attributes leave no room for moteWifi: publish fewer, or shorter ones");
  }
}
