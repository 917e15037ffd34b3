// The modules of the Moddable SDK (8.2) that the hosts use and @moddable/typings 5.6.0 lacks, as far as they are used.
// The comments say how the SDK behaves where its own types are silent.

declare module "crypt" {
  /** A running digest, native. */
  export class Digest {
    /** MD5, SHA1, SHA224, SHA256, SHA384 or SHA512, in capitals; throws on any other name. */
    constructor(algorithm: string);
    /** Views are taken too, which the SDK's types leave out. After `close` it goes on silently. */
    write(data: ArrayBufferLike | Uint8Array | string): void;
    close(): ArrayBuffer;
  }
}

/** NVS on ESP32; not on Linux nor Windows. */
declare module "embedded:storage/key-value" {
  export type Format =
    | "buffer"
    | "string"
    | "uint8"
    | "int8"
    | "uint16"
    | "int16"
    | "uint32"
    | "int32"
    | "uint64"
    | "int64";

  /**
   * Keys have 15 characters at most, strings 4,000 bytes with the final zero. A write is durable on return, and the
   * old value is erased only after the new one was written. Errors throw, their text is a code in hex.
   */
  export interface Domain {
    /** Undefined if there is none; throws if it was written in another format. */
    read(key: string): ArrayBuffer | string | number | bigint | undefined;
    write(key: string, value: ArrayBufferLike | Uint8Array | string | number | bigint): void;
    delete(key: string): boolean;
    close(): void;
  }

  const keyValue: {
    /** `path` is the name space, 15 characters at most. Mode "r" throws if it does not exist yet. */
    open(options: { path: string; mode?: "r" | "r+"; format?: Format }): Domain;
  };
  export default keyValue;
}

/** Raw partitions on ESP32; not on Linux nor Windows. */
declare module "embedded:storage/flash" {
  /** Nothing is erased by a write. Nothing keeps a caller off a slot that must not be touched: see hosts/esp32. */
  export interface Partition {
    readonly readOnly?: boolean;
    read(count: number | ArrayBufferLike | Uint8Array, position: number): ArrayBuffer | number;
    /** The bytes must lie in RAM: those of a preloaded module are refused. */
    write(data: ArrayBufferLike | Uint8Array, position: number): void;
    /** Erases the blocks from `start` up to, not including, `end`; one block without `end`. */
    eraseBlock(start: number, end?: number): void;
    status(): { size: number; blockLength: number; blocks: number };
    close(): void;
  }

  const flash: {
    /** Data partitions by their label, and besides them "xs", "running" and "nextota". */
    open(options: { path: string; mode?: "r" | "r+" }): Partition;
  };
  export default flash;
}

/** Wi-Fi on ESP32; a build error elsewhere. */
declare module "embedded:network/interface/wifi" {
  export interface ConnectOptions {
    SSID: string;
    password?: string;
  }

  /** Several may exist; a new one sees the present state. There are no reason codes. */
  export default class WiFi {
    constructor(options: { onChanged?: (this: WiFi, what: string) => void });
    /** Throws while a connection is being made. Never connects again by itself: that is the caller's. */
    connect(options: ConnectOptions): void;
    disconnect(): void;
    close(): void;
    /** 200 off, 300 connecting, 400 associated, 500 has an address. Reported by `onChanged("connection")`. */
    readonly connection: number;
    /** "aa:bb:cc:dd:ee:ff", known before connecting. */
    readonly MAC: string;
    readonly address?: string;
  }
}

declare module "embedded:io/socket/listener" {
  import type TCP from "embedded:io/socket/tcp";

  /** On every interface of the machine: the SDK takes no address. */
  export default class Listener {
    /** Throws if the port is taken. */
    constructor(options: { port: number; onReadable: (visitors: number) => void });
    /** Without callbacks: `new TCP({ from, ... })` takes it over. */
    read(): TCP | undefined;
    readonly port: number;
    close(): void;
  }
}
