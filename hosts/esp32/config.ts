import type { AgentOptions } from "../../src/index.js";
import type { Network } from "./wifi.js";

/**
 * `config` of a project's manifest.
 *
 *     "config": {
 *       "wifi": { "ssid": "...", "password": "..." },                            no password: an open network
 *       "intervalMs": 60000,                                                     for the application; default 60,000
 *       "ca": "ca.der",                                                          a resource, or a list of them; for https
 *       "sntp": "pool.ntp.org",
 *       "baseUrl": "https://platform.example.com",                               from here on the agent's own options
 *       "provisioning": { "key": "...", "secret": "...", "deviceName": "..." },
 *       "firmware": { "title": "greenhouse", "version": "1.0.0" }
 *     }
 */
export interface Settings {
  readonly network: Network;
  readonly options: AgentOptions;
  readonly intervalMs: number;
}

const DEFAULT_INTERVAL_MS = 60_000;
/** Where a TLS record must stay small. */
const CHUNK = 4096;
/** Points are on flash when they are recorded: memory for more of them would be taken from TLS. */
const TELEMETRY = { bufferBytes: 4096, batchBytes: 4096 };

/** The settings, or all that is wrong with them; the agent checks its options itself. No value is quoted: it may be a secret. */
export function readConfig(config: Readonly<Record<string, unknown>>): Settings | string[] {
  const wrong: string[] = [];
  const { intervalMs = DEFAULT_INTERVAL_MS } = config;
  const network = readNetwork(config.wifi, wrong);
  if (typeof intervalMs !== "number" || !(intervalMs > 0))
    wrong.push("config.intervalMs is a number of milliseconds");
  if (wrong.length > 0) return wrong;
  return { network, intervalMs: intervalMs as number, options: readOptions(config as Partial<AgentOptions>) };
}

/** Objects of its own: those of the manifest lie in ROM. */
function readOptions(config: Partial<AgentOptions>): AgentOptions {
  const { baseUrl = "", token, provisioning, connections, firmware, telemetry, attributes, rpc } = config;
  return {
    baseUrl,
    ...(token !== undefined && { token }),
    ...(provisioning && { provisioning: { ...provisioning } }),
    ...(connections && { connections }),
    ...(firmware && { firmware: { chunkBytes: CHUNK, ...firmware } }),
    telemetry: { ...TELEMETRY, ...telemetry },
    ...(attributes && { attributes: { ...attributes } }),
    ...(rpc && { rpc: { ...rpc } }),
  };
}

/** 1 to 32 bytes of name; no password, or one of 8 to 64 characters. */
function readNetwork(value: unknown, wrong: string[]): Network {
  const { ssid, password = "" } = (
    typeof value === "object" && value !== null ? value : {}
  ) as Partial<Network>;
  if (typeof ssid !== "string" || ssid === "" || ssid.length > 32)
    wrong.push("config.wifi.ssid is a text of 1 to 32 characters");
  if (typeof password !== "string" || (password !== "" && (password.length < 8 || password.length > 64)))
    wrong.push("config.wifi.password has 8 to 64 characters, or is left out");
  return { ssid: ssid ?? "", password };
}
