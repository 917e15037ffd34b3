// The port: everything that a host provides to the agent, at the level of bytes. Types and
// contracts only.
//
// Unless stated otherwise:
// - Calls are synchronous and short; storage and digests work in pieces of at most one sector.
// - Only `open` and `timer` call back, and never during the call to the host.
// - No member throws, and no callback given to a host may throw (the agent guards its own).

/** Time source. */
export interface Clock {
  /** Milliseconds since the start of the host: monotonic, never set, may have fractions. */
  now(): number;
  /** Milliseconds since 1970 (UTC); undefined while the host does not know the time. */
  wall(): number | undefined;
  /**
   * Calls `due` once, in `ms` (0 to 24 days). Returns a cancel function, which may be called at any
   * time.
   */
  timer(ms: number, due: () => void): () => void;
}

/**
 * Events of a socket. `opened` comes at most once; then `readable` and `writable` any number of
 * times. `closed` comes exactly once and last, unless the agent closed the socket: then no more
 * events come.
 */
export type SocketEvent = "opened" | "readable" | "writable" | "closed";

/** A TCP or TLS connection. */
export interface Socket {
  /**
   * Accepts bytes from the front of `bytes`; returns their number. Offer the rest at `writable`. 0
   * once closed.
   */
  write(bytes: Uint8Array): number;
  /**
   * Moves received bytes to the front of `into`; returns their number, 0 if there are none. Unread
   * bytes stay in the host, which applies back pressure, and can be read after `closed`.
   */
  read(into: Uint8Array): number;
  /** Closes the connection. May be called again. */
  close(): void;
}

/**
 * Small values that survive restarts. Keys have at most 15 characters, values at most 4,000 bytes.
 */
export interface Store {
  /** The value; undefined if there is none. */
  get(key: string): Uint8Array | undefined;
  /** Atomic, even at power loss, and durable on return. False if writing failed. */
  set(key: string, value: Uint8Array): boolean;
  /** Deletes the value. True if none is left, even if there was none. */
  delete(key: string): boolean;
}

/**
 * Raw flash sectors. Bytes read 0xff after an erase, and each is written once between two erases. A
 * write interrupted by power loss may leave any part of its bytes. `size` is a multiple of
 * `sectorSize`; 0 if there is no storage.
 */
export interface Blocks {
  /** Total size in bytes; 0: no storage. */
  readonly size: number;
  /** Size of the unit that is erased at once, in bytes. */
  readonly sectorSize: number;
  /** Fills `into` from `at`. False if reading failed. */
  read(at: number, into: Uint8Array): boolean;
  /** Writes within one sector; durable on return. False if writing failed. */
  write(at: number, bytes: Uint8Array): boolean;
  /** Erases the sector that begins at `at`. False if erasing failed. */
  erase(at: number): boolean;
}

/**
 * The firmware slot that is not running, and the switch between the slots. A write must be durable
 * only once its sector is complete, or at the next read, erase or activation.
 */
export interface Slot extends Blocks {
  /** `pending`: the running image is on trial; the host rolls back at the next restart. */
  state(): "confirmed" | "pending";
  /**
   * Makes the `length` bytes from 0 on the pending image of the next start. False if they are not
   * bootable.
   */
  activate(length: number): boolean;
  /** Confirms the running image. False if that could not be stored. */
  confirm(): boolean;
  /**
   * Identifies the bytes of the running image as long as they are in their slot. Undefined if
   * unknown, for example of an image that was flashed on a board: the device then reports no
   * checksum.
   */
  image?(): string | undefined;
  /**
   * Selects the previous image for the next start (only while pending); the agent then restarts.
   * False if there is none.
   */
  revert(): boolean;
}

/** A digest in progress. */
export interface Digest {
  /** Adds bytes. */
  write(bytes: Uint8Array): void;
  /** Returns the digest. The object must not be used afterwards. */
  close(): Uint8Array;
}

/**
 * Removes secrets of 6 characters or more from output of a run: as they are, percent-encoded, and
 * escaped as in JSON. Implemented in src/wire/text/redactor.ts.
 */
export interface Redactor {
  /** Adds a secret of the device that is never forgotten. */
  pin(secret: string): void;
  /** Adds another secret. Beyond 1,024 characters in total, the oldest are forgotten. */
  conceal(secret: string): void;
  /** Replaces each secret with ***. Call it before the text is cut or split. */
  clean(text: string): string;
  /**
   * Replaces each string and name in JSON text that contains a secret of 8 characters or more with
   * "***". `hasKnownNames`: the names were checked before.
   */
  cleanJson(text: string, hasKnownNames?: boolean): string;
}

