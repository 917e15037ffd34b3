// The public names of Mote.
export { Agent } from "./agent/agent.js";
export type { AttributesApi, Subscriber } from "./agent/attributes.js";
export type { Counters } from "./agent/counters.js";
export { type ErrorCode, MoteError } from "./agent/errors.js";
export type { AgentEvent, AgentEvents, AgentState } from "./agent/events.js";
export type { Firmware, FirmwareOptions, FirmwareUpdate } from "./agent/firmware.js";
export type {
  AgentOptions,
  AttributeOptions,
  CycleOptions,
  ProvisioningOptions,
  RpcOptions,
} from "./agent/options.js";
export { type LastRun, Recovery } from "./agent/recovery.js";
export type { RpcApi } from "./agent/rpc-api.js";
export type { HandleOptions, RpcHandler } from "./agent/rpc-handlers.js";
export type { Telemetry } from "./agent/telemetry.js";
export type { TelemetryOptions } from "./agent/telemetry-options.js";
export { VERSION } from "./agent/version.js";
export type { Sample, Wake, WakeOptions } from "./agent/wake.js";
export type { Blocks, Clock, Digest, Host, Slot, Socket, SocketEvent, Store } from "./port.js";
export type { Json, JsonObject } from "./wire/json.js";
