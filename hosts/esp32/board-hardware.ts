// What a board gives to the host: the SDK's classes and ESP-IDF's functions, as far as they are used. board.ts takes them from the SDK,
// the tests from fakes.

import type { RenewTrust } from "../../extras/trust/trust.js";
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import type { MakeRadio } from "./network/wifi.js";
import type { Partition } from "./partition.js";
import type { Ota } from "./slot.js";
import type { Domain } from "./store.js";
import type { AskTime, BoardClock } from "./time-of-day.js";

/** What `mote_memory` is asked for (native/memory.c). */
export const MEMORY = {
  largestFree: 0,
  /** The least that was left of the stack of the engine's task. */
  taskStackLeft: 1,
  /** What the engine never used of its block. */
  engineLeft: 2,
  /** Its block. */
  engine: 3,
  /** Not 0 if the run before this one restarted the chip when its block was full. */
  wasFull: 4,
} as const;

/**
 * What `mote_tls` is asked for (native/tls/mote_tls_module.c): the free stack of its task at its least, connections,
 * and handshakes since the start. During an event of a connection, when its chain is valid, in seconds since
 * 1970; 0 if the server showed none, or if something other than dates is wrong.
 */
export const TLS = {
  stackLeft: 0,
  connections: 1,
  full: 2,
  resumed: 3,
  failed: 4,
  validFrom: 5,
  validTo: 6,
} as const;

/** Functions of ESP-IDF, by mc/ffi. */
export interface Idf extends Ota {
  /** Bytes: see MEMORY. */
  mote_memory(what: number): number;
  /** Of TLS: see TLS. */
  mote_tls(what: number): number;
  esp_restart(): void;
  /** See RESET_REASONS. */
  esp_reset_reason(): number;
  /** Bytes. */
  esp_get_free_heap_size(): number;
  /** Bytes: the least there was since the start. */
  esp_get_minimum_free_heap_size(): number;
  /** Takes a buffer of 6 bytes. */
  esp_efuse_mac_get_default(into: ArrayBuffer): number;
  /** 32 bits, by chance once Wi-Fi is on. */
  esp_random(): number;
  /** 512 bytes that outlive a deep sleep, and nothing else: zeros after any other start. */
  mote_kept_read(into: ArrayBuffer): void;
  mote_kept_write(from: ArrayBuffer): void;
  /** ms since the deep sleep began that this start ends; -1: it ends none. */
  mote_slept(): number;
  /** Deep sleep for so many ms: the next start follows. */
  mote_sleep(ms: number): void;
}

export interface Machine {
  readonly clock: BoardClock;
  readonly open: Host["open"];
  /** `open` that trusts these authorities (DER or PEM), in place of those that were built in; one of no bytes stands for those that come with the image. */
  readonly trusting: (authorities: readonly Uint8Array[]) => Host["open"];
  /** Built in: DER or PEM; none: those that come with the image. */
  readonly authorities?: readonly Uint8Array[];
  /** Of `mote/trust`, if the image has it. */
  readonly renewTrust?: RenewTrust | undefined;
  /** The port's socket of a connection that a listener of the SDK's took. */
  taken(visitor: unknown, event: (what: SocketEvent) => void): Socket;
  readonly digest: Host["digest"];
  readonly encode: Host["encode"];
  readonly decode: Host["decode"];
  readonly log: Host["log"];
  readonly idf: Idf;
  /** A name space of NVS. Throws if there is none. */
  storage(name: string): Domain;
  /** A data partition by its label, or "nextota". Throws if there is none. */
  partition(label: string): Partition;
  readonly makeRadio: MakeRadio;
  readonly askTime: AskTime;
  /** Has the engine call `hook` before it gives up. */
  onAbort(hook: (status: unknown, exception: unknown) => void): void;
  /** When the image was built, in seconds since 1970. */
  readonly built: number;
  /** `config` of the manifests. */
  readonly config: Readonly<Record<string, unknown>>;
}
