export interface SerialPins {
  readonly port: number;
  readonly receive: number;
  readonly transmit: number;
  readonly baud: number;
}

/** The SDK's parts that commissioning and buttons use. Each throws if it is missing. */
export interface SdkModules {
  /**
   * TCP listener. `accept` gets the address and the connection, for `taken` of the machine; false
   * closes it. Returns a stop function.
   */
  listen(port: number, accept: (address: string, visitor: unknown) => boolean): () => void;
  /** UDP listener. Returns a stop function. */
  datagrams(
    port: number,
    received: (bytes: Uint8Array, answer: (bytes: Uint8Array) => void) => void,
  ): () => void;
  /** Reads a serial line. Returns a stop function. */
  serial(pins: SerialPins, received: (bytes: Uint8Array) => void): () => void;
  /** An input with pull-up: 0 while its button is pressed. */
  pin(pin: number): { read(): number };
}

/** Functions of native/usb.c, with a buffer of 64 bytes. */
export interface Usb {
  /** Number of received bytes; -1 on a chip without native USB. */
  mote_usb_read(into: ArrayBuffer): number;
  /** Number of accepted bytes. */
  mote_usb_write(from: ArrayBuffer, count: number): number;
}

/** Functions of native/wifi.c. */
export interface WifiFunctions {
  /** ESP-IDF's wifi_err_reason_t of the last failed join since the last call; 0: none. */
  mote_wifi_reason(): number;
  /**
   * Opens an access point at 192.168.4.1 beside the station; 0 if it is open. An empty password:
   * none.
   */
  mote_ap_open(ssid: string, password: string): number;
  mote_ap_close(): number;
  /** 1 if the joined network contains the access point's address. */
  mote_ap_overlaps(): number;
  /** CONFIG_IDF_FIRMWARE_CHIP_ID, see pins.ts. */
  mote_chip(): number;
  /**
   * Sends bytes of a buffer of 64 over the first serial line and waits until they are accepted, so
   * that no log line gets in between.
   */
  mote_serial_send(from: ArrayBuffer, count: number): void;
}
