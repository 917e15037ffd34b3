// The modules of the Moddable SDK (8.2) that the hosts use and @moddable/typings 5.6.0 lacks. The
// comments describe behavior that the SDK does not document.

declare module "crypt" {
  /** A native digest in progress. */
  export class Digest {
    /** MD5, SHA1, SHA224, SHA256, SHA384 or SHA512, in capitals; throws on other names. */
    constructor(algorithm: string);
    /** Accepts views too, which the SDK's types omit. Works silently even after `close`. */
    write(data: ArrayBufferLike | Uint8Array | string): void;
    close(): ArrayBuffer;
  }
}

/** NVS on ESP32; unavailable on Linux and Windows. */
declare module "embedded:storage/key-value" {
  /**
   * Keys have at most 15 characters, strings 4,000 bytes with the final zero. A write is durable on
   * return; the old value is erased afterwards. Errors throw, with a hexadecimal code as text.
   */
  export interface Domain {
    /** Undefined if missing; throws if it was written in another format. */
    read(key: string): ArrayBuffer | undefined;
    write(key: string, value: ArrayBufferLike | Uint8Array): void;
    delete(key: string): boolean;
  }

  const keyValue: {
    /** `path` is the namespace, at most 15 characters. Mode "r" throws if it does not exist yet. */
    open(options: { path: string; mode?: "r" | "r+"; format: "buffer" }): Domain;
  };
  export default keyValue;
}

/** Raw partitions on ESP32; unavailable on Linux and Windows. */
declare module "embedded:storage/flash" {
  /** A write does not erase. Any partition can be written, so be careful: see hosts/esp32. */
  export interface Partition {
    read(count: number | ArrayBufferLike | Uint8Array, position: number): ArrayBuffer | number;
    /** The bytes must be in RAM: those of a preloaded module are rejected. */
    write(data: ArrayBufferLike | Uint8Array, position: number): void;
    /** Erases the blocks from `start` to `end` (exclusive); one block without `end`. */
    eraseBlock(start: number, end?: number): void;
    status(): { size: number; blockLength: number };
  }

  const flash: {
    /** Data partitions by label, and also "xs", "running" and "nextota". */
    open(options: { path: string; mode?: "r" | "r+" }): Partition;
  };
  export default flash;
}

/** Wi-Fi on ESP32; a build error elsewhere. */
declare module "embedded:network/interface/wifi" {
  /** Several may exist; a new one sees the current state. There are no reason codes. */
  export default class WiFi {
    constructor(options: { onChanged?: (this: WiFi, what: string) => void });
    /** Throws while connecting. Never reconnects by itself. */
    connect(options: { SSID: string; password?: string }): void;
    disconnect(): void;
    close(): void;
    /**
     * 200 off, 300 connecting, 400 associated, 500 has an address. Reported by
     * `onChanged("connection")`.
     */
    readonly connection: number;
  }
}

declare module "embedded:io/socket/listener" {
  import type TCP from "embedded:io/socket/tcp";

  /** Listens on all interfaces: the SDK accepts no address. */
  export default class Listener {
    /** Throws if the port is in use. */
    constructor(options: { port: number; onReadable: (visitors: number) => void });
    /** Without callbacks: `new TCP({ from, ... })` takes it over. */
    read(): TCP | undefined;
    readonly port: number;
    close(): void;
  }
}
