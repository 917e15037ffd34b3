// The memory plan of a board: two pools, and the limits that follow from them, in bytes. The shares
// are measurements of the sample application on an emulated ESP32-C3, rounded up
// (docs/reference/boards.md, "Memory"; `node scripts/campaign.mjs chip --case memory`).

/** The available memory. */
export interface Pools {
  /** The engine's memory: objects, strings and its stack. */
  readonly engine: number;
  /** Free bytes of the system's heap beside the engine's memory, before the network starts. */
  readonly system: number;
}

export interface MemoryPlan {
  /** Shares of each pool; the last one is the remainder. */
  readonly engine: Shares;
  readonly system: Shares;
  readonly limits: Limits;
}

export type Shares = readonly (readonly [what: string, bytes: number])[];

/** Longer data is refused by name, or ignored and logged; more connections are not opened. */
export interface Limits {
  /** Size of an RPC: number, method and parameters. */
  readonly requestBytes: number;
  /** Size of an RPC's answer. */
  readonly answerBytes: number;
  /** Size of the shared attributes in one read. */
  readonly attributeBytes: number;
  readonly connections: 1 | 2 | 3;
}

/** Values of an ESP32-C3, the smallest supported chip. */
export const SMALLEST: Pools = { engine: 114_688, system: 137_512 };

const STACK = 10_240;
const AT_REST = 65_000;
/** Points on their way to flash, a batch, and a sector of flash. */
const TELEMETRY = 10_240;
const UPDATE = 14_000;
/** Objects that are not collected yet. */
const GARBAGE = 6000;
/** Maximum number of copies of a text while it is read, handled, written and sent. */
const COPIES = 8;
const TEXT = { least: 512, most: 8192 } as const;

/** Espressif's figure for a station with few buffers, and lwIP's for a few connections. */
const WIFI = 60_000;
const TLS_TASK = 9000;
/** native/tls makes one handshake at a time. */
const TLS_HANDSHAKE = 36_864;
/** native/tls leaves this much free for TCP and Wi-Fi. */
const TLS_RESERVE = 12_288;
/** An idle connection: no ring, no record buffer, no certificate (native-tls.slow.test.ts). */
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

/** The largest power of two that is not greater. */
const powerBelow = (bytes: number): number => {
  let power: number = TEXT.least;
  while (power < TEXT.most && 2 * power <= bytes) power *= 2;
  return power;
};
