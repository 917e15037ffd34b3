import type { Air } from "./wifi-connection.js";

export interface SerialPins {
  readonly port: number;
  readonly receive: number;
  readonly transmit: number;
  readonly baud: number;
}

/** What commissioning and buttons use of the SDK. Each throws if it is not there. */
export interface SdkModules {
  /** TCP. `accept` is handed the address and the connection, for `taken` of the machine; false: it is closed. Returns what ends it. */
  listen(port: number, accept: (address: string, visitor: unknown) => boolean): () => void;
  /** UDP. Returns what ends it. */
  datagrams(
    port: number,
    received: (bytes: Uint8Array, answer: (bytes: Uint8Array) => void) => void,
  ): () => void;
  serial(
    pins: SerialPins,
    received: (bytes: Uint8Array) => void,
  ): { write(bytes: Uint8Array): void; close(): void };
  /** An input that is pulled up: 0 while its button is pressed. */
  pin(pin: number): { read(): number };
}

/** Functions of native/usb.c, by a buffer of 64 bytes. */
export interface Usb {
  /** Bytes that came; -1 on a chip without it. */
  mote_usb_read(into: ArrayBuffer): number;
  /** Bytes that were taken. */
  mote_usb_write(from: ArrayBuffer, count: number): number;
}

/** Functions of native/wifi.c. */
export interface AccessPoint extends Air {
  /** Opens an access point at 192.168.4.1 beside the station; 0 if it is open. No password: empty. */
  mote_ap_open(ssid: string, password: string): number;
  mote_ap_close(): number;
  /** CONFIG_IDF_FIRMWARE_CHIP_ID: see pins.ts. */
  mote_chip(): number;
  /** The first serial line asks its other end to wait (XOFF) before its buffer of 128 bytes is full. 0, or the error of ESP-IDF. */
  mote_serial_flow(): number;
  /** Sends so many bytes of a buffer of 64 by the first serial line, and waits until it took them: no log line gets between them. */
  mote_serial_send(from: ArrayBuffer, count: number): void;
}
