// The public API of Mote: what applications may use.
export { Agent } from "./agent/agent.js";
export type { AttributesApi, ReadOptions, Subscriber } from "./agent/attributes/api.js";
export type { AttributeOptions } from "./agent/attributes/options.js";
export type { FirmwareApi } from "./agent/firmware/api.js";
export type { FirmwareOptions, FirmwareUpdate } from "./agent/firmware/firmware.js";
export type { CycleOptions } from "./agent/lifecycle/options.js";
export type { Sample, Wake, WakeOptions } from "./agent/lifecycle/wake.js";
export type { AgentOptions } from "./agent/options.js";
export type { ProvisioningOptions } from "./agent/provisioning/options.js";
export type { TelemetryOptions } from "./agent/queue/options.js";
export type { HandleOptions, RpcApi, RpcHandler } from "./agent/rpc/api.js";
export type { RpcOptions } from "./agent/rpc/options.js";
export type { TelemetryApi } from "./agent/telemetry/api.js";
export type { Flushed } from "./agent/telemetry/flush-queue.js";
export { type ErrorCode, isMoteError, MoteError, RpcError } from "./errors.js";
export type { AgentEvent, AgentEvents, AgentState } from "./events.js";
export type { AbortSignalLike } from "./platform/abort-signal.js";
export type { Counters } from "./platform/counters.js";
export type { WaitOptions } from "./platform/wait.js";
export type {
  Blocks,
  Clock,
  Digest,
  Host,
  LastRun,
  Redactor,
  Slot,
  Socket,
  SocketEvent,
  Store,
} from "./port.js";
export { VERSION } from "./version.js";
export type { Json, JsonObject } from "./wire/text/json.js";
