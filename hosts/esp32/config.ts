import type { AgentOptions, CycleOptions } from "../../src/index.js";
import { HEX, isMadeOf, lowerCase } from "../../src/wire/text/characters.js";
import { utf8Length } from "../../src/wire/text/text.js";
import { type Limits, planMemory, SMALLEST } from "./memory-plan.js";
import type { Network } from "./network/wifi.js";

/**
 * `config` of a project's manifest.
 *
 *     "config": {
 *       // Without password: an open network; false: the application owns the network.
 *       "wifi": { "ssid": "...", "password": "...",
 *         // Joined if the first network is unavailable.
 *         "second": { "ssid": "...", "password": "..." } },
 *       // Options of mote/commission: see commissioning/check-configuration.ts.
 *       "commission": { "button": 4, ... },
 *       // For the application; default 60,000.
 *       "intervalMs": 60000,
 *       // A resource, or a list of resources; for https.
 *       "ca": "ca.der",
 *       "sntp": "pool.ntp.org",
 *       // For a board that is often switched off after seconds: no setup page by power cycles.
 *       "powerCycles": false,
 *       // The agent's own options:
 *       "baseUrl": "https://platform.example.com",
 *       "provisioning": { "key": "...", "secret": "...", "deviceName": "..." },
 *       "firmware": { "title": "greenhouse", "version": "1.0.0" },
 *       // Deep sleep between samples; `timeoutMs`: limit of a wake.
 *       "cycle": { "everyMs": 60000, "connectEvery": 60, "timeoutMs": 30000 }
 *     }
 */
export interface Settings {
  /** Undefined: the application owns the network; a board that sleeps then sends nothing. */
  readonly network: Network | undefined;
  readonly options: AgentOptions;
  readonly intervalMs: number;
  /** The board sleeps between samples; limit of a wake in ms. */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_INTERVAL_MS = 60_000;
const DEADLINE = { default: 30_000, least: 1000, most: 600_000 } as const;
/** Size of a firmware part that fits beside other work. */
const CHUNK = 4096;
/** Points are on flash when recorded, so a small buffer leaves memory for the platform's data. */
const TELEMETRY = { bufferBytes: 2048, batchBytes: 4096 };
/** Every connection needs memory for TLS. */
const SECURE = "https:";
/** Default and maximum of the agent. */
const CONNECTIONS = 3;

/**
 * The settings, or a list of all mistakes; the agent validates its own options. Values are never
 * quoted, because they may be secret. Missing options get the limits of the memory plan.
 */
export const readConfig = (
  config: Readonly<Record<string, unknown>>,
  limits: Limits = planMemory(SMALLEST).limits,
): Settings | string[] => {
  const wrong: string[] = [];
  const { intervalMs = DEFAULT_INTERVAL_MS } = config;
  const network = config.wifi === false ? undefined : readNetwork(config.wifi, wrong);
  if (typeof intervalMs !== "number" || !(intervalMs > 0))
    wrong.push("config.intervalMs must be a positive number of milliseconds");
  const timeoutMs = readDeadline(config.cycle, wrong);
  if (wrong.length > 0) return wrong;
  const options = readOptions(config as Partial<AgentOptions>, limits);
  return {
    network,
    intervalMs: intervalMs as number,
    options,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
};

/** Undefined: no `cycle`, no sleep. */
const readDeadline = (cycle: unknown, wrong: string[]): number | undefined => {
  if (cycle === undefined) return undefined;
  if (typeof cycle !== "object" || cycle === null) {
    wrong.push("config.cycle must be an object of options");
    return undefined;
  }
  const { timeoutMs = DEADLINE.default } = cycle as { timeoutMs?: unknown };
  const { least, most } = DEADLINE;
  if (typeof timeoutMs === "number" && timeoutMs >= least && timeoutMs <= most) return timeoutMs;
  wrong.push(`config.cycle.timeoutMs must be a number from ${least} to ${most}`);
  return undefined;
};

/** One connection needs one handshake. */
const readCycle = (
  cycle: CycleOptions & { timeoutMs?: number },
): Pick<AgentOptions, "cycle" | "connections"> => {
  const { timeoutMs: _, ...own } = cycle;
  return { cycle: own, connections: 1 };
};

/** Copies, because objects of the manifest are in ROM. */
const readOptions = (config: Partial<AgentOptions>, limits: Limits): AgentOptions => {
  const {
    baseUrl = "",
    token,
    provisioning,
    connections,
    firmware,
    telemetry,
    attributes,
    rpc,
    cycle,
  } = config;
  const { requestBytes, answerBytes, attributeBytes } = limits;
  const isLimited = lowerCase(baseUrl.slice(0, SECURE.length)) === SECURE && limits.connections < CONNECTIONS;
  const most = connections ?? (isLimited ? limits.connections : undefined);
  return {
    baseUrl,
    ...(cycle && readCycle(cycle)),
    ...(token !== undefined && { token }),
    ...(provisioning && { provisioning: { ...provisioning } }),
    ...(most !== undefined && !cycle && { connections: most }),
    ...(firmware && { firmware: { chunkBytes: CHUNK, ...firmware } }),
    telemetry: { ...TELEMETRY, ...telemetry },
    attributes: { answerBytes: attributeBytes, ...attributes },
    rpc: { requestBytes, answerBytes, ...rpc },
  };
};

/** A name of 1 to 32 bytes, and no password, one of 8 to 63 bytes, or 64 hexadecimal digits. */
const readNetwork = (value: unknown, wrong: string[], name = "config.wifi"): Network => {
  const {
    ssid,
    password = "",
    second,
  } = (typeof value === "object" && value !== null ? value : {}) as Partial<Network>;
  if (typeof ssid !== "string" || ssid === "" || ssid.length > 32)
    wrong.push(`${name}.ssid must be a string of 1 to 32 characters`);
  if (typeof password !== "string" || (password !== "" && !isPassword(password)))
    wrong.push(`${name}.password must have 8 to 63 bytes or 64 hexadecimal digits, or be omitted`);
  const other = second && readNetwork(second, wrong, `${name}.second`);
  return { ssid: ssid ?? "", password, ...(other && { second: other }) };
};

/** Another text of 64 characters could never join. */
const isPassword = (text: string): boolean => {
  const bytes = utf8Length(text);
  return (bytes >= 8 && bytes <= 63) || (bytes === 64 && isMadeOf(text, HEX));
};
