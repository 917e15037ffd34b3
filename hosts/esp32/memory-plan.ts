// The memory plan of a board: two pools, and the limits that follow from them, in bytes. The shares
// are measurements of the sample application on an emulated ESP32-C3, rounded up
// (docs/reference/boards.md, "Memory"; `node scripts/campaign.mjs chip --case census` and
// `memory`).

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
export const SMALLEST: Pools = { engine: 139_216, system: 156_548 };

const STACK = 10_240;
/** Agent, SDK, firmware and setup with an empty application (case `census`). */
const AT_REST = 56_000;
/** A batch while it is written and sent; its buffers are there at rest, too. */
const TELEMETRY = 5000;
const UPDATE = 14_000;
/** Objects that are not collected yet. */
const GARBAGE = 6000;
/**
 * Copies of a text while an RPC is read, handled, stored and sent, and attributes are read beside
 * it.
 */
const COPIES = 12;
/** Every chip takes `promised` bytes that has the memory for them. */
const TEXT = { least: 512, promised: 1024, most: 4096 } as const;
/** What an application should have. */
const APPLICATION = 32_768;

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
  const spare = spareOf(engine);
  const text = textBytes(spare);
  const network = system - WIFI - TLS_TASK - TLS_HANDSHAKE - TLS_RESERVE;
  const more = Math.floor(network / TLS_CONNECTION);
  return {
    engine: [
      ["stack", STACK],
      ["program at rest", AT_REST],
      ["telemetry", TELEMETRY],
      ["update", UPDATE],
      ["garbage", GARBAGE],
      ["RPC and attributes", COPIES * text],
      ["application", spare - COPIES * text],
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

/**
 * Size of the engine's block, as native/memory.c computes it at the start: the largest one that
 * leaves the system its memory, and at least `least`, the `creation.static` of the manifest.
 */
export const engineBlock = (least: number, free: number, largest: number): number =>
  Math.max(least, Math.min(largest, free - SMALLEST.system) & ~15);

/** A power of two. Texts are longer than the promised ones only beside a large application. */
const textBytes = (spare: number): number => {
  let text: number = COPIES * TEXT.promised <= spare ? TEXT.promised : TEXT.least;
  while (text < TEXT.most && spare - 2 * COPIES * text >= APPLICATION) text *= 2;
  return text;
};

/** The application's share of the engine's memory. */
export const applicationShare = (engine: number): number =>
  planMemory({ engine, system: 0 }).engine.at(-1)![1];

/**
 * The part of the share that the application has not used. `free`: bytes of the engine's memory
 * that hold nothing, while no RPC, attribute or update is in progress.
 */
export const applicationLeft = (engine: number, free: number): number =>
  Math.max(0, free - TELEMETRY - UPDATE - GARBAGE - COPIES * textBytes(spareOf(engine)));

/** For the application, RPC and attributes. */
const spareOf = (engine: number): number => engine - STACK - AT_REST - TELEMETRY - UPDATE - GARBAGE;
