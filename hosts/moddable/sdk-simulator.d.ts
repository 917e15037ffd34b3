// The parts of the SDK (8.2) and of native.c that hosts/simulator uses; see sdk.d.ts.

declare module "embedded:storage/files" {
  /** Errors throw. */
  export interface File {
    /** Fills `into` from `position`; fewer bytes at the end. */
    read(into: Uint8Array, position: number): number;
    /** The bytes must be in RAM: those of a preloaded module are rejected. */
    write(bytes: Uint8Array, position: number): void;
    status(): { size: number };
    setSize(length: number): void;
    flush(): void;
    close(): void;
  }

  /** Paths are relative to the root, `$HOME` of the simulator's process. */
  export interface Files {
    openFile(options: { path: string; mode?: "r" | "r+" | "w" | "w+" }): File;
    createDirectory(path: string): boolean;
    delete(path: string): boolean;
    /** The names in a folder. Throws for a missing folder, and for "". */
    scan(folder: string): Iterable<string>;
    /** Replaces an existing file. */
    move(from: string, to: string): void;
  }

  const files: Files;
  export default files;
}

declare module "mc/ffi" {
  export default class FFI {
    mote_ignore_sigpipe(): void;
    mote_random(): number;
    mote_restart(): number;
  }
}

declare module "mc/config" {
  const config: Record<string, unknown>;
  export default config;
}

declare module "ssl/session" {
  /** What a session reads from and writes to. It sets `writable` from the result of `write`. */
  export interface Pipe {
    readable: number;
    writable: number;
    /** Fills `into`, which is never longer than `readable`. */
    read(into: Uint8Array): void;
    write(packet: Uint8Array): number;
  }

  export default class Session {
    constructor(options: { serverName: string; protocolVersion: number; cache: boolean });
    readonly certificateManager: { register(certificate: Uint8Array): void };
    initiateHandshake(): void;
    /** One step: sends, or processes one record. True at the end. Throws. */
    handshake(pipe: Pipe): boolean;
    /** The next record of data; undefined if incomplete; null after an alert. Throws. */
    read(pipe: Pipe): Uint8Array | null | undefined;
    /** Writes one record. */
    write(pipe: Pipe, bytes: Uint8Array): number;
    /** The last processed message of the handshake; negative before the first. */
    readonly handshakeProcess: number;
    readonly alert: { level: number; description: number } | undefined;
  }
}

declare module "rng" {
  const RNG: {
    /** Seeds the random numbers of TLS. */
    init(seed: ArrayBufferLike): void;
  };
  export default RNG;
}

interface Uint8Array {
  toHex(): string;
}

interface ArrayBufferConstructor {
  fromString(text: string): ArrayBuffer;
}

interface Uint8ArrayConstructor {
  fromBase64(text: string): Uint8Array;
}

/** The screen of the simulator's window. */
declare const screen: never;
