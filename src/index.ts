// The public names of Mote.
export { Agent } from "./agent/agent.js";
export type { AttributesApi, Subscriber } from "./agent/attributes/attributes.js";
export type { Counters } from "./agent/common/counters.js";
export { type ErrorCode, MoteError } from "./agent/common/errors.js";
export type { AgentEvent, AgentEvents, AgentState } from "./agent/common/events.js";
export { VERSION } from "./agent/common/version.js";
export type { Firmware, FirmwareOptions, FirmwareUpdate } from "./agent/firmware/firmware.js";
export { type LastRun, Recovery } from "./agent/lifecycle/recovery.js";
export type { Sample, Wake, WakeOptions } from "./agent/lifecycle/wake.js";
export type {
  AgentOptions,
  AttributeOptions,
  CycleOptions,
  ProvisioningOptions,
  RpcOptions,
} from "./agent/options/options.js";
export type { TelemetryOptions } from "./agent/options/telemetry.js";
export type { RpcApi } from "./agent/rpc/api.js";
export type { HandleOptions, RpcHandler } from "./agent/rpc/handlers.js";
export type { Telemetry } from "./agent/telemetry/telemetry.js";
export type { Blocks, Clock, Digest, Host, Slot, Socket, SocketEvent, Store } from "./port.js";
export type { Json, JsonObject } from "./wire/text/json.js";
