// Improv over a serial line, version 1 (improv-wifi.com/serial): how web pages give a device its Wi-Fi. It stands beside the text console on the same line.
import type { Clock, Host } from "../../src/port.js";
import type { Entry, State } from "./commissioning.js";
import { COMMAND, ERROR, FrameReader, MOST_DATA, RESULT, STATE, writeFrame } from "./improv-frames.js";

/** A network that was heard. */
export interface Near {
  readonly ssid: string;
  /** dBm. */
  readonly rssi: number;
  readonly secured: boolean;
}

export interface ImprovOptions {
  readonly host: Pick<Host, "encode" | "decode">;
  /** Sends bytes, with none of anybody else's among them. */
  write(bytes: Uint8Array): void;
  /** Firmware, its version, chip, and the device's name. */
  readonly info: readonly [string, string, string, string];
  /** Where its owner finds the device; no secret in it. Empty: nowhere yet. */
  url(): string;
  /** What takes the Wi-Fi: that of whoever is at this cable. Undefined: the device has all that it needs, and takes none. */
  readonly entry?: Entry | undefined;
  /** Looks for networks, and hands each over; `done` once there are no more. Throws if it can't. */
  readonly scan?: ((found: (network: Near) => void, done: () => void) => void) | undefined;
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
  /** Somebody waits for what becomes of the Wi-Fi that was given. */
  private _isAsked = false;
  private _isScanning = false;
  /** It has what it needs, and restarts with it: who was led to the device reads on, and is not sent back by a "stopped". */
  private _isDone = false;

  constructor(options: ImprovOptions) {
    this._options = options;
    this._state = this._now();
  }

  /** What reads the bytes of the line. `text` gets those that are no frame. */
  reader(
    clock: Pick<Clock, "now">,
    text: (bytes: Uint8Array) => void = () => {},
  ): (bytes: Uint8Array) => void {
    const frames = new FrameReader(clock, text, (kind, data) => this.frame(kind, data));
    return (bytes) => frames.feed(bytes);
  }

  /** A frame of the line; `data` is undefined for one that is damaged. */
  frame(kind: number, data: Uint8Array | undefined): void {
    // What a device sends itself.
    if (data && kind !== COMMAND) return;
    const given = data?.subarray(2);
    if (!data || !given || given.length !== data[1]) this._error(INVALID);
    else this._command(data[0] as number, given);
  }

  /** To be called when commissioning changed. */
  changed(): void {
    if (this._options.entry?.view.state === "done") this._isDone = true;
    const state = this._now();
    if (state !== this._state) {
      this._state = state;
      this._send(STATE, [state]);
    }
    if (!this._isAsked || state === PROVISIONING) return;
    this._isAsked = false;
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
    this._send(STATE, [this._now()]);
    if (this._now() === PROVISIONED) this._result(CURRENT, [this._options.url()]);
  }

  private _wifi(given: Uint8Array): void {
    const { entry, host } = this._options;
    const [ssid, password, more] = readTexts(host, given);
    if (!ssid || password === undefined || more !== undefined) this._error(INVALID);
    else if (entry?.view.state !== "open") this._error(UNKNOWN);
    else {
      this._error(NONE);
      this._isAsked = true;
      entry.give({ ssid, password: password === "" ? undefined : password });
    }
  }

  /** One result a network, and an empty one behind the last. */
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
      // Not while it joins one.
      done();
    }
  }

  private _now(): number {
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
      // What is too long for a frame is left empty.
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

/** Texts, each behind its length; an undefined one, and nothing behind it, where they don't fit. */
const readTexts = (host: Pick<Host, "decode">, bytes: Uint8Array): (string | undefined)[] => {
  const texts: (string | undefined)[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + (bytes[at] as number);
    texts.push(end <= bytes.length ? host.decode(bytes.subarray(at + 1, end)) : undefined);
    at = end;
  }
  return texts;
};