/** Why this run started, and how the previous run ended. */
export interface LastRun {
  /**
   * Why this run started, in a few words, such as "power on", "panic" or "restart". At most 32
   * characters.
   */
  readonly reset: string;
  /**
   * Description of the previous run's crash. False after a power loss, a button or a requested
   * restart.
   */
  readonly crash: string | false;
  /** Place of the crash: the build of the image and the code addresses, innermost first. */
  readonly place?: { readonly build: string; readonly backtrace: string } | undefined;
  /** A power loss or reset button ended the previous run, so an image on trial is not at fault. */
  readonly interrupted?: boolean | undefined;
  /**
   * Power-on started this run. After three such runs in a row, each shorter than 10 s, the fourth
   * power-on opens the setup page. Each costs two writes of the store.
   */
  readonly powered?: boolean | undefined;
  /**
   * Number of crashes in the last ten minutes since a requested restart, if the machine counts
   * them.
   */
  readonly crashes?: number | undefined;
  /** How long the machine slept, in ms, if this run is a wake. */
  readonly sleptMs?: number | undefined;
}

/** CRC-32 (IEEE 802.3) of the bytes `from` to `to` (exclusive), 0 to 2^32 - 1. */
export type Crc = (bytes: Uint8Array, from: number, to: number) => number;

/** Loops over bytes that a machine has in C: there they are dozens of times faster. */
export interface ByteLoops {
  readonly crc32: Crc;
  /** True if all bytes from `from` on are 0xff. */
  isErased(bytes: Uint8Array, from: number): boolean;
}

/** The interface between the agent and the machine. */
export interface Host {
  /** Time and timers. */
  readonly clock: Clock;
  /** Small values of the agent. */
  readonly store: Store;
  /** Storage of the durable queue. */
  readonly blocks: Blocks;
  /** The firmware slot that is not running. `size` 0: no updates. */
  readonly slot: Slot;
  /**
   * Opens a connection. With `secure`, the certificate is verified for `name`. `reason` comes with
   * `closed`: a text without addresses or secrets, at most 80 bytes; `"end"` if the peer closed
   * normally.
   */
  open(
    name: string,
    port: number,
    secure: boolean,
    event: (what: SocketEvent, reason?: string) => void,
  ): Socket;
  /**
   * False until the machine has a network for the first time since its start. Requests that fail
   * before are not reported. Missing: there is a network.
   */
  hasNetwork?(): boolean;
  /**
   * Names the CAs that the owner entered; empty if there are none. Credentials are bound to it over
   * https. CAs of the image or the machine are no part of it: an update may change them. If
   * missing, credentials are not bound to CAs.
   */
  readonly authorities?: string;
  /** MD5, SHA256, SHA384 or SHA512; undefined if the host does not support it. */
  digest(algorithm: string): Digest | undefined;
  /** Encodes as UTF-8. */
  encode(text: string): Uint8Array;
  /** Decodes UTF-8; undefined if the bytes are invalid. */
  decode(bytes: Uint8Array): string | undefined;
  /** If missing, the agent does the same in JavaScript. */
  readonly loops?: ByteLoops;
  /**
   * False if less than `bytes` of memory are free for the agent's own work: requests then wait or
   * are refused. Missing: there is always enough.
   */
  hasRoom?(bytes: number): boolean;
  /** Fills `into` with cryptographically secure random bytes. */
  random(into: Uint8Array): void;
  /** Unique id of the machine, the same on every start: letters, digits and hyphens, at most 32. */
  readonly hardwareId: string;
  /** Logs a line, cleaned by the `redactor`. */
  log(level: "info" | "warn" | "error", line: string): void;
  /**
   * Redactor of this run, with all stored secrets pinned. If missing, the agent creates its own.
   */
  readonly redactor?: Redactor;
  /** For the application: hides this text from now on. */
  conceal?(secret: string): void;
  /**
   * Deletes stored log lines at a reset, because they belong to the previous owner. False if any
   * remain. Missing if none are stored.
   */
  forgetLines?(): boolean;
  /**
   * Missing if the machine cannot tell. Then every end counts as a crash, except a requested
   * restart.
   */
  readonly lastRun?: LastRun | undefined;
  /** Ends this run and starts the next. May return before it takes effect. */
  restart(reason: string): void;
}
