// What a board's memory is for: two pools, and the limits that follow from them. Bytes, all of them. The shares are what the sample application took on the
// emulated ESP32-C3 (docs/reference/boards.md, "Memory"; `node scripts/campaign.mjs chip --case memory`), rounded up.

/** What there is. */
export interface Pools {
  /** The engine's block: objects, texts, its stack. */
  readonly engine: number;
  /** Free of the system's heap beside that block, before the network is there. */
  readonly system: number;
}

export interface MemoryPlan {
  /** What each pool is for; the last one is what is left. */
  readonly engine: Shares;
  readonly system: Shares;
  readonly limits: Limits;
}

export type Shares = readonly (readonly [what: string, bytes: number])[];

/** What is longer is refused by name, or left out and logged; more connections are not opened. */
export interface Limits {
  /** Of an RPC: its number, its method, its parameters. */
  readonly requestBytes: number;
  /** Of an RPC's answer. */
  readonly answerBytes: number;
  /** Of the shared attributes that are read at once. */
  readonly attributeBytes: number;
  readonly connections: 1 | 2 | 3;
}

/** Those of an ESP32-C3: no chip has less. */
export const SMALLEST: Pools = { engine: 114_688, system: 137_512 };

const STACK = 10_240;
const AT_REST = 65_000;
/** Points on their way to flash, a batch, a sector of flash. */
const TELEMETRY = 10_240;
const UPDATE = 14_000;
/** Until the garbage is collected. */
const GARBAGE = 6000;
/** A text is there up to eight times while it is read, handled, written and sent. */
const COPIES = 8;
const TEXT = { least: 512, most: 8192 } as const;

/** Espressif's figure for a station with few buffers, and lwIP's for a handful of connections. */
const WIFI = 60_000;
const TLS_TASK = 9000;
/** One at a time (native/tls). */
const TLS_HANDSHAKE = 36_864;
/** Kept free by native/tls for TCP and Wi-Fi. */
const TLS_RESERVE = 12_288;
/** One that waits: no ring, no buffer for a record, no certificate (native-tls.slow.test.ts). */
const TLS_CONNECTION = 9600;

export const planMemory = ({ engine, system }: Pools): MemoryPlan => {
  const texts = engine - STACK - AT_REST - TELEMETRY - UPDATE - GARBAGE;
  const text = powerBelow(texts / COPIES);
  const network = system - WIFI - TLS_TASK - TLS_HANDSHAKE - TLS_RESERVE;
  const more = Math.floor(network / TLS_CONNECTION);
  return {
    engine: [
      ["stack", STACK],
      ["program at rest", AT_REST],
      ["telemetry", TELEMETRY],
      ["update", UPDATE],
      ["garbage", GARBAGE],
      ["RPC and attributes", texts],
    ],
    system: [
      ["Wi-Fi and lwIP", WIFI],
      ["TLS, its task", TLS_TASK],
      ["TLS, a handshake", TLS_HANDSHAKE],
      ["kept free of TLS", TLS_RESERVE],
      ["TLS, open connections and records", network],
    ],
    limits: {
      requestBytes: text,
      answerBytes: text,
      attributeBytes: 2 * text,
      connections: more < 1 ? 1 : more < 2 ? 2 : 3,
    },
  };
};

/** The largest power of two that is no more. */
const powerBelow = (bytes: number): number => {
  let power: number = TEXT.least;
  while (power < TEXT.most && 2 * power <= bytes) power *= 2;
  return power;
};
