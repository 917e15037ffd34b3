// What a host provides: everything below the agent, at the level of bytes. Types and contracts, no code.
//
// Unless a member says otherwise: calls are synchronous and short (storage and digests in pieces of a
// sector at most); only `open` and `timer` call back, never from within the call that was made to the
// host; no member throws; a callback given to a host may throw nothing (the agent guards its own).

/** Time. */
export interface Clock {
  /** Milliseconds since the start of the host, monotonic, never set, fractions allowed. */
  now(): number;
  /** Milliseconds since 1970 (UTC), or undefined as long as the host does not know the time. */
  wall(): number | undefined;
  /** Calls `due` once, `ms` from now (0 and more, up to 24 days). Returns what cancels it: idempotent, harmless once due. */
  timer(ms: number, due: () => void): () => void;
}

/**
 * What happens to a socket, in this order: `opened` at most once; `readable` and `writable` any number of times;
 * `closed` exactly once, unless the agent closed the socket itself: then nothing more is called.
 */
export type SocketEvent = "opened" | "readable" | "writable" | "closed";

/** A TCP or TLS connection. */
export interface Socket {
  /** Takes bytes from the front of `bytes` and says how many; the rest is offered again at `writable`. 0 once closed. */
  write(bytes: Uint8Array): number;
  /** Moves bytes that arrived to the front of `into` and says how many; 0 when there are none. What is not read stays in
   *  the host (which holds the peer back), and can still be read after `closed`. */
  read(into: Uint8Array): number;
  /** Gives the connection up. Idempotent. */
  close(): void;
}

/** Small values that outlive a restart: keys of 15 characters at most, values of 4,000 bytes at most. */
export interface Store {
  /** The value, or undefined if there is none. */
  get(key: string): Uint8Array | undefined;
  /** Old or new, never between, whatever happens to the power; durable on return. False if it could not be written. */
  set(key: string, value: Uint8Array): boolean;
  /** Forgets the value; true if it is gone (also if there was none). */
  delete(key: string): boolean;
}

/**
 * Raw sectors, as flash has them: bytes read 0xff after an erase, and each is written once between two erases.
 * A write cut by a power loss leaves any part of it. `size` is a multiple of `sectorSize`; 0 if there are none.
 */
export interface Blocks {
  readonly size: number;
  readonly sectorSize: number;
  /** Fills `into` from `at`. False if it could not. */
  read(at: number, into: Uint8Array): boolean;
  /** Writes within one sector; durable on return. False if it could not. */
  write(at: number, bytes: Uint8Array): boolean;
  /** Erases the sector that begins at `at`. False if it could not. */
  erase(at: number): boolean;
}

/**
 * The firmware slot that is not running, as blocks, and the way from one slot to the other. A write need not be durable before its sector
 * was written to the end, or anything is read, erased or activated.
 */
export interface Slot extends Blocks {
  /** `pending`: the running image was activated and not confirmed; the host falls back at the next restart. */
  state(): "confirmed" | "pending";
  /** Makes the `length` bytes from 0 on the image of the next start, pending. False if the host finds it unfit. */
  activate(length: number): boolean;
  /** Keeps the running image. False if that could not be stored. */
  confirm(): boolean;
  /** Makes the image before this one start next (only while pending); the agent restarts afterwards. False if there is none. */
  revert(): boolean;
}

/** A running digest. */
export interface Digest {
  write(bytes: Uint8Array): void;
  /** The digest's bytes. The object is of no use afterwards. */
  close(): Uint8Array;
}

/**
 * Keeps secrets out of what a run shows, in whatever form they stand there; src/wire/text/redactor.ts is it.
 */
export interface Redactor {
  /** How many secrets became known so far: what was cleaned before may hold the latest. */
  readonly known: number;
  /** One of the device's own secrets: it is never forgotten. */
  pin(secret: string): void;
  /** Another secret. Of more than a kilobyte of them the oldest are forgotten. */
  conceal(secret: string): void;
  /** The text with *** in place of each word that shows a secret, or of all of it if one is spread over words. */
  clean(text: string): string;
  /** Whether it shows a secret. `before`: shown just before, so that a secret may begin there. */
  holds(text: string, before?: string): boolean;
  /**
   * JSON text, with "***" in place of each string and name that holds a whole secret of 8 bytes or more.
   * `hasKnownNames`: its names were looked at before.
   */
  cleanJson(text: string, hasKnownNames?: boolean): string;
}

/** Why this run started, and how the run before it ended. */
export interface LastRun {
  /** Why this run started, one of a few words: "power on", "panic", "restart". 32 characters at most. */
  readonly reset: string;
  /** Why the run before crashed, for people. False if it did not: power loss, a button, a requested restart. */
  readonly crash: string | false;
  /** Where it crashed: the image's build, and addresses of code, the innermost first. */
  readonly place?: { readonly build: string; readonly backtrace: string } | undefined;
  /** Power loss or a reset button ended the run before: an image on trial is not to blame. */
  readonly interrupted?: boolean | undefined;
  /**
   * The power came, and that started this run. Three such runs in a row, each shorter than 10 s, ask for recovery mode. Each takes
   * two writes of the store.
   */
  readonly powered?: boolean | undefined;
  /** Crashes of the last ten minutes since a requested restart, if the machine counts them itself. */
  readonly crashes?: number | undefined;
  /** Present if this run is a wake from sleep: how long the machine slept, in milliseconds. */
  readonly sleptMs?: number | undefined;
}

/** The one seam between the agent and the machine. */
export interface Host {
  readonly clock: Clock;
  readonly store: Store;
  /** For the durable queue. */
  readonly blocks: Blocks;
  readonly slot: Slot;
  /** Opens a connection. For `secure` the certificate is verified for `name`. `event` reports how it goes; `reason` comes with
   *  `closed` and is for people: no address, no secret, 80 bytes at most; `"end"` when the peer closed in good order. */
  open(
    name: string,
    port: number,
    secure: boolean,
    event: (what: SocketEvent, reason?: string) => void,
  ): Socket;
  /**
   * Of whom `open` trusts over https: empty for those that come with machine or image, which only their maker
   * changes; else it names those that the owner gave. Left out, credentials are bound to no authorities.
   */
  readonly authorities?: string;
  /** MD5, SHA256, SHA384 or SHA512; undefined for what the host has not. */
  digest(algorithm: string): Digest | undefined;
  /** UTF-8. */
  encode(text: string): Uint8Array;
  /** UTF-8, or undefined if the bytes are none. */
  decode(bytes: Uint8Array): string | undefined;
  /** Fills `into` with random bytes fit for a token. */
  random(into: Uint8Array): void;
  /** The same on every start, different on every machine: letters, digits and hyphens, 32 at most. */
  readonly hardwareId: string;
  /** A line for people, cleaned by the `redactor`. One of the level `debug` need not be shown: extras/log keeps it where that was asked for. */
  log(level: "debug" | "info" | "warn" | "error", line: string): void;
  /** Of this run, with the secrets that are stored pinned. Left out, the agent has one of its own. */
  readonly redactor?: Redactor;
  /** For the application: nothing is to show this text from now on. */
  conceal?(secret: string): void;
  /** At a reset: the lines that are kept belong to the owner before. False if they are still there. Left out where no line is kept. */
  forgetLines?(): boolean;
  /** Left out if the machine cannot say: then each end of a run counts as a crash, except a restart that the agent asked for. */
  readonly lastRun?: LastRun | undefined;
  /** Ends this run and starts the next. May return before it takes effect. */
  restart(reason: string): void;
}
