// The public API of Mote.
export { Agent } from "./agent/agent.js";
export type { AttributesApi, ReadOptions, Subscriber } from "./agent/attributes/api.js";
export type { FirmwareApi } from "./agent/firmware/api.js";
export type { FirmwareOptions, FirmwareUpdate } from "./agent/firmware/firmware.js";
export { updateWord } from "./agent/firmware/state-words.js";
export { Recovery } from "./agent/lifecycle/recovery.js";
export type { Sample, Wake, WakeOptions } from "./agent/lifecycle/wake.js";
export type { AttributeOptions } from "./agent/options/attributes.js";
export type { AgentOptions } from "./agent/options/options.js";
export type { ProvisioningOptions } from "./agent/options/provisioning.js";
export type { RpcOptions } from "./agent/options/rpc.js";
export type { CycleOptions } from "./agent/options/sleep-cycle.js";
export type { TelemetryOptions } from "./agent/options/telemetry.js";
export { pinAll, pinStored } from "./agent/provisioning/token-store.js";
export type { RpcApi } from "./agent/rpc/api.js";
export type { HandleOptions, RpcHandler } from "./agent/rpc/handlers.js";
export type { TelemetryApi } from "./agent/telemetry/api.js";
export { type ErrorCode, MoteError } from "./errors.js";
export type { AgentEvent, AgentEvents, AgentState } from "./events.js";
export type { Counters } from "./platform/counters.js";
export type { AbortSignalLike, WaitOptions } from "./platform/wait.js";
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
export { readStored, writeStored } from "./store.js";
export { VERSION } from "./version.js";
export { isObject, type Json, type JsonObject, parseJson } from "./wire/text/json.js";
export { HIDDEN, LineCleaner, SecretRedactor } from "./wire/text/redactor.js";
