import type { AgentState, Events } from "../../events.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Host } from "../../port.js";
import type { Attributes } from "../attributes/attributes.js";
import type { Firmware } from "../firmware/firmware.js";
import type { Outbox } from "../queue/outbox.js";
import type { RpcLoop } from "../rpc/rpc.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import type { Time } from "../time/time.js";

/** A part with stored data. `forget` returns false if data remains, and may be called again. */
export interface Part {
  forget(): boolean;
}

/**
 * The parts of the agent that a wake and a reset need. The core has them; no job imports the core.
 */
export interface AgentCore {
  readonly host: Host;
  readonly session: PlatformSession;
  readonly events: Events;
  readonly time: Time;
  readonly outbox: Outbox;
  readonly telemetry: Telemetry;
  readonly attributes: Attributes;
  readonly rpc: RpcLoop;
  readonly firmware: Firmware | undefined;
  readonly provisioning: Part;
  readonly state: AgentState;
  start(): void;
  stop(): Promise<number>;
}
