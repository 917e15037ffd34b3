// The hardware that the host uses: classes of the SDK and functions of ESP-IDF. board.ts provides
// the real ones, tests provide fakes.

import type { Host, Socket, SocketEvent } from "../../src/port.js";
import type { MakeRadio } from "./network/wifi.js";
import type { Partition } from "./partition.js";
import type { Ota } from "./slot.js";
import type { Domain } from "./store.js";
import type { AskTime, BoardClock } from "./time-of-day.js";

/** Arguments of `mote_memory` (native/memory.c). */
export const MEMORY = {
  largestFree: 0,
  /** Minimum free stack of the engine's task. */
  taskStackLeft: 1,
  /** Memory that the engine never used. */
  engineLeft: 2,
  /** Memory of the engine. */
  engine: 3,
  /** Free system heap; like the others, without PSRAM. */
  free: 4,
  /** Its minimum since the start. */
  leastFree: 5,
  /** Memory of the engine that holds nothing. Collects garbage first, which takes milliseconds. */
  engineFree: 6,
} as const;

/**
 * Arguments of `mote_tls` (native/tls/mote_tls_module.c): minimum free stack of its task,
 * connections, and handshakes since the start. During an event of a connection also the dates of
 * its certificate chain, in seconds since 1970; 0 if the server showed none, or if something other
 * than the dates is wrong.
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
  /** In bytes, see MEMORY. */
  mote_memory(what: number): number;
  /** 0 if the engine's memory has not this many bytes left. */
  mote_has_room(bytes: number): number;
  /** Figures of TLS, see TLS. */
  mote_tls(what: number): number;
  esp_restart(): void;
  /** See RESET_REASONS. */
  esp_reset_reason(): number;
  /** Writes to a buffer of 6 bytes. */
  esp_efuse_mac_get_default(into: ArrayBuffer): number;
  /** 32 random bits, once Wi-Fi is on. */
  esp_random(): number;
  /** The functions of native/bytes.c, on `length` bytes of the buffer from `from` on. */
  mote_crc32(bytes: ArrayBufferLike, from: number, length: number): number;
  mote_is_erased(bytes: ArrayBufferLike, from: number, length: number): number;
  /** 512 bytes that survive deep sleep only: zeros after any other start. */
  mote_kept_read(into: ArrayBuffer): void;
  mote_kept_write(from: ArrayBuffer): void;
  /** ms since the start of the deep sleep that this start ends; -1: none. */
  mote_slept(): number;
  /** Deep sleep for this many ms; then the board starts again. */
  mote_sleep(ms: number): void;
}

export interface BoardHardware {
  readonly clock: BoardClock;
  readonly open: Host["open"];
  /** `open` that trusts exactly these CAs, DER or PEM. */
  readonly trusting: (authorities: readonly Uint8Array[]) => Host["open"];
  /** The CAs of `config.ca`, DER or PEM. Without any, `open` trusts the SDK's public CAs. */
  readonly authorities?: readonly Uint8Array[];
  /** A socket of the port for a connection accepted by a listener of the SDK. */
  adoptSocket(visitor: unknown, event: (what: SocketEvent) => void): Socket;
  readonly digest: Host["digest"];
  readonly encode: Host["encode"];
  readonly decode: Host["decode"];
  readonly log: Host["log"];
  readonly idf: Idf;
  /** An NVS namespace. Throws if it does not exist. */
  storage(name: string): Domain;
  /** A data partition by label, or "nextota". Throws if it does not exist. */
  partition(label: string): Partition;
  readonly makeRadio: MakeRadio;
  readonly askTime: AskTime;
  /** Makes the engine call `hook` before it aborts. */
  onAbort(hook: (status: unknown, exception: unknown) => void): void;
  /** Build time of the image, in seconds since 1970. */
  readonly built: number;
  /** `config` of the manifests. */
  readonly config: Readonly<Record<string, unknown>>;
}
