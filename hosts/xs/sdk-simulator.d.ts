// What hosts/simulator uses of the SDK (8.2) and of its own native.c; see sdk.d.ts.

declare module "embedded:storage/files" {
  /** Errors throw. */
  export interface File {
    /** Fills `into` from `position`; fewer bytes than asked for at the end. */
    read(into: Uint8Array, position: number): number;
    /** The bytes must lie in RAM: those of a preloaded module are refused. */
    write(bytes: Uint8Array, position: number): void;
    status(): { size: number };
    setSize(length: number): void;
    flush(): void;
    close(): void;
  }

  /** Paths are relative to the root: `$HOME` of the simulator's process. */
  export interface Files {
    openFile(options: { path: string; mode?: "r" | "r+" | "w" | "w+" }): File;
    createDirectory(path: string): boolean;
    delete(path: string): boolean;
    /** The names in a folder. Throws for one that is not there, and for "". */
    scan(folder: string): Iterable<string>;
    /** Takes the place of what is there. */
    move(from: string, to: string): void;
  }

  const files: Files;
  export default files;
}

declare module "mc/ffi" {
  export default class FFI {
    moteKeepPipes(): void;
    moteRandom(): number;
  }
}

declare module "mc/config" {
  const config: Record<string, unknown>;
  export default config;
}

declare module "ssl/session" {
  /** What a session reads from and writes to. It sets `writable` from what `write` returns. */
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
    /** One step: sends, or takes one record. True at the end. Throws. */
    handshake(pipe: Pipe): boolean;
    /** The next record of data; undefined if none is whole; null after an alert. Throws. */
    read(pipe: Pipe): Uint8Array | null | undefined;
    /** Writes one record. */
    write(pipe: Pipe, bytes: Uint8Array): number;
    /** The last message of the handshake that was taken; negative before the first. */
    readonly handshakeProcess: number;
    readonly alert: { level: number; description: number } | undefined;
  }
}

declare module "rng" {
  const RNG: {
    /** Seeds what TLS draws from. */
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

/** What the simulator's window is drawn on. */
declare const screen: never;
