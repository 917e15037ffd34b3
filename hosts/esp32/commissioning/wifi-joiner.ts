import type { ScannedNetwork } from "../../../extras/commissioning/improv.js";
import type { Finding } from "../../../extras/commissioning/values.js";
import type { Clock } from "../../../src/port.js";
import type { MakeRadio, Network, Radio } from "../network/wifi.js";
import type { WifiFunctions } from "./sdk-modules.js";

/** The function of native/wifi.c that tells why a join failed. */
export type JoinReason = Pick<WifiFunctions, "mote_wifi_reason">;

const PASSWORD = "password";
const NAME = "ssid";
const wrong: readonly [Finding["field"], string] = [PASSWORD, "the Wi-Fi's password is wrong"];
const kind: readonly [Finding["field"], string] = [
  PASSWORD,
  "the Wi-Fi has no password, needs one, or has a security that the device does not support",
];

/** Descriptions by wifi_err_reason_t, for the owner of the network. */
const REASONS: Readonly<Record<number, readonly [Finding["field"], string]>> = {
  2: wrong,
  5: [NAME, "the Wi-Fi accepts no more devices"],
  14: wrong,
  15: wrong,
  17: wrong,
  23: wrong,
  200: [NAME, "the Wi-Fi is too far away"],
  201: [NAME, "no Wi-Fi with this name in range; the device supports 2.4 GHz only"],
  202: wrong,
  204: wrong,
  210: kind,
  211: kind,
  212: [NAME, "the Wi-Fi is too far away"],
};

/** Describes `mote_wifi_reason`; undefined if unknown. */
export const reasonOf = (number: number): Finding | undefined => {
  const known = REASONS[number];
  return known && { field: known[0], reason: known[1] };
};

/** Time from starting until an address. */
const JOIN_MS = 25_000;
/** The driver reports the state before the reason. */
const REASON_MS = 100;
/** A single handshake may fail without a cause. */
const TRIES = 2;

/**
 * Tries a network once for its owner, who waits for the reason. For continuous use, see wifi.ts.
 */
export class WifiJoiner {
  private readonly _clock: Clock;
  private readonly _native: JoinReason;
  private readonly _radio: Radio;
  private _changed: () => void = () => {};

  /** Turns the radio on. */
  constructor(make: MakeRadio, native: JoinReason, clock: Clock) {
    this._clock = clock;
    this._native = native;
    this._radio = make(() => this._changed());
    native.mote_wifi_reason();
  }

  /** Resolves with the problem; undefined once there is an address. */
  async join(network: Network): Promise<Finding | undefined> {
    let finding: Finding | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      finding = await this._once(network);
      if (!finding || finding.field === NAME) break;
    }
    return finding;
  }

  /** Scans for networks. Throws during a join. */
  scan(found: (network: ScannedNetwork) => void, done: () => void): void {
    if (!this._radio.scan) throw new Error("this radio cannot scan for networks");
    this._radio.scan({
      onFound: ({ SSID, RSSI, security }) => found({ ssid: SSID, rssi: RSSI, secured: security !== "none" }),
      onComplete: done,
    });
  }

  leave(): void {
    this._radio.disconnect();
  }

  /** Releases the radio. */
  close(): void {
    this._changed = () => {};
    try {
      this._radio.disconnect();
      this._radio.close();
    } catch {
      // It is off already.
    }
  }

  private async _once({ ssid, password }: Network): Promise<Finding | undefined> {
    this._radio.disconnect();
    await this._wait(REASON_MS);
    this._native.mote_wifi_reason();
    const reached = await this._connected({ SSID: ssid, ...(password ? { password } : {}) });
    if (reached >= 500) return undefined;
    await this._wait(REASON_MS);
    const number = this._native.mote_wifi_reason();
    const known = reasonOf(number);
    if (known) return known;
    if (reached >= 400)
      return { field: NAME, reason: "the Wi-Fi was joined, but gave the device no address" };
    return {
      field: NAME,
      reason: `the Wi-Fi was not joined (${number === 0 ? "no answer" : `reason ${number}`})`,
    };
  }

  /** The state that was reached: 500 and above means an address. */
  private _connected(options: { SSID: string; password?: string }): Promise<number> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this._changed = () => {};
        resolve(this._radio.connection);
      };
      const cancel = this._clock.timer(JOIN_MS, end);
      this._changed = () => {
        const { connection } = this._radio;
        if (connection >= 500 || connection <= 200) end();
      };
      try {
        this._radio.connect(options);
      } catch {
        end();
      }
    });
  }

  private _wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this._clock.timer(ms, resolve);
    });
  }
}
