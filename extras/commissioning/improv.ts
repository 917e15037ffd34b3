// Improv Serial, version 1 (improv-wifi.com/serial): web pages use it to configure the Wi-Fi of a
// device. Other bytes on the line are ignored.
import type { Clock, Host } from "../../src/port.js";
import type { Entry, State } from "./commissioning.js";
import { COMMAND, ERROR, FrameReader, MOST_DATA, RESULT, STATE, writeFrame } from "./improv-frames.js";

/** A network that a scan found. */
export interface ScannedNetwork {
  readonly ssid: string;
  /** Signal strength in dBm. */
  readonly rssi: number;
  readonly secured: boolean;
}

export interface ImprovOptions {
  readonly host: Pick<Host, "encode" | "decode">;
  /** Sends the bytes without others in between. */
  write(bytes: Uint8Array): void;
  /** Title and version of the firmware, chip, name of the device. */
  readonly info: readonly [string, string, string, string];
  /** Address of the device on the platform, without secrets; empty while unknown. */
  url(): string;
  /**
   * Collects the settings that this cable enters. Undefined if the device is configured and accepts
   * none.
   */
  readonly entry?: Entry | undefined;
  /**
   * Scans for networks: calls `found` for each, then `done`. Throws if a scan is not possible now.
   */
  readonly scan?: ((found: (network: ScannedNetwork) => void, done: () => void) => void) | undefined;
}

const READY = 2;
const PROVISIONING = 3;
const PROVISIONED = 4;
const STOPPED = 0;
const STATES: { readonly [S in State]: number } = {
  closed: STOPPED,
  open: READY,
  checking: PROVISIONING,
  done: PROVISIONED,
};
const NONE = 0;
const INVALID = 1;
const UNKNOWN_COMMAND = 2;
const UNABLE = 3;
const UNKNOWN = 0xff;
const WIFI = 1;
const CURRENT = 2;
const INFO = 3;
const NETWORKS = 4;

export class Improv {
  private readonly _options: ImprovOptions;
  private _state: number;
  /** A client sent a Wi-Fi and waits for the result. */
  private _isAwaited = false;
  private _isScanning = false;
  /**
   * The settings are stored and the device is about to restart. Reports "provisioned" from now on,
   * so that the client's page does not go back.
   */
  private _isDone = false;

  constructor(options: ImprovOptions) {
    this._options = options;
    this._state = this._currentState();
  }

  /** Returns the function that takes the bytes of the line. */
  reader(clock: Pick<Clock, "now">): (bytes: Uint8Array) => void {
    const frames = new FrameReader(clock, (kind, data) => this.frame(kind, data));
    return (bytes) => frames.feed(bytes);
  }

  /** Handles a frame; `data` is undefined if the frame is damaged. */
  frame(kind: number, data: Uint8Array | undefined): void {
    // Only devices send the other kinds.
    if (data && kind !== COMMAND) return;
    const given = data?.subarray(2);
    if (!data || !given || given.length !== data[1]) this._error(INVALID);
    else this._command(data[0] as number, given);
  }

  /** Call after each change of the commissioning. */
  changed(): void {
    if (this._options.entry?.view.state === "done") this._isDone = true;
    const state = this._currentState();
    if (state !== this._state) {
      this._state = state;
      this._send(STATE, [state]);
    }
    if (!this._isAwaited || state === PROVISIONING) return;
    this._isAwaited = false;
    if (state === PROVISIONED) this._result(WIFI, [this._options.url()]);
    else this._error(UNABLE);
  }

  private _command(command: number, given: Uint8Array): void {
    if (command === WIFI) this._wifi(given);
    else if (command === CURRENT) this._current();
    else if (command === INFO) this._result(INFO, this._options.info);
    else if (command === NETWORKS) this._networks();
    else this._error(UNKNOWN_COMMAND);
  }

  private _current(): void {
    this._send(STATE, [this._currentState()]);
    if (this._currentState() === PROVISIONED) this._result(CURRENT, [this._options.url()]);
  }

  private _wifi(given: Uint8Array): void {
    const { entry, host } = this._options;
    const [ssid, password, more] = readTexts(host, given);
    if (!ssid || password === undefined || more !== undefined) this._error(INVALID);
    else if (entry?.view.state !== "open") this._error(UNKNOWN);
    else {
      this._error(NONE);
      this._isAwaited = true;
      entry.give({ ssid, password: password === "" ? undefined : password });
    }
  }

  /** Sends one result per network, then an empty one. */
  private _networks(): void {
    const { scan } = this._options;
    const done = (): void => {
      this._isScanning = false;
      this._result(NETWORKS, []);
    };
    if (!scan || this._isScanning) {
      this._error(scan ? UNKNOWN : UNKNOWN_COMMAND);
      return;
    }
    this._isScanning = true;
    try {
      scan(({ ssid, rssi, secured }) => {
        if (ssid !== "") this._result(NETWORKS, [ssid, String(rssi), secured ? "YES" : "NO"]);
      }, done);
    } catch {
      // The radio cannot scan while it joins a network.
      done();
    }
  }

  private _currentState(): number {
    const { entry } = this._options;
    return entry && !this._isDone ? STATES[entry.view.state] : PROVISIONED;
  }

  private _error(code: number): void {
    this._send(ERROR, [code]);
  }

  private _result(command: number, texts: readonly string[]): void {
    const data = [command, 0];
    for (const text of texts) {
      const bytes = this._options.host.encode(text);
      // A text that does not fit into the frame is sent empty.
      const fits = data.length + 1 + bytes.length <= MOST_DATA - texts.length;
      data.push(fits ? bytes.length : 0);
      if (fits) for (const byte of bytes) data.push(byte);
    }
    data[1] = data.length - 2;
    this._send(RESULT, data);
  }

  private _send(kind: number, data: readonly number[]): void {
    this._options.write(writeFrame(kind, data));
  }
}

/** Reads texts that are each preceded by their length. The last is undefined if it is cut off. */
const readTexts = (host: Pick<Host, "decode">, bytes: Uint8Array): (string | undefined)[] => {
  const texts: (string | undefined)[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + (bytes[at] as number);
    texts.push(end <= bytes.length ? host.decode(bytes.subarray(at + 1, end)) : undefined);
    at = end;
  }
  return texts;
};
